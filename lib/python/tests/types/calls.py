"""Right and wrong calls. Each wrong line names the errors that mypy and pyright report there, and no other line has one
(test_types.py). This file is checked, and never run."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import fastmcp as _fastmcp
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import BaseModel

from urlmode import (
    Elicitation,
    ElicitationTimeoutError,
    Expected,
    Target,
    TargetArguments,
    UrlMode,
)
from urlmode import fastmcp, mcp
from urlmode.oauth import OAuthClient
from urlmode.vault import Provider

U = "https://provider.example/"


async def creates(urlmode: UrlMode, kind: Literal["oauth"], options: dict[str, Any]) -> None:
    price = Expected(1050, "EUR")
    made: Elicitation = await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected=price, item="report:42")
    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected="any", item="gift", ttl=timedelta(days=2))
    await urlmode.create(
        provider="stripe", kind="payment", subject="a", target_url=lambda urls: Target(U, urls.elicitation_id), expected=price, item="i", subscription=True
    )
    await urlmode.create(provider="docusign", kind="signature", subject="a", target_url=U, item="contract:1")
    await urlmode.create(provider="github", kind=kind, subject="a", target_url=address, pkce=True, session="s")
    await urlmode.create(**options)
    print(made.url)

    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, item="i")  # wrong: call-overload, reportArgumentType
    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected=price)  # wrong: call-overload, reportCallIssue
    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected="some", item="i")  # wrong: call-overload, reportCallIssue reportArgumentType
    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected="any", item="i", subscription=True)  # wrong: call-overload, reportArgumentType
    await urlmode.create(provider="stripe", kind="payment", subject="a", target_url=U, expected=price, item="i", pkce=True)  # wrong: call-overload, reportCallIssue
    await urlmode.create(provider="github", kind="oauth", subject="a", target_url=U, expected=price)  # wrong: call-overload, reportCallIssue
    await urlmode.create(provider="github", kind="oauth", subject="a", target_url=U, item="i")  # wrong: call-overload, reportArgumentType
    await urlmode.create(provider="github", kind="oauth", subject="a", target_url=Target(U, "c"))  # wrong: call-overload, reportArgumentType
    await urlmode.create(provider="docusign", kind="signature", subject="a", target_url=U)  # wrong: call-overload, reportArgumentType
    await urlmode.create(provider="intake", kind="input", subject="a", target_url=U)  # wrong: call-overload, reportArgumentType
    await urlmode.create(kind="oauth", subject="a", target_url=U)  # wrong: call-overload, reportCallIssue
    await urlmode.create(provider="github", kind="oauth", subject=42, target_url=U)  # wrong: call-overload, reportArgumentType
    await urlmode.create_approval(provider="a", subject="a", form={"title": "t"}, approver="boss")  # wrong: arg-type, reportArgumentType
    await urlmode.create_approval(provider="a", subject="a", form={"title": "t"}, approver=["boss", "other"])
    await urlmode.create_input(provider="i", subject="a", form={"title": "t"})  # wrong: typeddict-item, reportArgumentType
    await urlmode.complete("1", subject="a", action="accepted")  # wrong: arg-type, reportArgumentType
    try:
        outcome = await urlmode.wait_for_completion("1", subject="a", timeout=timedelta(minutes=1))
        outcome.values["key"]  # wrong: index, reportOptionalSubscript
    except ElicitationTimeoutError as error:
        print(error.status)


def address(urls: TargetArguments) -> str:
    return U + (urls.cancel_url or "")


class Report(BaseModel):
    text: str


@dataclass
class Plain:
    text: str


async def tools(ctx: Context, fast: _fastmcp.Context, urlmode: UrlMode, client: OAuthClient) -> mcp.ToolAnswer:
    def text(accepted: mcp.Accepted) -> str:
        return accepted.reference or ""

    async def later(accepted: mcp.Accepted) -> CallToolResult | Report | Plain | dict[str, Any]:
        return {"text": accepted.elicitation_id}

    def number(accepted: mcp.Accepted) -> int:
        return 42

    async def nothing(accepted: mcp.Accepted) -> None:
        pass

    async def typed(given: mcp.Input) -> str:
        return str(given.values["key"])

    price = Expected(1050, "EUR")
    paid = await mcp.with_elicitation(
        ctx, later, urlmode=urlmode, subject="a", provider="stripe", kind="payment", message="m", target_url=U, item="i", expected=price, ttl=600
    )
    told: CallToolResult | InputRequiredResult = paid
    given: mcp.Accepted = await mcp.resolve(
        mcp.with_elicitation, ctx, urlmode=urlmode, subject="a", provider="docusign", kind="signature", message="m", target_url=U, item="i"
    )
    await fastmcp.with_elicitation(fast, text, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U, pkce=True)
    await mcp.collect_input(ctx, typed, urlmode=urlmode, subject="a", provider="i", message="m", form={"title": "t", "fields": []})
    await mcp.connect_account(ctx, lambda one: "done", urlmode=urlmode, subject="a", provider="g", client=client, message="m", scopes=["repo"])
    Provider(client=client, scopes=("repo",))
    print(told, given)

    await mcp.with_elicitation(ctx, text, urlmode=urlmode, subject="a", provider="stripe", kind="payment", message="m", target_url=U, item="i")  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(ctx, text, urlmode=urlmode, subject="a", provider="stripe", kind="payment", message="m", target_url=U, expected=price)  # wrong: call-overload, reportCallIssue
    await mcp.with_elicitation(ctx, text, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U, expected=price)  # wrong: call-overload, reportCallIssue
    await mcp.with_elicitation(ctx, number, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(ctx, nothing, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(ctx, typed, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(None, text, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(urlmode, text, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.with_elicitation(ctx, text, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U, time=5)  # wrong: call-overload, reportCallIssue
    await fastmcp.with_elicitation(fast, number, urlmode=urlmode, subject="a", provider="g", kind="oauth", message="m", target_url=U)  # wrong: call-overload, reportArgumentType
    await mcp.resolve(mcp.with_elicitation, ctx, urlmode=urlmode, subject="a", provider="g", kind="payment", message="m", target_url=U)  # wrong: arg-type, reportCallIssue
    await mcp.collect_input(ctx, text, urlmode=urlmode, subject="a", provider="i", message="m", form={"title": "t", "fields": []})  # wrong: arg-type, reportArgumentType
    await mcp.connect_account(ctx, lambda one: "", urlmode=urlmode, subject="a", provider="g", client=client, message="m", scopes="repo")  # wrong: arg-type, reportArgumentType
    await mcp.ask_approval(ctx, lambda one: "", urlmode=urlmode, subject="a", provider="p", message="m", form={"title": "t"}, approver="boss")  # wrong: arg-type, reportArgumentType
    Provider(client=client, scopes="repo")  # wrong: arg-type, reportArgumentType
    return paid
