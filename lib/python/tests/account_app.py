"""A server with a tool that uses an account, and its client."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from conftest import Callback
from psycopg.rows import namedtuple_row
from tool_app import ToolApp
from vault_bed import Bed

from urlmode import TokenRefusedError
from urlmode.vault import AccessToken, Vault


class App(ToolApp):
    """A server with one tool that uses an account, and a client whose user connects it at once unless `connects` is False."""

    def __init__(self, bed: Bed, callback: Callback, mode: str = "legacy", vault: Vault | None = None) -> None:
        self.bed = bed
        self.subject = bed.subject
        self.callback = callback
        self.connects = True
        self.errors: list[BaseException] = []
        self.given: list[str] = []
        self.good: set[str] | None = None
        """the tokens that the provider's API takes; None: all"""
        self.options: dict[str, Any] = {}
        self.result: dict[str, Any] = {"code": "a-code"}
        self._vault = vault or bed.vault
        super().__init__(self._vault._urlmode, mode)

    async def tool(self, ctx: Any) -> Any:
        try:
            return await self.adapter.use_account(
                ctx, self.body, vault=self._vault, **self.bed.key,
                message="Please.", round_timeout=20, **self.options,
            )
        except BaseException as error:  # The SDK does not tell it to the client.
            self.errors.append(error)
            raise

    def body(self, token: AccessToken) -> str:
        self.given.append(token.access_token)
        if self.good is not None and token.access_token not in self.good:
            raise TokenRefusedError
        return f"{token.access_token} of {token.account}"

    async def follow_link(self) -> None:
        if self.connects:
            await self.come_back()

    async def come_back(self) -> None:
        me: Any = {"subject": self.bed.subject, "session": ""}
        id = str((await self.elicitation()).id)
        await self.callback.open(id, me)
        await self.callback.come_back(id, me, self.result)

    async def elicitation(self) -> Any:
        cursor = self.bed.admin.cursor(row_factory=namedtuple_row)
        await cursor.execute("SELECT * FROM urlmode.elicitation WHERE subject = %s ORDER BY created_at DESC LIMIT 1", [self.bed.subject])
        return await cursor.fetchone()

    async def scopes_asked(self) -> str:
        target: str = (await self.elicitation()).target_url
        return parse_qs(urlsplit(target).query)["scope"][0]

    async def use(self, **options: Any) -> str:
        """The text of the result, or of the error of the tool."""
        self.options = options
        errors = len(self.errors)
        result = await self.call("use", {})
        return str(result.content[0].text if len(self.errors) == errors else self.errors[-1])

    async def names(self) -> list[str]:
        return [one.account for one in await self.bed.vault.list_accounts(**self.bed.key)]
