"""Prompts and resources ask as tools do, with SDK 2.x, which says what a request is for."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Callback, owner
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from urlmode import CallbackUrls, Expected, UrlMode
from urlmode.mcp import request_state_security, with_elicitation

READS: dict[str, Any] = {
    "prompt": lambda client: client.get_prompt("advice"),
    "resource": lambda client: client.read_resource("shop://report/42"),
}


def text_of(result: Any) -> str:
    of = result.messages[0].content if hasattr(result, "messages") else result.contents[0]
    return str(of.text)


class Shop:
    """A server that sells a prompt and a resource, and a client whose user pays."""

    def __init__(self, urlmode: UrlMode, callback: Callback, revision: str, action: Any) -> None:
        self.callback, self.action, self.rows = callback, action, list[str]()
        subject = owner()["subject"]

        def checkout(urls: CallbackUrls) -> str:
            self.rows.append(urls.elicitation_id)
            return "https://checkout.example/pay"

        async def sell(ctx: Any, what: str) -> Any:
            return await with_elicitation(
                ctx, lambda paid: f"Paid by {paid.reference}", urlmode=urlmode, subject=subject, provider="stripe", kind="payment", item=what,
                expected=Expected(1050, "EUR"), message=f"Pay for {what}.", target_url=checkout,
            )  # fmt: skip

        async def advice(ctx: Context[Any, Any]) -> Any:
            return await sell(ctx, "advice")

        async def report(number: str, ctx: Context[Any, Any]) -> Any:
            return await sell(ctx, f"report:{number}")

        for function in (advice, report):
            function.__annotations__["ctx"] = Context[Any, Any]
        server = MCPServer("shop", request_state_security=request_state_security(urlmode))
        server.prompt()(advice)
        server.resource("shop://report/{number}")(report)
        self.client = Client(server, mode=revision, elicitation_callback=self.answer if action else None)

    async def pay(self) -> str:
        return await self.callback.paid(self.rows[-1])

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        assert params.mode == "url"
        if self.action == "accept":
            await self.pay()
        return ElicitResult(action=self.action)


@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize("revision", ["2026-07-28", "legacy"])
async def test_a_prompt_and_a_resource_ask(urlmode: UrlMode, callback: Callback, revision: str, what: str) -> None:
    shop = Shop(urlmode, callback, revision, "accept")
    async with shop.client as client:
        assert text_of(await READS[what](client)).startswith("Paid by ")
        assert len(shop.rows) == 1


@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize("action", [None, "decline"])
async def test_without_an_outcome_it_is_an_error_with_the_link(
    urlmode: UrlMode, callback: Callback, action: str | None, what: str
) -> None:
    shop = Shop(urlmode, callback, "legacy", action)
    async with shop.client as client:
        with pytest.raises(MCPError) as raised:
            await READS[what](client)
        error = raised.value.error
        assert error.code == -32603 and error.data["elicitation"]["url"] in error.message
        assert error.data["elicitation"].get("reason") == (action and "client_declined")
        reference = await shop.pay()
        assert text_of(await READS[what](client)) == f"Paid by {reference}"
        assert len(shop.rows) == 1
