"""What FastMCP loads when the tools of a session are first listed or called, and what spares that: as ADAPTERS.md says."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, socket, sys
import fastmcp, uvicorn
from mcp import Client
{first}
shop = fastmcp.FastMCP("shop")

@shop.tool
def look() -> str:
    return "It is open."

async def main() -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(shop.http_app(), log_level="error"))
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    # That of FastMCP loads it by itself.
    async with Client(f"http://127.0.0.1:{{listening.getsockname()[1]}}/mcp", mode="legacy") as client:
        before = set(sys.modules)
        await client.call_tool("look", {{}})
        print(len([each for each in set(sys.modules) - before if each.startswith(("beartype", "key_value"))]))
    server.should_exit = True
    await serving

asyncio.run(main())
"""
SPARES = "import key_value.aio.adapters.pydantic, key_value.aio.stores.memory"


@pytest.mark.parametrize(("first", "least", "most"), [("", 300, 600), (SPARES, 0, 2)])
def test_what_the_first_call_loads(first: str, least: int, most: int) -> None:
    loaded = int(subprocess.run([sys.executable, "-c", PROGRAM.format(first=first)], check=True, capture_output=True, text=True).stdout)
    assert least <= loaded <= most
