"""The ways of asking a user: by a request to the client, by a result that requires input, by a link as text, and by the
error -32042. All of them wait for the row, which alone says what has happened.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Union, cast
from urllib.parse import parse_qs, urlsplit

from .._core.callback_urls import AnyElicitation
from .._core.contract_calls import Abandoned
from .._core.contract_limits import GRACE_MAX_S, RESPONSE_S
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
from .._core.keys import decode_base64
from .._core.tasks import shielded, start_quietly
from .._core.token import State, binding_of, mint_state, open_state
from .._core.types import OpenStatus, Outcome
from .call import Call, Channel, Retry, ToolRequest
from .messages import ToolResult, approvers_result, failure_result, link_result, open_result, progress_message
from .notices import Notice, notice_of

INPUT_KEY = "urlmode"
"""The key of our request in a result's inputRequests."""

_HANDLE = re.compile(r"([A-Za-z0-9_-]{115})\.([1-9])")


@dataclass(frozen=True)
class Completed:
    outcome: Outcome
    elicitation: AnyElicitation
    is_earlier: bool = False
    """It was completed before this call began, and this call was not begun for it."""


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
    def rest(self) -> float:
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    @property
    def is_closed(self) -> bool:
        return self._closed is not None and self._closed.done() and not self._closed.cancelled()

    def check_client(self, id: str) -> None:
        """Nobody reads the answer of a call whose client is gone, so it does nothing that the next one can do."""
        if self.is_closed:
            raise ElicitationClientGoneError(id)

    async def find_outcome(self, id: str) -> Outcome | OpenStatus:
        """Without waiting, except for a recheck."""
        try:
            return await self.tool_request.urlmode.wait_for_completion(
                id, **self.tool_request.owner, timeout=0, recheck=self.tool_request.recheck
            )
        except ElicitationTimeoutError as error:
            return cast(OpenStatus, error.status)

    async def by_link(self) -> End:
        if self.tool_request.is_for_others:
            # A client that cancels the call does not stop it: the next call would go on with what nobody has been told of.
            elicitation, found = await shielded(self.tool_request.urlmode._background.start(self._resume_or_create_and_send()))
        else:
            elicitation, found = await self._resume_or_create()
        if isinstance(found, Outcome):
            return Completed(found, elicitation, is_earlier=True)
        if elicitation.resumed:
            found = await self._wait(elicitation.elicitation_id)
        return Completed(found, elicitation) if isinstance(found, Outcome) else self._pending(elicitation, found)

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
                binding = binding_of(self.tool_request.subject, self.tool_request.session)
                not_sent = Abandoned(created.elicitation_id, binding, "cancel", "not_sent")
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

    async def by_error(self, channel: Channel) -> End:
        elicitation, found = await self._resume_or_create()
        if isinstance(found, Outcome):
            return Completed(found, elicitation, is_earlier=True)
        id = elicitation.elicitation_id
        if elicitation.resumed:
            found = await self._wait(id)
        if isinstance(found, Outcome):
            return Completed(found, elicitation)
        if not _can_be_opened(elicitation, found):
            return self._pending(elicitation, found)
        self._tell_later(channel, notice_of(channel.session, id), id)
        raise channel.required([{"mode": "url", "elicitationId": id, "url": _url(elicitation), "message": self.tool_request.message}])

    async def by_request(self, channel: Channel) -> End:
        """The client's response only says whether the user agrees to open the page. It may come at once, after the
        elicitation is completed, or after the call has ended. The outcome is that of the row."""
        elicitation, found = await self._resume_or_create()
        if isinstance(found, Outcome):
            return Completed(found, elicitation, is_earlier=True)
        id = elicitation.elicitation_id
        if not _can_be_opened(elicitation, found):
            found = await self._wait(id)
            return Completed(found, elicitation) if isinstance(found, Outcome) else self._pending(elicitation, found)
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
        """How the client's response ends the call, if it does. Only a refusal ends the elicitation, if nobody has
        opened it: a client may dismiss a request by itself."""
        id = elicitation.elicitation_id
        try:
            action = responding.result()
        except Exception as error:
            if self._call.is_gone(error):
                raise ElicitationClientGoneError(id) from error
            return self._pending(elicitation, "pending")
        if action == "accept":
            return None
        if action == "decline" and await notice.refuse(lambda: self._refuse(id)):
            return None
        status = await self.find_outcome(id)
        if isinstance(status, Outcome):
            return None
        if status == "pending":
            return failure_result("cancel", "dismissed")
        self._tell_later(channel, notice, id)
        return self._pending(elicitation, status)

    def _end_later(self, channel: Channel, notice: Notice, id: str, responding: asyncio.Future[str]) -> None:
        self._tell_later(channel, notice, id)
        if not self.tool_request.urlmode._closing:
            self.tool_request.urlmode._background.start(self._watch_response(responding, notice, id))

    async def _watch_response(self, responding: asyncio.Future[str], notice: Notice, id: str) -> None:
        """A user who declines after the end of the call has refused."""
        if await responding == "decline":
            await notice.refuse(lambda: self._refuse(id))

    def _tell_later(self, channel: Channel, notice: Notice, id: str) -> None:
        """Notifies the client when the elicitation is completed, after this call."""
        tool_request = self.tool_request
        if not tool_request.urlmode._closing:
            tool_request.urlmode._background.start(notice.send_when_completed(
                lambda: tool_request.urlmode.wait_for_completion(
                    id, **tool_request.owner, timeout=None, recheck=tool_request.recheck, verify=tool_request.verify),
                lambda: channel.complete_later(id),
            ))  # fmt: skip

    async def by_retry(self, retry: Retry) -> End:
        """A result that requires input, with a handle of ours. The client asks its user, and calls again with that
        handle, on any instance. That call waits for the row."""
        if retry.state is None:
            return await self._start()
        try:
            id, rounds, kid, expires_at = self._open_handle(retry.state)
            return await self._resume(id, rounds, kid, expires_at, retry.answer)
        except StateTokenError as error:
            raise RequestStateError("expired_request_state" if error.expired else "invalid_request_state") from None
        except ElicitationNotFoundError:
            # The row is deleted some time after its end.
            raise RequestStateError("expired_request_state") from None

    async def _start(self) -> End:
        elicitation, found = await self._resume_or_create()
        if isinstance(found, Outcome):
            return Completed(found, elicitation, is_earlier=True)
        if not _can_be_opened(elicitation, found):
            found = await self._wait(elicitation.elicitation_id)
            return Completed(found, elicitation) if isinstance(found, Outcome) else self._pending(elicitation, found)
        link = decode_base64(parse_qs(urlsplit(_url(elicitation)).query)["state"][0])
        assert link is not None
        params = {"mode": "url", "message": self.tool_request.message, "url": _url(elicitation)}
        return {
            "resultType": "input_required",
            "inputRequests": {INPUT_KEY: {"method": "elicitation/create", "params": params}},
            "requestState": self._mint_handle(elicitation.elicitation_id, 1, link[1], elicitation.expires_at),
        }

    async def _resume(self, id: str, rounds: int, kid: int, expires_at: datetime, answer: str | None) -> End:
        tool_request = self.tool_request
        binding = binding_of(tool_request.subject, tool_request.session)
        elicitation = tool_request.urlmode._urls.to_elicitation(
            id, tool_request.provider, tool_request.kind, binding, expires_at, link_kid=kid, resumed=True
        )
        refusal = answer in ("decline", "cancel")
        if answer == "decline":
            await self._refuse(id)
        # After a refusal of what is open in the browser, this call does not wait for it.
        found = await (self.find_outcome(id) if refusal else self._wait(id))
        if isinstance(found, Outcome):
            return Completed(found, elicitation)
        if refusal and found == "pending":
            return failure_result("cancel", "dismissed")
        if refusal or rounds >= self._rounds or not _can_be_opened(elicitation, found):
            return self._pending(elicitation, found)
        return {"resultType": "input_required", "requestState": self._mint_handle(id, rounds + 1, kid, expires_at)}

    async def _refuse(self, id: str) -> bool:
        return await self.tool_request.urlmode.abandon(id, **self.tool_request.owner, action="decline", reason="refused")

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
            all: set[asyncio.Future[Any]] = {waiting, beating, *([self._closed] if self._closed else [])}
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

    def _pending(self, elicitation: AnyElicitation, status: OpenStatus) -> ToolResult:
        """The end of a call whose elicitation is open: with the link, as long as the user can open it."""
        tool_request = self.tool_request
        if _can_be_opened(elicitation, status) and tool_request.is_for_others:
            return approvers_result(
                tool_request.message, tool_request.approver, tool_request.send_link is not None, tool_request.urlmode._name, elicitation, status
            )
        if _can_be_opened(elicitation, status):
            return link_result(tool_request.message, tool_request.kind, tool_request.expected, tool_request.urlmode._name, elicitation, status)
        return open_result(tool_request.message, tool_request.kind, elicitation.elicitation_id, status)

    def _purposes(self) -> list[bytes]:
        """A handle is bound to one owner, one item or resume key, and all that the call asks for. A handle for a cheap
        item cannot complete an expensive one. That of new handles, then that of packages that send no items."""
        request, key = self.tool_request.request, self.tool_request.key.encode()
        bound = [request.digest + key]
        if request.earlier_digest is not None:
            bound = [request.digest, request.earlier_digest + key]
        return [hashlib.sha256(each).digest()[:16] for each in bound]

    def _mint_handle(self, id: str, rounds: int, kid: int, expires_at: datetime) -> str:
        keys = self.tool_request.urlmode._keys
        expires = math.ceil(expires_at.timestamp()) + GRACE_MAX_S
        state = State(id, expires, binding_of(self.tool_request.subject, self.tool_request.session), self._purposes()[0])
        return f"{mint_state(keys.find(kid) or keys.minting, 'retry', '', state)}.{rounds}"

    def _open_handle(self, text: str) -> tuple[str, int, int, datetime]:
        match = _HANDLE.fullmatch(text)
        if match is None:
            raise StateTokenError
        state = open_state(self.tool_request.urlmode._keys, "retry", "", match[1])
        if state.binding != binding_of(self.tool_request.subject, self.tool_request.session) or state.browser not in self._purposes():
            raise StateTokenError
        return state.id, int(match[2]), state.kid, datetime.fromtimestamp(state.expires - GRACE_MAX_S, timezone.utc)


def _url(elicitation: AnyElicitation) -> str:
    """Of an elicitation that the user of the client opens."""
    assert elicitation.url is not None
    return elicitation.url


def _can_be_opened(elicitation: AnyElicitation, status: OpenStatus) -> bool:
    return status != "processing" and elicitation.expires_at > datetime.now(timezone.utc)
