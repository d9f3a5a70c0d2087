"""The tool of the official SDK that runs: what it returns, and how it ends."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

from mcp.types import CallToolResult

from .delivery import expect_end, goes_on, has_ended
from .typed import TypedResult, is_error, is_link, is_required, running_tool

T = TypeVar("T")


def typed_result_of_sdk() -> TypedResult | None:
    tool: Any = running_tool(_tool_class())
    if tool is None:
        return None
    _watch(tool)
    if tool.output_schema is None:
        return None
    return TypedResult(tool.output_schema, lambda made: to_call_tool_result(tool.fn_metadata.convert_value(made)))


def to_call_tool_result(converted: Any) -> CallToolResult:
    """Of what the frameworks make of a result: content, or that with structured content, or the whole."""
    if isinstance(converted, CallToolResult):
        return converted
    content, structured = converted if isinstance(converted, tuple) else (converted, None)
    return CallToolResult.model_validate({"content": content, "structuredContent": structured})


def _tool_class() -> type[Any]:
    try:
        from mcp.server.mcpserver.tools.base import Tool
    except ImportError:  # SDK 1.x
        from mcp.server.fastmcp.tools.base import Tool  # type: ignore[import-not-found, no-redef]
    return Tool


def _watch(tool: Any) -> None:
    """The SDK has nothing else that tells how a tool ends: it converts what the tool has returned."""
    if not hasattr(tool.fn_metadata, "convert_value"):
        tool.fn_metadata = _watching(type(tool.fn_metadata)).model_construct(**dict(tool.fn_metadata))
    expect_end()


def _watching(metadata: Any) -> Any:
    class Watching(metadata):  # type: ignore[misc]
        def convert_value(self, value: Any) -> Any:
            return super().convert_result(value)

        def convert_result(self, result: Any) -> Any:
            # Up to 2.0, the SDK also validates the structured content of errors, which have none.
            try:
                converted = result if is_error(result) else self.convert_value(result)
            except Exception:
                has_ended(well=False)
                raise
            if is_required(converted):
                return converted.model_copy(update={"request_state": goes_on(converted.request_state)})
            if is_link(converted):
                goes_on()
            else:
                has_ended(well=not is_error(result))
            return converted

        async def call_fn(self, *arguments: Any, **named: Any) -> Any:
            return await _or_failed(super().call_fn(*arguments, **named))

        async def call_fn_with_arg_validation(self, *arguments: Any, **named: Any) -> Any:
            return await _or_failed(super().call_fn_with_arg_validation(*arguments, **named))

    return Watching


async def _or_failed(running: Awaitable[T]) -> T:
    try:
        return await running
    except Exception:  # A call that was cancelled has not failed: nobody waits for its answer.
        has_ended(well=False)
        raise
