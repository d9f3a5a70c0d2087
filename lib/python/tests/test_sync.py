"""The façade without an event loop: in threads as Django has them, in forked workers as Celery has them, and for cron."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import required

import urlmode as package
from urlmode import Answer, ElicitationTimeoutError, Expected, Recheck, TargetArguments, UrlModeClosedError, sync

PAYMENT: dict[str, Any] = {"provider": "stripe", "kind": "payment", "expected": Expected(1050, "EUR")}
CHECKOUT = "https://checkout.example/"


@pytest.fixture
def opened(keys_file: Path) -> Iterator[sync.UrlMode]:
    with sync.UrlMode(database_url=required("URLMODE_DATABASE_URL"), keys_file=keys_file, base_url="https://callback.example") as urlmode:
        yield urlmode
    assert [each.name for each in threading.enumerate() if each.name == "urlmode"] == []


def pay(urlmode: sync.UrlMode, subject: str, item: str) -> tuple[str, str]:
    id = urlmode.create(**PAYMENT, subject=subject, item=item, target_url=CHECKOUT).elicitation_id
    urlmode.complete(id, subject=subject, action="accept", amount=1050, currency="EUR", reference=f"pi_{id}")
    return id, f"pi_{id}"


def test_a_request_of_django_creates_and_another_one_waits(opened: sync.UrlMode) -> None:
    """Each request has a thread, and functions of the application may block."""
    subject, threads = f"user-{uuid.uuid4()}", set()

    def target(urls: TargetArguments) -> str:
        threads.add(threading.current_thread())
        time.sleep(0.01)
        return CHECKOUT + urls.elicitation_id

    def request(n: int) -> str:
        id = opened.create(**PAYMENT, subject=f"{subject}-{n}", item="report:42", target_url=target).elicitation_id
        with pytest.raises(ElicitationTimeoutError):
            opened.wait(id, subject=f"{subject}-{n}", timeout=0.01)
        threading.Timer(0.05, lambda: opened.cancel(id, subject=f"{subject}-{n}")).start()
        return opened.wait(id, subject=f"{subject}-{n}").action

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(request, range(16))) == 16 * ["cancel"]
    assert threads and all(each.name != "urlmode" for each in threads)


def test_cron_settles_what_nobody_has_claimed_and_reads_the_ledger(opened: sync.UrlMode) -> None:
    subject = f"user-{uuid.uuid4()}"
    paid = [pay(opened, subject, f"report:{n}") for n in range(3)]
    mine = [payment for payment in opened.unclaimed() if payment.subject == subject]
    assert [each.reference for each in mine] == [reference for _, reference in paid]
    for payment in mine[:2]:
        claim = opened.begin_claim(payment.elicitation_id, subject=subject, reference=payment.reference)
        assert isinstance(claim, sync.BegunClaim) and not claim.lost and not claim.refunded
        assert isinstance(opened.begin_claim(payment.elicitation_id, subject=subject), sync.LeasedClaim)
        with claim:
            if payment is mine[0]:
                claim.end("delivered")
            else:
                assert claim.fulfil({"report": "Forty-two."})
    again = opened.begin_claim(mine[1].elicitation_id, subject=subject)
    assert isinstance(again, sync.FulfilledClaim) and again.result == {"report": "Forty-two."} and again.confirm()
    with pytest.raises(LookupError):
        claim = opened.begin_claim(mine[2].elicitation_id, subject=subject)
        assert isinstance(claim, sync.BegunClaim)
        with claim:
            raise LookupError
    assert opened.claim(mine[2].elicitation_id, subject=subject)
    assert not [each for each in opened.unclaimed() if each.subject == subject]
    assert opened.paid(subject=subject, item="report:1")

    entries = [entry.type for entry in opened.ledger(consumer=f"cron-{uuid.uuid4().hex[:8]}", timeout=2) if entry.subject == subject]
    assert entries.count("paid") == 3 and entries.count("claimed") == 3
    for entry in opened.ledger(consumer="cron-that-breaks-off"):
        break
    assert opened.purge(kind="oauth") >= 0
    assert opened.ticket(subject=subject).value and "urlmode" in opened.metrics()


def test_a_recheck_may_block(opened: sync.UrlMode) -> None:
    subject = f"user-{uuid.uuid4()}"
    id, _ = pay(opened, subject, "report:42")

    def recheck(asked: Recheck) -> Answer | None:
        time.sleep(0.01)
        assert opened.paid(subject=subject, item="report:42")  # also a call of its own
        return None

    assert opened.claim(id, subject=subject, recheck=recheck)


def test_it_is_refused_inside_a_running_loop(opened: sync.UrlMode) -> None:
    async def main() -> None:
        for use in (lambda: opened.unclaimed(), lambda: opened.wait("a", subject="a"), lambda: next(iter(opened.ledger(consumer="a"))), opened.close):
            with pytest.raises(RuntimeError, match="urlmode.sync would block the event loop that runs here"):
                use()

    asyncio.run(main())


def test_it_has_what_the_other_one_has(keys_file: Path) -> None:
    others = {"wait_for_completion": "wait", "aclose": "close"}
    there = {name for name, _ in inspect.getmembers(package.UrlMode) if not name.startswith("_")}
    here = {name for name, _ in inspect.getmembers(sync.UrlMode) if not name.startswith("_")}
    assert {others.get(name, name) for name in there} - here == {"open_waits"}  # metrics() has it
    asked = {name for name in inspect.signature(package.UrlMode).parameters}
    assert asked - {"pool"} == {*sync.Options.__required_keys__, *sync.Options.__optional_keys__}
    with pytest.raises(TypeError, match="urlmode.sync has connections of its own: pass database_url"):
        sync.UrlMode(base_url="https://callback.example", pool=object())  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="base_url must be https"):
        sync.UrlMode(base_url="http://callback.example", database_url="postgresql://h/d", keys_file=str(keys_file))
    closed = sync.UrlMode(base_url="https://callback.example", database_url="postgresql://h/d", keys_file=str(keys_file))
    closed.close()
    with pytest.raises(UrlModeClosedError):
        closed.unclaimed()


def test_forked_workers_have_connections_of_their_own(keys_file: Path) -> None:
    program = Path(__file__).parent / "sync_worker.py"
    done = subprocess.run([sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=300, env={
        **os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "URLMODE_KEYS_FILE": str(keys_file),
    })  # fmt: skip
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
