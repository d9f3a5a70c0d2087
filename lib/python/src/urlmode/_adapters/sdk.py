"""What `urlmode.mcp` and `urlmode.fastmcp` share: the types and the session of the official SDK."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, Union, cast, overload

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import CallToolResult

from .._core.arguments import check_function
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim
from .._core.contract_limits import RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, TTL_S, VERIFY_S
from .._core.errors import RequestStateError
from .._core.form_types import ApprovalForm, Approver, InputForm, SendLink, VerifyFunction, Words
from .._core.money_types import Expected
from .._core.types import Duration, Names, Outcome, RecheckFunction, TargetKind, TargetUrl
from .._core.urlmode import UrlMode
from .adapter import Accepted, Approval, Body, Input, M, R, run, to_accepted, to_approval, to_input
from .call import Call, CallOptions, ToolRequest
from .messages import ToolResult
from .require_paid import ManageUrl, Subscribed, require_paid
from .resolving import HasEnded, resolve
from .sdk_call import ToolContext, describe
from .sdk_tool import typed_result_of_sdk
from .task_rounds import TaskRun
from .typed import TypedResult, is_required, to_dict

if TYPE_CHECKING:
    from dataclasses import Field
    from typing import ClassVar, Protocol

    from mcp.types import InputRequiredResult
    from pydantic import BaseModel
    from typing_extensions import Unpack

    from .._accounts.client_authentication import OAuthClient
    from .._accounts.provider import Connected
    from .._vault.types import AccessToken
    from .._vault.vault import Vault
    from .calls import AskOAuth, AskPayment, AskSignature
    from .connect_account import Connecting

    class _Dataclass(Protocol):
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    Made = Union[str, CallToolResult, InputRequiredResult, BaseModel, _Dataclass, Mapping[str, Any], list[Any], tuple[Any, ...]]
    """What a body can return: text, or a result of the SDK; in a tool with a typed result what that is"""

A = TypeVar("A")
P = ParamSpec("P")
Give = Callable[[Outcome, AnyElicitation, BegunClaim], Union[R, Awaitable[R]]]
_typed_of_resolver: ContextVar[TypedResult | None] = ContextVar("urlmode_typed_result", default=None)
"""What a resolver asks is asked in a task of its own."""


class Adapter(Generic[M, A]):
    """The functions of an adapter: `M` is what a body returns, and `A` what the tool returns. A framework that is built on the SDK overrides what it does in its own way."""

    has_no_resolvers = "resolvers of urlmode need MCPServer(extensions=[urlmode.mcp.resolver_extension()]), of SDK 2.x"

    def tool_error(self, text: str) -> Exception:
        """An error that ends a tool, and is not logged as a fault of it."""
        from mcp.server.mcpserver.exceptions import ToolError

        return ToolError(text)

    def typed_result(self) -> TypedResult | None:
        """Of the tool that calls, if what it returns has a schema."""
        return typed_result_of_sdk()

    def to_result(self, result: CallToolResult) -> A:
        """What the tool returns."""
        return cast(A, result)

    def to_error(self, error: Exception) -> A:
        """How the tool answers its call with an error of JSON-RPC."""
        raise error

    def to_wire(self, made: Any) -> ToolResult:
        """What the body of a tool without a schema has returned, as it is sent to the client."""
        if is_required(made):
            return to_dict(made)
        if isinstance(made, str):
            return {"content": [{"type": "text", "text": made}]}
        if not isinstance(made, CallToolResult):
            raise TypeError("the body must return a str or a CallToolResult")
        return to_dict(made)

    @overload
    async def with_elicitation(self, ctx: ToolContext, body: Body[Accepted, M], **call: Unpack[AskPayment]) -> A: ...
    @overload
    async def with_elicitation(self, ctx: ToolContext, body: Body[Accepted, M], **call: Unpack[AskSignature]) -> A: ...
    @overload
    async def with_elicitation(self, ctx: ToolContext, body: Body[Accepted, M], **call: Unpack[AskOAuth]) -> A: ...

    async def with_elicitation(
        self,
        ctx: ToolContext,
        body: Body[Accepted, M],
        *,
        urlmode: UrlMode,
        subject: str,
        provider: str,
        kind: TargetKind,
        message: str,
        target_url: TargetUrl,
        expected: Expected | Literal["any"] | None = None,
        item: str | None = None,
        pkce: bool = False,
        about: Mapping[str, Any] | None = None,
        recheck: RecheckFunction | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Asks the user to open a page, waits until that is done, and runs `body` with what came back.

        `ctx` is the framework's Context, and `options` are those of CallOptions. Without an outcome, the result says what happened, or what to do next. The body
        runs once for each outcome. It returns text, or a result of the framework, which is kept until an answer was
        written. If it raises, the next call runs it again. Returns what the tool has to return. Cancelling the call ends
        it, and not the elicitation. A body that has begun goes on, until `aclose`.

        Raises ElicitationExistsError, ElicitationLimitError, UrlModeBusyError, UrlModeUnavailableError and what the body
        raises, and ElicitationClientGoneError if nobody can be answered. Where the client takes its link by an error, that
        is the UrlElicitationRequiredError of the SDK.

        `ctx`: the Context of the tool. `urlmode`, `subject`, `provider`: as at `create`. `message`: what the client shows its
        user. `about`: more of the request, by which calls are compared. `kind`, `target_url`, `expected`, `item`, `pkce`: as
        at `create`. `recheck`: as that of `wait_for_completion`.
        """
        call, typed = self._describe(ctx)
        tool_request = _request_of(
            call, options, urlmode=urlmode, subject=subject, provider=provider, kind=kind, message=message,
            expected=expected, item=item, about=about, recheck=recheck, create={"target_url": target_url, "pkce": pkce},
        )  # fmt: skip
        return await self._run(tool_request, call, typed, to_accepted, body)

    async def connect_account(
        self,
        ctx: ToolContext,
        body: Body[Connected, M],
        *,
        urlmode: UrlMode,
        subject: str,
        provider: str,
        client: OAuthClient,
        message: str,
        description: str | None = None,
        scopes: Names = (),
        required_scopes: Names = (),
        variables: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        about: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Connects an account of the user at a provider of lib/providers, and runs `body` with its tokens.

        The code is exchanged once, after the claim. `client_id` is that of the MCP client, and `client` this server at
        the provider. The rest is as with `with_elicitation`. Requires the extra `oauth`. Raises what `with_elicitation` raises;
        an account that was not connected is a result that says so.

        `ctx`: the Context of the tool. `urlmode`, `subject`, `provider`: as at `create`. `message`: what the client shows its
        user. `about`: more of the request, by which calls are compared. `description`: that of lib/providers, if the entry
        has another name. `scopes`: what is asked for; `required_scopes`: without these no account is connected. `variables`:
        of the description; `parameters`: more of the authorization request.
        """
        from .connect_account import connecting  # needs Authlib, which servers that only take payments have not

        call, typed = self._describe(ctx)
        begun = await connecting(
            provider=provider, client=client, description=description, scopes=scopes,
            required_scopes=required_scopes, variables=variables, parameters=parameters, about=about,
        )  # fmt: skip
        tool_request = _request_of(
            call, options, urlmode=urlmode, subject=subject, provider=provider, kind="oauth", message=message,
            about=begun.about, create={"target_url": begun.target_url, "pkce": begun.uses_pkce},
        )  # fmt: skip
        return await self._run(tool_request, call, typed, begun.connect, body)

    async def use_account(
        self,
        ctx: ToolContext,
        body: Body[AccessToken, M],
        *,
        vault: Vault,
        subject: str,
        provider: str,
        message: str,
        account: str | None = None,
        valid_for: Duration | None = None,
        scopes: Names | None = None,
        required_scopes: Names | None = None,
        variables: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Runs `body` with an access token of the user's account, which the vault keeps.

        Where there is none that is good, or a scope is missing, the user is asked to connect the account first, as with
        `connect_account`. `scopes` and `required_scopes` are those of the vault where they are None. Raises
        AccountUnavailableError if the token has expired, and the provider cannot refresh it just now.

        Where the provider's API refuses the token, `body` raises TokenRefusedError. Then it runs once more, with a
        refreshed token; if that is refused as well, the user is asked to connect the account again.

        `ctx`: the Context of the tool. `vault`: what keeps the account of this `subject` and `provider`. `message`: what the
        client shows its user. `account`: this one alone. `valid_for`: for how long the token must be valid. `variables`,
        `parameters`: as at `connect_account`.
        """
        from .use_account import use_account

        call, typed = self._describe(ctx)

        def request_for(begun: Connecting) -> ToolRequest:
            return _request_of(
                call, options, urlmode=vault._urlmode, subject=subject, provider=provider, kind="oauth", message=message,
                about=begun.about, create={"target_url": begun.target_url, "pkce": begun.uses_pkce},
            )  # fmt: skip

        return await self._answer(call, use_account(
            vault, call, request_for, self._wired(call, typed, body), subject=subject, session=options.get("session", ""), provider=provider,
            account=account, valid_for=valid_for, scopes=scopes, required_scopes=required_scopes, variables=variables, parameters=parameters,
        ))  # fmt: skip

    async def require_paid(
        self,
        ctx: ToolContext,
        body: Body[Subscribed, M],
        *,
        urlmode: UrlMode,
        subject: str,
        item: str,
        provider: str,
        message: str,
        target_url: TargetUrl,
        expected: Expected,
        manage_url: ManageUrl | None = None,
        about: Mapping[str, Any] | None = None,
        recheck: RecheckFunction | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Runs `body` with the Entitlement of a user who has subscribed to the item, whose `manage_url()` is the page of `manage_url`
        for this user.

        Others are asked for the first payment of a subscription, whose price is `expected`, as by `with_elicitation`. Who is
        past due or has paused is sent to the page that `manage_url` returns. The body runs in each call, and its result
        is not kept. Raises what `with_elicitation` and `manage_url` raise.

        `ctx`: the Context of the tool. `urlmode`, `subject`, `provider`: as at `create`. `message`: what the client shows its
        user. `about`: more of the request, by which calls are compared. `item`: what the subscription is for. `target_url`,
        `recheck`: as at `with_elicitation`.
        """
        check_function("manage_url", manage_url)
        call, typed = self._describe(ctx)
        tool_request = _request_of(
            call, options, urlmode=urlmode, subject=subject, provider=provider, kind="payment", message=message,
            expected=expected, item=item, subscription=True, about=about, recheck=recheck, create={"target_url": target_url, "pkce": False},
        )  # fmt: skip
        return await self._answer(call, require_paid(call, tool_request, self._wired(call, typed, body), manage_url))

    async def collect_input(
        self,
        ctx: ToolContext,
        body: Body[Input, M],
        *,
        urlmode: UrlMode,
        subject: str,
        provider: str,
        message: str,
        form: InputForm,
        submit_label: Words | None = None,
        verify: VerifyFunction | None = None,
        verify_timeout: Duration = VERIFY_S,
        about: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Asks the user to type something on a page that neither the client nor the model sees, and runs `body` with it.

        `verify` verifies what was typed, and returns None or a Problem, which the page shows. The rest is as with
        `with_elicitation`. Raises what that raises.

        `ctx`: the Context of the tool. `urlmode`, `subject`, `provider`: as at `create`. `message`: what the client shows its
        user. `about`: more of the request, by which calls are compared. `form`, `submit_label`, `verify_timeout`: as at
        `create_input`.
        """
        check_function("verify", verify)
        call, typed = self._describe(ctx)
        tool_request = _request_of(
            call, options, urlmode=urlmode, subject=subject, provider=provider, kind="input", message=message,
            about=about, form=form, submit_label=submit_label, verify=verify, create={"verify_timeout": verify_timeout if verify else None},
        )  # fmt: skip
        return await self._run(tool_request, call, typed, to_input, body)

    async def ask_approval(
        self,
        ctx: ToolContext,
        body: Body[Approval, M],
        *,
        urlmode: UrlMode,
        subject: str,
        provider: str,
        message: str,
        form: ApprovalForm,
        approver: Approver = "starter",
        four_eyes: bool = False,
        step_up: bool = False,
        send_link: SendLink | None = None,
        about: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> A:
        """Asks for a decision on a page, of the user or of others, and runs `body` if somebody approves.

        `send_link` sends the link to the others. It is called once, when the elicitation was created. The rest is as
        with `with_elicitation`. Raises what that and `send_link` raise.

        `ctx`: the Context of the tool. `urlmode`, `subject`, `provider`: as at `create`. `message`: what the client shows its
        user. `about`: more of the request, by which calls are compared. `form`, `approver`, `four_eyes`, `step_up`: as at
        `create_approval`.
        """
        check_function("send_link", send_link)
        call, typed = self._describe(ctx)
        tool_request = _request_of(
            call, options, urlmode=urlmode, subject=subject, provider=provider, kind="approval", message=message,
            about=about, form=form, approver=approver, four_eyes=four_eyes, step_up=step_up,
            send_link=send_link, create={},
        )  # fmt: skip
        return await self._run(tool_request, call, typed, to_approval, body)

    async def resolve(
        self, ask: Callable[Concatenate[ToolContext, Body[R, M], P], Awaitable[A]], ctx: ToolContext, /, *more: P.args, **options: P.kwargs
    ) -> R:
        """In a resolver for a parameter of a tool: asks as `ask` does, which is one of the functions above, and returns what
        its body would be given. The tool is the body. Without an outcome, the call has its result without the tool: then it
        raises the framework's ToolError, which ends the resolver. Raises RuntimeError where the framework is not set up for
        resolvers, and what `ask` raises.

        `ctx`: the Context of the tool.
        """
        _typed_of_resolver.set(self.typed_result())
        try:
            return await resolve(lambda body: ask(ctx, body, *more, **options), self.has_no_resolvers)
        except HasEnded:
            raise self.tool_error("the call has its result without this tool") from None

    def _describe(self, ctx: ToolContext) -> tuple[Call, TypedResult | None]:
        typed = self.typed_result() or _typed_of_resolver.get()
        call = describe(ctx)
        return (call, None) if typed is None else (replace(call, fit=typed.fit), typed)

    async def _run(
        self, tool_request: ToolRequest, call: Call, typed: TypedResult | None, give: Give[R], body: Body[R, M]
    ) -> A:
        """`give`: what the body is given."""
        run_body = self._wired(call, typed, body)

        async def act(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> ToolResult:
            call.begun.set()
            given = give(outcome, elicitation, claim)
            return await run_body(cast(R, await given if inspect.isawaitable(given) else given))

        return await self._answer(call, run(tool_request, call, act))

    def _wired(self, call: Call, typed: TypedResult | None, body: Body[R, M]) -> Callable[[R], Awaitable[ToolResult]]:
        """The body, with its result as it is sent to the client. What the tool cannot return is an error of the body."""

        async def run_body(given: R) -> ToolResult:
            call.begun.set()
            made = body(given)
            result = await made if inspect.isawaitable(made) else made
            return self.to_wire(result) if typed is None else typed.to_wire(result)

        return run_body

    async def _answer(self, call: Call, making: Awaitable[ToolResult]) -> A:
        """What the tool returns."""
        try:
            result = await making
        except UrlElicitationRequiredError as error:
            return self.to_error(error)
        except RequestStateError as error:
            from mcp.shared.exceptions import MCPError  # of SDK 2.x: a JSON-RPC error, not a result of the tool

            return self.to_error(MCPError(RPC_INVALID_PARAMS, str(error), {"reason": error.reason}))
        except Exception as error:
            # What cannot pass by itself ends a task as well.
            if isinstance(call.task, TaskRun) and not call.begun.is_set() and not isinstance(error, (TypeError, ValueError)):
                call.task.is_undone = True
            raise
        if result.get("resultType") == "input_required":
            from mcp.types import InputRequiredResult

            return cast(A, InputRequiredResult.model_validate(result))
        if call.is_text:
            return cast(A, _text_of(result))
        return self.to_result(CallToolResult.model_validate(result))


def _text_of(result: ToolResult) -> str:
    """What the function of a prompt or a resource returns. What is the result of a tool without its body is an error: a client would take
    it for the prompt, or keep it as the resource."""
    text = "\n".join(each["text"] for each in result["content"])
    data = result.get("structuredContent")
    if result.get("isError") or data and "elicitation" in data:
        from mcp.shared.exceptions import MCPError

        raise MCPError(RPC_INTERNAL_ERROR, text, data)
    return text


def _request_of(call: Call, options: CallOptions, *, create: Mapping[str, Any], **what: Any) -> ToolRequest:
    """`create`: the options of `create` that only this way of asking has."""
    for name in options:
        if name not in CallOptions.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
    given: dict[str, Any] = {**options, "client_id": call.client_id if (given_id := options.get("client_id")) is None else given_id}
    always = {"ttl": given.pop("ttl", TTL_S), "exclusive": given.pop("exclusive", False), "traceparent": call.traceparent}
    tool_request = ToolRequest(create={**create, **always}, **given, **what)
    tool_request.check()
    return tool_request
