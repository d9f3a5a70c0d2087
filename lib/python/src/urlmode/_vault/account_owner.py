"""Whose an account is, as one text.

That is the subject; of a tenant, its name, U+001F and the subject. A subject that has U+001F itself follows one as well. The key
of the row and the seal of its tokens have it in place of the subject.
"""

from __future__ import annotations

_BETWEEN = "\x1f"


def account_owner(tenant: str, subject: str) -> str:
    return f"{tenant}{_BETWEEN}{subject}" if tenant or _BETWEEN in subject else subject


def whose_account(owner: str) -> tuple[str, str]:
    """The tenant, or an empty text, and the subject."""
    tenant, between, subject = owner.partition(_BETWEEN)
    return (tenant, subject) if between else ("", owner)
