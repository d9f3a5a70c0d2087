"""Facts about clients that they do not declare: those of clients.json, and the option `clients`, which has precedence."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._core.contract_limits import ROUNDS_MAX, ROUND_S
from .._core.shipped import shipped_file
from .._core.types import ClientFacts



@dataclass(frozen=True)
class Client:
    """What an MCP client says of itself."""

    name: str | None
    version: str
    capabilities: dict[str, Any]


@dataclass(frozen=True)
class Capabilities:
    declares: bool
    url: bool
    rounds: int
    round: float
    ask: Literal["request", "error"] | None = None
    """the way that works with it, if one is known"""


@functools.cache
def _table() -> tuple[ClientFacts, ...]:
    return tuple(
        ClientFacts(
            name=facts["name"], url=facts.get("url"), from_version=facts.get("versions", {}).get("from"),
            before_version=facts.get("versions", {}).get("before"),
            round=facts["round"] / 1000 if "round" in facts else None, rounds=facts.get("rounds"), ask=facts.get("ask"),
        )  # fmt: skip
        for facts in json.loads(shipped_file("node/src/adapters/clients.json").read_text("utf-8"))
    )


def capabilities_of(client: Client, clients: Sequence[ClientFacts], round_timeout: float | None) -> Capabilities:
    fits = (each for each in (*clients, *_table()) if each.name == client.name and _is_in(client.version, each))
    elicitation = client.capabilities.get("elicitation")
    declares = isinstance(elicitation, dict) and isinstance(elicitation.get("url"), dict)
    facts = next(fits, ClientFacts(name=""))
    return Capabilities(
        declares=declares,
        url=facts.ask != "text" and (declares if facts.url is None else facts.url),
        rounds=min(facts.rounds or 0, ROUNDS_MAX),
        round=round_timeout or facts.round or ROUND_S,
        ask=None if facts.ask == "text" else facts.ask,
    )


def _is_in(version: str, facts: ClientFacts) -> bool:
    numbers = _numbers(version)
    return (facts.from_version is None or numbers >= _numbers(facts.from_version)) and (
        facts.before_version is None or numbers < _numbers(facts.before_version)
    )


def _numbers(version: str) -> list[int]:
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers
