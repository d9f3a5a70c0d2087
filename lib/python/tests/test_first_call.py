"""What FastMCP loads when the first tool of a process is called, and what spares that: as ADAPTERS.md says."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, sys
import fastmcp
{first}
shop = fastmcp.FastMCP("shop")

@shop.tool
def look() -> str:
    return "It is open."

async def main() -> None:
    async with fastmcp.Client(shop) as client:
        await client.list_tools()
        before = set(sys.modules)
        await client.call_tool("look", {{}})
        print(len(set(sys.modules) - before))

asyncio.run(main())
"""
SPARES = "import key_value.aio.adapters.pydantic, key_value.aio.stores.memory"


@pytest.mark.parametrize(("first", "least", "most"), [("", 100, 1_000), (SPARES, 0, 10)])
def test_what_the_first_call_loads(first: str, least: int, most: int) -> None:
    loaded = int(subprocess.run([sys.executable, "-c", PROGRAM.format(first=first)], check=True, capture_output=True, text=True).stdout)
    assert least <= loaded <= most
