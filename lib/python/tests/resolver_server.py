"""A server over standard streams of the framework that its argument names: test_resolvers.py runs it with each version.
One tool has a resolver, where the framework has them, and another one uses an account. Frameworks read the annotations, so
that they must be no text."""

import asyncio
import json
import os
import sys
from typing import Annotated, Any, cast

from urlmode import CallbackUrls, Expected, UrlMode

SUBJECT = os.environ.get("SUBJECT", "")


async def paid(accepted: Any, how: str) -> str:
    if how == "raises":
        raise LookupError("the report is not there")
    return f"Thanks for {accepted.reference}."


def options(urlmode: UrlMode, **more: Any) -> dict[str, Any]:
    given = {
        "urlmode": urlmode, "subject": SUBJECT, "provider": "stripe", "kind": "payment", "item": "report:42",
        "expected": Expected(1050, "EUR"), "message": "10.50 EUR", "target_url": checkout, "round_timeout": 20.0,
    }  # fmt: skip
    return {**given, **more}


def checkout(urls: CallbackUrls) -> str:
    return "https://checkout.example/pay"


def add_account(server: Any, adapter: Any, context: Any, vault: Any) -> Any:
    async def use(ctx: Any) -> Any:
        return await adapter.use_account(
            ctx, lambda token: f"{token.access_token} of {token.account}", vault=vault, subject=SUBJECT, provider="github",
            message="Please.", round_timeout=20.0,
        )  # fmt: skip

    use.__annotations__["ctx"] = context
    server.tool()(use)
    return server


def make_sdk1(urlmode: UrlMode, vault: Any) -> Any:
    from mcp.server.fastmcp import Context, FastMCP  # type: ignore[attr-defined]

    from urlmode import mcp

    return add_account(FastMCP("shop"), mcp, Context, vault)


def make_sdk(urlmode: UrlMode, vault: Any = None, **more: Any) -> Any:
    from mcp.server.mcpserver import Context, MCPServer, Resolve

    from urlmode import mcp
    from urlmode.mcp import Accepted, request_state_security, resolve, resolver_extension, with_elicitation

    async def payment(ctx: Context[Any, Any]) -> Accepted:
        return await resolve(cast(Any, with_elicitation), ctx, **options(urlmode, **more))

    async def buy(how: str, payment: Annotated[Accepted, Resolve(payment)]) -> str:
        return await paid(payment, how)

    server = MCPServer(
        "shop", request_state_security=request_state_security(urlmode), extensions=[resolver_extension()]
    )
    server.tool(structured_output=False)(buy)
    return add_account(server, mcp, Context[Any, Any], vault)


def make_fastmcp(urlmode: UrlMode, vault: Any = None, **more: Any) -> Any:
    import fastmcp
    from fastmcp.dependencies import CurrentContext, Depends

    from urlmode import fastmcp as adapter
    from urlmode.fastmcp import Accepted, request_state_security, resolve, resolver_middleware, with_elicitation

    async def payment(ctx: Any = CurrentContext()) -> Accepted:
        return await resolve(cast(Any, with_elicitation), ctx, **options(urlmode, **more))

    async def buy(how: str, payment: Any = Depends(payment)) -> Any:
        return await paid(payment, how)

    settings: dict[str, Any] = {}
    if int(fastmcp.__version__.split(".")[0]) >= 4:
        settings["request_state_security"] = request_state_security(urlmode)
    server: Any = fastmcp.FastMCP("shop", middleware=[resolver_middleware()], **settings)
    server.tool(buy, output_schema=None)
    return add_account(server, adapter, fastmcp.Context, vault)


MAKE = {"sdk1": make_sdk1, "sdk": make_sdk, "fastmcp": make_fastmcp}


async def main(framework: str) -> None:
    from urlmode._accounts import provider as _provider
    from urlmode.oauth import OAuthClient
    from urlmode.vault import Provider, Vault

    setattr(_provider, "read_description", lambda name: json.loads(os.environ["OAUTH"]))
    provider = Provider(client=OAuthClient("a", "secret-of-the-client"), scopes=["read"])
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url="https://callback.example",
    ) as urlmode:  # fmt: skip
        vault = Vault(urlmode, keys=os.environ["VAULT_KEYS"], providers={"github": provider})
        await MAKE[framework](urlmode, vault=vault).run_stdio_async()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
