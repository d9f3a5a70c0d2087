"""A provider at which users connect accounts: where to send the browser, what to do with the code that comes back, and
whose account it is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from authlib.oauth2.rfc6749.parameters import prepare_token_request
from authlib.oauth2.rfc7009 import prepare_revoke_token_request

from .._core import contract_texts as texts
from .._core.arguments import refuse_awaitable
from .._core.background import jittered
from .._core.contract_limits import ACCOUNT_AGAIN_S, ACCOUNT_REQUEST_S
from .._core.log import warn
from .client_authentication import OAuthClient, authenticate, check_client
from .description import check_parameters, fill_in, find_text, from_return, read_description
from .discovery import discover
from .id_token import verify_id_token
from .long_lived import lengthen
from .not_connected import NotConnected
from .request import Answer, RequestFailed, send
from .token_response import NoTokens, detail_of, read_json, to_tokens

_SCOPE = re.compile(r'[^\s",\\]+')

IsInUse = Callable[[], Awaitable[bool]]
"""Whether the user has an account there, whose tokens some providers would revoke with those of a code."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose account it is, as the provider says it."""

    id: str
    """that never changes"""
    name: str | None = None
    """to be shown"""


@dataclass(frozen=True, kw_only=True)
class Connected:
    """What the body of `connect_account` is given."""

    elicitation_id: str = ""
    """empty for tokens that come from elsewhere"""
    tokens: dict[str, Any] = field(repr=False)
    """the answer of the token endpoint. For this server only: never send it to the MCP client"""
    account: Account | None
    """None if the provider did not say it"""
    scopes: list[str]
    """those that were granted"""
    requested: list[str]
    """those that the user was asked for"""
    claims: dict[str, Any] | None = field(repr=False)
    """of the id token, if there is one. Its signature was verified"""
    returned: dict[str, str] = field(repr=False)
    """further parameters of the return. They come by the browser, whose user can change them"""
    variables: dict[str, str]
    """those of the description that this account was connected with"""


def check_scopes(name: str, scopes: Sequence[str]) -> list[str]:
    refuse_awaitable(name, scopes)
    checked = [] if isinstance(scopes, (str, bytes)) else list(scopes)
    if isinstance(scopes, (str, bytes)) or not all(isinstance(one, str) and _SCOPE.fullmatch(one) for one in checked):
        raise ValueError(f"{name} {texts.MUST_BE_SCOPES}")
    return checked


@dataclass(frozen=True, kw_only=True)
class AccountOptions:
    provider: str
    description: str | None
    client: OAuthClient
    scopes: list[str]
    required_scopes: list[str]
    variables: dict[str, str]
    parameters: dict[str, str]
    reuse_within: float | Literal["never"] | None = None


class _NotAllowed(RequestFailed):
    """The provider does not say it, whenever it is asked: for most providers a scope is missing."""


class AccountProvider:
    def __init__(self, options: AccountOptions, oauth: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._options = options
        self._oauth = oauth
        self._metadata = metadata

    @classmethod
    async def open(cls, options: AccountOptions) -> AccountProvider:
        """Raises TypeError and ValueError if the options do not fit the description, and ProviderUnavailableError."""
        check_parameters(options.parameters)
        description = options.provider if options.description is None else options.description
        oauth = fill_in(read_description(description), options.variables)
        check_client(options.client, oauth)
        metadata = oauth if "token_endpoint" in oauth else await discover(options.provider, oauth["issuer"])
        return cls(options, oauth, metadata)

    @property
    def uses_pkce(self) -> bool:
        return bool(self._oauth["pkce"] == "S256")

    @property
    def _is_discovered(self) -> bool:
        """Discovered metadata have the keys with which id tokens are verified."""
        return "token_endpoint" not in self._oauth

    def authorization_url(self, return_url: str) -> str:
        """RFC 6749 section 4.1.1. PKCE and nonce are added when the elicitation is created, the state by /connect."""
        scope = self._oauth.get("scope", {})
        scopes = scope.get("separator", " ").join(self._options.scopes)
        wanted = {
            "response_type": "code", "client_id": self._options.client.id, "redirect_uri": return_url,
            **({scope.get("parameter", "scope"): scopes} if scopes else {}),
            **({"response_mode": "form_post"} if self._oauth.get("response_mode") == "form_post" else {}),
            **self._oauth.get("parameters", {}), **self._options.parameters,
        }  # fmt: skip
        names = self._oauth.get("parameter_names", {})
        url: str = self._metadata["authorization_endpoint"]
        query = urlencode({names.get(name, name): value for name, value in wanted.items()})
        return f"{url}{'&' if '?' in url else '?'}{query}"

    async def connect(
        self, elicitation_id: str, return_url: str, result: Mapping[str, Any], verifier: str | None, nonce: str | None,
        is_in_use: IsInUse | None = None,
    ) -> Connected:
        """Exchanges the code. That works once: the outcome must be claimed. Raises NotConnected."""
        code = result.get("code")
        if not isinstance(code, str) or not code:
            raise NotConnected("exchange_failed", "code_missing")
        self._check_issuer(result.get("iss"))
        returned = {
            name: value for name, value in result.items() if name not in ("code", "iss") and isinstance(value, str)
        }
        try:
            variables = from_return(self._oauth, returned)
        except KeyError as wrong:
            raise NotConnected("exchange_failed", str(wrong.args[0])) from None
        there = self
        if variables:
            filled = {**self._options.variables, **variables}
            there = await AccountProvider.open(AccountOptions(**{**vars(self._options), "variables": filled}))
        return await there._connect(elicitation_id, code, return_url, returned, verifier, nonce, is_in_use)

    async def _connect(
        self, elicitation_id: str, code: str, return_url: str, returned: dict[str, str], verifier: str | None,
        nonce: str | None, is_in_use: IsInUse | None,
    ) -> Connected:  # fmt: skip
        options = self._options
        answer: dict[str, Any] | None = None

        async def drop(unused: Mapping[str, Any]) -> None:
            # Most users who lack a scope have an account already: without the vault, nobody knows.
            if is_in_use is not None and not await is_in_use():
                await self.revoke_all(unused)

        try:
            answer = await self._exchange(code, return_url, verifier)
            claims = await self._verify_id_token(answer, nonce) if self._is_discovered else None
            tokens = await self._lengthen(answer)
        except (RequestFailed, NotConnected) as error:
            if answer is not None:
                await drop(answer)
            if isinstance(error, NotConnected):
                raise
            refused = isinstance(error, NoTokens) and error.code is not None
            raise NotConnected("exchange_refused" if refused else "exchange_failed", str(error)) from None
        granted = re.findall(r"[^\s,]+", tokens["scope"]) if "scope" in tokens else options.scopes
        missing = [scope for scope in options.required_scopes if scope not in granted]
        if missing:
            await drop(tokens)
            raise NotConnected("scope_missing", " ".join(missing))
        try:
            account = await self._find_account(tokens, claims, returned)
        except NotConnected:
            if is_in_use is None or not await is_in_use():
                await self.revoke_all(tokens)
            raise
        return Connected(
            elicitation_id=elicitation_id, tokens=tokens, account=account,
            scopes=granted, requested=options.scopes, claims=claims, returned=returned, variables=options.variables,
        )  # fmt: skip

    def _check_issuer(self, iss: object) -> None:
        """RFC 9207 section 2.4."""
        if "issuer" not in self._oauth:
            return
        is_sent = "authorization_response_iss_parameter_supported"
        if iss is None:
            if self._metadata.get(is_sent) is True or self._oauth.get(is_sent) is True:
                raise NotConnected("issuer_missing", "iss")
        elif iss != self._metadata["issuer"]:
            raise NotConnected("issuer_mismatch", "iss")

    async def _exchange(self, code: str, return_url: str, verifier: str | None) -> dict[str, Any]:
        body = prepare_token_request(
            "authorization_code", redirect_uri=return_url, code=code, code_verifier=verifier,
            **self._oauth.get("token_parameters", {}),
        )  # fmt: skip
        answer = await self._post(self._metadata["token_endpoint"], body)
        return to_tokens(answer, self._rules, keeps_id_token=self._is_discovered)

    async def _lengthen(self, tokens: dict[str, Any]) -> dict[str, Any]:
        """A token that its provider makes longer lived, and that is its own refresh token if it can be renewed."""
        requests = self._oauth.get("long_lived")
        if requests is None:
            return tokens
        longer = await lengthen(requests["exchange"], tokens["access_token"], self._options.client, self._rules)
        if "renewal" not in requests:
            del longer["refresh_token"]
        return {**{name: value for name, value in tokens.items() if name != "expires_in"}, **longer}

    async def refresh(self, refresh_token: str, *, is_first: bool = False) -> dict[str, Any]:
        """RFC 6749 section 6, or the provider's own renewal of a long-lived token. Raises RequestFailed.

        `is_first`: it was not sent before. Where the provider takes it again for a while, half of that is left for another
        request, if the answer to this one does not come.
        """
        renewal = self._oauth.get("long_lived", {}).get("renewal")
        if renewal is not None:
            return await lengthen(renewal, refresh_token, self._options.client, self._rules)
        url = self._oauth.get("refresh_endpoint", self._metadata["token_endpoint"])
        limit = min(self.reuse_ms / 2000, ACCOUNT_REQUEST_S) if is_first and self.reuse_ms and not self.stays_refreshable else None
        answer = await self._post(url, prepare_token_request("refresh_token", refresh_token=refresh_token), limit)
        # Who the account is was proven when it was connected.
        return to_tokens(answer, self._rules, keeps_id_token=False)

    @property
    def stays_refreshable(self) -> bool:
        """A refresh token can be used again, also if nobody knows what was answered to its use."""
        return self._oauth.get("refresh_token_stays_good") is True or "renewal" in self._oauth.get("long_lived", {})

    @property
    def reuse_ms(self) -> int | None:
        """For how long after its use the provider takes a refresh token again; 0: never; None: not known."""
        within = self._options.reuse_within if self._options.reuse_within is not None else self._oauth.get("reuse_within")
        return None if within is None else 0 if within == "never" else round(1000 * within)

    async def revoke_all(self, tokens: Mapping[str, Any]) -> str | None:
        """Ends what the tokens are good for (RFC 7009). Why it did not succeed.

        Most providers end the access token with the refresh token (section 2.1), and some then refuse it.
        """
        url = self._metadata.get("revocation_endpoint")
        if url is None:
            return "no_endpoint"
        try:
            if "refresh_token" in tokens:
                await self._revoke(url, tokens["refresh_token"])
                with contextlib.suppress(RequestFailed):
                    await self._revoke(url, tokens["access_token"])
            else:
                await self._revoke(url, tokens["access_token"])
        except RequestFailed as error:
            return str(error)
        return None

    async def _revoke(self, url: str, token: str) -> None:
        body, _ = prepare_revoke_token_request(token)
        answer = await self._post(url, body)
        if answer.status != 200:
            raise RequestFailed(detail_of(answer, read_json(answer)))

    @property
    def _rules(self) -> Mapping[str, Any]:
        rules: Mapping[str, Any] = self._oauth.get("token_response", {})
        return rules

    async def _post(self, url: str, body: str, limit: float | None = None) -> Answer:
        """A request of this client, as its provider wants it. `body`: a form, with the names of the standard. `limit`: as of
        send."""
        headers, more, body = authenticate(self._options.client, self._oauth, self._metadata["token_endpoint"], body)
        names = self._oauth.get("parameter_names", {})
        fields = {names.get(name, name): value for name, value in [*parse_qsl(body, keep_blank_values=True), *more]}
        is_json = self._oauth.get("token_request") == "json"
        content = json.dumps(fields) if is_json else urlencode(fields)
        headers["content-type"] = "application/json" if is_json else "application/x-www-form-urlencoded"
        return await send("POST", url, headers, content.encode(), limit)

    async def _verify_id_token(self, tokens: Mapping[str, Any], nonce: str | None) -> dict[str, Any] | None:
        id_token = tokens.get("id_token")
        if id_token is None and nonce is None:
            return None
        return await verify_id_token(id_token, self._metadata, self._options.client.id, nonce)

    async def _find_account(
        self, tokens: Mapping[str, Any], claims: Mapping[str, Any] | None, returned: Mapping[str, str]
    ) -> Account | None:
        """None if the provider does not say it. Raises NotConnected if it does at other times: tokens that are stored
        without a name replace those of another account."""
        source = self._oauth.get("account")
        if source is None:
            return None
        origin = source.get("from")
        document: Any
        if origin is None:
            try:
                document = await asyncio.wait_for(self._ask_endpoint(source, tokens), ACCOUNT_REQUEST_S)
            except asyncio.TimeoutError:
                raise NotConnected("exchange_failed", "TIMEOUT") from None
        elif origin == "userinfo":
            document = None if claims is None else await self._ask_userinfo(source, tokens, claims)
        else:
            document = {"return": returned, "token_response": tokens, "id_token": claims}[origin]
        id = find_text(document, source["id"])
        return None if id is None else Account(id=id, name=find_text(document, source.get("name")))

    async def _ask_endpoint(self, source: Mapping[str, Any], tokens: Mapping[str, Any]) -> Any:
        """Once more if it fails."""
        why = ""
        for attempt in range(2):
            await asyncio.sleep(attempt * jittered(ACCOUNT_AGAIN_S))
            try:
                return await self._ask_account(source["endpoint"], source, tokens)
            except _NotAllowed as error:
                warn("URLMODE_ACCOUNT", texts.no_identity(self._options.provider, str(error)))
                return None
            except RequestFailed as error:
                why = str(error)
        raise NotConnected("exchange_failed", why)

    async def _ask_userinfo(
        self, source: Mapping[str, Any], tokens: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> Any:
        """Whose account it is, the id token says as well."""
        url = self._metadata.get("userinfo_endpoint")
        if url is None:
            return claims
        try:
            document = await self._ask_account(url, source, tokens)
            sub = find_text(document, "/sub")
            if sub is None:
                raise RequestFailed("no_sub")
        except RequestFailed as error:
            warn("URLMODE_ACCOUNT", f"userinfo of {self._options.provider} failed ({error})")
            return claims
        # OpenID Connect Core section 5.3.2.
        if sub != claims["sub"]:
            raise NotConnected("exchange_failed", "another_sub")
        return document

    async def _ask_account(self, url: str, source: Mapping[str, Any], tokens: Mapping[str, Any]) -> Any:
        """JSON. Raises RequestFailed."""
        token: str = tokens["access_token"]
        headers = {
            name: value.replace("{access_token}", token).replace("{client_id}", self._options.client.id)
            for name, value in source.get("headers", {}).items()
        }
        if not any("{access_token}" in value for value in source.get("headers", {}).values()):
            headers["authorization"] = f"Bearer {token}"
        body = None
        if "body" in source:
            body = json.dumps(source["body"]).encode()
            headers["content-type"] = "application/json"
        answer = await send("GET" if body is None else "POST", url, headers, body)
        status = answer.status
        if not 200 <= status < 300:
            is_for_good = 400 <= status < 500 and status not in (408, 425, 429)
            raise (_NotAllowed if is_for_good else RequestFailed)(f"status_{status}")
        document = read_json(answer)
        if document is None:
            raise RequestFailed("no_json")
        return document
