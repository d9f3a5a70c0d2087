"""What an adapter does with a tool call: it asks the user in the way that the client takes, waits, claims the outcome,
and runs the body under that claim. lib/node/ADAPTERS.md describes how a call can end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar, Union

from .._accounts.not_connected import NotConnected, authorization_detail, warn_not_connected
from .._core.arguments import seconds_of
from .._core.background import shielded, start_quietly
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim, ChangedClaim, Claim, FulfilledClaim, LeasedClaim
from .._core.contract_limits import CLAIM_ATTEMPTS, CLAIM_HOLD_S
from .._core.errors import ElicitationOpenError
from .._core.form_types import Values
from .._core.money_types import Expected
from .._core.tasks import TaskClaim
from .._core.types import Elicitation, Outcome
from .asking import Asking, Completed
from .call import Call, ToolRequest
from .clients import Capabilities, capabilities_of
from .delivery import Delivery, goes_on, of_body, when_ended
from .messages import ToolResult, declined_result, failure_result, open_result
from .rounds import Round, is_open, requires_input
from .task_rounds import TaskRun



@dataclass(frozen=True, kw_only=True)
class Accepted:
    """What the body is given."""

    elicitation_id: str
    return_url: str
    """the redirect URI of the authorization request"""
    result: dict[str, Any] | None = field(repr=False)
    reference: str | None
    """the provider's reference of the payment"""
    amount: int | None
    """how much was paid, in minor units of `currency`, and `tax`: how much of it is tax, if the provider's event has said it"""
    currency: str | None
    tax: int | None
    expected: Expected | Literal["any"] | None
    """the price that was asked"""
    late: bool
    """The payment was proved after the end of the elicitation."""
    code_verifier: str | None = field(repr=False)
    nonce: str | None = field(repr=False)
    lost: asyncio.Event
    """Set when the lease of this call has ended, after which another call may do the same."""
    refunded: asyncio.Event
    """Set when all that was paid went back, or is disputed: the body can stop, or go on."""
    fence: int | None
    """greater than that of each call before, of a payment or signature"""


@dataclass(frozen=True, kw_only=True)
class Input:
    """What the body of `collect_input` is given."""

    elicitation_id: str
    values: Values = field(repr=False)
    """what the user has typed, by the names of the fields"""
    lost: asyncio.Event
    fence: int | None


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What the body of `ask_approval` is given."""

    elicitation_id: str
    approver: str
    comment: str | None
    decided_at: datetime
    signed_in_at: datetime | None
    signed_in_by: str | None
    lost: asyncio.Event
    fence: int | None


R = TypeVar("R")
M = TypeVar("M")
Body = Callable[[R], Union[M, Awaitable[M]]]
Act = Callable[[Outcome, AnyElicitation, BegunClaim], Awaitable[ToolResult]]
"""Runs the body with what an outcome says, under its claim."""
Claimed = Callable[[str], Awaitable[Union[ToolResult, None]]]
"""What becomes of a call whose outcome another call has claimed. None: what becomes of every call; GIVEN_BACK: it claims it again."""
GIVEN_BACK: ToolResult = {}


def to_accepted(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> Accepted:
    assert isinstance(elicitation, Elicitation)
    return Accepted(
        elicitation_id=outcome.elicitation_id, return_url=elicitation.return_url, result=outcome.result,
        reference=outcome.reference, amount=outcome.amount, currency=outcome.currency, tax=outcome.tax,
        expected=outcome.expected, late=outcome.late, code_verifier=outcome.code_verifier, nonce=outcome.nonce,
        lost=claim.lost, refunded=claim.refunded, fence=claim.fence,
    )  # fmt: skip


def to_input(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> Input:
    return Input(
        elicitation_id=outcome.elicitation_id, values=outcome.values or {}, lost=claim.lost, fence=claim.fence
    )


def to_approval(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> Approval:
    assert outcome.approver is not None and outcome.decided_at is not None
    return Approval(
        elicitation_id=outcome.elicitation_id, approver=outcome.approver, comment=outcome.comment,
        decided_at=outcome.decided_at, signed_in_at=outcome.signed_in_at, signed_in_by=outcome.signed_in_by,
        lost=claim.lost, fence=claim.fence,
    )  # fmt: skip


async def run(tool_request: ToolRequest, call: Call, act: Act, claimed: Claimed | None = None) -> ToolResult:
    """The result of the tool, which of the body must be a ToolResult, too."""
    closed = start_quietly(call.closed()) if call.closed else None
    try:
        round = None if tool_request.round_timeout is None else seconds_of("round_timeout", tool_request.round_timeout)
        capabilities = capabilities_of(call.client, tool_request.urlmode._clients, round)
        deadline = asyncio.get_running_loop().time() + capabilities.round
        rounds = 0 if call.task else capabilities.rounds
        return await _run(Asking(tool_request, call, deadline, rounds, closed), call, capabilities, act, claimed)
    finally:
        if closed is not None:
            closed.cancel()


async def _run(asking: Asking, call: Call, capabilities: Capabilities, act: Act, claimed: Claimed | None) -> ToolResult:
    for attempt in range(CLAIM_ATTEMPTS):
        end = await asking.next_of_body(call.retry) or await asking.ask(capabilities, call)
        if not isinstance(end, Completed):
            return _unfinished(call, end)
        result = await _claim(asking, call, end, act, claimed)
        while result is GIVEN_BACK:
            result = await _claim(asking, call, end, act, claimed)
        if result is not None:
            return result
        if attempt == CLAIM_ATTEMPTS - 1:
            raise ElicitationOpenError(end.outcome.elicitation_id)
    raise AssertionError


def _unfinished(call: Call, end: ToolResult) -> ToolResult:
    """The end of a call without an outcome. If the question is open, then what is done before it in the same call was not delivered, and
    has not failed: the next call is given its result again, whatever the tool makes of the link. A run of a task waits for what it has
    waited for before."""
    if is_open(end):
        if isinstance(call.task, TaskRun) and call.retry and call.retry.state is not None:
            return {"resultType": "input_required", "requestState": call.retry.state}
        goes_on()
    return call.fit(end)


async def _claim(asking: Asking, call: Call, end: Completed, act: Act, claimed: Claimed | None) -> ToolResult | None:
    """None: the outcome is not there any more."""
    tool_request, outcome, id = asking.tool_request, end.outcome, end.outcome.elicitation_id
    if outcome.action != "accept":
        if outcome.approver is not None:
            # What an approver has said is told to the next call, if nobody hears it from this one.
            asking.check_client(id)
        # The call after a refusal asks again. A refusal claims no payment: what was paid stays for the next one.
        await tool_request.urlmode.claim(id, **tool_request.owner, action=outcome.action, reference=outcome.reference)
        if outcome.approver is not None:
            return declined_result(outcome)
        detail = authorization_detail(outcome) if tool_request.kind == "oauth" else None
        if detail:
            warn_not_connected(tool_request.provider, id, outcome.reason, detail)
        return failure_result(outcome.action, outcome.reason, detail)
    asking.check_client(id)
    begun = asyncio.Event()
    working = tool_request.urlmode._background.start(_begin_and_work(asking, end, act, begun))
    try:
        claim, made, is_kept = await shielded(working)
    except ElicitationOpenError:
        return None
    except asyncio.CancelledError:
        # A client that cancels the call does not stop the work: the next call has its result, or makes it again. The claim of an
        # account is final, so that its work must follow.
        if tool_request.kind != "oauth":
            if not begun.is_set():
                working.cancel()
            working.add_done_callback(lambda _: _release_what_is_not_kept(tool_request, working))
        raise
    if isinstance(claim, ChangedClaim):
        return None
    if isinstance(claim, LeasedClaim):
        return _unfinished(call, open_result(tool_request.message, tool_request.kind, id, "claimed"))
    if isinstance(claim, FulfilledClaim):
        # In the call that goes on with it, what has failed is something after it.
        _end_with_answer(asking, call, end, claim, failed=not (end.round and end.round.passed), gone=False)
        return made
    if isinstance(claim, BegunClaim):
        # That of an account is final.
        if tool_request.kind != "oauth" and _was_done(tool_request, made):
            _end_with_answer(asking, call, end, claim, failed=not is_kept, gone=not is_kept)
        return made
    if claimed is not None and (result := await claimed(id)) is not None:
        return result
    # The call that has used it was answered just now. This one is about something new; of an
    # account about the same.
    if end.is_earlier and not outcome.refunded and tool_request.kind != "oauth":
        return None
    now = await asking.find_outcome(id)
    back = now if isinstance(now, Outcome) else outcome
    held, refunded = back.reason == "held", outcome.refunded or back.refunded
    return failure_result("cancel", "held" if held else "refunded" if refunded else "claimed")


async def _begin_and_work(
    asking: Asking, end: Completed, act: Act, begun: asyncio.Event
) -> tuple[Claim, ToolResult | None, bool]:
    """The claim, the result of the body, and whether it is kept."""
    tool_request, outcome = asking.tool_request, end.outcome
    round = None if end.round is None or end.round.passed else end.round
    claim = await tool_request.urlmode.begin_claim(
        outcome.elicitation_id, **tool_request.owner, reference=round.reference if round else outcome.reference, timeout=asking.rest,
        recheck=tool_request.recheck, fence=round.fence if round else None,
    )  # fmt: skip
    if isinstance(claim, FulfilledClaim):
        return claim, claim.result, True
    if not isinstance(claim, BegunClaim):
        return claim, None, False
    begun.set()
    with of_body() as inner:
        made, is_kept = await _work(asking, end, claim, act, inner)
        inner.ended(well=is_kept)
    return claim, made, is_kept


async def _work(asking: Asking, end: Completed, claim: BegunClaim, act: Act, inner: Delivery) -> tuple[ToolResult, bool]:
    tool_request, outcome, is_kept = asking.tool_request, end.outcome, False
    async with claim:
        try:
            made = await act(outcome, end.elicitation, claim)
        except NotConnected as error:
            await claim.release(error.reason)
            warn_not_connected(tool_request.provider, outcome.elicitation_id, error.reason, error.detail)
            return failure_result("cancel", error.reason, error.detail), False
        if requires_input(made):
            made = await _hold(asking, end.elicitation, claim, made, inner)
        elif _was_done(tool_request, made):
            is_kept = await claim.fulfil(made)
        else:
            await claim.release()
    return made, is_kept


async def _hold(asking: Asking, elicitation: AnyElicitation, claim: BegunClaim, made: ToolResult, inner: Delivery) -> ToolResult:
    """A body that asks for something itself: its claim goes on with the next call."""
    if claim.fence is None:
        raise TypeError("a body that connects an account cannot ask for something itself: its code is good once")
    if not asking.has_rounds:
        raise TypeError("a body cannot ask for something itself: this client knows no results that require input")
    round = Round(claim.reference, claim.fence, inner.goes_on(made.get("requestState")))
    state = asking.mint_round(elicitation, round)
    await claim.hold(CLAIM_HOLD_S)
    return {**made, "requestState": state}


def _release_what_is_not_kept(tool_request: ToolRequest, working: asyncio.Task[tuple[Claim, ToolResult | None, bool]]) -> None:
    if working.cancelled() or working.exception() is not None:
        return
    claim, made, is_kept = working.result()
    if isinstance(claim, BegunClaim) and _was_done(tool_request, made) and not is_kept:
        tool_request.urlmode._background.start(claim.release())


def _was_done(tool_request: ToolRequest, made: ToolResult | None) -> bool:
    """A body that answers with an error, or with a link of another elicitation, has not done the work, but the code of an account is
    good once."""
    if tool_request.kind == "oauth" or made is None:
        return True
    return not (made.get("isError") or requires_input(made) or is_open(made))


def _end_with_answer(asking: Asking, call: Call, completed: Completed, claim: BegunClaim | FulfilledClaim, *, failed: bool, gone: bool) -> None:
    """Confirms a claim when its answer was written. Where nobody can tell that, it counts as written if the connection of the call is
    there when the tool has ended well. Until then the next call is given the same result.

    `failed`, `gone`: whether the next call makes it again, because that result has failed twice, or is not kept, where the
    answer is an error, or the client is gone.
    """
    start = asking.tool_request.urlmode._background.start

    def settle(well: bool, written: bool) -> asyncio.Task[bool] | None:
        if written and well:
            return start(claim.confirm())
        # What is not kept, its client may still fetch: only what has failed, or is lost, is made again.
        if failed if written else gone and not (well and asking.is_resumable):
            return start(claim.release())
        return None

    def end(well: bool) -> None:
        if well and isinstance(call.task, TaskRun):
            call.task.made_of(TaskClaim(completed.outcome.elicitation_id, claim.fence or 0), settle)
            return
        if not well or asking.is_closed or call.when_written is None:
            settle(well, not asking.is_closed)
            return
        confirmed = claim._expect_confirmation()

        def report(written: bool) -> None:
            settled = settle(True, written)
            if settled is None:
                confirmed()
            else:
                settled.add_done_callback(lambda _: confirmed())

        call.when_written(report)

    def goes_on(state: str | None) -> str:
        if failed and gone:
            start(claim.release())
        return asking.mint_round(completed.elicitation, Round(claim.reference, claim.fence or 0, state, passed=True))

    when_ended(end, goes_on)
