"""Each parameter of what the package exports has a text that an editor shows: `name` in the docstring of the function, or of the
class, or a text below the member of a class.

The members are those of each class that a function takes, and of what these consist of. Errors are caught, and claims given: nobody calls them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict, TypeGuard

import urlmode

MODULES = ["urlmode", *(f"urlmode.{name}" for name in ("fastmcp", "mcp", "oauth", "otel", "sync", "testing", "vault"))]
GIVEN = {"BegunClaim", "FulfilledClaim"}
"""Their methods are called, and not they themselves."""


def is_own(of: object) -> TypeGuard[type]:
    return isinstance(of, type) and of.__module__.partition(".")[0] in ("urlmode", __name__) and not issubclass(of, BaseException)


def tree_of(cls: type) -> ast.ClassDef:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    return tree


def family(cls: type) -> list[type]:
    """A class, and those of which it has its members. Before Python 3.12 a TypedDict does not know its bases."""
    bases = [getattr(sys.modules[cls.__module__], ast.unparse(base), None) for base in tree_of(cls).bases]
    return [cls, *(each for base in bases if is_own(base) for each in family(base))]


def members(cls: type) -> Iterator[tuple[str, str, bool]]:
    """Of the class itself: names, annotations, and whether a text is below them."""
    body = tree_of(cls).body
    for member, below in zip(body, [*body[1:], None]):
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name) and not member.target.id.startswith("_"):
            yield member.target.id, ast.unparse(member.annotation), isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)


class Search:
    """`missing`: what has no text; `seen`: how much was looked at."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.seen = 0
        self._done: set[int] = set()
        self._all: dict[str, Any] = {}
        """by their names alone, for what a module imports for its types only"""
        for each in pkgutil.walk_packages(urlmode.__path__, "urlmode."):
            if not each.name.endswith("__main__"):
                self._all.update(vars(importlib.import_module(each.name)))

    def exported(self, name: str, value: Any) -> None:
        if inspect.isfunction(value) or inspect.ismethod(value):
            self._function(name, value)
        if not is_own(value) or getattr(value, "_is_protocol", False):
            return
        for method, function in inspect.getmembers(value, inspect.isfunction):
            is_constructor = method == "__init__" and value.__name__ not in GIVEN and "__dataclass_fields__" not in vars(value)
            if (is_constructor or not method.startswith("_")) and is_own(getattr(sys.modules[function.__module__], function.__qualname__.partition(".")[0], None)):
                self._function(f"{name}.{method}", function)

    def _function(self, name: str, function: Callable[..., Any]) -> None:
        text = inspect.getdoc(function) or ""
        for parameter, of in inspect.signature(function).parameters.items():
            if parameter == "self":
                continue
            if of.kind not in (of.VAR_KEYWORD, of.VAR_POSITIONAL):
                self.seen += 1
                if f"`{parameter}`" not in text:
                    self.missing.add(f"{name}({parameter})")
            self._taken(of.annotation, function.__module__)
        for each in getattr(typing, "get_overloads", lambda _: [])(inspect.unwrap(function)):
            for annotation in (of for parameter, of in each.__annotations__.items() if parameter != "return"):
                self._taken(annotation, each.__module__)

    def _taken(self, annotation: object, module: str) -> None:
        """Looks at what somebody makes who passes a value of this type: of a function, what it returns."""
        written = annotation if isinstance(annotation, str) else re.sub(r"~|<class '([\w.]+)'>", r"\1", repr(annotation))
        parts: list[ast.expr] = [ast.parse(written, mode="eval").body]
        for part in parts:
            if isinstance(part, ast.BinOp):
                parts.extend([part.left, part.right])
            elif isinstance(part, ast.Subscript):
                of = ast.unparse(part.value).rpartition(".")[2]
                inner = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
                parts.extend([] if of == "Literal" else inner[-1:] if of == "Callable" else [part.value] if self._is_alias(of) else inner)
            elif isinstance(part, (ast.Name, ast.Attribute)):
                place, _, name = ast.unparse(part).rpartition(".")
                value = vars(sys.modules.get(place or module, typing)).get(name, self._all.get(name))
                if id(value) in self._done:
                    continue
                self._done.add(id(value))
                if is_own(value):
                    self._members(value)
                elif self._is_alias(name):
                    self._taken(value, module)

    def _is_alias(self, name: str) -> bool:
        return hasattr(self._all.get(name), "__args__")

    def _members(self, cls: type) -> None:
        if not (typing.is_typeddict(cls) or "__dataclass_fields__" in vars(cls)):
            return
        texts = "".join(vars(each).get("__doc__") or "" for each in family(cls))
        for each in family(cls):
            for member, annotation, is_below in members(each):
                self.seen += 1
                if not is_below and f"`{member}`" not in texts:
                    self.missing.add(f"{each.__name__}.{member}")
                self._taken(annotation, each.__module__)


def test_each_parameter_has_a_text() -> None:
    search = Search()
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            search.exported(f"{module.__name__}.{name}", getattr(module, name))
    assert sorted(search.missing) == []
    assert search.seen > 500


class Sizes(TypedDict, total=False):
    depth: int
    """in metres"""
    width: int


def measure(sizes: Sizes | None, *, by: str, after: Callable[[Path], Sizes] | None = None) -> Path:
    """`by`: whose they are."""
    raise NotImplementedError


def test_what_has_no_text_is_found() -> None:
    search = Search()
    search.exported("measure", measure)
    assert search.missing == {"measure(sizes)", "measure(after)", "Sizes.width"}
    assert search.seen == 5
