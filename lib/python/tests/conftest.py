"""The real PostgreSQL of the tests, and what other programs do to its rows."""

from __future__ import annotations

import asyncio
import json
import base64
import os
import secrets
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import psycopg
import pytest

from urlmode import UrlMode
from urlmode._core.contract_seals import EVENT_OUTCOME_INFO, EVENT_RESULT_INFO, FORM_INFO, OUTCOME_INFO, PROBLEM_INFO, RESULT_INFO
from urlmode._core.keys import KeysFile
from urlmode._core.seal import seal, to_json, unseal
from urlmode._core.token import binding_of, browser_of

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
VECTORS = ROOT / "tests/vectors"


def required(name: str) -> str:
    if not (value := os.environ.get(name)):
        pytest.fail(f"{name} is not set: source the `env` of a stack that tests/stack/up has started")
    return value


TOO_DEEP = b'{"a":%s%s}' % (30_000 * b"[", 30_000 * b"]")
"""JSON that other languages read, but not Python's json."""


class Owner(TypedDict):
    subject: str
    session: str


def owner() -> Owner:
    return {"subject": f"user-{uuid.uuid4()}", "session": "s"}


ACCOUNT: dict[str, Any] = {
    "provider": "github",
    "kind": "oauth",
    "target_url": "https://provider.example/authorize?client_id=a",
}


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    file.write_text(f"1 {base64.b64encode(secrets.token_bytes(32)).decode()}\n")
    file.chmod(0o600)
    return file


class Callback:
    """Completes rows as the callback programs do."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], keys_file: Path) -> None:
        self.connection = connection
        self.keys = KeysFile(str(keys_file))

    async def one(self, statement: str, values: list[Any]) -> Any:
        while True:
            try:
                cursor = await self.connection.execute(statement.encode(), values)
                row = await cursor.fetchone()
                return row and row[0]
            except psycopg.errors.LockNotAvailable:
                pass  # The programs try again, too.

    async def open(self, id: str, owner: Owner, provider: str = "github") -> str:
        binding = binding_of(owner["subject"], owner["session"])
        statement = "SELECT outcome FROM urlmode.open(%s::uuid[], %s::bytea[], %s::text[], %s::bytea[])"
        outcome: str = await self.one(statement, [[id], [binding], [provider], [browser_of("c")]])
        return outcome

    async def come_back(
        self, id: str, owner: Owner, result: dict[str, Any] | bytes, *, action: str = "accept", reason: str = "",
        announce: bool = True,
    ) -> str:
        """A result in bytes is its JSON, which is not announced."""
        binding = binding_of(owner["subject"], owner["session"])
        announce = announce and not isinstance(result, bytes)
        sealed = seal(self.keys, RESULT_INFO, id, binding, result if isinstance(result, bytes) else to_json(result))
        members = {"action": action, "reason": reason, "result": result}
        outcome = seal(self.keys, OUTCOME_INFO, id, binding, to_json(members)) if announce else None
        statement = """SELECT outcome FROM urlmode.complete(%s::uuid[], %s::bytea[], %s::text[], %s::text[], %s::text[],
            %s::bytea[], NULL, %s::bytea[])"""
        done: str = await self.one(statement, [[id], [binding], ["github"], [action], [reason], [sealed], [outcome]])
        return done

    async def answer(
        self, id: str, owner: Owner, result: dict[str, Any] | None = None, *, user: str | None = None,
        action: str = "accept", reason: str = "",
    ) -> str:
        """Answers a form as its page does; `user` is somebody else than the subject."""
        binding = binding_of(owner["subject"], owner["session"])
        is_input = action == "decline" if result is None else "values" in result
        kind, provider = ("input", "intake") if is_input else ("approval", "approvals")
        sealed = None if result is None else seal(self.keys, RESULT_INFO, id, binding, to_json(result))
        outcome = None
        if sealed is not None:
            outcome = seal(self.keys, OUTCOME_INFO, id, binding, to_json({"action": action, "reason": reason, "result": result}))
        statement = """SELECT outcome FROM urlmode.answer_form(%s::uuid[], %s::bytea[], %s::text[], %s::text[],
            %s::bytea[], %s::text[], %s::boolean[], %s::text[], %s::text[], %s::bytea[], %s::bytea[], %s::bytea[])"""
        values = [
            id, binding, provider, kind, browser_of("c"), user or owner["subject"], True, action, reason, sealed, outcome,
            None,
        ]  # fmt: skip
        said: str = await self.one(statement, [[value] for value in values])
        return said

    async def shown(self, id: str, owner: Owner) -> tuple[Any, Any]:
        """The form and the problem that the page of an input shows."""
        binding = binding_of(owner["subject"], owner["session"])
        statement = """SELECT form, problem FROM urlmode.look_up_form(%s::uuid[], %s::bytea[], %s::text[], %s::text[],
            %s::text[], %s::boolean[])"""
        values = [[id], [binding], ["intake"], ["input"], [owner["subject"]], [False]]
        row = await (await self.connection.execute(statement.encode(), values)).fetchone()
        form, problem = row or (None, None)
        opened = form and unseal(self.keys, FORM_INFO, id, binding, form)
        return opened, problem and unseal(self.keys, PROBLEM_INFO, id, binding, problem)

    async def event(
        self, id: str, effect: str, *, amount: int | None = None, currency: str | None = None,
        reference: str | None = None, refund: str | None = None, provider: str = "stripe", text: bytes | None = None,
        details: dict[str, Any] | None = None,
    ) -> str:
        """`text`: the JSON of its result."""
        result = {"event": str(uuid.uuid4()), "type": effect, "reference": reference, "amount": amount}
        sealed = seal(self.keys, EVENT_RESULT_INFO, id, bytes(16), text or to_json(result))
        members = {"action": "accept", "reason": "", "reference": reference, "result": result}
        outcome = seal(self.keys, EVENT_OUTCOME_INFO, id, bytes(16), to_json(members)) if effect == "paid" else None
        statement = """SELECT outcome FROM urlmode.receive_events(%s::uuid[], %s::text[], %s::text[], %s::text[],
            %s::text[], %s::bigint[], %s::text[], %s::text[], %s::bytea[], %s::bytea[], %s::text[], details => %s::jsonb[])"""
        said_more = None if details is None else json.dumps(details)
        values = [id, provider, str(uuid.uuid4()), effect, effect, amount, currency, reference, sealed, outcome, refund, said_more]
        said: str = await self.one(statement, [[value] for value in values])
        return said

    async def paid(self, id: str, amount: int = 1050, currency: str = "EUR", reference: str | None = None) -> str:
        """The reference of the payment."""
        reference = reference or f"cs_{uuid.uuid4()}"
        await self.event(id, "paid", amount=amount, currency=currency, reference=reference)
        return reference


@pytest.fixture
async def callback(keys_file: Path) -> AsyncIterator[Callback]:
    url = required("URLMODE_PROGRAMS_DATABASE_URL")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        yield Callback(connection, keys_file)


OpenUrlMode = Callable[..., UrlMode]


@pytest.fixture
async def open_urlmode(keys_file: Path) -> AsyncIterator[OpenUrlMode]:
    """Makes instances that are closed after the test, which must leave no task behind."""
    opened: list[UrlMode] = []

    def open_one(**options: Any) -> UrlMode:
        settings: dict[str, Any] = {
            "database_url": required("URLMODE_DATABASE_URL"),
            "keys_file": keys_file,
            "base_url": "https://callback.example",
            **options,
        }
        if "keys" in options:
            del settings["keys_file"]
        if "pool" in options:
            del settings["database_url"]
        opened.append(UrlMode(**settings))
        return opened[-1]

    yield open_one
    for urlmode in opened:
        await urlmode.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture
def urlmode(open_urlmode: OpenUrlMode) -> UrlMode:
    return open_urlmode()


async def admin(statement: str, *values: Any) -> list[Any]:
    url = required("URLMODE_ADMIN_DATABASE_URL")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchall()


async def kept_trace(elicitation_id: str) -> Any:
    """What the operator sees of the row."""
    rows = await admin("SELECT traceparent FROM urlmode.elicitation WHERE id = %s", elicitation_id)
    return rows[0][0] if rows else None


async def until(what: str, condition: Callable[[], bool], seconds: float = 30) -> None:
    loop = asyncio.get_running_loop()
    give_up = loop.time() + seconds
    while not condition():
        assert loop.time() < give_up, f"{what} did not happen"
        await asyncio.sleep(0.01)
