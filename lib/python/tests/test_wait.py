"""Creating an elicitation, and waiting for it."""

from __future__ import annotations

import asyncio
import json
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from conftest import ACCOUNT, TOO_DEEP, Callback, OpenUrlMode, kept_trace, owner, required, until

from urlmode import (
    Elicitation,
    ElicitationExistsError,
    ElicitationSealError,
    ElicitationTimeoutError,
    Expected,
    Outcome,
    Recheck,
    UrlMode,
)
from urlmode._core.keys import KeysFile
from urlmode._core.outcome import to_outcome
from urlmode._core.token import open_link, open_state


async def waiting(urlmode: UrlMode, id: str, **options: Any) -> asyncio.Task[Any]:
    """A wait that has read its row."""
    task = asyncio.create_task(urlmode.wait_for_completion(id, **options))
    entries = urlmode._waits._entries
    await until("the row is read", lambda: task.done() or (id in entries and entries[id][0].kind is not None))
    await until("notifications arrive", lambda: task.done() or urlmode._listener.receives_notifications)
    return task


def count_reads(urlmode: UrlMode) -> list[str]:
    reads: list[str] = []
    query = urlmode._listener.query

    async def counting(statement: str, values: Any, _reads: bool = False) -> Any:
        reads.append(statement)
        return await query(statement, values)

    urlmode._listener.query = counting  # type: ignore[method-assign]
    return reads


async def test_a_link_and_its_row(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    before = datetime.now(timezone.utc)
    elicitation = await urlmode.create(**ACCOUNT, **me, ttl=timedelta(minutes=10))
    assert not elicitation.resumed
    assert timedelta(minutes=9) < elicitation.expires_at - before < timedelta(minutes=11)
    parts = urlsplit(elicitation.url)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "callback.example", "/connect/github")
    (state,) = parse_qs(parts.query)["state"]
    assert open_link(callback.keys, "github", state) == (elicitation.elicitation_id, 1)
    assert elicitation.return_url == "https://callback.example/oauth/github/return"
    assert (elicitation.cancel_url, elicitation.webhook_url) == (None, None)


async def test_a_payment_knows_its_urls_and_the_price_of_its_provider(urlmode: UrlMode, callback: Callback) -> None:
    seen: list[Any] = []

    async def target(urls: Any) -> str:
        seen.append(urls)
        return "https://checkout.example/pay"

    me = owner()
    elicitation = await urlmode.create(
        provider="stripe", kind="payment", item="report:42", **me, target_url=target, expected=Expected(5, "isk")
    )
    assert seen[0].amount == 500
    assert (seen[0].elicitation_id, seen[0].return_url) == (elicitation.elicitation_id, elicitation.return_url)
    for purpose, url in {"return": elicitation.return_url, "cancel": elicitation.cancel_url, "webhook": elicitation.webhook_url}.items():
        (token,) = parse_qs(urlsplit(url or "").query)["state"]
        assert open_state(callback.keys, purpose, "stripe", token).id == elicitation.elicitation_id


@pytest.mark.parametrize("announce", [True, False])
async def test_an_outcome_with_its_verifier(urlmode: UrlMode, callback: Callback, announce: bool) -> None:
    me = owner()
    elicitation = await urlmode.create(**{**ACCOUNT, "target_url": "https://p.example/a?scope=openid+x"}, **me, pkce=True)
    wait = await waiting(urlmode, elicitation.elicitation_id, **me)
    assert await callback.open(elicitation.elicitation_id, me) == "opened"
    assert await callback.come_back(elicitation.elicitation_id, me, {"code": "ü"}, announce=announce) == "completed"
    outcome = await wait
    assert (outcome.action, outcome.reason, outcome.result, outcome.reference) == ("accept", "", {"code": "ü"}, None)
    assert len(outcome.code_verifier) == 43
    assert len(outcome.nonce) == 22
    assert "ü" not in repr(outcome) and outcome.code_verifier not in repr(outcome)
    again = await urlmode.wait_for_completion(elicitation.elicitation_id, **me)
    assert again == outcome


async def test_an_announced_outcome_saves_the_read(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)
    wait = await waiting(urlmode, elicitation.elicitation_id, **me)
    reads = count_reads(urlmode)
    await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
    assert (await wait).result == {"code": "c"}
    assert reads == []


async def test_a_notification_during_the_first_read_is_not_lost(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    first = await waiting(urlmode, (await urlmode.create(**ACCOUNT, **me)).elicitation_id, **me)  # The connection listens.
    elicitation = await urlmode.create(**ACCOUNT, **me)
    announced: list[str] = []
    urlmode._listener.on_notified.append(
        lambda all: announced.extend(each["status"] for each in all if each["id"] == elicitation.elicitation_id)
    )
    await callback.open(elicitation.elicitation_id, me)
    await until("it is announced", lambda: announced == ["opened"])
    query = urlmode._listener.query

    async def complete_after_reading(statement: str, values: Any, _reads: bool = False) -> Any:
        urlmode._listener.query = query  # type: ignore[method-assign]
        rows = await query(statement, values)
        await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
        await until("it is announced", lambda: announced == ["opened", "completed"])
        return rows

    urlmode._listener.query = complete_after_reading  # type: ignore[method-assign]
    # Without it, the routine read would find the outcome later.
    outcome = await urlmode.wait_for_completion(elicitation.elicitation_id, **me, timeout=15)
    assert outcome.result == {"code": "c"}
    first.cancel()


async def test_a_notification_is_only_a_reason_to_read(urlmode: UrlMode, callback: Callback) -> None:
    me, stranger = owner(), owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)
    other = await urlmode.create(**ACCOUNT, **stranger)
    wait = await waiting(urlmode, elicitation.elicitation_id, **me)
    reads = count_reads(urlmode)
    url = required("URLMODE_PROGRAMS_DATABASE_URL")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        sealed: list[str] = []
        await connection.execute("LISTEN urlmode")
        await callback.come_back(other.elicitation_id, stranger, {"code": "of a stranger"})
        async for notify in connection.notifies(stop_after=1, timeout=10):
            sealed.append(json.loads(notify.payload)["outcome"])
        for payload in [
            {"id": elicitation.elicitation_id, "status": "completed", "outcome": sealed[0]},
            {"id": elicitation.elicitation_id, "status": "completed"}, {"id": elicitation.elicitation_id, "outcome": 5},
        ]:  # fmt: skip
            reads.clear()
            await connection.execute("SELECT pg_notify('urlmode', %s)", [json.dumps(payload)])
            await until("the row is read", lambda: len(reads) > 0)
        for text in ["[1]", '"x"', "{}", "{", '{"id": 5}']:
            await connection.execute("SELECT pg_notify('urlmode', %s)", [text])
    with pytest.raises(ElicitationTimeoutError):
        await urlmode.wait_for_completion(elicitation.elicitation_id, **me, timeout=0)
    assert not wait.done()
    await callback.come_back(elicitation.elicitation_id, me, {"code": "mine"})
    assert (await wait).result == {"code": "mine"}


async def test_what_a_wait_calls_has_the_context_variables_of_its_call(urlmode: UrlMode, callback: Callback) -> None:
    """Frameworks keep the request of a call in a context variable, and send progress to its client by it."""
    request = ContextVar("request", default="nobody's")
    heard: dict[str, list[str]] = {}
    asked = {}
    waits = []
    for name in ("first", "second", "third"):
        me = owner()
        heard[name] = []
        asked[name] = (await urlmode.create(
            provider="stripe", kind="payment", item="report:42", **me, target_url="https://c.example", expected=Expected(1050, "EUR")
        )).elicitation_id, me  # fmt: skip

        async def progress(_: str, heard: list[str] = heard[name]) -> None:
            heard.append(request.get())

        def recheck(_: Recheck, heard: list[str] = heard[name]) -> None:
            heard.append(request.get())

        request.set(name)
        waits.append(await waiting(urlmode, asked[name][0], **me, on_progress=progress, recheck=recheck))
    request.set("another")
    for name, (id, me) in asked.items():
        await callback.open(id, me, "stripe")
        await until("it is opened", lambda heard=heard[name]: len(heard) == 1)  # type: ignore[misc]
        await callback.event(id, "recheck", reference=f"cs_{id}")
        await until("it is rechecked", lambda heard=heard[name]: len(heard) == 2)  # type: ignore[misc]
    assert heard == {name: [name, name] for name in asked}
    for wait in waits:
        wait.cancel()


async def test_a_listener_of_progress_that_fails_ends_its_wait(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)

    async def fails(progress: str) -> None:
        raise LookupError(progress)

    def fails_at_once(progress: str) -> None:
        raise LookupError(progress)

    waits = [await waiting(urlmode, elicitation.elicitation_id, **me, on_progress=on) for on in (fails, fails_at_once)]
    await callback.open(elicitation.elicitation_id, me)
    for wait in waits:
        with pytest.raises(LookupError, match="opened"):
            await wait
    assert urlmode.open_waits == 0


async def test_timeouts(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)
    with pytest.raises(ElicitationTimeoutError) as once:
        await urlmode.wait_for_completion(elicitation.elicitation_id, **me, timeout=0)
    assert once.value.status == "pending"
    await callback.open(elicitation.elicitation_id, me)
    with pytest.raises(TimeoutError) as later:
        await urlmode.wait_for_completion(elicitation.elicitation_id, **me, timeout=timedelta(milliseconds=300))
    assert isinstance(later.value, ElicitationTimeoutError)
    assert later.value.status == "opened"
    assert later.value.code == "ELICITATION_TIMEOUT"


async def test_cancelling_the_task_ends_the_wait_and_nothing_else(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)
    wait = await waiting(urlmode, elicitation.elicitation_id, **me, timeout=None)
    assert urlmode.open_waits == 1
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    assert urlmode.open_waits == 0
    assert await callback.open(elicitation.elicitation_id, me) == "opened"


async def test_what_is_opened_after_the_last_read_of_a_wait_is_not_abandoned(urlmode: UrlMode, callback: Callback) -> None:
    elicitation = await urlmode.create(**ACCOUNT, **(me := owner()))
    abandon = urlmode._database.abandon

    async def abandon_too_late(row: Any) -> Any:
        assert await callback.open(elicitation.elicitation_id, me) == "opened"
        return await abandon(row)

    urlmode._database.abandon = abandon_too_late  # type: ignore[method-assign]
    with pytest.raises(ElicitationTimeoutError) as error:
        await urlmode.wait_for_completion(elicitation.elicitation_id, **me, abandon=True, timeout=1)
    assert error.value.status == "opened"


@pytest.mark.parametrize("announced", [True, False])
async def test_one_bad_row_fails_alone(
    urlmode: UrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    """One result that cannot be read, and one error that nobody expects, of those that one read returns."""
    me = owner()
    ids = [(await urlmode.create(**ACCOUNT, **me)).elicitation_id for _ in range(4)]
    waits = [await waiting(urlmode, id, **me) for id in ids] if announced else []

    def fails_once(keys: Any, row: Any, binding: bytes, **more: Any) -> Any:
        if row.id == ids[1]:
            raise LookupError("a mistake of ours")
        return to_outcome(keys, row, binding, **more)

    monkeypatch.setattr("urlmode._core.waits.to_outcome", fails_once)
    for id in ids:
        await callback.come_back(id, me, TOO_DEEP if id == ids[0] else {"code": id})
    waits = waits or [asyncio.create_task(urlmode.wait_for_completion(id, **me)) for id in ids]
    ended = await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), 20)
    assert [str(each) for each in ended[:2]] == [
        str(ElicitationSealError(ids[0], "it is nested too deeply")), "a mistake of ours",
    ]  # fmt: skip
    assert [each.result for each in ended[2:] if isinstance(each, Outcome)] == [{"code": id} for id in ids[2:]]


async def test_a_result_that_is_nested_too_deeply_is_refused(urlmode: UrlMode) -> None:
    me = owner()
    id = (await urlmode.create(**ACCOUNT, **me)).elicitation_id
    deep: Any = []
    for _ in range(30_000):
        deep = [deep]
    with pytest.raises(ValueError, match="result is nested too deeply"):
        await urlmode.complete(id, **me, action="accept", result={"a": deep})
    with pytest.raises(ValueError, match="about is nested too deeply"):
        await urlmode.create(**ACCOUNT, **me, about={"a": deep})
    assert await urlmode.cancel(id, **me)


async def test_many_of_one_owner_at_once(urlmode: UrlMode) -> None:
    me = owner()
    asked = await asyncio.gather(*(urlmode.create(**ACCOUNT, **me) for _ in range(100)))
    assert len({each.elicitation_id for each in asked}) == 100


async def test_one_bad_create_fails_alone(urlmode: UrlMode) -> None:
    me = owner()
    first = await urlmode.create(**ACCOUNT, **me)
    ids = [None] * 20 + [first.elicitation_id.upper()] + [None] * 20
    made = await asyncio.gather(*(urlmode.create(**ACCOUNT, **me, id=id) for id in ids), return_exceptions=True)
    assert [n for n, each in enumerate(made) if isinstance(each, ElicitationExistsError)] == [20]
    assert sum(isinstance(each, Elicitation) for each in made) == 40


async def test_the_trace_of_a_call_is_kept(urlmode: UrlMode) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert await kept_trace((await urlmode.create(**ACCOUNT, **owner(), traceparent=trace)).elicitation_id) == trace
    assert await kept_trace((await urlmode.create(**ACCOUNT, **owner())).elicitation_id) is None


async def test_a_key_that_was_added_seals_at_once(open_urlmode: OpenUrlMode, keys_file: Any, caplog: Any) -> None:
    urlmode = open_urlmode()
    me = owner()
    first = await urlmode.create(**ACCOUNT, **me, resume_key="a")
    text = keys_file.read_text()
    replaced = keys_file.with_name("new")
    replaced.touch(mode=0o600)
    replaced.write_text(f"2 {'B' * 43}\n{text}".replace("B" * 43, "B" * 42 + "A"))
    replaced.rename(keys_file)
    urlmode._keys._checked_at -= 2  # type: ignore[attr-defined]
    second = await urlmode.create(**ACCOUNT, **me)
    link = parse_qs(urlsplit(second.url).query)["state"][0]
    assert open_link(KeysFile(str(keys_file)), "github", link)[1] == 2
    again = await urlmode.create(**ACCOUNT, **me, resume_key="a")
    assert again.url == first.url, "the link stays the same while its key is in the file"

    keys_file.chmod(0o644)
    urlmode._keys._checked_at -= 2  # type: ignore[attr-defined]
    assert (await urlmode.create(**ACCOUNT, **me)).url
    assert [record.code for record in caplog.records] == ["URLMODE_KEYS_FILE"]
