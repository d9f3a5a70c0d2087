"""Inputs and approvals: what their users answer, and how it is verified."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import Callback, OpenUrlMode, owner, until

from urlmode import ElicitationTimeoutError, InputForm, Problem, UrlMode, Verify
from urlmode._core.errors import StateTokenError
from urlmode._core.token import open_link

FORM: InputForm = {"title": "Your key", "fields": [{"name": "api_key", "type": "secret", "label": "API key"}]}
INPUT: dict[str, Any] = {"provider": "intake", "form": FORM}
APPROVAL: dict[str, Any] = {"provider": "approvals", "form": {"title": "Delete?", "comment": "optional"}}
AT = "2026-11-23T12:00:00.000Z"


def typed(key: str) -> dict[str, Any]:
    return {"values": {"api_key": key}}


def decision(approver: str, comment: str | None = None) -> dict[str, Any]:
    return {"approver": approver, **({"comment": comment} if comment else {}), "decided_at": AT}


async def test_what_the_user_has_typed(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me)
    assert urlsplit(asked.url).path == "/connect/intake"
    assert await callback.shown(asked.elicitation_id, me) == (FORM, None)
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me, verify=lambda _: Problem("a", "b")))
    await until("it waits", lambda: urlmode._listener.receives_notifications)
    assert await callback.answer(asked.elicitation_id, me, typed("s3cret")) == "completed"
    outcome = await wait
    assert (outcome.action, outcome.reason, outcome.values) == ("accept", "", {"api_key": "s3cret"})
    assert "s3cret" not in repr(outcome)
    assert await urlmode.claim(asked.elicitation_id, **me)


async def test_the_user_declines_on_the_page(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me)
    await callback.answer(asked.elicitation_id, me, action="decline", reason="access_denied")
    outcome = await urlmode.wait_for_completion(asked.elicitation_id, **me)
    assert (outcome.action, outcome.reason, outcome.values) == ("decline", "access_denied", None)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_value_that_has_a_problem_is_asked_for_again(
    urlmode: UrlMode, callback: Callback, is_async: bool
) -> None:
    me = owner()
    seen: list[Verify] = []
    progress: list[str] = []
    problem = Problem("api_key", {"en": "Not known."})

    def check(asked: Verify) -> Problem | None:
        seen.append(asked)
        return problem if asked.values["api_key"] == "wrong" else None

    async def check_later(asked: Verify) -> Problem | None:
        await asyncio.sleep(0)
        return check(asked)

    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    id = asked.elicitation_id
    wait = asyncio.create_task(urlmode.wait_for_completion(
        id, **me, on_progress=progress.append, verify=check_later if is_async else check,
    ))  # fmt: skip
    assert await callback.answer(id, me, typed("wrong")) == "processing"
    await until("it is told", lambda: "attempt_failed" in progress)
    assert (await callback.shown(id, me))[1] == {"field": "api_key", "problem": {"en": "Not known."}}
    assert await callback.answer(id, me, typed("right")) == "processing"
    assert (await wait).values == {"api_key": "right"}
    assert [(one.elicitation_id, one.provider, one.values["api_key"]) for one in seen] == [
        (id, "intake", "wrong"), (id, "intake", "right"),
    ]  # fmt: skip
    assert "wrong" not in repr(seen)


async def test_the_fifth_problem_ends_it(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    progress: list[str] = []
    wait = asyncio.create_task(urlmode.wait_for_completion(
        asked.elicitation_id, **me, on_progress=progress.append, verify=lambda _: Problem("api_key", "No."),
    ))  # fmt: skip
    for count in range(1, 6):
        await callback.answer(asked.elicitation_id, me, typed("wrong"))
        await until("it is told", lambda: wait.done() or progress.count("attempt_failed") >= count)  # noqa: B023
    outcome = await wait
    assert (outcome.action, outcome.reason, outcome.values) == ("cancel", "refused_input", None)


async def test_one_instance_verifies_and_both_have_the_outcome(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    me = owner()
    one, other = open_urlmode(), open_urlmode()
    calls: list[int] = []
    asked = await one.create_input(**INPUT, **me, verify_timeout=30)

    async def verify(_: Verify) -> None:
        calls.append(1)
        await asyncio.sleep(0.1)

    waits = [asyncio.create_task(each.wait_for_completion(asked.elicitation_id, **me, verify=verify)) for each in (one, other)]
    await until("both wait", lambda: one._listener.receives_notifications and other._listener.receives_notifications)
    await callback.answer(asked.elicitation_id, me, typed("key"))
    assert [outcome.values for outcome in await asyncio.gather(*waits)] == [{"api_key": "key"}] * 2
    assert calls == [1]


async def test_what_was_typed_before_a_wait_began_is_verified_by_it(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    await callback.answer(asked.elicitation_id, me, typed("key"))
    with pytest.raises(ElicitationTimeoutError) as error:
        await urlmode.wait_for_completion(asked.elicitation_id, **me, timeout=0)
    assert error.value.status == "processing"
    outcome = await urlmode.wait_for_completion(asked.elicitation_id, **me, timeout=0, verify=lambda _: None)
    assert outcome.values == {"api_key": "key"}


async def test_an_error_of_verify_ends_its_wait_and_the_page_asks_again(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    id = asked.elicitation_id

    async def verify(_: Verify) -> None:
        raise LookupError("the service is away")

    async def cancelled(_: Verify) -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    wrongs: list[tuple[Any, type[Exception]]] = [
        (verify, LookupError), (lambda _: {"field": "a"}, TypeError), (lambda _: verify, TypeError), (cancelled, RuntimeError),
    ]  # fmt: skip
    for wrong, kind in wrongs:
        wait = asyncio.create_task(urlmode.wait_for_completion(id, **me, verify=wrong))
        assert await callback.answer(id, me, typed("key")) == "processing"
        with pytest.raises(kind):
            await asyncio.wait_for(wait, 20)
    assert await callback.answer(id, me, typed("key")) == "processing"
    assert (await urlmode.wait_for_completion(id, **me, verify=lambda _: None)).values == {"api_key": "key"}


async def test_verify_is_cancelled_at_its_time_limit(
    urlmode: UrlMode, callback: Callback, caplog: pytest.LogCaptureFixture
) -> None:
    me = owner()
    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=1)
    ended: list[str] = []

    async def verify(given: Verify) -> None:
        if given.values["api_key"] == "fast":
            return
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me, verify=verify))
    with caplog.at_level(logging.WARNING, "urlmode"):
        await callback.answer(asked.elicitation_id, me, typed("slow-s3cret"))
        await until("it is cancelled", lambda: ended == ["cancelled"])
        while (said := await callback.answer(asked.elicitation_id, me, typed("fast"))) != "processing":
            assert said in ("processing", "already")
    assert (await wait).values == {"api_key": "fast"}
    (record,) = [each for each in caplog.records if each.name == "urlmode"]
    assert getattr(record, "code", None) == "URLMODE_VERIFY"
    assert "s3cret" not in caplog.text


async def test_aclose_ends_a_verify_that_is_running(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    me = owner()
    urlmode = open_urlmode()
    running = asyncio.Event()

    async def verify(_: Verify) -> None:
        running.set()
        await asyncio.Event().wait()

    asked = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me, verify=verify))
    await callback.answer(asked.elicitation_id, me, typed("key"))
    await asyncio.wait_for(running.wait(), 30)
    await urlmode.aclose()
    await asyncio.wait({wait})
    assert wait.exception() is not None


async def test_an_approval_says_who_when_and_why(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_approval(**APPROVAL, **me)
    assert asked.url is not None and asked.approval_url is None
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me))
    assert await callback.answer(asked.elicitation_id, me, decision(me["subject"], "Go on")) == "completed"
    outcome = await wait
    assert (outcome.action, outcome.approver, outcome.comment) == ("accept", me["subject"], "Go on")
    assert outcome.decided_at == datetime(2026, 11, 23, 12, tzinfo=timezone.utc)


async def test_others_decide_with_a_link_of_their_own(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create_approval(**APPROVAL, **me, approver=["bob", "grace"], resume_key="a")
    assert asked.url is None and asked.approval_url is not None
    (state,) = parse_qs(urlsplit(asked.approval_url).query)["state"]
    assert open_link(callback.keys, "approvals", state, "approve")[0] == asked.elicitation_id
    with pytest.raises(StateTokenError):
        open_link(callback.keys, "approvals", state)
    again = await urlmode.create_approval(**APPROVAL, **me, approver=["bob", "grace"], resume_key="a")
    assert (again.resumed, again.approval_url) == (True, asked.approval_url)
    other = await urlmode.create_approval(**APPROVAL, **me, approver="others", resume_key="a")
    assert other.elicitation_id != asked.elicitation_id
    id = asked.elicitation_id
    assert await callback.answer(id, me, decision(me["subject"])) == "wrong_user"
    assert await callback.answer(id, me, decision("eve"), user="eve") == "wrong_user"
    said = {"user": "grace", "action": "decline", "reason": "declined"}
    assert await callback.answer(id, me, decision("grace", "Too dear"), **said) == "completed"
    outcome = await urlmode.wait_for_completion(id, **me)
    assert (outcome.action, outcome.reason, outcome.approver, outcome.comment) == ("decline", "declined", "grace", "Too dear")
    assert await callback.answer(other.elicitation_id, me, decision(me["subject"])) == "own_request"


async def test_only_its_approver_accepts_an_approval(urlmode: UrlMode) -> None:
    me = owner()
    asked = await urlmode.create_approval(**APPROVAL, **me)
    with pytest.raises(TypeError, match="an approval is accepted by its approver alone"):
        await urlmode.complete(asked.elicitation_id, **me, action="accept")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"form": {"title": "T", "fields": []}}, "form/fields must have 1 to 16 elements"),
        ({"form": None}, "form must be an object"), ({"verify_timeout": 0.5}, "verify_timeout must be from 1 to 120"),
        ({"verify_timeout": True}, "verify_timeout must be a number"), ({"subject": ""}, "subject must have"),
    ],
)  # fmt: skip
async def test_a_mistake_is_named(urlmode: UrlMode, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        await urlmode.create_input(**{**INPUT, **owner(), **given})


async def test_create_is_for_pages_of_the_provider(urlmode: UrlMode) -> None:
    kind: Any = "input"
    with pytest.raises(ValueError, match="kind must be one of oauth, payment, signature"):
        await urlmode.create(provider="intake", kind=kind, **owner(), target_url="https://a.example")
