"""An MCP server on the official Python SDK, 1.25 to 2.x, over HTTP: it sells a report and connects an account.

    URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= python sdk.py
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, Literal, cast

import app
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import BaseModel

from urlmode import Entitlement, Expected, UrlMode
from urlmode.mcp import (
    Accepted,
    Approval,
    Input,
    ToolAnswer,
    ask_approval,
    collect_input,
    connect_account,
    handle_tasks,
    request_state_security,
    require_paid,
    with_elicitation,
)
from urlmode.oauth import Connected

SDK2 = True
try:
    from mcp.server.mcpserver import Context, MCPServer as Server
except ImportError:  # SDK 1.x
    from mcp.server.fastmcp import Context, FastMCP as Server  # type: ignore[attr-defined, no-redef]

    SDK2 = False


class Tokens:
    """Your authorization server says who the user of a token is. Never take it from anything else."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def verify_token(self, token: str) -> AccessToken | None:
        known = token in app.USERS
        return AccessToken(token=token, client_id="app", scopes=[], resource=self._url) if known else None


class Summary(BaseModel):
    reference: str


def make_app(urlmode: UrlMode, url: str) -> Any:
    auth: dict[str, Any] = {
        "issuer_url": app.ISSUER or "https://issuer.example", "resource_server_url": url, "validate_token_resource": True,
    }  # fmt: skip
    more: dict[str, Any] = {"token_verifier": Tokens(url), "auth": AuthSettings(**auth, required_scopes=[])}
    if SDK2:
        # A client that declares tasks need not wait, and any instance answers for its tasks.
        tasks = handle_tasks(urlmode, owner=lambda ctx: {"subject": app.subject()})
        more |= {"request_state_security": request_state_security(urlmode), "extensions": [tasks], "middleware": [tasks]}
    server = Server("reports", **more)

    async def sell(ctx: Context, ask: Literal["request", "error"]) -> ToolAnswer:
        async def paid(accepted: Accepted) -> str:
            return f"Paid with {accepted.reference}."

        return await with_elicitation(
            ctx, paid, urlmode=urlmode, subject=app.subject(), provider="stripe", kind="payment", ask=ask,
            expected=Expected(1050, "EUR"), message="The report costs 10.50 EUR.", item="report:2026",
            target_url=lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def buy_report(ctx: Context) -> ToolAnswer:
        """Buys the report."""
        return await sell(ctx, "request")

    @server.tool(structured_output=False)
    async def read_report(ctx: Context) -> ToolAnswer:
        """Reads the report, once it is paid."""
        return await sell(ctx, "error")

    @server.tool()
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

    @server.tool(name="connect_account", structured_output=False)
    async def connect(ctx: Context) -> ToolAnswer:
        """Connects your Demo Account."""

        async def connected(account: Connected) -> str:
            return f"Connected the account of {account.account.name if account.account else 'somebody'}."

        return await connect_account(
            ctx, connected, urlmode=urlmode, subject=app.subject(), provider="demo", description="openid-connect",
            client=app.client(), scopes=["openid", "profile"], variables={"issuer": app.ISSUER},
            message="Connect your Demo Account.",
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def ask_analyst(ctx: Context) -> ToolAnswer:
        """Asks the analyst, for subscribers."""

        async def advice(found: Entitlement) -> str:
            return f"Buy low, sell high. ({found.status})"

        return await require_paid(
            ctx, advice, urlmode=urlmode, subject=app.subject(), provider="stripe", item="analyst", expected=Expected(1050, "EUR"),
            message="The analyst costs 10.50 EUR a month.", manage_url=app.manage_url,
            target_url=lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def store_key(ctx: Context) -> ToolAnswer:
        """Stores your API key."""

        async def typed(given: Input) -> str:
            return f"Stored a key of {len(str(given.values['api_key']))} characters."

        return await collect_input(
            ctx, typed, urlmode=urlmode, subject=app.subject(), provider="intake", message="Your API key is needed.",
            form=app.KEY_FORM, verify=app.verify_key,
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def accept_terms(ctx: Context) -> ToolAnswer:
        """Accepts the terms."""

        async def accepted(approval: Approval) -> str:
            return f"Accepted by {approval.approver}."

        return await ask_approval(
            ctx, accepted, urlmode=urlmode, subject=app.subject(), provider="approvals",
            message="The terms must be accepted.", form=app.TERMS,
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def delete_reports(ctx: Context) -> ToolAnswer:
        """Deletes all reports, if somebody else agrees."""

        async def agreed(approval: Approval) -> str:
            return f"Deleted, as {approval.approver} has agreed."

        return await ask_approval(
            ctx, agreed, urlmode=urlmode, subject=app.subject(), provider="approvals",
            message="Somebody else must agree.", form=app.DELETION, approver="others", ttl=timedelta(days=7),
        )  # fmt: skip

    return server.streamable_http_app()


if __name__ == "__main__":
    asyncio.run(app.serve(make_app))
