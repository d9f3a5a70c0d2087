"""The methods of UrlMode that write the row of an elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from . import arguments
from .callback_urls import AnyElicitation
from .contract_limits import TTL_S
from .contract_words import TARGET_KINDS
from .create_options import Checked, check_create, check_request
from .form_types import ApprovalElicitation, ApprovalForm, Approver, FormElicitation, InputForm, Words
from .money_types import Expected
from .types import Duration, Elicitation, Id, TargetKind, TargetUrl


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .create_calls import CreateOAuth, CreatePayment, CreatePaymentOfAnyAmount, CreateSignature


class CreateMethods:
    async def _create(self, checked: Checked) -> AnyElicitation:
        raise NotImplementedError

    @overload
    async def create(self, **call: Unpack[CreatePayment]) -> Elicitation: ...
    @overload
    async def create(self, **call: Unpack[CreatePaymentOfAnyAmount]) -> Elicitation: ...
    @overload
    async def create(self, **call: Unpack[CreateSignature]) -> Elicitation: ...
    @overload
    async def create(self, **call: Unpack[CreateOAuth]) -> Elicitation: ...

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

        `provider`: an entry in the configuration of the callback programs. `kind`: oauth, payment or signature. `target_url`:
        the page of the provider, or a function that makes its address of the URLs that it must contain. `expected`: what must
        be paid. `pkce`: adds PKCE to an authorization request. `can_recheck`: whether this server can ask the provider.
        `subject`: the user, according to your own authorization. `session`: of the user in the application, if only that may
        go on with it. `ttl`: how long the link lives. `id`: a UUID of your own. `exclusive`: whether the owner's other open
        elicitations end, of all providers. `resume_key`: an open elicitation of this owner, with this key and the same
        request, is gone on with. `about`: more of the request, by which it is compared. `client_id`: the MCP client, for the
        operator. `same_client`: whether only calls of that client go on with it.
        """
        request = check_request(
            provider=provider, kind=arguments.check_choice("kind", kind, TARGET_KINDS), expected=expected,
            about=about, client_id=client_id, same_client=same_client, item=item,
            subscription=subscription,
        )  # fmt: skip
        elicitation = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, can_recheck=can_recheck, target_url=target_url, pkce=pkce,
            traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(elicitation, Elicitation)
        return elicitation

    async def create_input(
        self,
        *,
        provider: str,
        subject: str,
        session: str = "",
        form: InputForm,
        submit_label: Words | None = None,
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

        `submit_label`: what the button says that sends the form, at most 40 characters. By default it says "Send", in the
        language of the page. `verify_timeout`: how long the `verify` of a wait may take. Without it, nothing is verified. Raises
        ElicitationExistsError, ElicitationLimitError and UrlModeBusyError.

        `provider`: an entry in the configuration. `form`: what is asked. `traceparent`: as at `create`. `subject`: the user,
        according to your own authorization. `session`: of the user in the application, if only that may go on with it. `ttl`:
        how long the link lives. `id`: a UUID of your own. `exclusive`: whether the owner's other open elicitations end,
        of all providers. `resume_key`: an open elicitation of this owner, with this key and the same request, is gone on with.
        `about`: more of the request, by which it is compared. `client_id`: the MCP client, for the operator. `same_client`:
        whether only calls of that client go on with it.
        """
        request = check_request(
            provider=provider, kind="input", expected=None, about=about, client_id=client_id, same_client=same_client,
            form=form, submit_label=submit_label, verifies=verify_timeout is not None,
        )  # fmt: skip
        elicitation = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, verify_timeout=verify_timeout, traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(elicitation, FormElicitation)
        return elicitation

    async def create_approval(
        self,
        *,
        provider: str,
        subject: str,
        session: str = "",
        form: ApprovalForm,
        approver: Approver = "starter",
        four_eyes: bool = False,
        step_up: bool = False,
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

        With `four_eyes` the subject is none of them, in no spelling of the name. The page refuses everybody with
        `four_eyes_not_set_up` where the provider's entry in the configuration has no `four_eyes`. With `step_up` whoever decides
        signs in once more for it, and the outcome has `signed_in_at`; it requires `user_check` `openid`, and otherwise the
        page refuses everybody with `step_up_not_set_up`.

        Raises ElicitationExistsError, ElicitationLimitError and UrlModeBusyError.

        `provider`: an entry in the configuration. `form`: what is to be decided. `approver`: starter, others, or a list of
        subjects. `traceparent`: as at `create`. `subject`: the user, according to your own authorization. `session`: of the
        user in the application, if only that may go on with it. `ttl`: how long the link lives. `id`: a UUID of your own.
        `exclusive`: whether the owner's other open elicitations end, of all providers. `resume_key`: an open elicitation of
        this owner, with this key and the same request, is gone on with. `about`: more of the request, by which it is
        compared. `client_id`: the MCP client, for the operator. `same_client`: whether only calls of that client go on with
        it.
        """
        request = check_request(
            provider=provider, kind="approval", expected=None, about=about, client_id=client_id,
            same_client=same_client, form=form, approver=approver, four_eyes=four_eyes, step_up=step_up,
        )  # fmt: skip
        elicitation = await self._create(check_create(
            request=request, subject=subject, session=session, ttl=ttl, id=id, exclusive=exclusive,
            resume_key=resume_key, traceparent=traceparent,
        ))  # fmt: skip
        assert isinstance(elicitation, ApprovalElicitation)
        return elicitation
