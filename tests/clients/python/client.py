"""Calls the tool with Python's official client, and prints what comes of it."""

import asyncio
import json
import sys

from mcp.client import Client
from mcp_types import ElicitResult


async def main(url: str, mode: str) -> None:
    asked = 0

    async def elicit(context, params):
        nonlocal asked
        asked += 1
        return ElicitResult(action="accept")

    try:
        async with Client(url, mode=mode, elicitation_callback=elicit) as client:
            result = await client.call_tool("work", {})
            said = {"text": "".join(each.text for each in result.content)}
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        said = {"error": getattr(error, "code", None) or type(error).__name__}
    print(json.dumps({**said, "asked": asked}))


asyncio.run(main(sys.argv[1], "legacy" if sys.argv[2] == "2025-11-25" else sys.argv[2]))
