"""Calls as tasks, for clients that declare the extension io.modelcontextprotocol/tasks (SEP-2663). A wait of days is not a call that is
open for days: the first answer is a task, and the client asks for it when it likes, on any instance.

A task is a retry of revision 2026-07-28 whose request state is kept here in place of the client. When what it waits for has
ended, whoever is asked for the task next runs the tool once more with that state, and keeps what it returns. While its tool
asks for something, `tasks/get` says so, and `tasks/update` answers it.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, TypedDict

import psycopg

from .._core import contract_texts as texts
from .._core.arguments import check_owner
from .._core.background import start_quietly
from .._core.contract_calls import RowKey
from .._core.contract_limits import RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, TASK_LEASE_S, TASK_POLL_S, TASK_WAIT_S
from .._core.contract_words import UNSTORABLE_CLASSES
from .._core.contract_words import ACTIONS
from .._core.errors import UrlModeError
from .._core.tasks import NextCall, Task, TaskCall, Tasks, can_be_kept
from .._core.urlmode import UrlMode
from .asks import REFUSALS, end_ask
from .clients import Client
from .messages import ToolResult, failure_result, progress_message
from .task_rounds import TaskRound, TaskRun

OPEN = ("working", "input_required")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNKEPT = {"error": {"code": RPC_INTERNAL_ERROR, "message": texts.TASK_UNKEPT}}
"""What a client is told of a result that cannot be written as JSON, or is larger than a row of tasks takes."""

Run = Callable[[TaskCall, dict[str, Any], TaskRun], Awaitable[ToolResult]]
Refuse = Callable[[int, str], Exception]


class _Subject(TypedDict):
    subject: str
    """the user, according to your own authorization"""


class TaskOwner(_Subject, total=False):
    """Of a request: the same as of what the tools ask for."""

    session: str
    """of the user in the application. The default is the empty str"""


@dataclass(frozen=True)
class TaskRequest:
    """How the framework describes a request about a task."""

    subject: str
    session: str
    client: Client
    run: Run
    """calls the tool"""
    error_of: Callable[[Exception], dict[str, Any]]
    """as it is sent"""
    when_written: Callable[[Callable[[bool], None]], None]
    """tells whether the answer was written"""


@dataclass(frozen=True)
class Look:
    """A task, as whoever is asked for it finds it."""

    task: Task
    is_busy: bool
    """whether its tool is run"""


class TaskServer:
    def __init__(self, urlmode: UrlMode, refuse: Refuse) -> None:
        """`refuse` makes the error of a protocol."""
        self._urlmode = urlmode
        self._tasks = Tasks(urlmode._database.query, urlmode._keys, urlmode._kept.results)
        self._refuse = refuse

    async def create(
        self, subject: str, session: str, round: TaskRound, result: ToolResult, *, tool: str, arguments: Any, responses: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Keeps a call that waits. `result`: it requires input."""
        awaited = round.awaited
        assert awaited is not None
        task = await self._tasks.create(self._binding_of(subject, session), awaited.elicitation_id, TaskCall(
            tool=tool, arguments=arguments, responses=responses, state=result.get("requestState") or "",
            requests=result.get("inputRequests") or {}, is_own=True, text=awaited.text, kind=awaited.kind,
        ))  # fmt: skip
        if task is None:
            raise TypeError(texts.TASK_OWNER)
        details = details_of(task)
        details.pop("inputRequests", None)
        return {**details, "resultType": "task"}

    async def get(self, id: object, request: TaskRequest) -> dict[str, Any]:
        task = (await self.look(id, request)).task
        if task.row.is_unread:
            request.when_written(lambda written: self.start_confirming(task) if written else None)
        return details_of(task)

    async def look(self, id: object, request: TaskRequest) -> Look:
        """Runs the tool, if that has something to do, which may take longer than this."""
        task = await self._find(id, request)
        if _is_runnable(task):
            running = self._urlmode._background.start(self._run(task, request))
            await asyncio.wait({running}, timeout=TASK_WAIT_S)
            task = await self._find(id, request)
        return Look(task, task.row.is_leased or _is_runnable(task))

    def start_confirming(self, task: Task) -> None:
        """Its client has got the result. What it may not have got is not delivered, and it is given it again."""
        self._urlmode._background.start(self._tasks.confirm(task))

    async def update(self, id: object, responses: object, request: TaskRequest) -> dict[str, Any]:
        task = await self._find(id, request)
        for name, answer in responses.items() if isinstance(responses, dict) else ():
            key = next((each for each in _outstanding(task) if _key_in(task, each) == name), None)
            action = _action_of(answer) if task.call.is_own else "any"
            # What nobody asks for, or has answered, is ignored.
            if key is None or action is None:
                continue
            if not can_be_kept(answer):
                raise self._refuse(RPC_INVALID_PARAMS, texts.TASK_RESPONSE)
            if await self._tasks.answer(task, key, answer) and task.call.is_own:
                await self._end_ask(task, request.client, action)
            task.answers[key] = answer
        return {}

    async def _end_ask(self, task: Task, client: Client, action: str) -> None:
        answer = REFUSALS[action][0] if action in REFUSALS else "accepted"
        await end_ask(self._urlmode, RowKey(task.row.elicitation, task.key.binding), client, answer)

    async def cancel(self, id: object, request: TaskRequest) -> dict[str, Any]:
        """Ends the task alone. What its user has begun goes on, and the next call is given it."""
        if not await self._tasks.cancel(self._key_of(id, request)):
            raise self._not_found()
        return {}

    async def _find(self, id: object, request: TaskRequest) -> Task:
        task = await self._tasks.read(self._key_of(id, request))
        if task is None:
            raise self._not_found()
        return task

    def _key_of(self, id: object, request: TaskRequest) -> RowKey:
        if not isinstance(id, str) or not _UUID.fullmatch(id):
            raise self._not_found()
        return RowKey(id, self._binding_of(request.subject, request.session))

    def _binding_of(self, subject: str, session: str) -> bytes:
        self._urlmode._check_open()
        owner = check_owner(subject, session)
        return self._urlmode._binding_of(owner.subject, owner.session)

    def _not_found(self) -> Exception:
        """Also that of another user."""
        return self._refuse(RPC_INVALID_PARAMS, texts.TASK_NOT_FOUND)

    async def _run(self, task: Task, request: TaskRequest) -> None:
        lease = await self._tasks.begin(task)
        if lease == 0:
            return
        renewing = start_quietly(self._renew(task, lease))
        run = TaskRun()
        try:
            answers = {**(task.call.responses or {}), **({} if task.call.is_own else task.answers)}
            try:
                ended = {"result": await request.run(task.call, answers, run)}
            except Exception as error:
                ended = {"error": request.error_of(error)}
            except asyncio.CancelledError:
                if self._urlmode._closing is not None:
                    raise
                ended = {"error": request.error_of(RuntimeError(f"{task.call.tool} was cancelled"))}
            await self._keep(task, lease, run, ended)
        except asyncio.CancelledError:  # of `aclose`: another instance may begin at once
            with contextlib.suppress(psycopg.Error, UrlModeError):
                await self._tasks.go_on(task, lease)
            raise
        finally:
            renewing.cancel()
            run.end(well=True, written=False)

    async def _renew(self, task: Task, lease: int) -> None:
        while True:
            await asyncio.sleep(TASK_LEASE_S / 3)
            with contextlib.suppress(psycopg.Error, UrlModeError):
                await self._tasks.begin(task, lease)

    async def _keep(self, task: Task, lease: int, run: TaskRun, ended: dict[str, Any]) -> None:
        """A run may have returned anything, also what cannot be kept: that ends the task. Otherwise the next one who asks would run the
        tool again, and again. Nobody gets it then, so that what it was made of stays claimable."""
        try:
            await self._try_to_keep(task, lease, run, ended)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith(UNSTORABLE_CLASSES):
                raise
        except (TypeError, ValueError, RecursionError):
            pass
        else:
            return
        await self._tasks.end(task, lease, self._tasks.seal(task.key, _UNKEPT), [])

    async def _try_to_keep(self, task: Task, lease: int, run: TaskRun, ended: dict[str, Any]) -> None:
        result = ended.get("result", {})
        if result.get("resultType") == "input_required" or run.is_undone:
            await self._tasks.go_on(task, lease, None if run.is_undone else _next_of(task, run, result))
            return
        sealed = self._tasks.seal(task.key, ended)
        failed = "error" in ended or result.get("isError") is True
        if await self._tasks.end(task, lease, sealed, [] if failed else run.claims):
            if failed:
                run.end(well=False, written=True)
            else:
                run.kept()


def _next_of(task: Task, run: TaskRun, result: ToolResult) -> NextCall | None:
    """`result`: it requires input. None: the task waits as before."""
    call, awaited, requests = task.call, run.awaited, result.get("inputRequests") or {}
    if result.get("requestState") == call.state:
        return None
    next = replace(call, state=result.get("requestState") or "", requests=requests)
    if awaited is not None:
        return NextCall(awaited.elicitation_id, replace(next, is_own=True, text=awaited.text, kind=awaited.kind))
    return NextCall(task.row.elicitation, replace(next, is_own=False, text="") if requests else next)


def _is_runnable(task: Task) -> bool:
    return task.row.is_due and not task.row.is_leased and (task.call.is_own or not _outstanding(task))


def _outstanding(task: Task) -> list[str]:
    """What the client has not answered yet."""
    return [key for key in task.call.requests if key not in task.answers] if task.row.state == "open" else []


def _key_in(task: Task, key: str) -> str:
    """No key is used twice in the life of a task."""
    return f"{task.row.round}.{key}"


def details_of(task: Task) -> dict[str, Any]:
    """What `tasks/get` answers."""
    row = task.row
    details = {
        "taskId": task.key.id, "createdAt": _iso(row.created_at), "lastUpdatedAt": _iso(row.updated_at),
        "ttlMs": _milliseconds(row.expires_at) - _milliseconds(row.created_at), "pollIntervalMs": TASK_POLL_S * 1000, **_status_of(task),
    }  # fmt: skip
    keys = _outstanding(task) if details["status"] == "input_required" else []
    return {**details, "inputRequests": {_key_in(task, key): task.call.requests[key] for key in keys}} if keys else details


def _status_of(task: Task) -> dict[str, Any]:
    row, call = task.row, task.call
    if row.state == "cancelled":
        return {"status": "cancelled"}
    if row.state == "ended":
        withheld = {"result": {"resultType": "complete", **failure_result("cancel", row.withheld)}} if row.withheld else None
        result = withheld or task.result or {}
        return {"status": "failed" if "error" in result else "completed", **result}
    # Nobody needs to open what is being worked on.
    is_open = not call.is_own or (not row.is_due and row.status != "processing")
    message = progress_message(call.kind, row.status) if row.status == "processing" else "" if row.is_due else call.text
    status = "input_required" if is_open and _outstanding(task) else "working"
    return {"status": status, "statusMessage": message} if message else {"status": status}


def _action_of(answer: object) -> str | None:
    action = answer.get("action") if isinstance(answer, dict) else None
    return next((known for known in ACTIONS if known == action), None)


def _iso(time: datetime) -> str:
    seconds, rest = divmod(_milliseconds(time), 1000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"


def _milliseconds(time: datetime) -> int:
    """As an instance in another language says it."""
    return math.floor(time.timestamp() * 1000 + 0.5)
