"""An MCP server on FastMCP, 2.14 to 4.x, over HTTP: it sells a report and connects an account.

    URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= python fastmcp_server.py
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal, cast

import app
import fastmcp
from fastmcp import Context, FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier
from pydantic import BaseModel

from urlmode import Entitlement, Expected, UrlMode
from urlmode.fastmcp import (
    Accepted,
    Approval,
    Input,
    ToolAnswer,
    ask_approval,
    collect_input,
    connect_account,
    request_state_security,
    require_paid,
    resolver_middleware,
    with_elicitation,
)
from urlmode.oauth import Connected


class Tokens(TokenVerifier):
    """Your authorization server says who the user of a token is. Never take it from anything else."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="app", scopes=[]) if token in app.USERS else None


class Summary(BaseModel):
    reference: str


def make_app(urlmode: UrlMode, url: str) -> Any:
    more: dict[str, Any] = {}
    if int(fastmcp.__version__.split(".")[0]) >= 4:
        more["request_state_security"] = request_state_security(urlmode)
    server = FastMCP("reports", auth=Tokens(), middleware=[resolver_middleware()], **more)

    async def sell(ctx: Context, ask: Literal["request", "error"]) -> ToolAnswer:
        async def paid(accepted: Accepted) -> str:
            return f"Paid with {accepted.reference}."

        return await with_elicitation(
            ctx, paid, urlmode=urlmode, subject=app.subject(), provider="stripe", kind="payment", ask=ask,
            expected=Expected(1050, "EUR"), message="The report costs 10.50 EUR.", item="report:2026",
            target_url=lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip

    @server.tool
    async def buy_report(ctx: Context) -> ToolAnswer:
        """Buys the report."""
        return await sell(ctx, "request")

    @server.tool
    async def read_report(ctx: Context) -> ToolAnswer:
        """Reads the report, once it is paid."""
        return await sell(ctx, "error")

    @server.tool
    async def buy_summary(ctx: Context) -> Summary:
        """Buys the summary, as data."""

        async def paid(accepted: Accepted) -> Summary:
            return Summary(reference=accepted.reference or "")

        answer = await with_elicitation(
            ctx, paid, urlmode=urlmode, subject=app.subject(), provider="stripe", kind="payment",
            expected=Expected(1050, "EUR"), message="The summary costs 10.50 EUR.", item="summary:2026",
            target_url=lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip
        return cast(Summary, answer)  # or the link, which the framework sends as it is

    @server.tool(name="connect_account")
    async def connect(ctx: Context) -> ToolAnswer:
        """Connects your Demo Account."""

        async def connected(account: Connected) -> str:
            return f"Connected the account of {account.account.name if account.account else 'somebody'}."

        return await connect_account(
            ctx, connected, urlmode=urlmode, subject=app.subject(), provider="demo", description="openid-connect",
            client=app.client(), scopes=["openid", "profile"], variables={"issuer": app.ISSUER},
            message="Connect your Demo Account.",
        )  # fmt: skip

    @server.tool
    async def ask_analyst(ctx: Context) -> ToolAnswer:
        """Asks the analyst, for subscribers."""

        async def advice(found: Entitlement) -> str:
            return f"Buy low, sell high. ({found.status})"

        return await require_paid(
            ctx, advice, urlmode=urlmode, subject=app.subject(), provider="stripe", item="analyst", expected=Expected(1050, "EUR"),
            message="The analyst costs 10.50 EUR a month.", manage_url=app.manage_url,
            target_url=lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip

    @server.tool
    async def store_key(ctx: Context) -> ToolAnswer:
        """Stores your API key."""

        async def typed(given: Input) -> str:
            return f"Stored a key of {len(str(given.values['api_key']))} characters."

        return await collect_input(
            ctx, typed, urlmode=urlmode, subject=app.subject(), provider="intake", message="Your API key is needed.",
            form=app.KEY_FORM, verify=app.verify_key,
        )  # fmt: skip

    @server.tool
    async def accept_terms(ctx: Context) -> ToolAnswer:
        """Accepts the terms."""

        async def accepted(approval: Approval) -> str:
            return f"Accepted by {approval.approver}."

        return await ask_approval(
            ctx, accepted, urlmode=urlmode, subject=app.subject(), provider="approvals",
            message="The terms must be accepted.", form=app.TERMS,
        )  # fmt: skip

    @server.tool
    async def delete_reports(ctx: Context) -> ToolAnswer:
        """Deletes all reports, if somebody else agrees."""

        async def agreed(approval: Approval) -> str:
            return f"Deleted, as {approval.approver} has agreed."

        return await ask_approval(
            ctx, agreed, urlmode=urlmode, subject=app.subject(), provider="approvals",
            message="Somebody else must agree.", form=app.DELETION, approver="others", ttl=86_400,
        )  # fmt: skip

    return server.http_app()


if __name__ == "__main__":
    asyncio.run(app.serve(make_app))
