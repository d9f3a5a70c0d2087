"""A paid MCP server on the official Python SDK 2.x: a report that is sold once, summaries that cost a credit each, and an
analyst for subscribers. Credits are this server's own. They are in tables of its own, whose only source is the ledger.

    URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= APP_DATABASE_URL= python paid.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import app
import psycopg
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from urlmode import BegunClaim, Entitlement, Expected, TargetArguments, UrlMode, UrlModeClosedError
from urlmode.mcp import Accepted, ToolAnswer, request_state_security, require_paid, with_elicitation

TABLES = """
CREATE SCHEMA IF NOT EXISTS reports;
CREATE TABLE IF NOT EXISTS reports.account (subject text PRIMARY KEY, spent bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS reports.purchase (
    provider text, payment text, subject text NOT NULL, credits bigint NOT NULL, price bigint NOT NULL,
    refunded bigint NOT NULL DEFAULT 0, voided boolean NOT NULL DEFAULT false, entry bigint NOT NULL, PRIMARY KEY (provider, payment)
);
CREATE OR REPLACE VIEW reports.bought AS
SELECT subject, sum(CASE WHEN voided THEN 0 ELSE credits * (price - refunded) / price END) AS credits FROM reports.purchase GROUP BY subject;
"""
PAID = """
WITH known AS (INSERT INTO reports.account (subject) VALUES (%(subject)s) ON CONFLICT DO NOTHING)
INSERT INTO reports.purchase (provider, payment, subject, credits, price, entry)
VALUES (%(provider)s, %(payment)s, %(subject)s, %(credits)s, %(amount)s, %(number)s) ON CONFLICT DO NOTHING
"""
CHANGED = """
UPDATE reports.purchase
SET payment = %(payment)s, refunded = %(refunded)s, voided = %(type)s = 'voided', entry = %(number)s
WHERE provider = %(provider)s AND payment IN (%(payment)s, %(checkout)s) AND entry < %(number)s
"""
TAKEN = """
UPDATE reports.account a SET spent = a.spent + 1 FROM reports.bought b
WHERE a.subject = %(subject)s AND b.subject = a.subject AND a.spent < b.credits RETURNING (b.credits - a.spent)::integer
"""


async def run(statement: str, values: Mapping[str, Any] | None = None) -> Any:
    """Each statement is one transaction: it is done, or it is not. A busy server has a psycopg_pool here."""
    async with await psycopg.AsyncConnection.connect(os.environ["APP_DATABASE_URL"], autocommit=True) as connection:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchone() if cursor.description else None


async def follow_ledger(urlmode: UrlMode) -> None:
    """Keeps the credits that were bought. What went back is taken away, also if it was spent: then the balance is below zero."""
    while True:
        try:
            async for entry in urlmode.ledger(consumer="credits"):
                credits = re.fullmatch(r"credits:(\d+)", entry.item or "")
                if credits and entry.payment and entry.subject:
                    # An entry may come again, and a process that stood still may be behind the next one: what was done
                    # up to a later entry stays. `refunded` is how much has gone back by then, by refunds and by
                    # disputes that are open or lost.
                    statement = PAID if entry.type in ("paid", "late") else CHANGED
                    await run(statement, {**vars(entry), "credits": int(credits[1])})
        except UrlModeClosedError:
            return
        except Exception:
            logging.exception("The ledger is followed again.")  # from the entry that was not done
            await asyncio.sleep(1)


async def settle(urlmode: UrlMode) -> None:
    """Credits that were paid while no call waited are there: nothing is left to deliver, and the next call sells more."""
    while True:
        try:
            for p in await urlmode.unclaimed():
                # A call may be about to claim the newest. About what does not match, or is held, the operator decides.
                is_old = p.proven_at < datetime.now(timezone.utc) - timedelta(hours=1)
                if is_old and (p.item or "").startswith("credits:") and p.matches and not p.held:
                    claim = await urlmode.begin_claim(p.elicitation_id, subject=p.subject, session=p.session, reference=p.reference)
                    if isinstance(claim, BegunClaim):
                        await claim.end("delivered")
        except Exception:
            logging.exception("What was paid is settled in an hour.")
        await asyncio.sleep(3_600)


class PaidAlready(Exception):
    """The user has paid for this item, and it was delivered."""


class Tokens:
    """Your authorization server says who the user of a token is. Never take it from anything else."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def verify_token(self, token: str) -> AccessToken | None:
        known = token in app.USERS
        return AccessToken(token=token, client_id="app", scopes=[], resource=self._url) if known else None


def make_app(urlmode: UrlMode, url: str) -> Any:
    auth: dict[str, Any] = {
        "issuer_url": app.ISSUER or "https://issuer.example", "resource_server_url": url, "validate_token_resource": True,
    }  # fmt: skip
    server = MCPServer(
        "reports", token_verifier=Tokens(url), auth=AuthSettings(**auth, required_scopes=[]),
        request_state_security=request_state_security(urlmode),
    )  # fmt: skip

    def offer(item: str, cents: int, message: str) -> dict[str, Any]:
        return {
            "urlmode": urlmode, "subject": app.subject(), "provider": "stripe", "item": item, "expected": Expected(cents, "EUR"),
            "message": message, "target_url": lambda urls: f"{app.CHECKOUT}?reference={urls.elicitation_id}",
        }  # fmt: skip

    @server.tool(structured_output=False)
    async def read_report(ctx: Context, year: int) -> ToolAnswer | str:
        """The report of a year, for 10.50 EUR."""

        async def report(_: Accepted | None = None) -> str:
            return f"In {year} everything went well."

        item, subject = f"report:{year}", app.subject()

        # Here, where there is nothing to go on with: another call may deliver at this moment what was paid.
        async def checkout(urls: TargetArguments) -> str:
            if await urlmode.paid(subject=subject, item=item, delivered=True):
                raise PaidAlready
            return f"{app.CHECKOUT}?reference={urls.elicitation_id}"

        request = {**offer(item, 1050, f"The report of {year} costs 10.50 EUR."), "target_url": checkout}
        try:
            return await with_elicitation(ctx, report, kind="payment", **request)
        except PaidAlready:
            return await report()

    @server.tool(structured_output=False)
    async def buy_credits(ctx: Context) -> ToolAnswer:
        """Buys 1000 credits, for 10.00 EUR."""

        async def bought(accepted: Accepted) -> str:
            return f"1000 credits were bought with {accepted.reference}. They can be used in a moment."

        return await with_elicitation(ctx, bought, kind="payment", **offer("credits:1000", 1000, "1000 credits cost 10.00 EUR."))

    @server.tool(structured_output=False)
    async def summarize() -> str:
        """A summary, for one credit."""
        # In one statement, so that two calls never take the same credit.
        taken = await run(TAKEN, {"subject": app.subject()})
        if taken is None:
            raise ToolError("The user has no credit left: call buy_credits.")
        return f"All is well. {taken[0]} credits are left."

    @server.tool(structured_output=False)
    async def ask_analyst(ctx: Context) -> ToolAnswer:
        """Asks the analyst, for 20.00 EUR a month."""

        async def advice(found: Entitlement) -> str:
            until = found.until.isoformat() if found.until else "further notice"
            return f"Buy low, sell high. ({found.status} until {until})"

        return await require_paid(ctx, advice, **offer("analyst", 2000, "The analyst costs 20.00 EUR a month."))

    return server.streamable_http_app()


async def main() -> None:
    await run(TABLES)
    await app.serve(make_app, follow_ledger, settle)


if __name__ == "__main__":
    asyncio.run(main())
