"""urlmode.mcp and urlmode.fastmcp with their own clients in Python. tests/e2e/adapters-python.test.mjs has the scenarios of
all adapters, with clients in TypeScript."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import fastmcp
import pytest
import uvicorn
from conftest import Callback, OpenUrlMode, kept_trace, owner, until
from fastmcp.tools import ToolResult
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ElicitRequestURLParams, ElicitResult, InputRequiredResult, TextContent

from urlmode import AskedApprovers, CallbackUrls, ClientFacts, Expected, UrlMode, UrlModeClosedError
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import Accepted, ask_approval, request_state_security

MODES = ["legacy", "2026-07-28", "FastMCP legacy", "FastMCP 2026-07-28"]


class FastMcpClient(fastmcp.Client[Any]):
    """With the results of the SDK, of which the tests speak."""

    async def call_tool(self, name: str, arguments: Any = None, **more: Any) -> Any:
        return await self.call_tool_mcp(name, arguments or {}, **more)


class Shop:
    """A server with one tool, and a client whose user pays at once unless `pays` is False."""

    def __init__(self, urlmode: UrlMode, callback: Callback, body: Any, mode: str, **more: Any) -> None:
        self.subject = owner()["subject"]
        self.callback = callback
        self.pays = True
        self.provides = ""
        self.gate: asyncio.Future[str] | None = None
        self.asked: list[str] = []
        self.errors: list[str] = []
        framework, _, revision = mode.rpartition(" ")
        adapter: Any = with_fastmcp if framework else with_sdk

        async def buy(ctx: Any) -> Any:
            options: dict[str, Any] = {"item": "report:42", "expected": Expected(1050, "EUR"), "message": "10.50 EUR", **more}
            try:
                return await adapter.with_elicitation(
                    ctx, body, urlmode=urlmode, subject=self.subject, target_url=self._checkout,
                    **{"provider": "stripe", "kind": "payment", **options},
                )  # fmt: skip
            except Exception as error:  # The SDK does not tell it to the client.
                self.errors.append(str(error))
                raise

        security: Any = request_state_security(urlmode)
        if framework:
            buy.__annotations__["ctx"] = fastmcp.Context
            shop = fastmcp.FastMCP("shop", request_state_security=security)
            shop.tool(buy)
            self.make_app: Callable[[], Any] = shop.http_app
            self.client_of: Callable[[Any], Any] = lambda of: FastMcpClient(of, mode=revision, elicitation_handler=self._choose)
            self.client: Any = self.client_of(shop)
        else:
            buy.__annotations__["ctx"] = Context[Any, Any]
            server = MCPServer("shop", request_state_security=security)
            server.tool(structured_output=False)(buy)
            self.make_app = server.streamable_http_app
            self.client_of = lambda of: Client(of, mode=revision, elicitation_callback=self._answer)
            self.client = self.client_of(server)

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.asked.append(params.url)
        if self.provides:
            await self.callback.open(self._id, {"subject": self.subject, "session": ""}, self.provides)
            await self.callback.come_back(self._id, {"subject": self.subject, "session": ""}, {"code": "c"})
        elif self.pays:
            await self.callback.paid(self._id)
        action: Any = await self.gate if self.gate else "accept"
        return ElicitResult(action=action)

    def _checkout(self, urls: CallbackUrls) -> str:
        self._id = urls.elicitation_id
        return "https://checkout.example/pay"


def text_of(result: Any) -> str:
    return str(result.content[0].text)


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


@pytest.mark.parametrize("mode", MODES)
async def test_the_next_call_has_what_a_cancelled_one_has_made(
    urlmode: UrlMode, callback: Callback, mode: str
) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()
    runs: list[str | None] = []

    async def body(accepted: Accepted) -> str:
        runs.append(accepted.reference)
        begun.set()
        await gate.wait()
        return f"Made for {accepted.reference}."

    shop = Shop(urlmode, callback, body, mode)
    async with shop.client:
        first = asyncio.create_task(shop.client.call_tool("buy"))
        await asyncio.wait_for(begun.wait(), 30)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.set()
        second = await shop.client.call_tool("buy")
    assert text_of(second) == f"Made for {runs[0]}."
    assert (len(runs), len(shop.asked)) == (1, 1)


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The URL of an application over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        http = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        http.should_exit = True
        await serving
        for task in asyncio.all_tasks():  # sse_starlette has one that ends with the process.
            if "_shutdown_watcher" in repr(task.get_coro()):
                task.cancel()
                await asyncio.wait({task})


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_over_http_that_gives_up_has_paid_for_the_result_that_the_next_is_given(
    urlmode: UrlMode, callback: Callback, mode: str
) -> None:
    for size in [100, 1_000_000]:
        begun, gate = asyncio.Event(), asyncio.Event()
        runs: list[str | None] = []

        async def body(accepted: Accepted, size: int = size, begun: Any = begun, gate: Any = gate, runs: Any = runs) -> str:
            runs.append(accepted.reference)
            begun.set()
            await gate.wait()
            return "x" * size

        shop = Shop(urlmode, callback, body, mode)
        async with served(shop.make_app()) as url:

            async def leave(url: str = url, shop: Any = shop) -> None:
                async with shop.client_of(url) as client:
                    await client.call_tool("buy")

            first = asyncio.create_task(leave())
            await asyncio.wait_for(begun.wait(), 60)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            gate.set()
            async with shop.client_of(url) as client:
                assert text_of(await client.call_tool("buy")) == "x" * size
                assert (len(runs), len(shop.asked)) == (1, 1)
                await until("the answer is confirmed", lambda: not urlmode._background._tasks)
                await client.call_tool("buy")
            assert (len(runs), len(shop.asked)) == (2, 2), "the next one is paid for again"


@pytest.mark.parametrize("kind", ["oauth", "payment"])
async def test_a_call_that_is_cancelled_while_it_claims(
    urlmode: UrlMode, callback: Callback, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim of an account is final, so that its work follows. That of a payment is begun by the next call."""
    made: list[str] = []
    claiming, may_go_on = asyncio.Event(), asyncio.Event()
    begin_claim = urlmode.begin_claim

    async def begin(*args: Any, **options: Any) -> Any:
        claiming.set()
        claim = await begin_claim(*args, **options)
        await may_go_on.wait()
        return claim

    def body(accepted: Accepted) -> str:
        made.append(accepted.elicitation_id)
        return "Made."

    monkeypatch.setattr(urlmode, "begin_claim", begin)
    more: dict[str, Any] = {} if kind == "payment" else {"provider": "github", "kind": "oauth", "item": None, "expected": None}
    shop = Shop(urlmode, callback, body, "legacy", **more)
    if kind == "oauth":
        shop.provides = "github"
    async with shop.client:
        call = asyncio.create_task(shop.client.call_tool("buy"))
        await asyncio.wait_for(claiming.wait(), 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.sleep(0.2)  # the server hears of it
        may_go_on.set()
        await until("it has ended", lambda: not urlmode._background._tasks)
    assert made == ([] if kind == "payment" else [shop._id])


async def test_a_call_that_is_cancelled_while_it_creates_tells_the_approvers(urlmode: UrlMode) -> None:
    creating, may_go_on = asyncio.Event(), asyncio.Event()
    sent: list[AskedApprovers] = []
    create = urlmode._creator.create

    async def created(checked: Any) -> Any:
        creating.set()
        asked = await create(checked)
        await may_go_on.wait()
        return asked

    urlmode._creator.create = created  # type: ignore[method-assign]
    server, me = MCPServer("approvals"), owner()

    @server.tool(structured_output=False)
    async def ask(ctx: Context[Any, Any]) -> Any:
        return await ask_approval(
            ctx, lambda approval: "Done.", urlmode=urlmode, **me, provider="approvals", message="Approve it.",
            form={"title": "Approve"}, approver="others", send_link=sent.append, round_timeout=1,
        )  # fmt: skip

    async with Client(server, mode="legacy") as client:
        call = asyncio.create_task(client.call_tool("ask"))
        await asyncio.wait_for(creating.wait(), 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_go_on.set()
        await until("the link is sent", lambda: len(sent) == 1)
        again: Any = await client.call_tool("ask")
    assert again.structured_content["elicitation"]["approvalUrl"] == sent[0].approval_url
    assert len(sent) == 1


async def test_aclose_takes_back_what_no_approver_was_told_of(open_urlmode: OpenUrlMode) -> None:
    one, other = open_urlmode(), open_urlmode()
    sending = asyncio.Event()
    asked: list[AskedApprovers] = []
    server, me = MCPServer("approvals"), owner()

    async def send(approvers: AskedApprovers) -> None:
        asked.append(approvers)
        sending.set()
        await asyncio.sleep(3600)

    @server.tool(structured_output=False)
    async def ask(ctx: Context[Any, Any]) -> Any:
        return await ask_approval(
            ctx, lambda approval: "Done.", urlmode=one, **me, provider="approvals", message="Approve it.",
            form={"title": "Approve"}, approver="others", send_link=send,
        )  # fmt: skip

    async with Client(server, mode="legacy") as client:
        call = asyncio.create_task(client.call_tool("ask"))
        await asyncio.wait_for(sending.wait(), 30)
        await one.aclose()
        assert (await call).is_error
    outcome = await other.wait_for_completion(asked[0].elicitation_id, **me, timeout=0)
    assert (outcome.action, outcome.reason) == ("cancel", "not_sent")


@pytest.mark.parametrize("mode", ["legacy", "FastMCP legacy"])
async def test_a_client_that_declines_after_it_has_cancelled_gets_the_link_with_the_next_call(
    urlmode: UrlMode, callback: Callback, mode: str
) -> None:
    shop = Shop(urlmode, callback, lambda accepted: "never", mode)
    shop.pays = False
    shop.gate = asyncio.get_running_loop().create_future()
    async with shop.client:
        call = asyncio.create_task(shop.client.call_tool("buy"))
        await until("the user is asked", lambda: len(shop.asked) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until("the call has ended", lambda: urlmode.open_waits == 1)  # for the notification
        shop.gate.set_result("decline")
        await until("it is remembered", lambda: len(urlmode._background._tasks) == 1)  # for the notification
        asking = asyncio.create_task(shop.client.call_tool("buy"))
        await until("the next call waits", lambda: urlmode.open_waits == 2)
        await callback.paid(shop._id)
        assert text_of(await asking) == "never"
        assert len(shop.asked) == 1


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


@pytest.mark.parametrize("mode", MODES)
async def test_aclose_ends_a_call_with_the_link(urlmode: UrlMode, callback: Callback, mode: str) -> None:
    shop = Shop(urlmode, callback, lambda accepted: "never", mode)
    shop.pays = False
    async with shop.client:
        call = asyncio.create_task(shop.client.call_tool("buy"))
        await until("the call waits", lambda: urlmode.open_waits > 0)
        await urlmode.aclose()
        result = await call
    assert shop.asked[0] in text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["elicitation"]["status"] == "pending"


async def test_aclose_stops_a_body(urlmode: UrlMode, callback: Callback) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def body(accepted: Accepted) -> str:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return "never"

    shop = Shop(urlmode, callback, body, "legacy")
    async with shop.client:
        call = asyncio.create_task(shop.client.call_tool("buy"))
        await asyncio.wait_for(begun.wait(), 30)
        await urlmode.aclose()
        assert ended.is_set()
        assert (await call).is_error
    assert shop.errors == [str(UrlModeClosedError())]


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
