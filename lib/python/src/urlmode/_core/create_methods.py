"""The methods of UrlMode that write the row of an elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from . import arguments
from .callback_urls import AnyElicitation
from .contract_limits import TTL_S
from .contract_words import TARGET_KINDS
from .create_options import Checked, check_create, check_request
from .form_types import ApprovalElicitation, ApprovalForm, Approver, FormElicitation, InputForm
from .types import Duration, Elicitation, Expected, Id, TargetKind, TargetUrl


class CreateMethods:
    async def _create(self, checked: Checked) -> AnyElicitation:
        raise NotImplementedError

    async def create(
        self,
        *,
        provider: str,
        kind: TargetKind,
        subject: str,
        session: str = "",
        target_url: TargetUrl,
        expected: Expected | Literal["any"] | None = None,
        item: str | None = None,
        subscription: bool = False,
        pkce: bool = False,
        ttl: Duration = TTL_S,
        id: Id | None = None,
        exclusive: bool = False,
        resume_key: str | None = None,
        about: Mapping[str, Any] | None = None,
        client_id: str | None = None,
        same_client: bool = False,
        can_recheck: bool = True,
        traceparent: str | None = None,
    ) -> Elicitation:
        """Writes the row. After that, the client can be sent to its `url`.

        `item` is what a payment or signature is for, in the words of the server: 1 to 512 bytes, such as `report:42`.
        With `subscription` the payment must be the first one of a subscription, with `expected` as its first price. It opens an
        entitlement for the item, and is claimed by it.
        `traceparent` is the trace of the call (W3C Trace Context), for the operator: `urlmode show` has it.

        Raises ElicitationExistsError, ElicitationLimitError, ElicitationSubscribedError and UrlModeBusyError.
        """
        request = check_request(
            provider=provider, kind=arguments.check_choice("kind", kind, TARGET_KINDS), expected=expected,
            about=about, client_id=client_id, same_client=same_client, item=item,
            subscription=subscription,
        )  # fmt: skip
        asked = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, can_recheck=can_recheck, target_url=target_url, pkce=pkce,
            traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(asked, Elicitation)
        return asked

    async def create_input(
        self,
        *,
        provider: str,
        subject: str,
        session: str = "",
        form: InputForm,
        verify_timeout: Duration | None = None,
        ttl: Duration = TTL_S,
        id: Id | None = None,
        exclusive: bool = False,
        resume_key: str | None = None,
        about: Mapping[str, Any] | None = None,
        client_id: str | None = None,
        same_client: bool = False,
        traceparent: str | None = None,
    ) -> FormElicitation:
        """Asks the user to type something on a page of the callback programs.

        `verify_timeout`: how long the `verify` of a wait may take. Without it, nothing is verified. Raises
        ElicitationExistsError, ElicitationLimitError and UrlModeBusyError.
        """
        request = check_request(
            provider=provider, kind="input", expected=None, about=about, client_id=client_id, same_client=same_client,
            form=form, verifies=verify_timeout is not None,
        )  # fmt: skip
        asked = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, verify_timeout=verify_timeout, traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(asked, FormElicitation)
        return asked

    async def create_approval(
        self,
        *,
        provider: str,
        subject: str,
        session: str = "",
        form: ApprovalForm,
        approver: Approver = "starter",
        ttl: Duration = TTL_S,
        id: Id | None = None,
        exclusive: bool = False,
        resume_key: str | None = None,
        about: Mapping[str, Any] | None = None,
        client_id: str | None = None,
        same_client: bool = False,
        traceparent: str | None = None,
    ) -> ApprovalElicitation:
        """Asks for a decision on a page of the callback programs: of the subject, of others, or of these subjects.

        Raises ElicitationExistsError, ElicitationLimitError and UrlModeBusyError.
        """
        request = check_request(
            provider=provider, kind="approval", expected=None, about=about, client_id=client_id,
            same_client=same_client, form=form, approver=approver,
        )  # fmt: skip
        asked = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(asked, ApprovalElicitation)
        return asked
