"""The URLs of an elicitation: the link to /connect, and where the provider sends the browser and its own deliveries."""

from __future__ import annotations

import inspect
import math
import time
from datetime import datetime
from typing import Union

from .arguments import check_target
from .contract_limits import GRACE_MAX_S
from .form_types import ApprovalElicitation, FormElicitation
from .keys import KeyRing
from .token import State, mint_link, mint_state
from .types import CallbackUrls, Elicitation, Kind, TargetArguments, TargetUrl

AnyElicitation = Union[Elicitation, FormElicitation, ApprovalElicitation]


class UrlBuilder:
    def __init__(self, keys: KeyRing, base_url: str) -> None:
        self._keys = keys
        self._base_url = base_url

    def to_elicitation(
        self, id: str, provider: str, kind: Kind, binding: bytes, expires_at: datetime, *, link_kid: int | None,
        resumed: bool, by_others: bool = False, urls: CallbackUrls | None = None, ttl_ms: int = 0,
    ) -> AnyElicitation:
        """The link is the same each time: the key that has minted it first mints it again, as long as the keys file
        has it. `by_others`: others than its subject are to open the link."""
        key = (None if link_kid is None else self._keys.find(link_kid)) or self._keys.minting
        state = mint_link(key, provider, id, "approve" if by_others else "connect")
        link = f"{self._base_url}/connect/{provider}?state={state}"
        if kind == "input":
            return FormElicitation(elicitation_id=id, url=link, expires_at=expires_at, resumed=resumed)
        if kind == "approval":
            return ApprovalElicitation(
                elicitation_id=id, url=None if by_others else link, approval_url=link if by_others else None,
                expires_at=expires_at, resumed=resumed,
            )  # fmt: skip
        urls = urls or self.build(id, provider, kind, binding, ttl_ms)
        return Elicitation(
            elicitation_id=id,
            return_url=urls.return_url,
            cancel_url=urls.cancel_url,
            webhook_url=urls.webhook_url,
            url=link,
            expires_at=expires_at,
            resumed=resumed,
        )

    def build(self, id: str, provider: str, kind: Kind, binding: bytes, ttl_ms: int) -> CallbackUrls:
        if kind == "oauth":
            # /connect mints the state of the redirect URI and binds it to the browser.
            return CallbackUrls(elicitation_id=id, return_url=f"{self._base_url}/oauth/{provider}/return")
        state = State(id, math.ceil(time.time() + ttl_ms / 1000) + GRACE_MAX_S, binding)

        def url_for(path: str, purpose: str) -> str:
            return f"{self._base_url}/{path}?state={mint_state(self._keys.minting, purpose, provider, state)}"

        return CallbackUrls(
            elicitation_id=id,
            return_url=url_for(f"payment/{provider}/return", "return"),
            cancel_url=url_for(f"payment/{provider}/cancel", "cancel"),
            webhook_url=url_for(f"webhook/{provider}", "webhook"),
        )


async def target_of(
    given: TargetUrl, urls: CallbackUrls, amount: int | str | None, kind: Kind
) -> tuple[str, str | None]:
    """The URL that the caller gives or makes, and the checkout in it."""
    if not callable(given):
        return check_target(given, kind)
    target = given(TargetArguments(
        elicitation_id=urls.elicitation_id, return_url=urls.return_url, cancel_url=urls.cancel_url,
        webhook_url=urls.webhook_url, amount=amount,
    ))  # fmt: skip
    return check_target(await target if inspect.isawaitable(target) else target, kind)
