"""A server over standard streams whose tools have typed results: test_typed.py runs it with each version of each framework.
Frameworks read the annotations, so that they must be no text."""

import asyncio
import os
import sys
from typing import Annotated, Any, cast

from mcp.types import CallToolResult
from pydantic import BaseModel
from resolver_server import SUBJECT, options

from urlmode import UrlMode


class Report(BaseModel):
    report: str
    pages: int


class Draft(BaseModel):
    """A model that a result of something else would fit, too."""

    report: str = ""
    pages: int = 0


REPORT = Report(report="Forty-two.", pages=3)
RESOLVED: dict[str, Any] = {"message": "10.50 EUR for a parameter.", "item": "report:parameter"}
TYPES: dict[str, tuple[Any, Any]] = {
    "text": (str, "Forty-two."),
    "report": (Report, REPORT),
    "draft": (Draft, Draft(report="Forty-two.", pages=3)),
    "anything": (dict[str, Any], {"report": "Forty-two."}),
    "pages": (list[int], [1, 2]),
}
"""What each tool says that it returns, and what its body returns."""


def add_tools(server: Any, adapter: Any, context: Any, urlmode: UrlMode) -> Any:
    for name, (returns, made) in TYPES.items():

        def add(name: str = name, returns: Any = returns, made: Any = made) -> None:
            async def buy(ctx: Any, unfit: bool = False) -> Any:
                wanted: dict[str, Any] = {"message": f"10.50 EUR for {name}.", "item": f"report:{name}"}
                return await adapter.with_elicitation(
                    ctx, lambda accepted: object() if unfit else made, **options(urlmode, **wanted)
                )

            buy.__annotations__.update(ctx=context)
            buy.__annotations__["return"] = returns
            server.tool(name=name)(buy)

        add()
    return add_careless(server, adapter, context, urlmode)


def add_careless(server: Any, adapter: Any, context: Any, urlmode: UrlMode) -> Any:
    """Tools that fail after their bodies have run, and one whose body answers with an error."""
    runs = 0

    async def careless(ctx: Any, how: str) -> Any:
        def body(accepted: Any) -> Any:
            nonlocal runs
            runs += 1
            if how == "answers with an error":
                return CallToolResult.model_validate({"content": [{"type": "text", "text": "It is out."}], "isError": True})
            return f"{accepted.reference} in run {runs}."

        wanted: dict[str, Any] = {"message": "10.50 EUR for carelessness.", "item": "report:careless"}
        result = await adapter.with_elicitation(ctx, body, **options(urlmode, **wanted))
        if how == "raises":
            raise LookupError("the report is not there")
        return object() if how == "returns what it cannot" else result

    careless.__annotations__.update({"ctx": context, "return": str})
    server.tool()(careless)
    return server


def make_sdk1(urlmode: UrlMode) -> Any:
    from mcp.server.fastmcp import Context, FastMCP  # type: ignore[attr-defined]

    from urlmode import mcp

    return add_tools(FastMCP("shop"), mcp, Context, urlmode)


def make_sdk(urlmode: UrlMode) -> Any:
    from mcp.server.mcpserver import Context, MCPServer, Resolve

    from urlmode import mcp

    async def payment(ctx: Context[Any, Any]) -> mcp.Accepted:
        return await mcp.resolve(cast(Any, mcp.with_elicitation), ctx, **options(urlmode, **RESOLVED))

    async def resolved(payment: Annotated[mcp.Accepted, Resolve(payment)], unfit: bool = False) -> Report:
        return cast(Report, object()) if unfit else REPORT

    server = MCPServer(
        "shop", request_state_security=mcp.request_state_security(urlmode), extensions=[mcp.resolver_extension()]
    )
    server.tool()(resolved)
    return add_tools(server, mcp, Context[Any, Any], urlmode)


def make_fastmcp(urlmode: UrlMode) -> Any:
    import fastmcp
    from fastmcp.dependencies import CurrentContext, Depends

    from urlmode import fastmcp as adapter

    async def payment(ctx: Any = CurrentContext()) -> adapter.Accepted:
        return await adapter.resolve(cast(Any, adapter.with_elicitation), ctx, **options(urlmode, **RESOLVED))

    async def resolved(unfit: bool = False, payment: Any = Depends(payment)) -> Report:
        return cast(Report, object()) if unfit else REPORT

    settings: dict[str, Any] = {}
    if int(fastmcp.__version__.split(".")[0]) >= 4:
        settings["request_state_security"] = adapter.request_state_security(urlmode)
    server: Any = fastmcp.FastMCP("shop", middleware=[adapter.resolver_middleware()], **settings)
    server.tool(resolved)
    return add_tools(server, adapter, fastmcp.Context, urlmode)


MAKE = {"sdk1": make_sdk1, "sdk": make_sdk, "fastmcp": make_fastmcp}


async def main(framework: str) -> None:
    assert SUBJECT
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url="https://callback.example",
    ) as urlmode:  # fmt: skip
        await MAKE[framework](urlmode).run_stdio_async()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
