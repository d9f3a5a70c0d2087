"""Whether a call uses the stored token, and when it is refreshed (lib/PROTOCOL.md, "The vault")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from .._core.contract_limits import REFUSED_NEW_S, VALID_FOR_S, VALID_LEAST_S
from .contract_calls import AccountRow


class Judgement(NamedTuple):
    verdict: Literal["use", "use and refresh", "refresh", "refused", "expired"]
    """`use and refresh`: in the background. The last two: only the user can help"""
    is_good: bool
    """it has not expired, and it is not the one that was refused"""


def judge(
    row: AccountRow, tokens: Mapping[str, Any], *, valid_for_ms: int | None, refused: str | None, has_changed: bool
) -> Judgement:
    """`tokens`: of the row. `has_changed`: since the call has read the row first."""
    left = float("inf") if row.expires_in_ms is None else row.expires_in_ms
    half = (row.lifetime_ms or 0) / 2
    refresh_token = tokens.get("refresh_token")
    # A long-lived token is renewed with itself, while it is valid.
    is_its_own = refresh_token == tokens["access_token"]
    is_refreshable = refresh_token is not None and not (is_its_own and left <= 0)
    if tokens["access_token"] == refused:
        is_new = has_changed or (row.since_refresh_ms is not None and row.since_refresh_ms < 1000 * REFUSED_NEW_S)
        return Judgement("refresh" if is_refreshable and not is_new else "refused", False)
    is_good = left > 0
    # One refresh is enough, however short a time the provider makes its tokens valid.
    if has_changed:
        return Judgement("use", is_good)
    if is_good and left >= min(1000 * VALID_LEAST_S if valid_for_ms is None else valid_for_ms, half):
        is_near_end = left < (half if is_its_own else min(1000 * VALID_FOR_S, half))
        return Judgement("use and refresh" if is_refreshable and is_near_end else "use", is_good)
    if not is_refreshable:
        return Judgement("use" if is_good else "expired", is_good)
    return Judgement("refresh", is_good)
