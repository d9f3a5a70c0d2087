# SPDX-License-Identifier: MIT
"""Does what the lines of its input say, with the package in PYTHONPATH, and answers each by a line: JSON, with the number of the line that it answers."""

import asyncio
import json
import os
import sys
from typing import Any

from urlmode import BegunClaim, Expected, UrlMode


async def create(urlmode: UrlMode, *, provider: str, kind: str, **asked: Any) -> dict[str, Any]:
    if kind == "payment":
        asked["expected"] = Expected(**asked["expected"])
    made = await urlmode.create(provider=provider, kind=kind, **asked)
    return {"elicitationId": made.elicitation_id, "url": made.url, "returnUrl": made.return_url}


async def wait(urlmode: UrlMode, *, id: str, **owner: Any) -> dict[str, Any]:
    outcome = await urlmode.wait_for_completion(id, timeout=None, **owner)
    return {"action": outcome.action, "result": outcome.result, "reference": outcome.reference, "amount": outcome.amount}


async def complete(urlmode: UrlMode, *, id: str, **answer: Any) -> bool:
    return await urlmode.complete(id, **answer)


async def deliver(urlmode: UrlMode, *, id: str, **owner: Any) -> list[Any]:
    claim = await urlmode.begin_claim(id, **owner)
    if not isinstance(claim, BegunClaim):
        return [claim.state]
    return [claim.state, await claim.fulfil({"made": id}), await claim.confirm()]


async def main() -> None:
    calls = {"create": create, "wait": wait, "complete": complete, "deliver": deliver}
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    of = os.environ
    async with UrlMode(database_url=of["URLMODE_DATABASE_URL"], keys_file=of["URLMODE_KEYS_FILE"], base_url=of["URLMODE_BASE_URL"]) as urlmode:

        async def answer(number: int, call: str, given: dict[str, Any]) -> None:
            try:
                said = {"value": await calls[call](urlmode, **given)}
            except Exception as error:
                said = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps({"number": number, **said}), flush=True)

        tasks = set()
        while line := await reader.readline():
            task = asyncio.create_task(answer(**json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


asyncio.run(main())
