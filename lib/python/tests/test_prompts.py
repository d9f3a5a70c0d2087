"""Prompts and resources ask as tools do, with SDK 2.x, which says what a request is for."""

from __future__ import annotations

from typing import Any

import fastmcp
import pytest
from conftest import Callback, owner
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from urlmode import CallbackUrls, Expected, UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import request_state_security

READS: dict[str, Any] = {
    "prompt": lambda client: client.get_prompt("advice"),
    "template": lambda client: client.read_resource("shop://report/42"),
    "resource": lambda client: client.read_resource("shop://report"),
}
SOLD = [("SDK", "prompt"), ("SDK", "template"), ("FastMCP", "prompt"), ("FastMCP", "template"), ("FastMCP", "resource")]
"""A resource without a template has no Context in the SDK."""


def text_of(result: Any) -> str:
    of = result.messages[0].content if hasattr(result, "messages") else getattr(result, "contents", result)[0]
    return str(of.text)


class Shop:
    """A server that sells a prompt and a resource, and a client whose user pays."""

    def __init__(self, urlmode: UrlMode, callback: Callback, framework: str, revision: str, action: Any) -> None:
        self.callback, self.action, self.rows = callback, action, list[str]()
        subject = owner()["subject"]
        adapter: Any = with_fastmcp if framework == "FastMCP" else with_sdk

        def checkout(urls: CallbackUrls) -> str:
            self.rows.append(urls.elicitation_id)
            return "https://checkout.example/pay"

        async def sell(ctx: Any, what: str) -> Any:
            return await adapter.with_elicitation(
                ctx, lambda paid: f"Paid by {paid.reference}", urlmode=urlmode, subject=subject, provider="stripe", kind="payment", item=what,
                expected=Expected(1050, "EUR"), message=f"Pay for {what}.", target_url=checkout,
            )  # fmt: skip

        async def advice(ctx: Any) -> Any:
            return await sell(ctx, "advice")

        async def report(number: str, ctx: Any) -> Any:
            return await sell(ctx, f"report:{number}")

        async def newest(ctx: Any) -> Any:
            return await sell(ctx, "report")

        for function in (advice, report, newest):
            function.__annotations__["ctx"] = fastmcp.Context if framework == "FastMCP" else Context[Any, Any]
        security = request_state_security(urlmode)
        if framework == "FastMCP":
            shop = fastmcp.FastMCP("shop", request_state_security=security)
            shop.prompt(advice)
            shop.resource("shop://report/{number}")(report)
            shop.resource("shop://report")(newest)
            self.client: Any = fastmcp.Client(shop, mode=revision, elicitation_handler=self._choose if action else None)
        else:
            server = MCPServer("shop", request_state_security=security)
            server.prompt()(advice)
            server.resource("shop://report/{number}")(report)
            self.client = Client(server, mode=revision, elicitation_callback=self.answer if action else None)

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self.answer(context, params)

    async def pay(self) -> str:
        return await self.callback.paid(self.rows[-1])

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        assert params.mode == "url"
        if self.action == "accept":
            await self.pay()
        return ElicitResult(action=self.action)


@pytest.mark.parametrize(("framework", "what"), SOLD)
@pytest.mark.parametrize("revision", ["2026-07-28", "legacy"])
async def test_a_prompt_and_a_resource_ask(urlmode: UrlMode, callback: Callback, revision: str, framework: str, what: str) -> None:
    shop = Shop(urlmode, callback, framework, revision, "accept")
    async with shop.client as client:
        assert text_of(await READS[what](client)).startswith("Paid by ")
        assert len(shop.rows) == 1


@pytest.mark.parametrize(("framework", "what"), SOLD)
@pytest.mark.parametrize("action", [None, "decline"])
async def test_without_an_outcome_it_is_an_error_with_the_link(
    urlmode: UrlMode, callback: Callback, action: str | None, framework: str, what: str
) -> None:
    shop = Shop(urlmode, callback, framework, "legacy", action)
    async with shop.client as client:
        with pytest.raises(MCPError) as raised:
            await READS[what](client)
        error = raised.value.error
        assert error.code == -32603 and error.data["elicitation"]["url"] in error.message
        assert error.data["elicitation"].get("reason") == (action and "client_declined")
        reference = await shop.pay()
        assert text_of(await READS[what](client)) == f"Paid by {reference}"
        assert len(shop.rows) == 1
