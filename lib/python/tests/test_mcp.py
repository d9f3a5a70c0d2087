"""urlmode.mcp and urlmode.fastmcp with their own clients in Python. tests/e2e/adapters-python.test.mjs has the scenarios of
all adapters, with clients in TypeScript."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import fastmcp
import pytest
from conftest import Callback, OpenUrlMode, kept_trace, until
from fastmcp.tools import ToolResult
from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InputRequiredResult, TextContent
from shop import MODES, Shop, text_of

from urlmode import ClientFacts, UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import Accepted, request_state_security


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_in_python_pays(urlmode: UrlMode, callback: Callback, mode: str) -> None:
    shop = Shop(urlmode, callback, lambda accepted: f"Thanks for {accepted.reference}.", mode)
    async with shop.client:
        result = await shop.client.call_tool("buy")
    assert text_of(result).startswith("Thanks for cs_")
    assert len(shop.asked) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_the_trace_of_the_call_is_kept(urlmode: UrlMode, callback: Callback, mode: str) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    shop = Shop(urlmode, callback, lambda accepted: "Thanks.", mode)
    async with shop.client:
        for sent, kept in [(trace, trace), ("none", None)]:
            assert text_of(await shop.client.call_tool("buy", meta={"traceparent": sent})) == "Thanks."
            assert await kept_trace(shop._id) == kept
            await until("the answer is confirmed", lambda: not urlmode._background._tasks)


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_after_one_that_was_answered_is_about_something_new(
    urlmode: UrlMode, callback: Callback, mode: str
) -> None:
    shop = Shop(urlmode, callback, lambda accepted: f"Thanks for {accepted.reference}.", mode)
    async with shop.client:
        first = await shop.client.call_tool("buy")
        await until("the answer is confirmed", lambda: not urlmode._background._tasks)
        assert text_of(await shop.client.call_tool("buy")) != text_of(first)
    assert len(shop.asked) == 2


async def test_what_only_fastmcp_has(urlmode: UrlMode, callback: Callback) -> None:
    """A body may return a ToolResult, and a result may be an error. The error -32042 reaches the client as it is."""
    content = [TextContent(type="text", text=text) for text in ("one", "two")]
    results = [ToolResult(content, structured_content={"a": 1}), ToolResult(content[:1]), ToolResult(content[:1], is_error=True)]
    shop = Shop(urlmode, callback, lambda accepted: results.pop(0), "FastMCP legacy")
    async with shop.client:
        made = await shop.client.call_tool("buy")
        assert (made.content, made.structured_content, made.is_error) == (content, {"a": 1}, False)
        assert (await shop.client.call_tool("buy")).content == content[:1]
        assert (await shop.client.call_tool("buy")).is_error
    required = Shop(urlmode, callback, lambda accepted: "never", "FastMCP legacy", ask="error")
    async with required.client:
        with pytest.raises(MCPError) as error:
            await required.client.call_tool("buy")
    assert error.value.code == -32042
    assert [each["url"] for each in error.value.data["elicitations"]] != []


async def test_a_background_task_cannot_ask(urlmode: UrlMode) -> None:
    context = fastmcp.Context(fastmcp.FastMCP("shop"))
    with pytest.raises(RuntimeError, match="background task"):
        await with_fastmcp.with_elicitation(
            context, lambda accepted: "", urlmode=urlmode, subject="a", provider="stripe", kind="oauth", message="a",
            target_url="https://a.example",
        )  # fmt: skip


async def test_a_body_that_fails_runs_again(urlmode: UrlMode, callback: Callback) -> None:
    results: list[Any] = [5, "Done."]
    shop = Shop(urlmode, callback, lambda accepted: results.pop(0), "legacy")
    async with shop.client:
        assert (await shop.client.call_tool("buy")).is_error
        assert shop.errors == ["the body must return a str or a CallToolResult"]
        assert text_of(await shop.client.call_tool("buy")) == "Done."
    assert len(shop.asked) == 1


@pytest.mark.parametrize("mode", ["legacy", "FastMCP legacy"])
async def test_a_body_that_answers_with_an_error_was_not_done(urlmode: UrlMode, callback: Callback, mode: str) -> None:
    burnt = CallToolResult(content=[TextContent(type="text", text="The printer is on fire.")], is_error=True)
    references: list[str] = []

    def body(accepted: Accepted) -> Any:
        references.append(str(accepted.reference))
        return burnt if len(references) == 1 else "Done."

    shop = Shop(urlmode, callback, body, mode)
    async with shop.client:
        failed = await shop.client.call_tool("buy")
        assert (failed.is_error, text_of(failed)) == (True, "The printer is on fire.")
        assert text_of(await shop.client.call_tool("buy")) == "Done."
    assert len(set(references)) == len(shop.asked) == 1


async def test_every_process_opens_the_request_state(open_urlmode: OpenUrlMode, keys_file: Any) -> None:
    one, other = (request_state_security(open_urlmode()).codec for _ in range(2))
    sealed = one.seal(b"state")
    assert other.unseal(sealed) == b"state"
    assert "state" not in sealed
    foreign = request_state_security(open_urlmode(keys="1 " + "A" * 43 + "=\n")).codec
    changed = sealed[:-2] + ("A" if sealed[-2] != "A" else "B") + sealed[-1]
    for codec, token in ((foreign, sealed), (other, changed), (other, sealed[:-4]), (other, ""), (other, sealed + "=")):
        with pytest.raises(InvalidRequestState):
            codec.unseal(token)


async def test_a_request_state_of_another_call_is_refused(urlmode: UrlMode, callback: Callback) -> None:
    mine, other, another = (
        Shop(urlmode, callback, lambda accepted: "never", "2026-07-28", **more)
        for more in ({}, {}, {"item": "report:43"})
    )
    another.subject = mine.subject
    async with mine.client, other.client, another.client:
        asked = await mine.client.session.call_tool("buy", allow_input_required=True)
        assert isinstance(asked, InputRequiredResult) and asked.request_state
        with pytest.raises(MCPError) as refused:
            await mine.client.call_tool("buy", request_state="x" + asked.request_state)
        assert refused.value.code == -32602
        for shop in (other, another):
            with pytest.raises(MCPError) as refused:
                await shop.client.call_tool("buy", request_state=asked.request_state)
            assert (refused.value.code, refused.value.data) == (-32602, {"reason": "invalid_request_state"})


async def test_bad_input(urlmode: UrlMode, callback: Callback, open_urlmode: OpenUrlMode) -> None:
    for more, said in (
        ({"message": ""}, "message must be a non-empty str"), ({"ask": "politely"}, "ask must be one of request, error"),
        ({"round_timeout": 0}, "round_timeout must be from"), ({"progress_every": -1}, "progress_every must be from"),
    ):  # fmt: skip
        shop = Shop(urlmode, callback, lambda accepted: "", "legacy", **more)
        async with shop.client:
            assert (await shop.client.call_tool("buy")).is_error
        assert [said in error for error in shop.errors] == [True], shop.errors
    for clients in ("agent", [{"name": "agent"}], [ClientFacts(name="")], [ClientFacts(name="agent", round=-1)], [ClientFacts(name="agent", ask="link")]):  # type: ignore[arg-type]
        with pytest.raises((TypeError, ValueError), match="client"):
            open_urlmode(clients=clients)


async def test_an_option_that_no_function_has_is_refused() -> None:
    session = SimpleNamespace(client_params=None)
    request = SimpleNamespace(session=session, request=None, request_id=1)
    options: Any = {"tll": 5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'tll'"):
        await with_sdk.with_elicitation(
            SimpleNamespace(request_context=request), lambda _: "", urlmode=cast(Any, None), subject="a", provider="a",
            kind="payment", item="a", message="Please.", target_url="https://a.example", **options,
        )  # fmt: skip
