"""The events of a UrlMode in OpenTelemetry: `UrlMode(…, on_event=urlmode.otel.span_events())`. Requires opentelemetry-api.

What happens in a call is an event of its span, such as `urlmode.completed`. A late payment and a refund belong to no call, and are
spans of their own. None contains a subject, an address or a result.
"""

from __future__ import annotations

from ._core.types import Event, EventFunction

try:
    from opentelemetry import trace
except ModuleNotFoundError as error:
    raise ImportError("urlmode.otel needs opentelemetry-api") from error

__all__ = ["span_events"]


def span_events(tracer: trace.Tracer | None = None) -> EventFunction:
    """`tracer`: of the spans for what belongs to no call; by default that of the name urlmode."""
    own = trace.get_tracer("urlmode") if tracer is None else tracer

    def report(event: Event) -> None:
        said = {"elicitation_id": event.elicitation_id, "provider": event.provider, "kind": event.kind, "action": event.action, "reason": event.reason}
        attributes = {f"urlmode.{name}": value for name, value in said.items() if value}
        if event.type in ("late", "refunded"):
            own.start_span(f"urlmode.{event.type}", attributes=attributes).end()
        else:
            trace.get_current_span().add_event(f"urlmode.{event.type}", attributes)

    return report
