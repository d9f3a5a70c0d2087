"""A server with a tool that uses an account, and its client."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import fastmcp
from conftest import Callback
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitResult
from psycopg.rows import namedtuple_row
from vault_bed import Bed

from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import request_state_security
from urlmode.vault import Vault

MODES = ["legacy", "2026-07-28", "FastMCP legacy", "FastMCP 2026-07-28"]


class App:
    """A server with one tool that uses an account, and a client whose user connects it at once unless `connects` is False."""

    def __init__(self, bed: Bed, callback: Callback, mode: str = "legacy", vault: Vault | None = None) -> None:
        self.bed = bed
        self.callback = callback
        self.connects = True
        self.asked = 0
        self.errors: list[BaseException] = []
        self.options: dict[str, Any] = {}
        self.result: dict[str, Any] = {"code": "a-code"}
        framework, _, revision = mode.rpartition(" ")
        adapter: Any = with_fastmcp if framework else with_sdk
        used = vault or bed.vault

        async def use(ctx: Any) -> Any:
            try:
                return await adapter.use_account(
                    ctx, lambda token: f"{token.access_token} of {token.account}", vault=used, **bed.key,
                    message="Please.", round_timeout=20, **self.options,
                )
            except BaseException as error:  # The SDK does not tell it to the client.
                self.errors.append(error)
                raise

        security: Any = request_state_security(used._urlmode)
        if framework:
            use.__annotations__["ctx"] = fastmcp.Context
            server = fastmcp.FastMCP("app", request_state_security=security)
            server.tool(use)
            self.client: Any = fastmcp.Client(server, mode=revision, elicitation_handler=self._choose)
        else:
            use.__annotations__["ctx"] = Context[Any, Any]
            plain = MCPServer("app", request_state_security=security)
            plain.tool(structured_output=False)(use)
            self.client = Client(plain, mode=revision, elicitation_callback=self._answer)
        self._call = self.client.call_tool_mcp if framework else self.client.call_tool

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked += 1
        if self.connects:
            await self.come_back()
        return ElicitResult(action="accept")

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
        result = await self._call("use", {})
        return str(result.content[0].text if len(self.errors) == errors else self.errors[-1])

    async def names(self) -> list[str]:
        return [one.account for one in await self.bed.vault.list_accounts(**self.bed.key)]
