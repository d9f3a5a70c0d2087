"""FastMCP (`fastmcp`), 2.14 to 4.x, which is built on the official SDK: see `urlmode.mcp`.

The tool must return what these functions return. `request_state_security` is for FastMCP 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from ._core.platform import missing

try:
    import fastmcp  # noqa: F401
except ModuleNotFoundError as error:
    raise missing("urlmode.fastmcp", "fastmcp") from error

from fastmcp.tools import Tool
from mcp.types import CallToolResult

from ._adapters.adapter import Accepted, Approval, Input
from ._adapters.call import CallOptions
from ._adapters.require_paid import Subscribed
from ._adapters.request_state import request_state_security
from ._adapters.resolving import NotKept, run_tool
from ._adapters.rounds import OwnRequest, own_request
from ._adapters.sdk import Adapter
from ._adapters.sdk_call import ToolContext
from ._adapters.sdk_tool import to_call_tool_result
from ._adapters.typed import TypedResult, is_error, running_tool

if TYPE_CHECKING:
    from fastmcp.server.middleware import Middleware
    from fastmcp.tools import ToolResult
    from mcp.types import InputRequiredResult

    from ._adapters.sdk import Made

    ToolAnswer = Union[ToolResult, InputRequiredResult]
    """What a tool returns that asks its user, as FastMCP has it: a result, or in FastMCP 4 one that requires input."""
    _Adapter = Adapter[Union[Made, ToolResult], ToolAnswer]
else:
    _Adapter = Adapter
    try:
        from fastmcp.tools import ToolResult
    except ImportError:  # FastMCP 2
        from fastmcp.tools.tool import ToolResult
    try:
        from mcp.types import InputRequiredResult
    except ImportError:  # SDK 1.x
        ToolAnswer = ToolResult
    else:
        ToolAnswer = Union[ToolResult, InputRequiredResult]

__all__ = [
    "Accepted",
    "Approval",
    "CallOptions",
    "Input",
    "OwnRequest",
    "Subscribed",
    "ToolAnswer",
    "ToolContext",
    "ask_approval",
    "collect_input",
    "connect_account",
    "own_request",
    "request_state_security",
    "require_paid",
    "resolve",
    "resolver_middleware",
    "use_account",
    "with_elicitation",
]


class _Answer(ToolResult):
    """A result whose conversion for the client is ours. FastMCP 2 cannot say that a result is an error, and each version
    makes a text of an error that a tool raises, without its code. What a conversion raises reaches the client as it is."""

    def __init__(self, result: CallToolResult, error: Exception | None = None) -> None:
        wire = result.model_dump(by_alias=True)
        super().__init__(content=result.content, structured_content=wire["structuredContent"])
        # FastMCP 2 has a class of its own, later versions have a model of Pydantic.
        object.__setattr__(self, "_answered", (result, error))

    @property
    def has_failed(self) -> bool:
        result, error = object.__getattribute__(self, "_answered")
        return error is not None or is_error(result)

    def to_mcp_result(self) -> CallToolResult:
        result, error = object.__getattribute__(self, "_answered")
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


class _FastMCP(_Adapter):
    has_no_resolvers = "resolvers of urlmode need FastMCP(middleware=[urlmode.fastmcp.resolver_middleware()])"

    def tool_error(self, text: str) -> Exception:
        from fastmcp.exceptions import ToolError

        return ToolError(text)

    def to_result(self, result: CallToolResult) -> ToolAnswer:
        return _Answer(result)

    def to_error(self, error: Exception) -> ToolAnswer:
        return _Answer(CallToolResult(content=[]), error)

    def typed_result(self) -> TypedResult | None:
        tool = running_tool(Tool)
        if tool is None or tool.output_schema is None:
            return None
        return TypedResult(tool.output_schema, lambda made: _convert(tool, made))

    def to_wire(self, made: Any) -> dict[str, Any]:
        return super().to_wire(to_call_tool_result(made.to_mcp_result()) if isinstance(made, ToolResult) else made)


def _convert(tool: Tool, made: Any) -> CallToolResult:
    """What the tool makes of the value that its function returns."""
    if isinstance(made, CallToolResult):
        return made
    if not isinstance(made, ToolResult):
        if hasattr(tool, "convert_result"):
            made = tool.convert_result(made)
        else:  # FastMCP 2
            is_wrapped = (tool.output_schema or {}).get("x-fastmcp-wrap-result")
            made = ToolResult(made, {"result": made} if is_wrapped else made)
    return to_call_tool_result(made.to_mcp_result())


_adapter = _FastMCP()
with_elicitation = _adapter.with_elicitation
collect_input = _adapter.collect_input
connect_account = _adapter.connect_account
use_account = _adapter.use_account
require_paid = _adapter.require_paid
ask_approval = _adapter.ask_approval
resolve = _adapter.resolve


def resolver_middleware() -> Middleware:
    """For `FastMCP(middleware=[…])`: lets dependencies of its tools ask by `resolve`, and lets answers count as written only
    when their tools have ended well."""
    from fastmcp.exceptions import ToolError
    from fastmcp.server.middleware import Middleware

    class Resolvers(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                result = await run_tool(lambda: call_next(context), _has_failed)
            except NotKept as error:
                raise ToolError(f"Error calling tool {context.message.name!r}: {error}") from error
            if isinstance(result, ToolResult):
                return result
            from fastmcp.tools.base import InputRequiredToolResult  # of FastMCP 4

            return InputRequiredToolResult(result)

    return Resolvers()


def _has_failed(result: ToolResult) -> bool:
    """An input that is required comes from elsewhere. FastMCP 2 does not know whether a result of its own is an error."""
    if isinstance(result, _Answer):
        return result.has_failed
    return hasattr(result, "input_required") or bool(getattr(result, "is_error", False))
