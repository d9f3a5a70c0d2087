"""Calls as tasks in servers of the official SDK 2.x. Its `Extension` declares them and serves their methods. That it is a middleware as
well lets it change what a call returns, run a tool by the rest of the chain, and write into a stream of `subscriptions/listen`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp.types import RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field

from .._core import contract_texts as texts
from .._core.background import start_quietly
from .._core.contract_limits import RPC_CAPABILITY_MISSING, RPC_HEADER_MISMATCH, RPC_INTERNAL_ERROR, TASK_IDS_MAX
from .._core.log import logger
from .._core.tasks import TaskCall, can_be_kept
from .._core.urlmode import UrlMode
from .messages import ToolResult
from .responses import response_of
from .sdk_call import client_of
from .task_notifications import follow, place_for
from .task_rounds import TaskRound, TaskRun, in_round
from .tasks import Look, Run, TaskOwner, TaskRequest, TaskServer

TASKS = "io.modelcontextprotocol/tasks"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

Context = ServerRequestContext[Any, Any]
_rest: ContextVar[CallNext] = ContextVar("urlmode_rest_of_chain")
"""The rest of the chain of middleware, behind that of tasks."""


class _TaskParams(RequestParams):
    # Whatever is sent: what is no id names no task.
    task_id: Any = Field(alias="taskId", default=None)
    input_responses: Any = Field(alias="inputResponses", default=None)


class _Notification(BaseModel):
    method: str
    params: dict[str, Any]


class _Listening:
    """The session of a request to listen, whose acknowledgement names the tasks as well."""

    def __init__(self, session: Any, acknowledge: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self._session = session
        self._acknowledge = acknowledge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def send_notification(self, notification: Any, related_request_id: Any = None) -> None:
        if notification.method == _ACKNOWLEDGED:
            await self._acknowledge(notification.params.notifications.model_dump(by_alias=True, exclude_none=True))
        else:
            await self._session.send_notification(notification, related_request_id)


class TaskExtension(Extension):
    identifier = TASKS

    def __init__(self, urlmode: UrlMode, owner: Callable[[Any], TaskOwner], required: Sequence[str]) -> None:
        self._urlmode = urlmode
        self._owner = owner
        self._required = required
        self._server = TaskServer(urlmode, MCPError)
        self._is_extension = False
        self._is_middleware = False

    def methods(self) -> Sequence[MethodBinding]:
        self._is_extension = True
        versions = frozenset(MODERN_PROTOCOL_VERSIONS)
        handlers = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}
        return [MethodBinding(name, _TaskParams, handler, versions) for name, handler in handlers.items()]

    async def intercept_tool_call(self, params: Any, ctx: Context, call_next: CallNext) -> HandlerResult:
        self._check_lists()
        return await call_next(ctx)

    def _check_lists(self) -> None:
        if not (self._is_extension and self._is_middleware):
            raise RuntimeError("tasks need MCPServer(extensions=[tasks], middleware=[tasks])")

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        self._is_middleware = True
        self._check_lists()
        if ctx.method == "tools/call":
            return await self._call(ctx, call_next)
        if ctx.method == "subscriptions/listen":
            return await self._listen(ctx, call_next)
        token = _rest.set(call_next)
        try:
            return await call_next(ctx)
        finally:
            _rest.reset(token)

    async def _call(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        params = ctx.params or {}
        kept: dict[str, Any] = {"tool": params.get("name"), "arguments": params.get("arguments"), "responses": params.get("inputResponses")}
        if not _declares(ctx):
            if kept["tool"] in self._required:
                raise _tasks_required()
            return await call_next(ctx)
        if params.get("requestState") is not None or not can_be_kept(kept):
            return await call_next(ctx)
        round = TaskRound()
        with in_round(ctx.session, round):
            result = await call_next(ctx)
        if round.awaited is None or not isinstance(result, dict) or result.get("resultType") != "input_required":
            return result
        task = await self._server.create(*self._owner_of(ctx), round, result, **kept)
        return {**task, "_meta": result.get("_meta") or {}}

    async def _get(self, ctx: Context, params: _TaskParams) -> HandlerResult:
        return await self._server.get(params.task_id, self._request(ctx, params))

    async def _update(self, ctx: Context, params: _TaskParams) -> HandlerResult:
        return await self._server.update(params.task_id, params.input_responses, self._request(ctx, params))

    async def _cancel(self, ctx: Context, params: _TaskParams) -> HandlerResult:
        return await self._server.cancel(params.task_id, self._request(ctx, params))

    def _request(self, ctx: Context, params: _TaskParams) -> TaskRequest:
        if not _declares(ctx):
            raise _tasks_required()
        named = getattr(ctx.request, "headers", {}).get("mcp-name", params.task_id)
        if isinstance(params.task_id, str) and named != params.task_id:
            raise MCPError(RPC_HEADER_MISMATCH, texts.TASK_NAME)
        self._check_lists()
        return self._describe(ctx, _rest.get())

    def _describe(self, ctx: Context, call_next: CallNext) -> TaskRequest:
        subject, session = self._owner_of(ctx)
        response = response_of(ctx.request)

        def when_written(report: Callable[[bool], None]) -> None:
            if response is None:
                report(True)
            else:
                response.when_written(report)

        return TaskRequest(subject, session, client_of(ctx.session), _run_of(ctx, call_next), _error_of, when_written)

    def _owner_of(self, ctx: Context) -> tuple[str, str]:
        owner = self._owner(ctx)
        return owner["subject"], owner.get("session", "")

    async def _listen(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        wanted = (ctx.params or {}).get("notifications")
        ids = wanted.get("taskIds") if isinstance(wanted, Mapping) else None
        if not isinstance(wanted, Mapping) or not isinstance(ids, list) or not ids:
            return await call_next(ctx)
        if not _declares(ctx):
            raise _tasks_required()
        request = self._describe(ctx, call_next)
        with place_for(request.subject) as has_place:
            return await (self._listen_to(ctx, call_next, request, wanted, ids) if has_place else call_next(ctx))

    async def _listen_to(
        self, ctx: Context, call_next: CallNext, request: TaskRequest, wanted: Mapping[str, Any], ids: list[Any]
    ) -> HandlerResult:
        tasks: dict[str, Look] = {}
        for id in dict.fromkeys(each for each in ids[:TASK_IDS_MAX] if isinstance(each, str)):
            try:
                tasks[id] = await self._server.look(id, request)
            except MCPError:
                continue  # There is no such task.

        async def acknowledge(notifications: dict[str, Any]) -> None:
            await _notify(ctx, _ACKNOWLEDGED, {"notifications": {**notifications, **({"taskIds": list(tasks)} if tasks else {})}})

        async def send(details: dict[str, Any]) -> bool:
            response, id = response_of(ctx.request), details["taskId"].encode()
            written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

            def report(well: bool) -> None:
                if not written.done():  # Nobody waits for it any more.
                    written.set_result(well)

            if response is not None:
                response.when_written(report, lambda body: b'"notifications/tasks"' in body and id in body)
            await _notify(ctx, "notifications/tasks", details)
            return response is None or await written

        if not any(value for name, value in wanted.items() if name != "taskIds"):
            await acknowledge({})
            await follow(self._urlmode, self._server, request, tasks, send)
            return {"resultType": "complete", "_meta": {_SUBSCRIPTION: ctx.request_id}}
        following: list[asyncio.Future[None]] = []

        async def acknowledge_all(notifications: dict[str, Any]) -> None:
            await acknowledge(notifications)
            following.append(start_quietly(follow(self._urlmode, self._server, request, tasks, send)))

        try:
            return await call_next(replace(ctx, session=_Listening(ctx.session, acknowledge_all)))  # type: ignore[arg-type]
        finally:
            for each in following:
                each.cancel()


async def _notify(ctx: Context, method: str, params: dict[str, Any]) -> None:
    own: Any = _Notification(method=method, params={**params, "_meta": {_SUBSCRIPTION: ctx.request_id}})
    await ctx.session.send_notification(own, ctx.request_id)


def _declares(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and TASKS in ((capabilities and capabilities.extensions) or {})


def _tasks_required() -> MCPError:
    return MCPError(RPC_CAPABILITY_MISSING, texts.TASK_CAPABILITY, {"requiredCapabilities": {"extensions": {TASKS: {}}}})


def _run_of(ctx: Context, call_next: CallNext) -> Run:
    """`ctx`: of the request that the run begins with, which may end before it."""

    async def run(call: TaskCall, answers: dict[str, Any], round: TaskRun) -> ToolResult:
        meta = {name: value for name, value in ((ctx.params or {}).get("_meta") or {}).items() if name != "progressToken"}
        params = {"name": call.tool, "arguments": call.arguments, "requestState": call.state, "inputResponses": answers or None, "_meta": meta}
        known = {name: value for name, value in params.items() if value is not None}
        with in_round(ctx.session, round):
            result = await call_next(replace(ctx, method="tools/call", params=known))
        if not isinstance(result, dict):
            raise TypeError("a middleware behind that of tasks has returned no mapping")
        return result

    return run


def _error_of(error: Exception) -> dict[str, Any]:
    if isinstance(error, MCPError):
        return error.error.model_dump(by_alias=True, mode="json", exclude_none=True)
    logger.error("the tool of a task could not be called", exc_info=error)
    return {"code": RPC_INTERNAL_ERROR, "message": "Internal server error"}
