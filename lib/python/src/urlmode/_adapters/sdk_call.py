"""What the Context of the official SDK, or of FastMCP, says of a call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Protocol, cast

import anyio
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams

from .._core.arguments import traceparent_of
from .._core.contract_limits import RPC_CONNECTION_CLOSED
from .call import Call, Channel, Retry
from .clients import Client
from .responses import response_of
from .rounds import INPUT_KEY, own_request
from .task_rounds import TaskRun, round_of

_ROUNDS_SINCE = "2026-07-28"


class ToolContext(Protocol):
    """The Context of a tool, of either framework and each version."""

    @property
    def request_context(self) -> Any: ...

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


def describe(ctx: Any) -> Call:
    """What the Context says of a call."""
    request = ctx.request_context
    if request is None:
        raise RuntimeError("there is no call of a client to answer: a background task cannot ask its user")
    session = request.session
    token = get_access_token()
    response = response_of(request.request)
    described = Call(
        client=client_of(session),
        client_id=token.client_id if token else None,
        progress=lambda progress, text: ctx.report_progress(progress, None, text),
        is_gone=_is_gone,
        when_written=response.when_written if response else None,
        identity=request,
        traceparent=traceparent_of(_meta_of(request, "traceparent")),
        # Only SDK 2.x says it. FastMCP 4 keeps what that says.
        is_text=getattr(getattr(request, "_srctx", request), "method", None) in ("prompts/get", "resources/read"),
    )
    # Only SDK 2.x has it. It cancels a call of this revision whose client is gone.
    if (getattr(request, "protocol_version", None) or "") >= _ROUNDS_SINCE:
        own = own_request(ctx)
        answer = own.input_responses.get(INPUT_KEY)
        described = replace(described, retry=Retry(own.request_state, getattr(answer, "action", None)), task=round_of(session))
        # What a task runs is no answer to the request that it begins with.
        return replace(described, progress=_no_progress) if isinstance(described.task, TaskRun) else described
    # The SDK has it where there is an event store, and the client can resume a stream that has ended.
    is_resumable = getattr(request, "close_sse_stream", None) is not None
    return replace(
        described, closed=_closed_of(request.request), is_resumable=is_resumable, channel=_channel_of(session, request.request_id)
    )


async def _no_progress(progress: float, text: str) -> None:
    pass


def _meta_of(request: Any, name: str) -> object:
    """A member of `_meta` of the request: a mapping, or an object of older versions."""
    meta = getattr(request, "meta", None)
    return meta.get(name) if isinstance(meta, Mapping) else getattr(meta, name, None)


def _channel_of(session: Any, related: Any) -> Channel:
    async def request(message: str, url: str, elicitation_id: str) -> str:
        answer = await session.elicit_url(message, url, elicitation_id, related)
        return cast(str, answer.action)

    def required(links: list[dict[str, str]], said: str) -> Exception:
        return UrlElicitationRequiredError([ElicitRequestURLParams.model_validate(link) for link in links], said)

    return Channel(
        # SDK 2.x makes a session for each call.
        session=getattr(session, "_connection", session),
        request=request,
        required=required,
        complete=lambda elicitation_id: session.send_elicit_complete(elicitation_id, related),
        complete_later=lambda elicitation_id: session.send_elicit_complete(elicitation_id),
    )


def _closed_of(http: Any) -> Callable[[], Coroutine[Any, Any, None]] | None:
    """The SDK goes on with a call of a session whose response nobody reads any more.

    Only a request over Streamable HTTP is open as long as its call. Its client accepts a stream as the response.
    """
    if "text/event-stream" not in getattr(http, "headers", {}).get("accept", ""):
        return None

    async def closed() -> None:
        while (await http.receive())["type"] != "http.disconnect":
            pass

    return closed


def client_of(session: Any) -> Client:
    params = session.client_params
    info = getattr(params, "client_info", None) or getattr(params, "clientInfo", None)
    # With SDK 2.x a request can declare capabilities without saying what its client is called.
    capabilities = getattr(session, "client_capabilities", None) or getattr(params, "capabilities", None)
    return Client(
        name=getattr(info, "name", None),
        version=getattr(info, "version", ""),
        capabilities=capabilities.model_dump(by_alias=True, exclude_none=True) if capabilities else {},
    )


def _is_gone(error: BaseException) -> bool:
    if isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError)):
        return True
    return getattr(getattr(error, "error", None), "code", None) == RPC_CONNECTION_CLOSED
