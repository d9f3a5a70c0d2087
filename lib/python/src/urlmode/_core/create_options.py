"""Checks what `create`, `create_input` and `create_approval` are called with."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Literal

from . import contract_texts as texts
from . import arguments
from .arguments import Owner
from .contract_kinds import DESCRIBED_CHECKOUTS, DESCRIBED_KINDS
from .contract_limits import CLIENT_ID_MAX, ITEM_MAX, RESUME_KEY_MAX, TTL_MAX_S, VERIFY_MAX_S, VERIFY_MIN_S
from .digest import digest_of_request
from .form import check_approver, check_form
from .form_types import Approver, Approvers, Words
from .money_types import Expected
from .types import Kind, TargetUrl


@dataclass(frozen=True)
class Request:
    """The part by which a call is compared with an earlier one."""

    provider: str
    kind: Kind
    expected: Expected | Literal["any"] | None
    item: str | None
    subscription: bool
    """whether the payment must be the first one of a subscription"""
    form: dict[str, Any] | None
    approvers: Approvers | None
    """None: the subject, or another kind. Empty: anybody else"""
    client_id: str | None
    digest: bytes
    earlier_digest: bytes | None
    """That which a package without items has made of it."""


def _check_described(provider: str, kind: Kind) -> None:
    """An entry for payments or signatures needs a description: that of its name, unless it names another one."""
    if kind in ("payment", "signature") and kind not in DESCRIBED_KINDS.get(provider, (kind,)):
        raise TypeError(texts.not_of_kind(provider, kind))


def _check_item(item: object, kind: Kind) -> str | None:
    if kind != "payment" and kind != "signature":
        if item is None:
            return None
        raise TypeError(texts.ITEM_NOT_ALLOWED)
    if item is None:
        raise TypeError(texts.ITEM_REQUIRED)
    return arguments.check_text("item", item, 1, ITEM_MAX)


def _check_subscription(value: object, kind: Kind, expected: object) -> bool:
    if not arguments.check_flag("subscription", value):
        return False
    if kind != "payment":
        raise TypeError(texts.SUBSCRIPTION_NOT_ALLOWED)
    if expected == "any":
        raise TypeError(texts.SUBSCRIPTION_WITHOUT_PRICE)
    return True


def _check_four_eyes(named: list[str] | None, four_eyes: object) -> Approvers | None:
    if not arguments.check_flag("four_eyes", four_eyes):
        return named
    if named is None:
        raise TypeError("four_eyes requires an approver of an approval: others, or subjects")
    return {"approvers": named, "four_eyes": True}


def check_request(
    *, provider: object, kind: Kind, expected: object, about: object, client_id: object, same_client: object, item: object = None,
    subscription: object = False, form: object = None, approver: Approver = "starter", four_eyes: object = False, verifies: bool = False,
    submit_label: Words | None = None, step_up: object = False,
) -> Request:  # fmt: skip
    provider = arguments.check_provider(provider)
    _check_described(provider, kind)
    price = arguments.check_expected(expected, kind)
    if isinstance(price, Expected) and price.match == "checkout" and provider in DESCRIBED_KINDS.keys() - DESCRIBED_CHECKOUTS:
        raise TypeError(texts.no_checkout_in_events(provider))
    item = _check_item(item, kind)
    subscribes = _check_subscription(subscription, kind, price)
    if client_id is not None:
        client_id = arguments.check_text("client_id", client_id, 1, CLIENT_ID_MAX)
    if arguments.check_flag("same_client", same_client) and client_id is None:
        raise TypeError("same_client requires client_id")
    asked: dict[str, Any] | None = None
    more = arguments.check_about(about)
    fresh = True if arguments.check_flag("step_up", step_up) else None
    checked = check_form(kind, form, submit_label=submit_label, step_up=fresh) if kind == "input" or kind == "approval" else None
    named = check_approver(approver) if kind == "approval" else None
    approvers = _check_four_eyes(named, four_eyes)
    if more is not None or checked is not None or subscribes:
        asked = {**(more or {}), **({"subscription": True} if subscribes else {})}
    if checked is not None and asked is not None:
        others = None if named is None else named or "others"
        ours = {"form": checked, "approver": others, "four_eyes": True if approvers is not named else None, "verify": verifies or None}
        asked = {name: value for name, value in {**asked, **ours}.items() if name not in ours or value is not None}
    mcp_client = client_id if same_client else None
    digest = digest_of_request(
        provider=provider, kind=kind, expected=price, about=asked, mcp_client=mcp_client, item=item
    )  # fmt: skip
    earlier = None
    if item is not None:
        earlier = digest_of_request(provider=provider, kind=kind, expected=price, about=asked, mcp_client=mcp_client)
    return Request(provider, kind, price, item, subscribes, checked, approvers, client_id, digest, earlier)


@dataclass(frozen=True)
class Checked:
    request: Request
    id: str
    owner: Owner
    ttl_ms: int
    exclusive: bool
    resume_key: str | None
    can_recheck: bool
    target_url: TargetUrl | None
    pkce: bool
    verify_ms: int | None
    """the time limit of `verify`, if there is one"""
    traceparent: str | None


def check_create(
    *, request: Request, subject: object, session: object, ttl: object, id: object = None, exclusive: object = False,
    resume_key: object = None, can_recheck: object = True, target_url: TargetUrl | None = None, pkce: object = False,
    verify_timeout: object = None, traceparent: object = None,
) -> Checked:  # fmt: skip
    if arguments.check_flag("pkce", pkce) and request.kind != "oauth":
        raise TypeError(texts.PKCE_NOT_ALLOWED)
    if request.form is None and not callable(target_url):
        arguments.check_target(target_url, request.kind)
    return Checked(
        request=request,
        id=arguments.check_id(uuid.uuid4() if id is None else id),
        owner=arguments.check_owner(subject, session),
        ttl_ms=arguments.check_duration("ttl", ttl, 0.001, TTL_MAX_S),
        exclusive=arguments.check_flag("exclusive", exclusive),
        resume_key=None if resume_key is None else arguments.check_text("resume_key", resume_key, 1, RESUME_KEY_MAX),
        can_recheck=arguments.check_flag("can_recheck", can_recheck),
        target_url=target_url,
        pkce=pkce is True,
        verify_ms=None if verify_timeout is None else arguments.check_duration(
            "verify_timeout", verify_timeout, VERIFY_MIN_S, VERIFY_MAX_S),
        traceparent=None if traceparent is None else arguments.check_traceparent(traceparent),
    )  # fmt: skip


def has_form(kind: Kind) -> bool:
    """Whether the callback programs serve the page themselves."""
    return kind in FORM_KINDS
from .contract_words import FORM_KINDS
