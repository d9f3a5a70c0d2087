"""The ways of asking a user: by a request to the client, by a result that requires input, by a link as text, and by the
error -32042. All of them wait for the row, which alone says what has happened.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Union, cast

from .._core.background import shielded, start_quietly
from .._core.callback_urls import AnyElicitation
from .._core.contract_calls import Abandoned, RowKey
from .._core.contract_limits import RESPONSE_S
from .._core.create_options import check_create
from .._core.errors import (
    ElicitationClientGoneError,
    ElicitationNotFoundError,
    ElicitationTimeoutError,
    RequestStateError,
    StateTokenError,
    UrlModeClosedError,
)
from .._core.form_types import ApprovalElicitation, AskedApprovers
from .._core.types import OpenStatus, Outcome
from .asks import REFUSALS, AskAnswer, begin_ask, end_ask
from .call import Call, Channel, Retry, ToolRequest
from .clients import Capabilities
from .delivery import goes_on
from .handles import kid_of, mint_handle, open_handle
from .messages import ToolResult, approvers_result, link_result, open_result, progress_message
from .notices import Notice, notice_of
from .rounds import INPUT_KEY, Round, hand, open_round
from .task_rounds import Awaited, TaskRound


@dataclass(frozen=True)
class Completed:
    outcome: Outcome
    elicitation: AnyElicitation
    is_earlier: bool = False
    """It was completed before this call began, and this call was not begun for it."""
    round: Round | None = None
    """of a body that has asked for something itself"""


End = Union[Completed, ToolResult]


class Asking:
    def __init__(
        self, tool_request: ToolRequest, call: Call, deadline: float, rounds: int, closed: asyncio.Future[None] | None
    ) -> None:
        """`closed`: done when the client has closed the connection of the call."""
        self.tool_request = tool_request
        self._call = call
        self._deadline = deadline
        self._rounds = rounds
        self._closed = closed

    @property
    def has_rounds(self) -> bool:
        """Whether the client takes a result that requires input."""
        return self._call.retry is not None

    @property
    def rest(self) -> float:
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    @property
    def is_closed(self) -> bool:
        return self._closed is not None and self._closed.done() and not self._closed.cancelled()

    @property
    def is_resumable(self) -> bool:
        return self._call.is_resumable

    @property
    def is_gone(self) -> bool:
        """Nobody can fetch the answer any more."""
        return self.is_closed and not self.is_resumable

    def check_client(self, id: str) -> None:
        """Nobody reads the answer of a call whose client is gone, so it does nothing that the next one can do."""
        if self.is_gone:
            raise ElicitationClientGoneError(id)

    async def find_outcome(self, id: str) -> Outcome | OpenStatus:
        """Without waiting, except for a recheck."""
        try:
            return await self.tool_request.urlmode.wait_for_completion(
                id, **self.tool_request.owner, timeout=0, recheck=self.tool_request.recheck
            )
        except ElicitationTimeoutError as error:
            return cast(OpenStatus, error.status)

    async def ask(self, capabilities: Capabilities, call: Call) -> End:
        """In the way that the client takes. One that did not open this elicitation before gets the link as text."""
        way, retry, channel = self._way(capabilities, call), call.retry, call.channel
        if (way == "retry" or call.task) and retry and retry.state is not None:
            return await self._continue_by_retry(retry)
        if self.tool_request.is_for_others:
            # A client that cancels the call does not stop it: the next call would go on with what nobody has been told of.
            elicitation, found = await shielded(self.tool_request.urlmode._background.start(self._resume_or_create_and_send()))
        else:
            elicitation, found = await self._resume_or_create()
        if isinstance(found, Outcome):
            return Completed(found, elicitation, is_earlier=True)
        if call.task is not None:
            return await self._by_task(call.task, elicitation, found, way == "retry")
        if way == "text" or not _can_be_opened(elicitation, found):
            return await self._by_link(elicitation, found)
        # What this call has created, nobody was asked to open before.
        earlier = await self._begin_ask(elicitation.elicitation_id, way == "retry") if elicitation.resumed or way == "retry" else ""
        if earlier == "asked" and found == "pending":  # What is open in a browser is waited for.
            return self._pending(elicitation, found, "client_failed")
        if earlier:
            return await self._by_link(elicitation, found)
        if way == "retry":
            return self._by_retry(elicitation)
        assert channel is not None
        return await (self._by_error(channel, elicitation, found) if way == "error" else self._by_request(channel, elicitation))

    def _way(self, capabilities: Capabilities, call: Call) -> Literal["retry", "request", "error", "text"]:
        if self.tool_request.is_for_others or not capabilities.url:
            return "text"
        # An answer may only require what its call declares (-32021), a request what the client is known to do.
        if call.retry:
            return "retry" if capabilities.declares else "text"
        return (capabilities.ask or self.tool_request.ask) if call.channel else "text"

    async def _by_link(self, elicitation: AnyElicitation, found: OpenStatus) -> End:
        now = await self._wait(elicitation.elicitation_id) if elicitation.resumed else found
        return Completed(now, elicitation) if isinstance(now, Outcome) else self._pending(elicitation, now)

    async def _begin_ask(self, id: str, awaited: bool) -> str:
        return await begin_ask(self.tool_request.urlmode, RowKey(id, self._binding), self._call.client, awaited=awaited)

    async def _end_ask(self, id: str, answer: Literal["accepted", AskAnswer]) -> None:
        await end_ask(self.tool_request.urlmode, RowKey(id, self._binding), self._call.client, answer)

    async def _resume_or_create_and_send(self) -> tuple[AnyElicitation, Outcome | OpenStatus]:
        """The same, and sends the link of a new one to its approvers."""
        creating = start_quietly(self._resume_or_create())
        try:
            elicitation, found = await asyncio.shield(creating)
            if not elicitation.resumed:
                await self._send_to_approvers(elicitation)
            return elicitation, found
        except BaseException:
            # Also `aclose` comes here. It ends the statement, if PostgreSQL does not.
            created, _ = await creating
            if not created.resumed:
                not_sent = Abandoned(created.elicitation_id, self._binding, "cancel", "not_sent")
                await self.tool_request.urlmode._database.abandon(not_sent)
            raise

    async def _send_to_approvers(self, elicitation: AnyElicitation) -> None:
        send = self.tool_request.send_link
        if send is None or not isinstance(elicitation, ApprovalElicitation) or elicitation.approval_url is None:
            return
        sent = send(AskedApprovers(
            elicitation_id=elicitation.elicitation_id, approval_url=elicitation.approval_url, expires_at=elicitation.expires_at,
        ))  # fmt: skip
        if inspect.isawaitable(sent):
            await sent

    async def _by_error(self, channel: Channel, elicitation: AnyElicitation, found: OpenStatus) -> End:
        id = elicitation.elicitation_id
        now = await self._wait(id) if elicitation.resumed else found
        if isinstance(now, Outcome):
            return Completed(now, elicitation)
        if not _can_be_opened(elicitation, now):
            return self._pending(elicitation, now)
        self._report_later(channel, notice_of(channel.session, id), id)
        said = self._pending(elicitation, now)["content"][0]["text"]
        goes_on()  # What is done before in the same call has not failed.
        raise channel.required([{"mode": "url", "elicitationId": id, "url": _url(elicitation), "message": self.tool_request.message}], said)

    async def _by_request(self, channel: Channel, elicitation: AnyElicitation) -> End:
        """The client's response only says whether the client opens the page, and ends no elicitation: a client may decline
        without a word to its user. It may come at once, after the elicitation is completed, or after the call has ended."""
        id = elicitation.elicitation_id
        notice = notice_of(channel.session, id)
        waiting = start_quietly(self._wait(id))
        responding = self.tool_request.urlmode._background.start(self._request(channel, elicitation))
        try:
            both: set[asyncio.Future[Any]] = {waiting, responding}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if responding.done() and not responding.cancelled() and not waiting.done():
                end = await self._after_response(channel, elicitation, responding, notice)
                if end is not None:
                    return end
            found = await waiting
        except ElicitationClientGoneError:
            responding.cancel()
            raise
        except (Exception, asyncio.CancelledError):
            # The request goes on: the session of SDK 1.x ends when a response arrives just as its request is cancelled.
            self._end_later(channel, notice, id, responding)
            raise
        finally:
            waiting.cancel()
        if not isinstance(found, Outcome):
            self._end_later(channel, notice, id, responding)
            return self._pending(elicitation, found)
        await notice.send(lambda: channel.complete(id))
        asyncio.get_running_loop().call_later(RESPONSE_S, responding.cancel)
        return Completed(found, elicitation)

    async def _request(self, channel: Channel, elicitation: AnyElicitation) -> str:
        rest = elicitation.expires_at - datetime.now(timezone.utc)
        request = channel.request(self.tool_request.message, _url(elicitation), elicitation.elicitation_id)
        return await asyncio.wait_for(request, rest.total_seconds() + RESPONSE_S)

    async def _after_response(
        self, channel: Channel, elicitation: AnyElicitation, responding: asyncio.Future[str], notice: Notice
    ) -> End | None:
        """How the client's response ends the call, if it does."""
        id = elicitation.elicitation_id
        try:
            action = responding.result()
        except Exception as error:
            if self._call.is_gone(error):
                raise ElicitationClientGoneError(id) from error
            reason = "client_failed"
            # It gets the link with this call or, if that is cancelled, with the next one.
            await self._end_ask(id, "asked")
            if not self.is_closed:
                await self._end_ask(id, "failed")
        else:
            if action not in REFUSALS:
                return None
            answer, reason = REFUSALS[action]
            await self._end_ask(id, answer)
        status = await self.find_outcome(id)
        if isinstance(status, Outcome):
            return None
        if status != "pending":  # Somebody has opened it all the same.
            self._report_later(channel, notice, id)
        return self._pending(elicitation, status, reason)

    def _end_later(self, channel: Channel, notice: Notice, id: str, responding: asyncio.Future[str]) -> None:
        self._report_later(channel, notice, id)
        if not self.tool_request.urlmode._closing:
            self.tool_request.urlmode._background.start(self._watch_response(responding, id))

    async def _watch_response(self, responding: asyncio.Future[str], id: str) -> None:
        """A client that declines after the end of the call gets the link with the next one. It dismisses by itself what it was
        asked for a call that has ended."""
        if await responding == "decline":
            await self._end_ask(id, "declined")

    def _report_later(self, channel: Channel, notice: Notice, id: str) -> None:
        """Notifies the client when the elicitation is completed, after this call."""
        tool_request = self.tool_request
        if not tool_request.urlmode._closing:
            tool_request.urlmode._background.start(notice.send_when_completed(
                lambda: tool_request.urlmode.wait_for_completion(
                    id, **tool_request.owner, timeout=None, recheck=tool_request.recheck, verify=tool_request.verify),
                lambda: channel.complete_later(id),
            ))  # fmt: skip

    async def next_of_body(self, retry: Retry | None) -> End | None:
        """Goes on with a call whose body has asked for something itself, or that something after it has asked. None: it is no such call."""
        if retry is None or retry.state is None or retry.state.count(".") != 2:
            return None
        handle, _, sealed = retry.state.rpartition(".")
        try:
            id, _, kid, expires_at = open_handle(self.tool_request, handle)
            round = open_round(self.tool_request.urlmode._keys, id, self._binding, handle, sealed)
        except StateTokenError as error:
            raise RequestStateError("expired_request_state" if error.expired else "invalid_request_state") from None
        hand(self._call.identity, round.state, is_foreign=True)
        elicitation = self._elicitation_of(id, kid, expires_at)
        try:
            found = await self.find_outcome(id)
        except ElicitationNotFoundError:
            raise RequestStateError("expired_request_state") from None
        return Completed(found, elicitation, round=round) if isinstance(found, Outcome) else self._pending(elicitation, found)

    def mint_round(self, elicitation: AnyElicitation, round: Round) -> str:
        id = elicitation.elicitation_id
        handle = mint_handle(self.tool_request, id, 1, kid_of(elicitation), elicitation.expires_at)
        return f"{handle}.{round.seal(self.tool_request.urlmode._keys, id, self._binding, handle)}"

    @property
    def _binding(self) -> bytes:
        return self.tool_request.urlmode._binding_of(self.tool_request.subject, self.tool_request.session)

    def _elicitation_of(self, id: str, kid: int, expires_at: datetime) -> AnyElicitation:
        tool_request = self.tool_request
        return tool_request.urlmode._urls.to_elicitation(
            id, tool_request.provider, tool_request.kind, self._binding, expires_at, link_kid=kid, resumed=True
        )

    async def _continue_by_retry(self, retry: Retry) -> End:
        """Goes on with what an earlier call has asked for."""
        assert retry.state is not None
        try:
            id, rounds, kid, expires_at = open_handle(self.tool_request, retry.state)
            hand(self._call.identity, None, is_foreign=False)
            return await self._resume(id, rounds, kid, expires_at, retry.answer)
        except StateTokenError as error:
            raise RequestStateError("expired_request_state" if error.expired else "invalid_request_state") from None
        except ElicitationNotFoundError:
            # The row is deleted some time after its end.
            raise RequestStateError("expired_request_state") from None

    def _by_retry(self, elicitation: AnyElicitation) -> ToolResult:
        """A result that requires input, with a handle of ours. The client asks its user, and calls again with that
        handle, on any instance. That call waits for the row."""
        params = {"mode": "url", "message": self.tool_request.message, "url": _url(elicitation)}
        return {**self._handed(elicitation), "inputRequests": {INPUT_KEY: {"method": "elicitation/create", "params": params}}}

    async def _by_task(self, task: TaskRound, elicitation: AnyElicitation, found: OpenStatus, declares: bool) -> End:
        """The call ends at once, and its task says how the client asks its user. `declares`: whether the client can send its user to a
        URL; otherwise the task has the link as text."""
        id, can_be_opened = elicitation.elicitation_id, _can_be_opened(elicitation, found)
        is_asked = declares and can_be_opened and await self._begin_ask(id, False) == ""
        text = "\n".join(each["text"] for each in self._pending(elicitation, found)["content"])
        task.awaited = Awaited(id, self.tool_request.kind, text)
        return self._by_retry(elicitation) if is_asked else self._handed(elicitation)

    def _handed(self, elicitation: AnyElicitation) -> ToolResult:
        handle = mint_handle(self.tool_request, elicitation.elicitation_id, 1, kid_of(elicitation), elicitation.expires_at)
        return {"resultType": "input_required", "requestState": handle}

    async def _resume(self, id: str, rounds: int, kid: int, expires_at: datetime, answer: str | None) -> End:
        elicitation = self._elicitation_of(id, kid, expires_at)
        refusal = REFUSALS.get(answer or "")
        if refusal or answer == "accept":
            await self._end_ask(id, refusal[0] if refusal else "accepted")
        # This call does not wait for what its client has not opened.
        found = await (self.find_outcome(id) if refusal else self._wait(id))
        if isinstance(found, Outcome):
            return Completed(found, elicitation)
        if refusal:
            return self._pending(elicitation, found, refusal[1])
        if rounds >= self._rounds or not _can_be_opened(elicitation, found):
            return self._pending(elicitation, found)
        return {"resultType": "input_required", "requestState": mint_handle(self.tool_request, id, rounds + 1, kid, expires_at)}

    async def _resume_or_create(self) -> tuple[AnyElicitation, Outcome | OpenStatus]:
        """What this call goes on with, and the outcome if there is one already."""
        tool_request = self.tool_request
        recheck = tool_request.recheck or tool_request.urlmode._rechecks.of(tool_request.provider)
        elicitation = await tool_request.urlmode._create(check_create(
            request=tool_request.request, **tool_request.owner, resume_key=tool_request.key, can_recheck=recheck is not None, **tool_request.create,
        ))  # fmt: skip
        return elicitation, await self.find_outcome(elicitation.elicitation_id) if elicitation.resumed else "pending"

    async def _wait(self, id: str) -> Outcome | OpenStatus:
        """Waits as long as this call may, and sends progress. What happens to the call does not happen to the
        elicitation, which stays open."""
        status = "pending"
        count = 0

        async def report(progress: str) -> None:
            nonlocal status, count
            status = progress
            count += 1
            try:
                await self._call.progress(count, progress_message(self.tool_request.kind, status))
            except Exception as error:
                raise ElicitationClientGoneError(id) from error

        async def beat() -> None:
            while True:
                await asyncio.sleep(self.tool_request.progress_every)
                await report(status)

        beating = start_quietly(beat())
        waiting = start_quietly(self.tool_request.urlmode.wait_for_completion(
            id, **self.tool_request.owner, timeout=self.rest, recheck=self.tool_request.recheck, verify=self.tool_request.verify,
            on_progress=report,
        ))  # fmt: skip
        try:
            all: set[asyncio.Future[Any]] = {waiting, beating, *([self._closed] if self._closed and not self._call.is_resumable else [])}
            await asyncio.wait(all, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                self.check_client(id)
                beating.result()  # It ends only with an error.
            return await waiting
        except ElicitationTimeoutError as error:
            return cast(OpenStatus, error.status)
        except UrlModeClosedError:
            return "pending"  # The next call, on another instance, goes on with it.
        finally:
            waiting.cancel()
            beating.cancel()

    def _pending(self, elicitation: AnyElicitation, status: OpenStatus, reason: str | None = None) -> ToolResult:
        """The end of a call whose elicitation is open: with the link, as long as the user can open it. `reason`: why the client
        did not open it, if it was asked."""
        tool_request = self.tool_request
        if _can_be_opened(elicitation, status) and tool_request.is_for_others:
            return approvers_result(
                tool_request.message, tool_request.approver, tool_request.send_link is not None, tool_request.urlmode._name, elicitation, status
            )
        if _can_be_opened(elicitation, status):
            return link_result(
                tool_request.message, tool_request.kind, tool_request.expected, tool_request.urlmode._name, elicitation, status, reason
            )
        return open_result(tool_request.message, tool_request.kind, elicitation.elicitation_id, status)


def _url(elicitation: AnyElicitation) -> str:
    """Of an elicitation that the user of the client opens."""
    assert elicitation.url is not None
    return elicitation.url


def _can_be_opened(elicitation: AnyElicitation, status: OpenStatus) -> bool:
    return status != "processing" and elicitation.expires_at > datetime.now(timezone.utc)
