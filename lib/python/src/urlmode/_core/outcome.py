"""What a completed row says to those who wait for it."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import contract_texts as texts
from .arguments import add_parameters, query_of
from .contract_calls import Row
from .contract_money import EntitlementRow, RefundRow, UnclaimedRow, UndeliveredRow
from .contract_seals import RESULT_INFO, VERIFIER_INFO
from .errors import ElicitationSealError
from .keys import KeyRing
from .money_types import Entitlement, Expected, Refund, RefundedPayment, UnclaimedPayment, UndeliveredClaim
from .seal import unseal
from .types import Outcome


@dataclass(frozen=True, slots=True)
class Verifier:
    """As it is sealed in the row: the code verifier (PKCE, RFC 7636), and a nonce (OpenID Connect) if one was added."""

    code_verifier: str
    nonce: str | None = None

    def members(self) -> dict[str, str]:
        return {"code_verifier": self.code_verifier, **({"nonce": self.nonce} if self.nonce else {})}


def add_pkce(url: str) -> tuple[str, Verifier]:
    """Adds an S256 challenge to an authorization URL, and a nonce if the scope contains `openid` and there is none."""
    query = query_of(url)
    if "code_challenge" in query or "code_challenge_method" in query:
        raise ValueError(texts.TARGET_URL_CHALLENGE)
    verifier = secrets.token_urlsafe(32)
    wants_nonce = "openid" in query.get("scope", "").split(" ") and "nonce" not in query
    nonce = secrets.token_urlsafe(16) if wants_nonce else None
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    added = {"code_challenge": challenge, "code_challenge_method": "S256", **({"nonce": nonce} if nonce else {})}
    return add_parameters(url, added), Verifier(verifier, nonce)


def open_verifier(keys: KeyRing, row: Row, binding: bytes) -> Verifier | None:
    """Raises ElicitationSealError if no key opens it."""
    if row.verifier is None:
        return None
    members = unseal(keys, VERIFIER_INFO, row.id, binding, row.verifier)
    return Verifier(members["code_verifier"], members.get("nonce"))


def to_outcome(
    keys: KeyRing, row: Row, binding: bytes, *, result: dict[str, Any] | None = None, verifier: Verifier | None = None
) -> Outcome:
    """`result` is that of an outcome that was announced, `verifier` one that was opened before."""
    if row.result is not None:
        result = unseal(keys, RESULT_INFO, row.id, binding, row.result)
    accepted = row.action == "accept"
    # The verifier and nonce are only useful with a code.
    if accepted:
        verifier = verifier or open_verifier(keys, row, binding)
    assert row.action is not None
    return Outcome(
        elicitation_id=row.id,
        action=row.action,
        reason=row.reason,
        result=result,
        late=row.late,
        interrupted=row.completed_from,
        reference=row.payment_reference,
        **_price_of(row),
        refunded=row.payment_reference is None and row.kind == "payment" and accepted,
        refunded_amount=row.refunded or 0,
        code_verifier=verifier.code_verifier if accepted and verifier else None,
        nonce=verifier.nonce if accepted and verifier else None,
        **_typed_or_decided(row.kind, result or {}),
    )


def _price_of(row: Row) -> dict[str, Any]:
    """What was paid, and the price that was asked."""
    if row.kind != "payment":
        return {}
    expected = row.expected
    if isinstance(expected, dict):
        expected = Expected(**{name: expected[name] for name in ("amount", "currency", "match") if name in expected})
    return {"amount": row.amount, "currency": row.currency, "tax": row.tax, "expected": expected}


def _typed_or_decided(kind: str, result: dict[str, Any]) -> dict[str, Any]:
    """The members of an outcome of our own pages. None if nobody has decided, or if the result was purged."""
    if kind == "input":
        return {"values": result.get("values")}
    if kind != "approval":
        return {}
    names = ("approver", "comment", "decided_at", "signed_in_at", "signed_in_by")
    texts = {name: result[name] if isinstance(result.get(name), str) else None for name in names}
    return {**texts, "decided_at": _time_of(texts["decided_at"]), "signed_in_at": _time_of(texts["signed_in_at"])}


def _time_of(text: str | None) -> datetime | None:
    try:
        # Before Python 3.11 `fromisoformat` does not read the Z of RFC 3339.
        return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def to_undelivered(row: UndeliveredRow) -> UndeliveredClaim:
    return UndeliveredClaim(
        elicitation_id=row.elicitation, provider=row.provider_name, kind=row.kind, subject=row.subject,
        session=row.session, item=row.item, resume_key=row.resume_key, reference=row.reference or None, amount=row.amount,
        currency=row.currency, fulfilled_at=row.fulfilled_at, given_at=row.given_at, has_result=row.has_result,
        refunded=row.refunded, held=row.held,
    )  # fmt: skip


def to_unclaimed(keys: KeyRing, row: UnclaimedRow) -> UnclaimedPayment:
    """A payment whose result cannot be opened must be listed all the same."""
    try:
        result = row.result and unseal(keys, RESULT_INFO, row.elicitation, row.binding, row.result)
    except ElicitationSealError:
        result = None
    return UnclaimedPayment(
        elicitation_id=row.elicitation, provider=row.provider_name, subject=row.subject, session=row.session,
        reference=row.reference, amount=row.amount, currency=row.currency, matches=row.matches,
        item=row.item, resume_key=row.resume_key, late=row.late, proven_at=row.proven_at, refunded=row.refunded, held=row.held,
        result=result or None,
    )  # fmt: skip


def to_refund(row: RefundRow) -> Refund:
    payment = None
    if row.payment is not None:
        payment = RefundedPayment(
            reference=row.payment, amount=row.paid or 0, refunded=row.refunded or 0, held=row.held is True,
            claimed=row.claimed,
        )  # fmt: skip
    return Refund(
        elicitation_id=row.elicitation, provider=row.provider_name, subject=row.subject, session=row.session,
        item=row.item, resume_key=row.resume_key, reference=row.reference, amount=row.amount, currency=row.currency,
        reversed=row.reversed, received_at=row.received_at, changed_at=row.changed_at, payment=payment,
    )  # fmt: skip


def to_entitlement(row: EntitlementRow) -> Entitlement:
    return Entitlement(
        item=row.item_name, status=row.status, entitled=row.entitled, paused=row.paused, until=row.until,
        provider=row.provider, account=row.account or None, subscription=row.subscription,
        elicitation_id=row.elicitation, opened_at=row.opened_at,
    )  # fmt: skip
