"""Writes the rows of new elicitations, or finds those that a call goes on with."""

from __future__ import annotations

from .callback_urls import AnyElicitation, UrlBuilder, target_of
from .contract_calls import NewRow, Resuming, RowKey
from .contract_limits import RESUME_ATTEMPTS
from .contract_seals import FORM_INFO, VERIFIER_INFO
from .create_options import Checked
from .database import Database
from .errors import ElicitationExistsError, ElicitationSubscribedError
from .keys import KeyRing
from .money_types import Expected, is_over
from .outcome import add_pkce
from .price import price_of
from .seal import seal, to_json
from .token import binding_of
from .types import CallbackUrls



class Creator:
    def __init__(self, database: Database, keys: KeyRing, urls: UrlBuilder, name: str, descriptions: dict[str, str]) -> None:
        self._database = database
        self._keys = keys
        self._urls = urls
        self._name = name
        self._descriptions = descriptions

    async def create(self, checked: Checked) -> AnyElicitation:
        request, owner, id = checked.request, checked.owner, checked.id
        provider, kind, by_others = request.provider, request.kind, request.approvers is not None
        binding = binding_of(owner.subject, owner.session, self._database.tenant)
        # Also for a call that goes on with an earlier one: a price that cannot be charged is a mistake.
        described = self._descriptions.get(provider, provider)
        amount = price_of(described, request.expected) if isinstance(request.expected, Expected) else None
        expected = request.expected.members() if isinstance(request.expected, Expected) else request.expected
        if isinstance(expected, dict) and request.subscription:
            expected["subscription"] = True
        # Before a checkout is made for nothing. The database refuses it as well, if another call has subscribed meanwhile.
        if request.subscription and request.item is not None:
            found_now = await self._database.entitlements(owner.subject, request.item)
            if found_now and not is_over(found_now[0]):
                raise ElicitationSubscribedError(request.item)
        form = None
        if request.form is not None:
            form = seal(self._keys, FORM_INFO, id, binding, to_json(request.form))
        for _ in range(RESUME_ATTEMPTS):
            if checked.resume_key is not None or request.item is not None:
                found = await self._database.resume(Resuming(
                    binding=binding, provider=provider, kind=kind, resume_key=checked.resume_key,
                    can_recheck=checked.can_recheck, request=request.digest, item=request.item, expected=expected,
                    earlier_request=request.earlier_digest,
                ))  # fmt: skip
                if found is not None and found.is_held:
                    # What does not match was told, or nobody heard it: from now on the money is held.
                    await self._database.claim_refusal(RowKey(found.id, binding))
                if found is not None:
                    return self._urls.to_elicitation(
                        found.id, found.provider, found.kind, binding, found.expires_at, ttl_ms=found.ttl_ms,
                        link_kid=found.link_kid, by_others=by_others, resumed=True,
                    )
            link_kid = self._keys.minting.kid
            urls, target, checkout, verifier = None, None, None, None
            if checked.target_url is not None:
                urls, target, checkout, verifier = await self._target(checked, binding, amount)
            expires_at = await self._database.create(NewRow(
                id=id, provider=provider, kind=kind, subject=owner.subject, session=owner.session, binding=binding,
                requester=self._name, target_url=target, expected=expected, verifier=verifier,
                ttl_ms=checked.ttl_ms, exclusive=checked.exclusive, resume_key=checked.resume_key,
                can_recheck=checked.can_recheck, request=request.digest, checkout=checkout,
                client_id=request.client_id, link_kid=link_kid, form=form, approvers=request.approvers,
                verify_ms=checked.verify_ms, traceparent=checked.traceparent, item=request.item, tenant=self._database.tenant,
            ))  # fmt: skip
            # Otherwise another call of the same owner was faster: resume its elicitation.
            if expires_at is not None:
                return self._urls.to_elicitation(
                    id, provider, kind, binding, expires_at, urls=urls, link_kid=link_kid, by_others=by_others,
                    resumed=False,
                )  # fmt: skip
        raise ElicitationExistsError(id)

    async def _target(
        self, checked: Checked, binding: bytes, amount: int | str | None
    ) -> tuple[CallbackUrls, str, str | None, bytes | None]:
        """The URLs of the elicitation, where it leads, the checkout there, and the sealed verifier."""
        request, id = checked.request, checked.id
        assert checked.target_url is not None
        urls = self._urls.build(id, request.provider, request.kind, binding, checked.ttl_ms)
        target, checkout = await target_of(checked.target_url, urls, amount, request.kind)
        if isinstance(request.expected, Expected) and request.expected.match == "checkout" and checkout is None:
            raise TypeError("expected.match 'checkout' requires a Target with the checkout")
        if not checked.pkce:
            return urls, target, checkout, None
        target, added = add_pkce(target)
        return urls, target, checkout, seal(self._keys, VERIFIER_INFO, id, binding, to_json(added.members()))
