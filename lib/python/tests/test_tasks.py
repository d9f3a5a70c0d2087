"""What is kept of the run of a task: whatever its tool has returned, the tool is not run again for it. When it is delivered. And how many
clients of one user listen."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest import Callback, OpenUrlMode, Owner, admin, owner, until
from mcp import Client as SdkClient, MCPError
from mcp.server.mcpserver import MCPServer
from mcp.types import Request, Result, TextContent
from test_asks_itself import Shop

from urlmode import BegunClaim, Expected, UrlMode, UrlModeBusyError
from urlmode._adapters.clients import Client
from urlmode._adapters.responses import Response
from urlmode._adapters.task_notifications import follow
from urlmode._adapters.task_rounds import Awaited, TaskRound, TaskRun
from urlmode._adapters.tasks import TaskRequest, TaskServer
from urlmode._core.tasks import TaskClaim
from urlmode._core.contract_limits import TASK_OWNER_LISTENS_MAX
from urlmode._core.contract_texts import TASK_UNKEPT
from urlmode.mcp import handle_tasks

ENDED = {"content": [{"type": "text", "text": "Done."}], "resultType": "complete"}
Tool = Callable[[TaskRun], Awaitable[Any]]


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Begun:
    """A task whose payment is proved, so that whoever asks for it runs its tool."""

    def __init__(self, urlmode: UrlMode, callback: Callback) -> None:
        self.urlmode, self.callback = urlmode, callback
        self.owner: Owner = owner()
        self.server = TaskServer(urlmode, Refused)
        self.id = self.task = self.reference = ""
        self.runs = 0
        self.settled: list[tuple[bool, bool]] = []
        """what the claim of the payment hears: whether the call has ended well, and was answered"""
        self.is_written = False
        """what becomes of the answers to tasks/get"""

    async def start(self) -> Begun:
        elicitation = await self.urlmode.create(
            **self.owner, provider="stripe", kind="payment", item="report", expected=Expected(1050, "EUR"), target_url="https://checkout.example/pay",
        )  # fmt: skip
        self.id, round = elicitation.elicitation_id, TaskRound()
        round.awaited = Awaited(self.id, "payment", "Pay.")
        result = {"requestState": "state", "inputRequests": {}}
        made = await self.server.create(self.owner["subject"], self.owner["session"], round, result, tool="buy", arguments=None, responses=None)
        self.task = made["taskId"]
        self.reference = await self.callback.paid(self.id)
        return self

    def request(self, tool: Tool) -> TaskRequest:
        async def run(call: Any, answers: Any, round: TaskRun) -> Any:
            self.runs += 1
            round.made_of(TaskClaim(self.id, 0), lambda well, written: self.settled.append((well, written)))
            round.claims.clear()  # Those of `claim` follow.
            return await tool(round)

        return TaskRequest(
            **self.owner, client=Client(None, "", {}), run=run, error_of=lambda error: {"code": 1, "message": str(error)},
            when_written=lambda tell: tell(self.is_written),
        )  # fmt: skip

    async def get(self, tool: Tool) -> dict[str, Any]:
        return await self.server.get(self.task, self.request(tool))

    async def claim(self, round: TaskRun, result: Any = ENDED) -> Any:
        """A tool whose body has done its work."""
        claim = await self.urlmode.begin_claim(self.id, **self.owner, timeout=0)
        assert isinstance(claim, BegunClaim)
        await claim.fulfil(result)
        round.claims.append(TaskClaim(self.id, claim.fence or 0))
        return result

    async def undelivered(self) -> int:
        return len(await admin("SELECT subject FROM urlmode.undelivered_of('', NULL, NULL, %s)", self.id))

    async def end_lease(self) -> None:
        await admin("UPDATE urlmode.task SET leased_until = now() WHERE id = %s RETURNING id", self.task)


async def returns(result: Any) -> Any:
    return result


async def never(round: TaskRun) -> Any:
    raise AssertionError("the tool is not run again")


def cycle() -> Any:
    made: dict[str, Any] = {}
    made["made"] = made
    return made


def deep() -> Any:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


@pytest.fixture
async def begun(urlmode: UrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch) -> Begun:
    # However busy the machine is, the answer has what the tool has returned.
    monkeypatch.setattr("urlmode._adapters.tasks.TASK_WAIT_S", 60)
    return await Begun(urlmode, callback).start()


@pytest.mark.parametrize(("what", "make"), [
    ("is no JSON", lambda: {**ENDED, "_meta": {1, 2}}),
    ("has a number that JSON has not", lambda: {**ENDED, "_meta": {"number": float("nan")}}),
    ("has half of a character", lambda: {**ENDED, "_meta": "\ud83d"}),
    ("has a cycle", lambda: {**ENDED, "_meta": cycle()}),
    ("is too deep", lambda: {**ENDED, "_meta": deep()}),
    ("asks for more than is kept", lambda: {"resultType": "input_required", "requestState": "next", "inputRequests": {"one": "x" * 300_000}}),
])  # fmt: skip
async def test_a_result_that_cannot_be_kept_ends_the_task_and_is_none_that_was_delivered(begun: Begun, what: str, make: Callable[[], Any]) -> None:
    now = await begun.get(lambda _: returns(make()))
    assert (now["status"], now["error"]["message"], begun.settled) == ("failed", TASK_UNKEPT, [(True, False)])
    await begun.end_lease()
    assert ((await begun.get(never))["status"], begun.runs) == ("failed", 1)


async def test_a_result_that_was_not_kept_because_the_database_was_away_is_made_again(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*arguments: Any) -> bool:
        raise OSError("the connection is lost")

    with monkeypatch.context() as away:
        away.setattr(begun.server._tasks, "end", fail)
        assert (await begun.get(lambda _: returns(ENDED)))["status"] == "working"
    await begun.end_lease()
    now = await begun.get(lambda _: returns(ENDED))
    assert (now["status"], now["result"], begun.runs, begun.settled) == ("completed", ENDED, 2, [(True, False)])


async def test_what_a_task_has_is_delivered_when_its_client_has_got_it(begun: Begun) -> None:
    await begun.get(begun.claim)
    assert ((await begun.get(never))["result"], await begun.undelivered(), begun.settled) == (ENDED, 1, [])
    begun.is_written = True
    assert (await begun.get(never))["result"] == ENDED
    await begun.urlmode._background.finish()
    assert ((await begun.get(never))["result"], await begun.undelivered()) == (ENDED, 0)
    assert (await begun.urlmode.begin_claim(begun.id, **begun.owner, timeout=0)).state == "taken"


async def test_what_nobody_has_read_goes_to_nobody_when_its_money_went_back(begun: Begun) -> None:
    assert (await begun.get(begun.claim))["result"] == ENDED
    await begun.callback.event(begun.id, "refunded", reference=begun.reference)
    begun.is_written = True
    now = await begun.get(never)
    assert now["status"] == "completed" and now["result"]["isError"] and len(now["result"]["content"]) == 1
    assert "the payment was refunded" in now["result"]["content"][0]["text"]
    assert (await begun.get(never))["result"] == now["result"]


async def test_what_was_made_for_a_task_whose_answer_is_an_error_is_not_delivered_by_it(begun: Begun) -> None:
    begun.is_written = True

    async def tool(round: TaskRun) -> Any:
        return {**await begun.claim(round), "isError": True}

    now = await begun.get(tool)
    await begun.urlmode._background.finish()
    assert (now["result"]["isError"], begun.settled, await begun.undelivered()) == (True, [(False, True)], 1)
    assert (await begun.urlmode.begin_claim(begun.id, **begun.owner, timeout=0)).state == "fulfilled"


async def test_an_error_of_the_protocol_ends_the_task(begun: Begun) -> None:
    async def tool(round: TaskRun) -> Any:
        raise LookupError("there is no such tool")

    now = await begun.get(tool)
    assert (now["status"], now["error"]) == ("failed", {"code": 1, "message": "there is no such tool"})


async def test_a_tool_that_was_cancelled_by_itself_ends_the_task(begun: Begun) -> None:
    async def tool(round: TaskRun) -> Any:
        raise asyncio.CancelledError

    now = await begun.get(tool)
    assert (now["status"], now["error"]["message"]) == ("failed", "buy was cancelled")


async def test_what_has_failed_on_the_way_to_the_claim_is_tried_again(begun: Begun) -> None:
    async def tool(round: TaskRun) -> Any:
        round.is_undone = True
        return {**ENDED, "isError": True}

    assert (await begun.get(tool))["status"] == "working"
    assert ((await begun.get(lambda _: returns(ENDED)))["status"], begun.runs) == ("completed", 2)


async def test_another_instance_goes_on_at_once_with_what_aclose_has_ended(
    begun: Begun, open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urlmode._core.urlmode.CLOSE_S", 60)
    running = asyncio.Event()

    async def tool(round: TaskRun) -> Any:
        running.set()
        await asyncio.Event().wait()

    getting = asyncio.ensure_future(begun.get(tool))
    await running.wait()
    await begun.urlmode.aclose()
    await asyncio.wait({getting})
    assert getting.exception() is not None
    other = TaskServer(open_urlmode(), Refused)
    now = await other.get(begun.task, begun.request(lambda _: returns(ENDED)))
    assert (now["status"], begun.runs) == ("completed", 2)


class Listening:
    """Clients of one user that listen to a task of theirs."""

    def __init__(self, urlmode: UrlMode, callback: Callback) -> None:
        async def run(shop: Shop, ctx: Any) -> Any:
            return await shop.sell(ctx, "the text", lambda paid: "Written.")

        self.shop = Shop(urlmode, callback, "tasks", run)
        self.task = ""
        self.open: list[asyncio.Future[Any]] = []

    @property
    def told(self) -> int:
        return len(self.shop.tasks[0].told)

    async def start(self) -> None:
        self.task = (await self.shop.client.session.call_tool("buy", {}, allow_claimed=True)).taskId

    def listen(self) -> None:
        params = {"notifications": {"taskIds": [self.task]}}
        request = Request[dict[str, Any], str](method="subscriptions/listen", params=params)
        self.open.append(asyncio.ensure_future(self.shop.client.session.send_request(request, Result)))

    async def close(self) -> None:
        for each in self.open:
            each.cancel()
        await asyncio.wait(self.open)


async def test_a_user_listens_with_so_many_clients_at_a_time_and_takes_no_place_of_another(urlmode: UrlMode, callback: Callback) -> None:
    ada, grace = Listening(urlmode, callback), Listening(urlmode, callback)
    async with ada.shop.client, grace.shop.client:
        await asyncio.gather(ada.start(), grace.start())
        for _ in range(TASK_OWNER_LISTENS_MAX):
            ada.listen()
        await until("all are told", lambda: ada.told == TASK_OWNER_LISTENS_MAX)
        ada.listen()
        grace.listen()
        await until("another user is told", lambda: grace.told == 1)
        assert ada.told == TASK_OWNER_LISTENS_MAX
        ada.open[0].cancel()
        await asyncio.wait({ada.open.pop(0)})
        ada.listen()
        await until("one more is told, where one has gone", lambda: ada.told == TASK_OWNER_LISTENS_MAX + 1)
        await asyncio.gather(ada.close(), grace.close())


async def test_what_a_client_that_listens_was_told_is_delivered_and_no_earlier(begun: Begun) -> None:
    request = begun.request(begun.claim)
    look = await begun.server.look(begun.task, request)
    sent: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    told: list[Any] = []

    async def send(details: dict[str, Any]) -> bool:
        told.append(details)
        return await sent

    following = asyncio.ensure_future(follow(begun.urlmode, begun.server, request, {begun.task: look}, send))
    await until("it is told", lambda: bool(told))
    assert (told[0]["status"], await begun.undelivered()) == ("completed", 1)
    sent.set_result(True)
    await following
    await begun.urlmode._background.finish()
    assert await begun.undelivered() == 0


async def test_a_notification_is_written_when_the_server_has_taken_it_and_says_nothing_of_the_answer() -> None:
    sent: list[bytes] = []
    said: list[tuple[str, bool]] = []
    taken = asyncio.Event()

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if not message["body"]:
            await taken.wait()
        sent.append(message["body"])

    response = Response(receive, send)
    id = str(uuid.uuid4())
    response.when_written(lambda well: said.append(("answer", well)))
    response.when_written(lambda well: said.append(("notification", well)), lambda body: b"notifications" in body and id.encode() in body)
    await response.send({"type": "http.response.body", "body": b'{"method":"notifications/tasks"}', "more_body": True})
    sending = asyncio.ensure_future(
        response.send({"type": "http.response.body", "body": b'{"method":"notifications/tasks","id":"%s"}' % id.encode(), "more_body": True})
    )
    await until("it is sent", lambda: len(sent) == 2)
    assert said == []
    taken.set()
    await sending
    assert said == [("notification", True)]
    response.end()
    assert said == [("notification", True), ("answer", False)]


async def test_what_fails_before_the_body_ends_no_task_and_the_body_runs_once(
    urlmode: UrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_claim, asked, runs = urlmode.begin_claim, list[str](), list[str]()

    async def begin(id: Any, **options: Any) -> Any:
        asked.append(id)
        if len(asked) < 3:
            raise UrlModeBusyError("later")
        return await begin_claim(id, **options)

    async def run(shop: Shop, ctx: Any) -> Any:
        def write(paid: Any) -> str:
            runs.append(paid.reference)
            return "Written."

        return await shop.sell(ctx, "the text", write)

    monkeypatch.setattr(urlmode, "begin_claim", begin)
    shop = Shop(urlmode, callback, "tasks", run)
    async with shop.client:
        result = await shop.call("buy", {})
    assert (result.content[0].text, len(asked), len(runs), shop.asked) == ("Written.", 3, 1, ["Pay for the text."])


async def test_a_body_that_fails_ends_the_task_and_what_was_paid_is_there_for_the_next_call(urlmode: UrlMode, callback: Callback) -> None:
    runs: list[str] = []

    async def run(shop: Shop, ctx: Any) -> Any:
        def write(paid: Any) -> str:
            runs.append(paid.reference)
            if len(runs) == 1:
                raise UrlModeBusyError("of the body")
            return "Written."

        return await shop.sell(ctx, "the text", write)

    shop = Shop(urlmode, callback, "tasks", run)
    async with shop.client:
        assert (await shop.call("buy", {})).is_error
        assert (await shop.call("buy", {})).content[0].text == "Written."
    assert runs[0] == runs[1] and len(shop.rows) == 1


async def test_tools_for_clients_with_tasks_alone_refuse_others(urlmode: UrlMode) -> None:
    tasks = handle_tasks(urlmode, owner=lambda _: {"subject": "somebody"}, required=["buy"])
    server = MCPServer("shop", extensions=[tasks], middleware=[tasks])
    server.tool(name="buy")(lambda: "Bought.")
    server.tool(name="look")(lambda: "Seen.")
    for revision in ("2026-07-28", "legacy"):
        async with SdkClient(server, mode=revision) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("buy", {})
            assert refused.value.error.code == -32021
            assert refused.value.error.data == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
            assert (await client.call_tool("look", {})).content == [TextContent(type="text", text="Seen.")]


@pytest.mark.parametrize("lists", [("extensions",), ("middleware",)])
async def test_it_says_that_it_stands_in_both_lists(urlmode: UrlMode, caplog: pytest.LogCaptureFixture, lists: tuple[str, ...]) -> None:
    tasks = handle_tasks(urlmode, owner=lambda _: {"subject": "somebody"})
    given: Any = {name: [tasks] for name in lists}
    server = MCPServer("shop", **given)
    server.tool(name="look")(lambda: "Seen.")
    async with SdkClient(server, mode="2026-07-28") as client:
        with pytest.raises(MCPError):
            await client.call_tool("look", {})
    assert "tasks need MCPServer(extensions=[tasks], middleware=[tasks])" in caplog.text
