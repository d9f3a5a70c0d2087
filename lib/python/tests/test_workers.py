"""The example of a server in several processes, as uvicorn and gunicorn run it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Callback, admin, owner
from mcp import Client
from mcp.types import ElicitResult

import urlmode

EXAMPLES = Path(__file__).parents[1] / "examples"


def commands() -> list[str]:
    """Those that the example has."""
    return re.findall(r"^    ((?:uvicorn|gunicorn) .*)$", (EXAMPLES / "workers.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.split()[0])
async def test_any_process_answers_any_call(command: str, callback: Callback, keys_file: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = ["--port", str(port)] if command.startswith("uvicorn") else ["--bind", f"127.0.0.1:{port}"]
    user = owner()["subject"]
    log = (tmp_path / "log").open("w+")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *command.replace("--workers 4", "--workers 3").split(), *address, cwd=EXAMPLES, stderr=log, env={
            **os.environ, "PYTHONPATH": str(Path(urlmode.__file__).parents[1]),
            "URLMODE_KEYS_FILE": str(keys_file), "URLMODE_BASE_URL": "https://callback.example", "APP_USER": user,
        },
    )  # fmt: skip
    said = ""
    try:
        while said.count("Application startup complete") < 3:
            await asyncio.sleep(0.1)
            assert process.returncode is None, said
            log.seek(0)
            said = log.read()

        async def pay(context: Any, params: Any) -> ElicitResult:
            statement = "SELECT id::text FROM urlmode.elicitation WHERE subject = %s AND status <> 'completed'"
            for (id,) in await admin(statement, user):
                await callback.paid(id)
            return ElicitResult(action="accept")

        processes = set()
        for _ in range(20):
            # Each call, and each of its rounds, is a connection of its own.
            async with Client(f"http://127.0.0.1:{port}/mcp", mode="2026-07-28", elicitation_callback=pay) as client:
                content: Any = (await client.call_tool("buy_report", {})).content[0]
            if (match := re.fullmatch(r"Process (\d+): paid with cs_.*\.", content.text)) is not None:
                processes.add(match[1])
            if len(processes) > 1:
                break
        assert len(processes) > 1
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in (0, -signal.SIGTERM)
    log.seek(0)
    said = log.read()
    log.close()
    assert said.count("Application shutdown complete") == 3 and "Traceback" not in said, said
