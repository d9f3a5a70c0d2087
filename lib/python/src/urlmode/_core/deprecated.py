"""What goes with the next MAJOR version. nginx/UPGRADING.md names each of them, and says how long it stays."""

from __future__ import annotations

import warnings

from . import contract_texts as texts

_reported: set[str] = set()


def deprecated(what: str, instead: str) -> None:
    """Says once in this process that somebody uses what will go. What is deprecated calls it, and does what it did.

    `what`: as a caller writes it, such as `UrlMode.old()`. `instead`: what takes its place.
    """
    if what in _reported:
        return
    _reported.add(what)
    # Of the caller of what is deprecated.
    warnings.warn(texts.deprecated(what, instead), DeprecationWarning, stacklevel=3)
