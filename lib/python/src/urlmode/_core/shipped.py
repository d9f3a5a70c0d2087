"""The files that the package has beside its own. In the repository they are in lib/."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]
_FOLDER = next(
    (folder for folder in (_HERE / "_shipped", *_HERE.parents) if (folder / "currencies.json").is_file()),
    _HERE / "_shipped",
)


def shipped_file(path: str) -> Path:
    """`path` is, for example, `providers/stripe.json`."""
    return _FOLDER / path
