"""The demo MCP server in Python, on FastMCP, with the same four tools as server.mjs.

The examples of the package have what every server needs: how users are known, how an account is connected, and how
all of it is served. Here is what the demo sells, asks for and deletes. DEMO_KEY is the only key that its service knows.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import app
from fastmcp import Context, FastMCP
from fastmcp_server import Tokens

from urlmode import ApprovalForm, Expected, InputForm, Problem, TargetArguments, UrlMode, Verify
from urlmode.fastmcp import (
    Accepted,
    Approval,
    Input,
    ask_approval,
    collect_input,
    connect_account,
    request_state_security,
    with_elicitation,
)
from urlmode.oauth import Connected

MINUTE = 60
PRICE = Expected(1050, "EUR")
CHECKOUT = os.environ["URLMODE_DEMO_CHECKOUT_URL"]
CHECKOUT_KEY = os.environ["DEMO_CHECKOUT_KEY"]
KEY = os.environ["DEMO_KEY"]
KEY_FORM: InputForm = {
    "title": "Your key of the report service",
    "fields": [{"name": "key", "type": "secret", "label": "Key", "required": True, "max": 100}],
}
DELETION: ApprovalForm = {
    "title": "Delete the archive?",
    "facts": [{"label": "Archive", "value": "Reports of 2024"}, {"label": "Size", "value": "12 reports"}],
    "comment": "optional",
}


def check_out(urls: TargetArguments) -> str:
    """Creates a session of the checkout, and returns the address of its page."""
    session = {
        "mode": "payment", "client_reference_id": urls.elicitation_id, "success_url": urls.return_url,
        "payment_intent_data[metadata][elicitation_id]": urls.elicitation_id, "cancel_url": urls.cancel_url,
        "expires_at": str(int(time.time()) + 31 * MINUTE), "line_items[0][quantity]": "1",
        "line_items[0][price_data][currency]": PRICE.currency.lower(),
        "line_items[0][price_data][unit_amount]": str(PRICE.amount),
        "line_items[0][price_data][product_data][name]": "Report",
    }  # fmt: skip
    address = f"{CHECKOUT}/v1/checkout/sessions"
    headers = {"Authorization": f"Bearer {CHECKOUT_KEY}", "Content-Type": "application/x-www-form-urlencoded"}
    with urlopen(Request(address, urlencode(session).encode(), headers), timeout=10) as answer:
        return str(json.load(answer)["url"])


def make_app(urlmode: UrlMode, _: str) -> Any:
    server = FastMCP("urlmode-demo", auth=Tokens(), request_state_security=request_state_security(urlmode))

    @server.tool(name="connect_account")
    async def connect(ctx: Context) -> Any:
        """Connects your Demo Account: you sign in there with your browser."""

        async def connected(account: Connected) -> str:
            return f"Connected the account of {account.account.name if account.account else 'somebody'}."

        return await connect_account(
            ctx, connected, urlmode=urlmode, subject=app.subject(), provider="demo", description="openid-connect",
            client=app.client(), scopes=["openid", "profile"], variables={"issuer": app.ISSUER},
            message="Sign in to your Demo Account to connect it.",
        )  # fmt: skip

    @server.tool
    async def buy_report(ctx: Context) -> Any:
        """Buys the report for 10.50 EUR: you pay with your browser."""

        async def paid(accepted: Accepted) -> str:
            before = " You had paid it before." if accepted.late else ""
            return f"Here is your report.{before} Paid with {accepted.reference}."

        return await with_elicitation(
            ctx, paid, urlmode=urlmode, subject=app.subject(), provider="checkout", kind="payment", item="report", expected=PRICE,
            message="The report costs 10.50 EUR.", ttl=35 * MINUTE, target_url=lambda urls: asyncio.to_thread(check_out, urls),
        )  # fmt: skip

    @server.tool
    async def store_key(ctx: Context) -> Any:
        """Stores your key of the report service: you type it with your browser."""

        async def verify(asked: Verify) -> Problem | None:
            return None if asked.values["key"] == KEY else Problem("key", "The report service does not know this key.")

        async def typed(_: Input) -> str:
            return "The key works, and is stored."

        return await collect_input(
            ctx, typed, urlmode=urlmode, subject=app.subject(), provider="intake", form=KEY_FORM, verify=verify,
            message="Your key of the report service is needed.",
        )  # fmt: skip

    @server.tool
    async def delete_archive(ctx: Context) -> Any:
        """Deletes the archive, if somebody else agrees."""

        async def agreed(approval: Approval) -> str:
            said = f": “{approval.comment}”" if approval.comment else ""
            return f"The archive is deleted, as {approval.approver} has agreed{said}."

        return await ask_approval(
            ctx, agreed, urlmode=urlmode, subject=app.subject(), provider="approvals", approver="others", form=DELETION,
            message="Somebody else must agree that the archive is deleted.", ttl=60 * MINUTE,
        )  # fmt: skip

    return server.http_app()


if __name__ == "__main__":
    asyncio.run(app.serve(make_app))
