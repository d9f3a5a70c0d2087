"""Calls that end before they are done: their client cancels them or gives up, or the instance is closed."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import fastmcp.client.transports.http
import mcp.client.client
import pytest
from conftest import Callback, OpenUrlMode, owner, until
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from shop import MODES, Shop, served, text_of

from urlmode import AskedApprovers, UrlMode, UrlModeClosedError
from urlmode.mcp import Accepted, ask_approval

TOO_LARGE = 17_000_000
"""for a result to be kept"""


@pytest.fixture
def large_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that read an event of any size."""

    def connect(*given: Any, **options: Any) -> Any:
        return streamable_http_client(*given, **{**options, "max_sse_event_size": None})

    for client in (mcp.client.client, fastmcp.client.transports.http):
        monkeypatch.setattr(client, "streamable_http_client", connect)


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


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_over_http_that_gives_up_has_paid_for_the_result_that_the_next_is_given(
    urlmode: UrlMode, callback: Callback, large_events: None, mode: str
) -> None:
    for size, tries in [(100, 1), (1_000_000, 1), (TOO_LARGE, 2)]:
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
                assert (len(runs), len(set(runs)), len(shop.asked)) == (tries, 1, 1), "what cannot be kept is made again"
                await until("the answer is confirmed", lambda: not urlmode._background._tasks)
                await client.call_tool("buy")
            assert (len(runs), len(set(runs)), len(shop.asked)) == (tries + 1, 2, 2), "the next one is paid for again"


@contextlib.asynccontextmanager
async def cut_after(sent: int, url: str) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """The URL of the server by a network that ends the connection on which it has sent so much, and whether it has."""
    was_cut = asyncio.Event()
    host = urlsplit(url)

    async def pass_on(read: asyncio.StreamReader, write: asyncio.StreamWriter, most: float) -> None:
        passed = 0
        with contextlib.suppress(ConnectionError):
            while passed <= most and (part := await read.read(4096)):
                write.write(part)
                await write.drain()
                passed += len(part)
        if passed > most:
            was_cut.set()
            write.transport.abort()
        else:
            write.close()

    async def serve(read: asyncio.StreamReader, write: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(host.hostname, host.port, limit=4096)
        # Otherwise the system takes up to ten megabytes in the place of the client.
        to_server.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        asking = asyncio.ensure_future(pass_on(read, to_server, math.inf))
        await pass_on(from_server, write, sent)
        asking.cancel()
        to_server.transport.abort()

    async with await asyncio.start_server(serve, host.hostname, 0) as server:
        yield host._replace(netloc=f"{host.hostname}:{server.sockets[0].getsockname()[1]}").geturl(), was_cut


@pytest.mark.parametrize("size", [12_000_000, TOO_LARGE])
@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_whose_connection_ends_in_its_midst_was_not_written(
    urlmode: UrlMode, callback: Callback, large_events: None, mode: str, size: int
) -> None:
    runs: list[str | None] = []

    def body(accepted: Accepted) -> str:
        runs.append(accepted.reference)
        return "x" * size

    shop = Shop(urlmode, callback, body, mode)
    async with served(shop.make_app()) as url, cut_after(1_000_000, url) as (cut, was_cut):

        async def leave() -> None:
            async with shop.client_of(cut) as client:
                await client.call_tool("buy")

        leaving = asyncio.create_task(leave())
        await asyncio.wait_for(was_cut.wait(), 120)
        leaving.cancel()
        await asyncio.wait({leaving})
        async with shop.client_of(url) as client:
            assert text_of(await client.call_tool("buy")) == "x" * size
            assert len(shop.asked) == 1, "it was paid for"
            assert runs == [runs[0]] * (2 if size == TOO_LARGE else 1)
            await client.call_tool("buy")
        assert (len(set(runs)), len(shop.asked)) == (2, 2), "the next one is paid for again"


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
