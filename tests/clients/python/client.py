"""Calls tools with Python's official client, and prints the URLs that its user is asked to open, and what comes of it.

    TOKEN= TOOL=work ACTION=accept client.py URL REVISION

Without arguments it reads the calls, objects with "id", "url", "revision", "token", "tool" and "action", one a line,
and makes them side by side. What it prints of each has its id.
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
STDIN_LIMIT = 1 << 20


async def call(url: str, revision: str, token: str, tool: str, action: str, **more: object) -> None:
    asked = 0

    async def elicit(context, params):
        nonlocal asked
        asked += 1
        print(json.dumps({"url": params.url, **more}), flush=True)
        return ElicitResult(action=action)

    mode = "legacy" if revision == "2025-11-25" else revision
    try:
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT_S, follow_redirects=True
            ) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=elicit) as client,
        ):
            result = await client.call_tool(tool, {})
            said = {"text": "".join(each.text for each in result.content)}
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        said = {"error": getattr(error, "code", None) or type(error).__name__}
    print(json.dumps({**said, "asked": asked, **more}), flush=True)


async def serve() -> None:
    calls = asyncio.StreamReader(limit=STDIN_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(calls), sys.stdin)
    async with asyncio.TaskGroup() as tasks:
        async for line in calls:
            tasks.create_task(call(**json.loads(line)))


if len(sys.argv) > 1:
    variables = {name: os.environ.get(name.upper(), value) for name, value in
                 {"token": "none", "tool": "work", "action": "accept"}.items()}
    asyncio.run(call(sys.argv[1], sys.argv[2], **variables))
else:
    asyncio.run(serve())
