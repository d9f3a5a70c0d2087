"""Inputs and approvals: what their users answer, and how it is verified."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import Callback, OpenUrlMode, owner, until

from urlmode import InputForm, Problem, UrlMode, Verify

FORM: InputForm = {"title": "Your key", "fields": [{"name": "api_key", "type": "secret", "label": "API key"}]}
INPUT: dict[str, Any] = {"provider": "intake", "form": FORM}


def typed(key: str) -> dict[str, Any]:
    return {"values": {"api_key": key}}


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
    outcome = await wait
    assert outcome.values == {"api_key": "right"}
    assert "right" not in repr(outcome)
    assert [(one.elicitation_id, one.provider, one.values["api_key"]) for one in seen] == [
        (id, "intake", "wrong"), (id, "intake", "right"),
    ]  # fmt: skip
    assert "wrong" not in repr(seen)


async def test_an_error_of_verify_ends_its_wait_and_the_page_asks_again(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    id = elicitation.elicitation_id

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

    elicitation = await urlmode.create_input(**INPUT, **me, verify_timeout=30)
    wait = asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me, verify=verify))
    await callback.answer(elicitation.elicitation_id, me, typed("key"))
    await asyncio.wait_for(running.wait(), 30)
    await urlmode.aclose()
    await asyncio.wait({wait})
    assert wait.exception() is not None


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


async def test_an_approval_with_a_fresh_sign_in_says_when_and_how(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create_approval(provider="approvals", **me, form={"title": "Delete?"}, step_up=True)
    decision = {
        "approver": me["subject"], "decided_at": "2026-11-23T12:00:00.000Z", "signed_in_at": "2026-11-23T11:59:58.000Z",
        "signed_in_by": "pwd otp",
    }  # fmt: skip
    assert await callback.answer(elicitation.elicitation_id, me, decision) == "completed"
    outcome = await urlmode.wait_for_completion(elicitation.elicitation_id, **me)
    assert (outcome.signed_in_at, outcome.signed_in_by) == (datetime(2026, 11, 23, 11, 59, 58, tzinfo=timezone.utc), "pwd otp")
