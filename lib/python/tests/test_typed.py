"""Tools with a typed result, with the oldest and newest of each framework: what a tool says that it returns is generated
from its annotation, and validated by the server, or by the client, or both."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import fastmcp
import fork_server
import pytest
import resolver_server
import typed_server
from conftest import ROOT, Callback
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer
from test_resolvers import LEGACY, ROUNDS, User, client_in_process, text_of

import urlmode as package
from urlmode import UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk

SERVERS = [
    ("python-oldest", "sdk1", LEGACY), ("python-1", "sdk1", LEGACY), ("python-2", "sdk", LEGACY), ("python", "sdk", LEGACY),
    ("python", "sdk", ROUNDS), ("python-oldest", "fastmcp", LEGACY), ("python-1", "fastmcp", LEGACY),
    ("python-2", "fastmcp", LEGACY), ("python", "fastmcp", LEGACY), ("python", "fastmcp", ROUNDS),
]  # fmt: skip


def tools_of(framework: str) -> list[str]:
    return [*typed_server.TYPES, *([] if framework == "sdk1" else ["resolved"])]


@asynccontextmanager
async def client_of(
    environment: str, framework: str, mode: Any, user: User, keys_file: Path, *, asks: bool = True
) -> AsyncIterator[Client]:
    python, path = ROOT / "build" / environment / "bin/python", str(Path(package.__file__).parents[1])
    program, *args = fork_server.command(python, path, typed_server.__file__, framework)
    server = StdioServerParameters(
        command=program, args=args, env={**os.environ, "SUBJECT": user.subject, "URLMODE_KEYS_FILE": str(keys_file)}
    )
    async with Client(server, mode=mode, elicitation_callback=user if asks else None) as client:
        yield client



@pytest.mark.parametrize(("environment", "framework", "mode"), SERVERS)
async def test_the_link_is_kept(
    callback: Callback, keys_file: Path, environment: str, framework: str, mode: str
) -> None:
    user = User(callback)
    async with client_of(environment, framework, mode, user, keys_file, asks=False) as client:
        for name in tools_of(framework):
            result = await client.call_tool(name, {})
            text, structured = text_of(result), result.structured_content
            assert "https://callback.example/connect/stripe?state=" in text, name
            if name == "text":
                assert (bool(result.is_error), structured) == (False, {"result": text})
            elif name == "anything":
                assert not result.is_error and structured is not None
                assert structured["elicitation"]["url"] in text
            else:
                # An error has no structured content, which would be a report that nobody has made.
                assert (bool(result.is_error), structured) == (True, None), name


@pytest.mark.parametrize(("environment", "framework", "mode"), SERVERS)
async def test_a_payment_and_a_client_that_declines(
    callback: Callback, keys_file: Path, environment: str, framework: str, mode: str
) -> None:
    user = User(callback)
    expected: dict[str, Any] = {
        "text": {"result": "Forty-two."}, "report": {"report": "Forty-two.", "pages": 3},
        "draft": {"report": "Forty-two.", "pages": 3}, "anything": {"report": "Forty-two."}, "pages": {"result": [1, 2]},
        "resolved": {"report": "Forty-two.", "pages": 3},
    }  # fmt: skip
    async with client_of(environment, framework, mode, user, keys_file) as client:
        user.does = "pays"
        for name in tools_of(framework):
            user.asked.clear()
            # What the tool cannot return is not kept, so that the next call makes it again for the same payment.
            failed = await client.call_tool(name, {"unfit": True})
            assert failed.is_error, name
            result = await client.call_tool(name, {})
            assert (bool(result.is_error), result.structured_content) == (False, expected[name]), name
            assert "Forty-two." in str(result.content) or name == "pages"
            assert len(user.asked) == 1, name
            await user.answered()
        user.does = "declines"
        for name in tools_of(framework):
            declined = await client.call_tool(name, {})
            assert "The client did not open it: it declined." in text_of(declined), name


@pytest.mark.parametrize(("environment", "framework", "mode"), SERVERS)
async def test_what_fails_after_the_body_is_not_paid_again(
    callback: Callback, keys_file: Path, environment: str, framework: str, mode: str
) -> None:
    """The next call is given the result that was kept, and makes it again when that fails as well. A body that answers with
    an error has not done its work."""
    user = User(callback)
    async with client_of(environment, framework, mode, user, keys_file) as client:
        out = await client.call_tool("careless", {"how": "answers with an error"})
        assert (bool(out.is_error), text_of(out)) == (True, "It is out.")
        # Not every FastMCP sees that a result is not what its tool says.
        for how in ("raises",) if framework == "fastmcp" else ("raises", "returns what it cannot"):
            assert (await client.call_tool("careless", {"how": how})).is_error, how
        first = await client.call_tool("careless", {"how": "works"})
        runs = 2 if framework == "fastmcp" else 3
        assert text_of(first).endswith(f" in run {runs}.") and len(user.asked) == 1
        await user.answered()
        assert text_of(await client.call_tool("careless", {"how": "works"})).endswith(f" in run {runs + 1}.")
        assert len(user.asked) == 2


@pytest.mark.parametrize("framework", ["sdk", "fastmcp"])
async def test_a_result_that_is_given_again_is_typed(urlmode: UrlMode, callback: Callback, framework: str) -> None:
    user, runs = User(callback), 0
    begun, gate = asyncio.Event(), asyncio.Event()

    async def made(accepted: Any) -> typed_server.Report:
        nonlocal runs
        runs += 1
        begun.set()
        await gate.wait()
        return typed_server.REPORT

    async def buy(ctx: Any) -> typed_server.Report:
        wanted = {**resolver_server.options(urlmode), "subject": user.subject}
        adapter: Any = with_sdk if framework == "sdk" else with_fastmcp
        answer: typed_server.Report = await adapter.with_elicitation(ctx, made, **wanted)
        return answer

    buy.__annotations__.update({"ctx": Context[Any, Any] if framework == "sdk" else fastmcp.Context, "return": typed_server.Report})
    server: Any = MCPServer("shop") if framework == "sdk" else fastmcp.FastMCP("shop")
    server.tool()(buy)
    async with client_in_process(server, user) as client:
        cancelled = asyncio.ensure_future(client.call_tool("buy", {}))
        await begun.wait()
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        gate.set()
        result = await client.call_tool("buy", {})
    assert (bool(result.is_error), result.structured_content) == (False, {"report": "Forty-two.", "pages": 3})
    assert (runs, len(user.asked)) == (1, 1)
