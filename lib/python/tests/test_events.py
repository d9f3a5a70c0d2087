"""What `on_event` is told, for an audit log, and OpenTelemetry."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, owner, until
from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN_CONTEXT, NonRecordingSpan

from urlmode import Event, Expected
from urlmode.otel import span_events

PAYMENT: dict[str, Any] = {
    "provider": "stripe", "kind": "payment", "item": "report:42", "expected": Expected(1050, "EUR"), "target_url": "https://c.example",
}  # fmt: skip


async def test_each_change_is_told_once(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    told: list[Event] = []

    async def tell(event: Event) -> None:
        if event.subject == me["subject"]:
            told.append(event)

    progress: list[str] = []
    me = owner()
    urlmode = open_urlmode(on_event=tell)
    elicitation = await urlmode.create(**ACCOUNT, **me, resume_key="a")
    assert (await urlmode.create(**ACCOUNT, **me, resume_key="a")).resumed
    waits = [asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me, on_progress=progress.append)) for _ in range(2)]
    await until("they listen", lambda: urlmode._listener.receives_notifications)
    await callback.open(elicitation.elicitation_id, me)
    await until("opened is told", lambda: len(progress) == 2)
    await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
    await asyncio.gather(*waits)
    await until("the end is told", lambda: len(told) == 3)
    assert [(event.type, event.kind, event.action) for event in told] == [
        ("created", "oauth", None), ("opened", "oauth", None), ("completed", "oauth", "accept"),
    ]  # fmt: skip
    assert {(event.elicitation_id, event.provider, event.session) for event in told} == {(elicitation.elicitation_id, "github", "s")}
    assert told[0].expires_at == elicitation.expires_at and "code" not in repr(told)

    told.clear()
    paid = await urlmode.create(**PAYMENT, **me)
    assert await urlmode.cancel(paid.elicitation_id, **me, reason="changed_my_mind")
    assert not await urlmode.cancel(paid.elicitation_id, **me)
    reference = await callback.paid(paid.elicitation_id)
    await until("late is told", lambda: told[-1].type == "late")
    await callback.event(paid.elicitation_id, "refunded", amount=1050, currency="EUR", reference=reference, refund=f"re_{reference}")
    await until("refunded is told", lambda: told[-1].type == "refunded")
    created, completed, late, refunded = told
    assert (created.type, completed.type, completed.reason) == ("created", "completed", "changed_my_mind")
    assert late.payment is not None and late.payment.reference == reference
    assert refunded.refund is not None and refunded.refund.amount == 1050


async def test_an_error_of_the_application_ends_no_call(open_urlmode: OpenUrlMode) -> None:
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context["exception"]))

    async def later(event: Event) -> None:
        raise LookupError

    def at_once(event: Event) -> None:
        raise ValueError

    for tell in (later, at_once):
        me, urlmode = owner(), open_urlmode(on_event=tell)
        elicitation = await urlmode.create(**ACCOUNT, **me)
        assert await urlmode.cancel(elicitation.elicitation_id, **me)
    await until("they are reported", lambda: len(reported) == 4)
    assert [type(error) for error in reported].count(LookupError) == 2


class Span(NonRecordingSpan):
    def __init__(self) -> None:
        super().__init__(INVALID_SPAN_CONTEXT)
        self.events: list[tuple[str, Any]] = []

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        self.events.append((name, attributes))


async def test_a_call_has_its_events_in_its_span(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    urlmode, me = open_urlmode(on_event=span_events()), owner()
    first, second = Span(), Span()
    with trace.use_span(first):
        elicitation = await urlmode.create(**ACCOUNT, **me)
    with trace.use_span(second):
        waiting = asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me))
    await callback.open(elicitation.elicitation_id, me)
    await until("it is told", lambda: len(second.events) == 1)
    await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
    await waiting
    assert [name for name, _ in first.events] == ["urlmode.created"]
    assert [name for name, _ in second.events] == ["urlmode.opened", "urlmode.completed"]
    assert second.events[1][1] == {
        "urlmode.elicitation_id": elicitation.elicitation_id, "urlmode.provider": "github", "urlmode.kind": "oauth", "urlmode.action": "accept",
    }  # fmt: skip
    assert me["subject"] not in repr(first.events + second.events)


def test_without_it_nothing_of_opentelemetry_is_imported() -> None:
    """The SDK of MCP may import it."""
    program = "import sys, urlmode, urlmode.sync, urlmode.testing, urlmode.vault; print([name for name in sys.modules if 'opentelemetry' in name or 'otel' in name])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("on_event", [5, "a"])
def test_what_is_no_function(open_urlmode: OpenUrlMode, on_event: Any) -> None:
    with pytest.raises(TypeError, match="on_event must be a function"):
        open_urlmode(on_event=on_event)
