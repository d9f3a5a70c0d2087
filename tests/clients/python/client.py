"""Calls a tool with Python's official client, and prints the URLs that its user is asked to open, and what comes of it.

    TOKEN= TOOL=work ACTION=accept client.py URL REVISION
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

TIMEOUT_S = 60


async def main(url: str, mode: str) -> None:
    asked = 0

    async def elicit(context, params):
        nonlocal asked
        asked += 1
        print(json.dumps({"url": params.url}), flush=True)
        return ElicitResult(action=os.environ.get("ACTION", "accept"))

    headers = {"Authorization": f"Bearer {os.environ.get('TOKEN', 'none')}"}
    try:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S, follow_redirects=True) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=elicit) as client,
        ):
            result = await client.call_tool(os.environ.get("TOOL", "work"), {})
            said = {"text": "".join(each.text for each in result.content)}
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        said = {"error": getattr(error, "code", None) or type(error).__name__}
    print(json.dumps({**said, "asked": asked}))


asyncio.run(main(sys.argv[1], "legacy" if sys.argv[2] == "2025-11-25" else sys.argv[2]))
