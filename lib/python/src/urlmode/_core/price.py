"""Prices: the currencies of ISO 4217, and the units in which a provider writes amounts."""

from __future__ import annotations

import functools
import json
from typing import Any

from . import contract_texts as texts
from .contract_limits import SAFE_INTEGER
from .money_types import Expected
from .shipped import shipped_file


@functools.cache
def _exponents() -> dict[str, int]:
    """Currency → how many decimals it has."""
    by_exponent = json.loads(shipped_file("currencies.json").read_text("utf-8"))["exponents"]
    return {code: int(exponent) for exponent, codes in by_exponent.items() for code in codes}


@functools.lru_cache(maxsize=256)
def _units(provider: str) -> dict[str, Any] | None:
    """`amount` of the provider's description; None if none of this name is shipped."""
    try:
        description = json.loads(shipped_file(f"providers/{provider}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    units: dict[str, Any] | None = description.get("amount")
    return units


def is_currency(code: str) -> bool:
    return code in _exponents()


def _as_decimal(amount: int, exponent: int) -> str:
    digits = str(amount).rjust(exponent + 1, "0")
    return digits if exponent == 0 else f"{digits[:-exponent]}.{digits[-exponent:]}"


def format_price(price: Expected) -> str:
    """The price in the text of a tool's result, as the pages show it; empty if there is none."""
    if price.amount is None or price.currency is None:
        return ""
    return f"{_as_decimal(price.amount, _exponents()[price.currency])} {price.currency}"


def price_of(provider: str, price: Expected) -> int | str | None:
    """The price as the provider writes it: a whole number in its own units, or decimal text. None for a provider
    without a description, or if there is no price."""
    units = _units(provider)
    if units is None or price.amount is None or price.currency is None:
        return None
    exponent = _exponents()[price.currency]
    own: int = units.get("exponents", {}).get(price.currency, exponent)
    places: int = min(units.get("places", {}).get(price.currency, own), exponent)
    step: int = 10 ** (exponent - places)
    if price.amount % step != 0:
        raise ValueError(texts.amount_step(step, provider, price.currency))
    written: int = price.amount * 10**own // 10**exponent
    if units["as"] == "decimal":
        return _as_decimal(written // step, places)
    if written > SAFE_INTEGER:
        raise ValueError(texts.amount_too_large(provider))
    return written
