"""A server in several processes, each with a UrlMode of its own, which its lifespan closes:

    uvicorn workers:app --workers 4
    gunicorn --worker-class uvicorn_worker.UvicornWorker --workers 4 workers:app

Any process can answer any call, so that it keeps no sessions. Reads URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL, and
APP_CHECKOUT, the page on which the report is paid. Your authorization says who the user is; here everybody is APP_USER.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.mcpserver import Context, MCPServer
from starlette.applications import Starlette
from starlette.routing import Mount

from urlmode import Expected, UrlMode
from urlmode.mcp import Accepted, ToolAnswer, request_state_security, with_elicitation

CHECKOUT = os.environ.get("APP_CHECKOUT", "https://checkout.example/pay")
USER = os.environ.get("APP_USER", "ada@example.org")

# It connects when it is used first, in the process and event loop that uses it. A process that is forked later has its own.
urlmode = UrlMode(
    database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"], base_url=os.environ["URLMODE_BASE_URL"]
)
server = MCPServer("reports", request_state_security=request_state_security(urlmode))


@server.tool()
async def buy_report(ctx: Context) -> ToolAnswer:
    """Buys the report."""

    async def paid(accepted: Accepted) -> str:
        return f"Process {os.getpid()}: paid with {accepted.reference}."

    return await with_elicitation(
        ctx, paid, urlmode=urlmode, subject=USER, provider="stripe", kind="payment", expected=Expected(1050, "EUR"),
        message="The report costs 10.50 EUR.", item="report:2026", target_url=lambda urls: f"{CHECKOUT}?reference={urls.elicitation_id}",
    )  # fmt: skip


inner = server.streamable_http_app(stateless_http=True)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with urlmode, inner.router.lifespan_context(inner):
        yield


app = Starlette(routes=[Mount("/", inner)], lifespan=lifespan)
