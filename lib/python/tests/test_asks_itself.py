"""A body asks the client for something itself, and two things are asked for in one call: each is paid once."""

from __future__ import annotations

import uuid
from typing import Any

import fastmcp
import pytest
from conftest import Callback, owner, until
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from pydantic import BaseModel
from task_client import TaskClient

from urlmode import CallbackUrls, Expected, UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode._adapters.rounds import Round, open_round
from urlmode._core.errors import StateTokenError
from urlmode._core.token import binding_of
from urlmode.mcp import handle_tasks, request_state_security

FORM = {"type": "object", "properties": {"answer": {"type": "string"}}}


class Shop:
    """A server whose tool is `run`, and a client whose user pays and answers."""

    def __init__(
        self, urlmode: UrlMode, callback: Callback, framework: str, run: Any, *,
        revision: str = "2026-07-28", elicits: bool = True, returns: Any = None,
    ) -> None:  # fmt: skip
        self.urlmode, self.callback = urlmode, callback
        self.subject = owner()["subject"]
        self.asked: list[str] = []
        self.tasks: list[TaskClient] = []
        self.rows: list[str] = []
        self.adapter: Any = with_fastmcp if framework == "FastMCP" else with_sdk
        security: Any = request_state_security(urlmode)

        async def buy(ctx: Any) -> Any:
            return await run(self, ctx)

        if returns is not None:
            buy.__annotations__["return"] = returns
        if framework == "FastMCP":
            buy.__annotations__["ctx"] = fastmcp.Context
            middleware = [with_fastmcp.resolver_middleware()]
            shop = fastmcp.FastMCP("shop", request_state_security=security, middleware=middleware)
            shop.tool(buy)
            self.client: Any = fastmcp.Client(shop, mode=revision, elicitation_handler=self._choose if elicits else None)
        else:
            buy.__annotations__["ctx"] = Context[Any, Any]
            tasks: list[Any] = [handle_tasks(urlmode, owner=lambda _: {"subject": self.subject})] if framework == "tasks" else []
            self.tasks += [TaskClient(self._answer, None if elicits else self._read)] if tasks else []
            plain = MCPServer("shop", request_state_security=security, extensions=tasks, middleware=tasks)
            plain.tool(structured_output=returns is not None)(buy)
            self.client = Client(plain, mode=revision, elicitation_callback=self._answer if elicits else None, extensions=self.tasks)
        self.call: Any = self.client.call_tool_mcp if framework == "FastMCP" else self.client.call_tool

    async def sell(self, ctx: Any, what: str, body: Any, **more: Any) -> Any:
        return await self.adapter.with_elicitation(
            ctx, body, urlmode=self.urlmode, subject=self.subject, provider="stripe", kind="payment", item=what, expected=Expected(1050, "EUR"),
            message=f"Pay for {what}.", target_url=self._checkout, **more,
        )  # fmt: skip

    def _checkout(self, urls: CallbackUrls) -> str:
        self.rows.append(urls.elicitation_id)
        return "https://checkout.example/pay"

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _read(self, link: str) -> None:
        await self.callback.paid(self.rows[-1])

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        if params.mode == "url":
            await self.callback.paid(self.rows[-1])
            return ElicitResult(action="accept")
        assert self.subject not in [each.subject for each in await self.urlmode.unclaimed()], "between the rounds it is this call's"
        return ElicitResult(action="accept", content={"answer": f"an answer to {params.message}"})


@pytest.mark.parametrize("framework", ["SDK", "FastMCP", "tasks"])
async def test_what_a_body_asks_for_reaches_the_client_and_comes_back_as_it_was(urlmode: UrlMode, callback: Callback, framework: str) -> None:
    fences: list[int] = []

    async def run(shop: Shop, ctx: Any) -> Any:
        async def write(paid: Any) -> Any:
            fences.append(paid.fence)
            own = shop.adapter.own_request(ctx)
            asked = ["Which colour?", "Which size?"]
            step = 0 if own.request_state is None else asked.index(own.request_state) + 1
            if step:
                assert own.input_responses["mine"].content == {"answer": f"an answer to {own.request_state}"}
                assert list(own.input_responses) == ["mine"]
            if step == len(asked):
                return f"Written for {paid.reference}."
            params = ElicitRequestFormParams(mode="form", message=asked[step], requested_schema=FORM)
            return InputRequiredResult(input_requests={"mine": ElicitRequest(params=params)}, request_state=asked[step])

        return await shop.sell(ctx, "the text", write)

    shop = Shop(urlmode, callback, framework, run)
    async with shop.client:
        result = await shop.call("buy", {})
    assert result.content[0].text.startswith("Written for cs_")
    assert shop.asked == ["Pay for the text.", "Which colour?", "Which size?"]
    assert len(shop.rows) == 1 and fences == sorted(set(fences)) and len(fences) == 3
    assert [each.keys for each in shop.tasks] == ([["1.urlmode", "2.mine", "3.mine"]] if framework == "tasks" else [])


@pytest.mark.parametrize("way", ["by rounds", "by requests", "as text", "by tasks", "by tasks, as text"])
@pytest.mark.parametrize("order", ["one after the other", "one for the other"])
async def test_two_things_are_asked_for_in_one_call(urlmode: UrlMode, callback: Callback, order: str, way: str) -> None:
    runs: list[str] = []

    async def run(shop: Shop, ctx: Any) -> Any:
        async def buy(what: str) -> Any:
            def deliver(paid: Any) -> str:
                runs.append(what)
                return f"Paid {what}."

            return await shop.sell(ctx, what, deliver)

        if order == "one for the other":
            return await shop.sell(ctx, "one", lambda paid: buy("two"))
        first = await buy("one")
        done = getattr(first, "content", None) and first.content[0].text == "Paid one."
        return await buy("two") if done else first

    newest, framework = way == "by rounds" or "tasks" in way, "tasks" if "tasks" in way else "SDK"
    shop = Shop(urlmode, callback, framework, run, revision="2026-07-28" if newest else "legacy", elicits="as text" not in way)
    async with shop.client:
        result = await shop.call("buy", {})
        for _ in range(2 if way == "as text" else 0):
            await callback.paid(shop.rows[-1])
            result = await shop.call("buy", {})
    assert result.content[0].text == "Paid two."
    assert runs == (["two"] if order == "one for the other" else ["one", "two"]) and len(shop.rows) == 2

    async def listed() -> bool:
        payments, claims = await urlmode.unclaimed(), await urlmode.undelivered()
        return not {*shop.rows}.isdisjoint([each.elicitation_id for each in payments] + [each.elicitation_id for each in claims])

    for _ in range(500):
        if not await listed():
            break
        await until("it is confirmed", lambda: not urlmode._background._tasks)
    assert not await listed()


async def test_a_client_of_the_older_revision_is_not_left_without_its_payment(urlmode: UrlMode, callback: Callback) -> None:
    runs = 0

    async def run(shop: Shop, ctx: Any) -> Any:
        async def write(paid: Any) -> Any:
            nonlocal runs
            runs += 1
            return InputRequiredResult(input_requests={}, request_state="s") if runs == 1 else "Done."

        return await shop.sell(ctx, "the text", write)

    shop = Shop(urlmode, callback, "SDK", run, revision="legacy")
    async with shop.client:
        assert (await shop.call("buy", {})).is_error
        assert (await shop.call("buy", {})).content[0].text == "Done."
    assert len(shop.rows) == 1


class Report(BaseModel):
    report: str


RETURNS: dict[str, Any] = {"an error": Report, "a text": str, "the whole": None}
"""What a link becomes, by what the tool says that it returns."""


@pytest.mark.parametrize("becomes", [*RETURNS])
@pytest.mark.parametrize("framework", ["SDK", "FastMCP"])
@pytest.mark.parametrize("way", ["as text", "by errors"])
async def test_an_open_question_leaves_what_is_done_before_it(
    urlmode: UrlMode, callback: Callback, framework: str, way: str, becomes: str
) -> None:
    """However often the client calls again: nothing is done twice, and nothing is confirmed that was not delivered."""
    runs: list[str] = []

    async def run(shop: Shop, ctx: Any) -> Any:
        async def buy(what: str) -> Any:
            def deliver(paid: Any) -> Any:
                runs.append(what)
                return Report(report=what) if returns is Report else f"Paid {what}."

            return await shop.sell(ctx, what, deliver, ask="error", round_timeout=1.0)

        first = await buy("one")
        content = getattr(first, "content", None)
        text = content[0].text if content else ""
        return await buy("two") if "one" in text and "https:" not in text else first

    returns = RETURNS[becomes]
    shop = Shop(urlmode, callback, framework, run, revision="legacy", elicits=way != "as text", returns=returns)

    async def said() -> str:
        try:
            result: Any = await shop.call("buy", {})
        except Exception as error:  # -32042
            return str(error)
        return str(result.content[0].text)

    async with shop.client:
        await said()
        await callback.paid(shop.rows[-1])
        for _ in range(3):
            assert "Pay for two." in await said() and runs == ["one"]
        await callback.paid(shop.rows[-1])
        text = await said()
    assert "two" in text and "Pay for" not in text
    assert runs == ["one", "two"] and len(shop.rows) == 2


async def test_what_is_done_in_the_round_before_is_not_done_again(urlmode: UrlMode, callback: Callback) -> None:
    runs: list[str] = []

    async def run(shop: Shop, ctx: Any) -> Any:
        async def buy(what: str) -> Any:
            def deliver(paid: Any) -> str:
                runs.append(what)
                if runs == ["one", "two"]:
                    raise LookupError("it is out")
                return f"Paid {what}."

            return await shop.sell(ctx, what, deliver)

        first = await buy("one")
        return await buy("two") if getattr(first, "content", None) and first.content[0].text == "Paid one." else first

    shop = Shop(urlmode, callback, "SDK", run)
    async with shop.client:
        assert (await shop.call("buy", {})).is_error
        assert (await shop.call("buy", {})).content[0].text == "Paid two."
    assert runs == ["one", "two", "two"] and len(shop.rows) == 2


def test_a_round_is_bound_to_the_handle_beside_it(urlmode: UrlMode) -> None:
    """That of another request, for the same row, does not open it."""
    id, binding, round = str(uuid.uuid4()), binding_of("me", "s"), Round("cs_1", 7, "mine")
    sealed = round.seal(urlmode._keys, id, binding, "one.1")
    assert open_round(urlmode._keys, id, binding, "one.1", sealed) == round
    with pytest.raises(StateTokenError):
        open_round(urlmode._keys, id, binding, "two.1", sealed)


async def test_the_state_of_a_body_has_so_many_bytes_at_most(
    urlmode: UrlMode, callback: Callback, caplog: pytest.LogCaptureFixture
) -> None:
    """What was paid stays for the next call."""
    states, seen = ["x" + "é" * 4096, "é" * 4096], list[Any]()

    async def run(shop: Shop, ctx: Any) -> Any:
        async def write(paid: Any) -> Any:
            own = shop.adapter.own_request(ctx)
            if own.request_state is not None:
                seen.append(own.request_state)
                return f"Written for {paid.reference}."
            params = ElicitRequestFormParams(mode="form", message="Which?", requested_schema=FORM)
            return InputRequiredResult(input_requests={"mine": ElicitRequest(params=params)}, request_state=states.pop(0))

        return await shop.sell(ctx, "the text", write)

    shop = Shop(urlmode, callback, "SDK", run)
    async with shop.client:
        assert (await shop.call("buy", {})).is_error
        assert "the request state of the body has more than 8192 bytes" in caplog.text
        result = await shop.call("buy", {})
    assert result.content[0].text.startswith("Written for cs_")
    assert seen == ["é" * 4096] and len(shop.rows) == 1
