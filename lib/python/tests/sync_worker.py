"""A program as Celery runs it: the module makes its UrlMode, the parent uses it, and forks workers, which use it at the same time.
A task has a time limit, which a signal tells. test_sync.py runs it."""

from __future__ import annotations

import os
import signal
import traceback
import uuid
import warnings

from urlmode import ElicitationTimeoutError, Expected, UrlModeClosedError
from urlmode.sync import UrlMode

urlmode = UrlMode(
    database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"], base_url="https://callback.example"
)
SUBJECT = f"user-{uuid.uuid4()}"


class TimeLimit(Exception):
    pass


def ask() -> str:
    return urlmode.create(
        provider="stripe", kind="payment", subject=SUBJECT, item=f"report:{os.getpid()}", expected=Expected(1050, "EUR"),
        target_url=lambda urls: f"https://checkout.example/{urls.elicitation_id}",
    ).elicitation_id  # fmt: skip


def limit(number: int, frame: object) -> None:
    raise TimeLimit


def task() -> None:
    id = ask()
    try:
        urlmode.wait(id, subject=SUBJECT, timeout=0)
        raise AssertionError
    except ElicitationTimeoutError as error:
        assert error.status == "pending"
    signal.signal(signal.SIGALRM, limit)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        urlmode.wait(id, subject=SUBJECT, timeout=None)
        raise AssertionError
    except TimeLimit:
        pass
    assert urlmode.complete(id, subject=SUBJECT, action="accept", amount=1050, currency="EUR", reference=f"pi_{id}")
    assert urlmode.wait(id, subject=SUBJECT).amount == 1050


def main() -> None:
    first = ask()
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: the parent has a thread, which the child does without
    workers = []
    for _ in range(3):
        if (pid := os.fork()) == 0:
            status = 1
            try:
                task()
                urlmode.close()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        workers.append(pid)
    assert urlmode.cancel(first, subject=SUBJECT), "the parent's connections are its own"
    for pid in workers:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert urlmode.wait(first, subject=SUBJECT).action == "cancel"
    urlmode.close()
    try:
        ask()
    except UrlModeClosedError:
        print("done")


if __name__ == "__main__":
    main()
