"""What `require_paid` of the adapters does: it runs the body for users with a subscription, and asks the others for one.

A subscription is not claimed by a call: it entitles each call until it ends. Its first payment is claimed by its
entitlement, so that a call that has waited for it finds it taken, and looks at the entitlement again.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from typing import Union

from .._core import contract_texts as texts
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim
from .._core.errors import ElicitationSubscribedError
from .._core.money_types import Entitlement, is_over
from .._core.types import Outcome
from .._core.urlmode import UrlMode
from .adapter import run
from .call import Call, ToolRequest
from .messages import ToolResult, failure_result, manage_result

ManageUrl = Callable[[Entitlement], Union[str, None, Awaitable[Union[str, None]]]]
"""The page where the user manages the subscription, or None."""


@dataclass(frozen=True, kw_only=True)
class Subscribed(Entitlement):
    """What the body of `require_paid` is given."""

    manage_url: Callable[[], Awaitable[Union[str, None]]] = field(repr=False)
    """asks for the page where this user changes or cancels the subscription"""


async def require_paid(
    call: Call, tool_request: ToolRequest, body: Callable[[Subscribed], Awaitable[ToolResult]],
    manage_url: ManageUrl | None,
) -> ToolResult:  # fmt: skip
    urlmode, subject, item = tool_request.urlmode, tool_request.subject, tool_request.item

    async def settle(entitlement: Entitlement) -> ToolResult:
        async def page() -> str | None:
            made = None if manage_url is None else manage_url(entitlement)
            return await made if inspect.isawaitable(made) else made

        if entitlement.entitled:
            known = {each.name: getattr(entitlement, each.name) for each in fields(entitlement)}
            return await body(Subscribed(**known, manage_url=page))
        reason = "paused" if entitlement.paused else "past_due"
        url = await page()
        if url is None:
            return call.fit(failure_result("cancel", reason))
        return call.fit(manage_result(tool_request.message, reason, url))

    known = await _find(urlmode, subject, item)
    if known is not None:
        return await settle(known)

    async def act(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> ToolResult:
        raise AssertionError(texts.CLAIMED_OTHERWISE)

    async def claimed(elicitation_id: str) -> ToolResult | None:
        now = await _find(urlmode, subject, item)
        return None if now is None else await settle(now)

    try:
        return await run(tool_request, call, act, claimed)
    except ElicitationSubscribedError:
        # Another call has subscribed since this one looked.
        now = await _find(urlmode, subject, item)
        if now is None:
            raise
        return await settle(now)


async def _find(urlmode: UrlMode, subject: str, item: str | None) -> Entitlement | None:
    """The subscription of the user, as long as it is not over."""
    found = await urlmode.entitlements(subject=subject, item=item)
    best = next(iter(found), None)
    return None if best is None or is_over(best) else best
