"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from typing import NamedTuple

from .contract_calls import Query


FUNCTIONS_VERSION = "SELECT urlmode.functions_version()"


async def functions_version(query: Query) -> int:
    found = await query(FUNCTIONS_VERSION, [], True)
    answer: int = found[0][0]
    return answer


END_WALK = "SELECT urlmode.end_walk(%s::uuid)"


async def end_walk(query: Query, *, id: str) -> int:
    found = await query(END_WALK, [id])
    answer: int = found[0][0]
    return answer


class DigestRow(NamedTuple):
    name: str
    digest: str


MIGRATION_DIGESTS = "SELECT name, digest FROM urlmode.migration_digests()"


async def migration_digests(query: Query) -> list[DigestRow]:
    found = await query(MIGRATION_DIGESTS, [], True)
    return [DigestRow(*row) for row in found]


class LeaderRow(NamedTuple):
    timeline: str | None
    """None: it is in recovery"""
    pid: int
    """the process that has answered"""
    works: bool | None
    """false: the commit waits for a standby; None: it is not there"""


LEADER = "SELECT timeline, pid, works FROM urlmode.leader(%s::integer)"


async def leader(query: Query, *, process: int) -> LeaderRow:
    """`process`: of the session that has a commit under way; 0: none."""
    found = await query(LEADER, [process], True)
    return LeaderRow(*found[0])


HOLD = "SELECT urlmode.hold(%s::bigint)"


async def hold(query: Query, *, holder: int) -> bool:
    """`holder`: key of the advisory lock of this instance."""
    found = await query(HOLD, [holder])
    answer: bool = found[0][0]
    return answer
