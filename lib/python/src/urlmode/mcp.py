"""The official Python SDK (`mcp`), 1.25 to 2.x: protocol revisions 2025-11-25 and 2026-07-28.

Functions for the body of a tool, which has the SDK's `Context`. In a server of 2.x that has more than one process,
`request_state_security` lets each process open what another has sealed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Union

from ._core.platform import missing

try:
    import mcp.types  # noqa: F401
except ModuleNotFoundError as error:
    raise missing("urlmode.mcp", "mcp") from error

from mcp.types import CallToolResult, TextContent

from ._adapters.adapter import Accepted, Approval, Input
from ._adapters.call import CallOptions
from ._adapters.require_paid import Subscribed
from ._adapters.request_state import request_state_security
from ._adapters.resolving import NotKept, run_tool
from ._adapters.rounds import OwnRequest, own_request
from ._adapters.sdk import Adapter
from ._adapters.sdk_call import ToolContext
from ._adapters.tasks import TaskOwner

if TYPE_CHECKING:
    from mcp.server.extension import Extension
    from mcp.types import InputRequiredResult

    from ._adapters.sdk import Made
    from ._adapters.sdk_tasks import TaskExtension
    from ._core.urlmode import UrlMode

    ToolAnswer = Union[CallToolResult, InputRequiredResult]
    """What a tool returns that asks its user, as the SDK has it: a result, or in SDK 2.x one that requires input."""
    _Adapter = Adapter[Made, ToolAnswer]
else:
    _Adapter = Adapter
    try:
        from mcp.types import InputRequiredResult
    except ImportError:  # SDK 1.x
        ToolAnswer = CallToolResult
    else:
        ToolAnswer = Union[CallToolResult, InputRequiredResult]

__all__ = [
    "Accepted",
    "Approval",
    "CallOptions",
    "Input",
    "OwnRequest",
    "Subscribed",
    "TaskOwner",
    "ToolAnswer",
    "ToolContext",
    "ask_approval",
    "collect_input",
    "connect_account",
    "handle_tasks",
    "own_request",
    "request_state_security",
    "require_paid",
    "resolve",
    "resolver_extension",
    "use_account",
    "with_elicitation",
]

_adapter = _Adapter()
with_elicitation = _adapter.with_elicitation
collect_input = _adapter.collect_input
connect_account = _adapter.connect_account
use_account = _adapter.use_account
require_paid = _adapter.require_paid
ask_approval = _adapter.ask_approval
resolve = _adapter.resolve


def resolver_extension() -> Extension:
    """For `MCPServer(extensions=[…])` of SDK 2.x: lets resolvers of its tools ask by `resolve`. Raises ImportError with SDK 1.x."""
    from mcp.server.extension import Extension

    class Resolvers(Extension):
        identifier = "urlmode/resolvers"

        async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
            try:
                return await run_tool(lambda: call_next(ctx), _has_failed)
            except NotKept as error:  # as an error of the tool, whose body it is
                text = f"Error executing tool {params.name}: {error}"
                return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    return Resolvers()


def handle_tasks(urlmode: UrlMode, *, owner: Callable[[Any], TaskOwner], required: Sequence[str] = ()) -> TaskExtension:
    """For `MCPServer(extensions=[tasks], middleware=[tasks])` of SDK 2.x: makes calls that wait into tasks, for clients that declare the
    extension io.modelcontextprotocol/tasks.

    `urlmode` is that of the tools. `owner` says whose a request is, of which it is given the context: the same subject and session as of what the tools ask for. `required`: tools
    that are for clients with tasks alone; others are refused with -32021. Raises ImportError with SDK 1.x; without both options, each
    call of a tool raises RuntimeError.
    """
    from ._adapters.sdk_tasks import TaskExtension

    return TaskExtension(urlmode, owner, required)


def _has_failed(result: object) -> bool:
    """An input that is required comes from another resolver than ours."""
    return not isinstance(result, CallToolResult) or bool(result.is_error)
