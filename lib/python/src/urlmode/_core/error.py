"""The base of the exceptions of this package."""

from __future__ import annotations

from typing import ClassVar


class UrlModeError(Exception):
    """The base of the other classes."""

    code: ClassVar[str] = "URLMODE"
    """Does not change between versions. The message may."""
