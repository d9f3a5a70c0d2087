"""A tool call, and what it asks the user for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from .._core.arguments import check_choice, check_duration
from .._core.contract_limits import CALL_MAX_S, HEARTBEAT_S
from .._core.create_options import Request, check_request
from .._core.digest import default_resume_key
from .._core.form_types import Approver, SendLink, VerifyFunction, Words
from .._core.money_types import Expected
from .._core.types import Duration, Kind, RecheckFunction
from .._core.urlmode import UrlMode
from .clients import Client
from .messages import ToolResult
from .task_rounds import TaskRound


class Owner(TypedDict):
    subject: str
    session: str


@dataclass(frozen=True)
class Retry:
    """What the client has sent with the call, in protocol revision 2026-07-28."""

    state: str | None
    answer: str | None
    """the action of its response to our request"""


@dataclass(frozen=True)
class Channel:
    """What a server can send to its client by itself, in protocol revision 2025-11-25."""

    session: object
    """the same in all calls of a session"""
    request: Callable[[str, str, str], Awaitable[str]]
    """sends a request (message, URL, id); returns the action of the response"""
    required: Callable[[list[dict[str, str]], str], Exception]
    """makes the error -32042, with a message. A client that takes it for a failure shows that to the model"""
    complete: Callable[[str], Awaitable[Any]]
    """tells the client that the elicitation is completed, in the stream of the call"""
    complete_later: Callable[[str], Awaitable[Any]]
    """the same in the stream of the session"""


@dataclass(frozen=True)
class Call:
    """A tool call, as the framework describes it. What it has not, it cannot do."""

    client: Client
    client_id: str | None
    progress: Callable[[float, str], Awaitable[Any]]
    is_gone: Callable[[BaseException], bool]
    """whether an error means that the client has closed its session or connection"""
    closed: Callable[[], Coroutine[Any, Any, None]] | None = None
    """returns when the client has closed the connection of the call"""
    is_resumable: bool = False
    """A client whose connection has ended can fetch the answer by another one."""
    when_written: Callable[[Callable[[bool], None]], None] | None = None
    """tells, once that is known, whether the answer was written. None: nobody can"""
    channel: Channel | None = None
    retry: Retry | None = None
    task: TaskRound | None = None
    """of a call that its client can hold as a task, or of a run of its tool"""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """set when the body has begun"""
    traceparent: str | None = None
    """the trace of the call"""
    identity: object = None
    """the same in all that is asked in this call"""
    is_text: bool = False
    """It is of a prompt or a resource, whose function returns text."""
    fit: Callable[[ToolResult], ToolResult] = lambda result: result
    """what the tool can return of a result that ends the call without its body"""


class CallOptions(TypedDict, total=False):
    """What every function that asks the user takes by keyword, beside what it asks for."""

    session: str
    """of the user in the application. The default is the empty str"""
    ttl: Duration
    """how long the link lives; 300 seconds by default"""
    exclusive: bool
    """whether the owner's other open elicitations end when this one is created, of all providers"""
    resume_key: str | None
    """by which the next call goes on with what this one has started. By default it is made of what is asked for"""
    client_id: str | None
    """of the MCP client. By default that of the access token of the call"""
    same_client: bool
    """whether only calls of the same client go on with what this one has started"""
    ask: Literal["request", "error"]
    """by a request to the client, which is the default, or by the error -32042"""
    round_timeout: float | None
    """how many seconds a call waits before the client has to call again. The default depends on the client"""
    progress_every: float
    """seconds between two reports of progress; 15 by default"""


@dataclass(frozen=True)
class ToolRequest:
    """What the tool asks for, the same in all calls for the same thing."""

    urlmode: UrlMode
    subject: str
    provider: str
    kind: Kind
    message: str
    create: Mapping[str, Any]
    """the other options of `create`"""
    session: str = ""
    expected: Expected | Literal["any"] | None = None
    item: str | None = None
    subscription: bool = False
    about: Mapping[str, Any] | None = None
    same_client: bool = False
    resume_key: str | None = None
    recheck: RecheckFunction | None = None
    form: Any = None
    approver: Approver = "starter"
    four_eyes: bool = False
    step_up: bool = False
    submit_label: Words | None = None
    verify: VerifyFunction | None = None
    send_link: SendLink | None = None
    ask: Literal["request", "error"] = "request"
    round_timeout: float | None = None
    progress_every: float = HEARTBEAT_S
    client_id: str | None = None

    def check(self) -> None:
        """Those of its members that no other function checks."""
        if not isinstance(self.message, str) or not self.message:
            raise ValueError("message must be a non-empty str")
        if self.round_timeout is not None:
            check_duration("round_timeout", self.round_timeout, 0.001, CALL_MAX_S)
        check_duration("progress_every", self.progress_every, 0.001, CALL_MAX_S)
        check_choice("ask", self.ask, ("request", "error"))

    @property
    def owner(self) -> Owner:
        return {"subject": self.subject, "session": self.session}

    @property
    def is_for_others(self) -> bool:
        """Whether the page is for somebody else than the user of this client."""
        return self.kind == "approval" and self.approver != "starter"

    @property
    def request(self) -> Request:
        return check_request(
            provider=self.provider, kind=self.kind, expected=self.expected, about=self.about, client_id=self.client_id,
            same_client=self.same_client, form=self.form, approver=self.approver, four_eyes=self.four_eyes, verifies=self.verify is not None,
            submit_label=self.submit_label, step_up=self.step_up, item=self.item, subscription=self.subscription,
        )  # fmt: skip

    @property
    def key(self) -> str:
        """The resume key by which the next call goes on with what this one has started."""
        if self.resume_key is not None:
            return self.resume_key
        return default_resume_key(self.provider, self.kind, self.message, self.expected)
