"""The extension of the SDK's client for calls as tasks: it asks for each task until that has ended, and answers what it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from mcp.client.extension import ClaimContext, ClientExtension, NotificationBinding, ResultClaim
from mcp.types import CallToolResult, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, Request, Result
from pydantic import ConfigDict


class Task(Result):
    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"] = "task"
    taskId: str


class Details(Result):
    model_config = ConfigDict(extra="allow")


class TaskClient(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, answer: Callable[[Any, Any], Awaitable[ElicitResult]], read: Callable[[str], Awaitable[None]] | None = None) -> None:
        """`read`: is given each link that a task has as text."""
        self._answer = answer
        self._read = read
        self.told: list[Details] = []
        self.keys: list[str] = []
        """of what it was asked"""

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Task, resolve=self._settle)]

    def notifications(self) -> Sequence[NotificationBinding[Any]]:
        return [NotificationBinding(method="notifications/tasks", params_type=Details, handler=self._hear)]

    async def _hear(self, details: Details) -> None:
        self.told.append(details)

    async def _settle(self, task: Task, context: ClaimContext) -> CallToolResult:
        async def send(method: str, **params: Any) -> dict[str, Any]:
            request = Request[dict[str, Any], str](method=method, params={"taskId": task.taskId, **params})
            return (await context.session.send_request(request, Details)).model_dump(by_alias=True)

        link = ""
        while True:
            now = await send("tasks/get")
            if now["status"] not in ("working", "input_required"):
                return CallToolResult.model_validate(now["result"])
            if self._read and "https:" in (message := now.get("statusMessage", "")) and message != link:
                link = message
                await self._read(link)
            for key, request in now.get("inputRequests", {}).items():
                self.keys.append(key)
                params = request["params"]
                kind: Any = ElicitRequestURLParams if params["mode"] == "url" else ElicitRequestFormParams
                # A URL has no id in this revision.
                given = await self._answer(None, kind.model_validate({"elicitationId": "", **params}))
                await send("tasks/update", inputResponses={key: given.model_dump(by_alias=True, mode="json", exclude_none=True)})
            await asyncio.sleep(0.02)
