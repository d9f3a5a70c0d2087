"""What a process knows of its waits, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from typing import Any

import pytest
from conftest import ACCOUNT, ROOT, Callback, admin, owner, required, until

from urlmode import (
    ElicitationNotFoundError,
    ElicitationTimeoutError,
    UrlMode,
    UrlModeClosedError,
)

ENDS = ["accept", "decline", "cancel", "timeout", "aborted", "closed", "error"]


def now(urlmode: UrlMode, name: str) -> float:
    """The sample of this name, with its labels."""
    (value,) = re.findall(rf"^urlmode_server_{re.escape(name)} ([\d.]+)$", urlmode.metrics(), re.MULTILINE)
    return float(value)


def ended(urlmode: UrlMode) -> list[float]:
    return [now(urlmode, f'waits_ended_total{{end="{end}"}}') for end in ENDS]


async def test_waits_the_age_of_the_oldest_and_how_they_have_ended(urlmode: UrlMode, callback: Callback) -> None:
    assert (now(urlmode, "waits"), now(urlmode, "oldest_wait_age_seconds"), ended(urlmode)) == (0, 0, [0] * 7)
    me = owner()
    ids = [(await urlmode.create(**ACCOUNT, **me)).elicitation_id for _ in range(5)]
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(urlmode.wait_for_completion(id, **me, timeout=0.2 if n == 2 else 300)) for n, id in enumerate(ids)
    ]
    accepted, declined, late, aborted, closed = tasks
    await until("all wait", lambda: urlmode.open_waits == 5)
    assert now(urlmode, "waits") == 5
    with pytest.raises(ElicitationTimeoutError):
        await late
    await until("notifications arrive", lambda: now(urlmode, "notifications_arrive") == 1)
    assert now(urlmode, "oldest_wait_age_seconds") >= 0.15
    await callback.come_back(ids[0], me, {"code": "c"})
    await callback.come_back(ids[1], me, {"error": "access_denied"}, action="decline", reason="access_denied")
    await asyncio.gather(accepted, declined)
    aborted.cancel()
    await asyncio.wait({aborted})
    with pytest.raises(ElicitationNotFoundError):
        await urlmode.wait_for_completion(ids[0], **owner())
    with pytest.raises(ElicitationTimeoutError):
        await urlmode.wait_for_completion(ids[4], **me, timeout=0)
    assert (now(urlmode, "waits"), ended(urlmode)) == (1, [1, 1, 0, 1, 1, 0, 1]), "a look is no wait"
    await urlmode.aclose()
    with pytest.raises(UrlModeClosedError):
        await closed
    assert (now(urlmode, "waits"), now(urlmode, "oldest_wait_age_seconds")) == (0, 0)
    assert ended(urlmode) == [1, 1, 0, 1, 1, 1, 1]


async def test_a_connection_that_is_lost_is_counted(urlmode: UrlMode) -> None:
    me = owner()
    id = (await urlmode.create(**ACCOUNT, **me)).elicitation_id
    wait = asyncio.create_task(urlmode.wait_for_completion(id, **me))
    await until("it listens", lambda: urlmode._listener.receives_notifications)
    assert now(urlmode, "connections_lost_total") == 0
    listening = urlmode._listener._connection
    assert listening is not None
    await admin("SELECT pg_terminate_backend(%s)", listening.backend_pid)
    await until("it was lost", lambda: now(urlmode, "connections_lost_total") >= 1)
    await until("it listens again", lambda: now(urlmode, "notifications_arrive") == 1)
    await urlmode.cancel(id, **me)
    await wait
    assert now(urlmode, 'waits_ended_total{end="cancel"}') == 1


async def test_the_text_is_that_of_the_node_package(urlmode: UrlMode) -> None:
    subprocess.run(["promtool", "check", "metrics"], input=urlmode.metrics(), text=True, check=True)
    options = {
        "databaseUrl": required("URLMODE_DATABASE_URL"), "keysFile": required("URLMODE_KEYS_FILE"),
        "baseUrl": "https://callback.example",
    }  # fmt: skip
    program = f"""
        import {{ UrlMode }} from {json.dumps((ROOT / "lib/node/src/index.js").as_uri())};
        const urlmode = new UrlMode({json.dumps(options)});
        process.stdout.write(urlmode.metrics());
        await urlmode.close();
    """
    done = subprocess.run(["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    assert urlmode.metrics().replace(" 0.000\n", " 0\n") == done.stdout.replace(" 0.000\n", " 0\n")
