"""Tools with a typed result. The framework generates a schema from what a tool says that it returns. Its server validates
the results of the tool, or its clients do: what does not fit is an error in its place, and the link is lost."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.types import CallToolResult

from .messages import ToolResult
from .rounds import is_open

T = TypeVar("T")


@dataclass(frozen=True)
class TypedResult:
    """What a tool returns that has a schema."""

    schema: dict[str, Any]
    convert: Callable[[Any], CallToolResult]
    """what the framework makes of a value that the tool returns. Raises if it is not what the tool says"""

    def to_wire(self, made: Any) -> ToolResult:
        """What the body has returned, as it is sent to the client. Raises if the client would not take it."""
        if is_required(made):
            return to_dict(made)
        result = to_dict(made if is_error(made) else self.convert(made))
        if not result.get("isError"):
            self._validate(result.get("structuredContent"))
        return result

    def fit(self, answer: ToolResult) -> ToolResult:
        """A result that ends a call without its body, in a form that reaches the client. An error needs no structured
        content. Anything else must be what the tool says that it returns, and must not look like the result of the body."""
        structured = answer.get("structuredContent")
        if structured is None:
            return answer
        names = self.schema.get("properties", {})
        if (not names or names.keys() & structured.keys()) and self._takes(structured):
            return answer
        try:
            return self.to_wire(answer["content"][0]["text"])
        except Exception:  # It is no tool that returns text.
            return {"content": answer["content"], "isError": True}

    def _takes(self, structured: Any) -> bool:
        try:
            self._validate(structured)
        except Exception:
            return False
        return True

    def _validate(self, structured: Any) -> None:
        """As the clients of the SDK do."""
        import jsonschema  # type: ignore[import-untyped]

        jsonschema.validate(structured, self.schema)


def is_error(made: Any) -> bool:
    """Whether it is a result of the SDK that says that the tool has failed."""
    if not isinstance(made, CallToolResult):
        return False
    name = "is_error" if hasattr(made, "is_error") else "isError"  # of SDK 1.x
    return bool(getattr(made, name))


def is_required(made: Any) -> bool:
    """Whether it is a result of SDK 2.x that requires input."""
    return getattr(made, "result_type", None) == "input_required"


def is_link(made: Any) -> bool:
    """Whether it is a result of ours that has a link, or says what the user has begun."""
    return isinstance(made, CallToolResult) and not is_error(made) and is_open(to_dict(made))


def to_dict(result: Any) -> ToolResult:
    made: ToolResult = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made


def running_tool(kind: type[T]) -> T | None:
    """The tool of the framework that has called the function of a tool, of which this is a part. Neither a Context nor the
    session tells which tool it is. None: the function of the tool waits for this in another task."""
    frame = inspect.currentframe()
    while frame is not None:
        if "self" in frame.f_code.co_varnames and isinstance(tool := frame.f_locals.get("self"), kind):
            return tool
        frame = frame.f_back
    return None
