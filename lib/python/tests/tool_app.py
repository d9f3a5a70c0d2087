"""A server with one tool, and a client that answers what it asks, of the SDK or of FastMCP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import fastmcp
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitResult
from task_client import TaskClient

from urlmode import UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import handle_tasks, request_state_security

MODES = ["legacy", "2026-07-28", "FastMCP legacy", "FastMCP 2026-07-28"]
"""The framework, if it is not the SDK, and the revision of the protocol."""

MODES_AND_TASKS = [*MODES, "tasks 2026-07-28"]
"""Also calls that the client of the SDK holds as tasks."""


class ToolApp:
    """What inherits from it says what its tool does with the adapter, and what the user does who is asked."""

    subject: str

    def __init__(self, urlmode: UrlMode, mode: str) -> None:
        self.asked = 0
        framework, _, revision = mode.rpartition(" ")
        self.adapter: Any = with_fastmcp if framework == "FastMCP" else with_sdk
        security: Any = request_state_security(urlmode)

        async def use(ctx: Any) -> Any:
            return await self.tool(ctx)

        if framework == "FastMCP":
            use.__annotations__["ctx"] = fastmcp.Context
            server = fastmcp.FastMCP("app", request_state_security=security)
            server.tool(use)
            self.client: Any = fastmcp.Client(server, mode=revision, elicitation_handler=self._choose)
        else:
            use.__annotations__["ctx"] = Context[Any, Any]
            tasks: list[Any] = [handle_tasks(urlmode, owner=lambda _: {"subject": self.subject})] if framework else []
            plain = MCPServer("app", request_state_security=security, extensions=tasks, middleware=tasks)
            plain.tool(structured_output=False)(use)
            extensions = [TaskClient(self._answer)] if framework else []
            self.client = Client(plain, mode=revision, elicitation_callback=self._answer, extensions=extensions)
        self.call: Callable[[str, dict[str, Any]], Awaitable[Any]] = self.client.call_tool_mcp if framework == "FastMCP" else self.client.call_tool

    async def tool(self, ctx: Any) -> Any:
        raise NotImplementedError

    async def follow_link(self) -> None:
        raise NotImplementedError

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked += 1
        await self.follow_link()
        return ElicitResult(action="accept")
