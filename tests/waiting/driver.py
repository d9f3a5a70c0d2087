"""The Python package, as tests/waiting/README.md describes a driver."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Coroutine
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg

from urlmode import Answer, Entries, Expected, PaymentEntry, Problem, RefundEntry, Target, UrlMode, UrlModeError

DURATIONS = {"timeout_ms": "timeout", "lease_ms": "lease", "ttl_ms": "ttl", "verify_timeout_ms": "verify_timeout", "valid_for_ms": "valid_for", "older_than_ms": "older_than", "recheck_after_ms": "recheck_after"}


class Failed(ValueError):
    code = "FAILED"


def say(**message: Any) -> None:
    print(json.dumps(message, default=str), flush=True)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """What a caller gives: milliseconds become a timedelta."""
    values = {
        DURATIONS.get(name, name): timedelta(milliseconds=value) if name in DURATIONS and value is not None else value
        for name, value in options.items()
    }
    if isinstance(values.get("expected"), dict):
        values["expected"] = Expected(**values["expected"])
    return values


def answered(recheck: dict[str, Any]) -> Answer | Entries:
    """What a recheck returns."""
    if "payments" not in recheck and "refunds" not in recheck:
        return Answer(**recheck)
    return Entries(
        payments=[PaymentEntry(**each) for each in recheck.get("payments", [])],
        refunds=[RefundEntry(**each) for each in recheck.get("refunds", [])],
    )


def selected(since_ms: float | None = None, **options: Any) -> dict[str, Any]:
    """`since_ms` is counted from now."""
    since = None if since_ms is None else datetime.now(timezone.utc) + timedelta(milliseconds=since_ms)
    return {**options, "since": since}


def told(value: Any) -> dict[str, Any]:
    """The members of a dataclass that are not at their defaults, so that an absent one looks as in other languages."""
    return {
        field.name: told(member) if dataclasses.is_dataclass(member) else member
        for field in dataclasses.fields(value)
        if (member := getattr(value, field.name)) is not None and not field.name.startswith("_")
    }


def told_claim(claim: Any) -> dict[str, Any]:
    members = ("state", "reference", "fence", "result")
    told = {name: getattr(claim, name) for name in members if hasattr(claim, name)}
    result = told.get("result")
    if isinstance(result, str) and len(result) > 1_000:  # A long text is told by its size.
        told["result"] = {"of_size": len(result)}
    return told


class Driver:
    def __init__(self, urlmode: UrlMode) -> None:
        self.urlmode = urlmode
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.claims: dict[int, Any] = {}
        self.asked: dict[int, asyncio.Future[Any]] = {}
        self.vault: Any = None

    async def create(self, number: int, *, kind: str, target_url: str = "", checkout: str = "", **options: Any) -> Any:
        if kind == "input":
            return told(await self.urlmode.create_input(**given(options)))
        if kind == "approval":
            return told(await self.urlmode.create_approval(**given(options)))
        target = Target(target_url, checkout) if checkout else target_url
        return told(await self.urlmode.create(kind=kind, target_url=target, **given(options)))

    async def wait(self, number: int, *, recheck: Any = None, verify: Any = None, **options: Any) -> Any:
        async def ask(event: Any) -> Answer | Entries | None:
            say(id=number, recheck=told(event))
            if recheck != "asks":
                return answered(recheck)
            self.asked[number] = asyncio.get_running_loop().create_future()
            answer = await self.asked[number]
            return answered(answer) if answer else None

        def check(typed: Any) -> Problem | None:
            say(id=number, verify={"elicitation_id": typed.elicitation_id})
            is_right = typed.values[verify["field"]] == verify["value"]
            return None if is_right else Problem(verify["field"], verify["problem"])

        return told(await self.urlmode.wait_for_completion(
            **given(options), recheck=recheck and ask, verify=verify and check,
            on_progress=lambda progress: say(id=number, progress=progress),
        ))

    async def answer(self, number: int, *, wait: int, answer: Any = None, error: str | None = None) -> None:
        if error is None:
            self.asked[wait].set_result(answer)
        else:
            self.asked[wait].set_exception(Failed(error))

    def start(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        """Nothing of it is kept after its end: `make soak` measures this process."""
        self.tasks[number] = asyncio.create_task(work)
        self.tasks[number].add_done_callback(lambda _: self.tasks.pop(number))

    async def stop(self, number: int, *, wait: int) -> None:
        if wait in self.tasks:
            self.tasks[wait].cancel()

    async def begin_claim(self, number: int, *, recheck: Any = None, **options: Any) -> Any:
        def ask(_: Any) -> Answer | Entries:
            if recheck == "fails":
                raise Failed("the provider cannot be asked")
            return answered(recheck)

        self.claims[number] = await self.urlmode.begin_claim(**given(options), recheck=recheck and ask)
        return told_claim(self.claims[number])

    async def fulfil(self, number: int, *, claim: int, result: Any) -> Any:
        is_long = isinstance(result, dict) and "of_size" in result
        return await self.claims[claim].fulfil("x" * result["of_size"] if is_long else result)

    async def confirm(self, number: int, *, claim: int) -> Any:
        return await self.claims[claim].confirm()

    async def release(self, number: int, *, claim: int) -> Any:
        return await self.claims[claim].release()

    async def end(self, number: int, *, claim: int, how: Any, refund: str | None = None) -> Any:
        return await self.claims[claim].end(how, refund)

    async def unclaimed(self, number: int, **options: Any) -> Any:
        return [told(each) for each in await self.urlmode.unclaimed(**selected(**options))]

    async def refunds(self, number: int, **options: Any) -> Any:
        return [told(each) for each in await self.urlmode.refunds(**selected(**options))]

    async def ledger(self, number: int, *, consumer: str, elicitation_id: str | None, count: int) -> Any:
        entries: list[Any] = []
        async with contextlib.aclosing(self.urlmode.ledger(consumer=consumer)) as loop:  # type: ignore[type-var]
            async for entry in loop:
                if elicitation_id is None or entry.elicitation_id == elicitation_id:
                    entries.append(told(entry))
                    if len(entries) == count:
                        break
        return entries

    async def paid(self, number: int, **options: Any) -> Any:
        return await self.urlmode.paid(**selected(**options))

    async def ticket(self, number: int, **options: Any) -> Any:
        return told(self.urlmode.ticket(**given(options)))

    async def late(self, number: int) -> None:
        async def report() -> None:
            async for payment in self.urlmode.late_payments():
                say(late=told(payment))

        self.reporting = asyncio.create_task(report())

    async def new_refunds(self, number: int) -> None:
        async def report() -> None:
            async for refund in self.urlmode.new_refunds():
                say(refund=told(refund))

        self.reporting = asyncio.create_task(report())

    async def open_vault(self, number: int, *, keys: str, issuer: str, reuse_within: Any = None) -> None:
        from urlmode.oauth import OAuthClient
        from urlmode.vault import Provider, Vault

        client = OAuthClient("a", "secret-of-the-client")
        demo = Provider(client=client, description="openid-connect", variables={"issuer": issuer}, reuse_within=reuse_within)
        self.vault = Vault(
            self.urlmode, keys=keys, providers={"demo": demo},
            on_event=lambda event: say(event={"name": event.name, "reason": event.reason}),
        )

    async def store(self, number: int, *, subject: str, account: str, tokens: Any) -> str:
        from urlmode.vault import Account, Connected

        return await self.vault.store(Connected(
            tokens=tokens, account=Account(id=account), scopes=["read"], requested=["read"], claims=None, returned={}, variables={},
        ), subject=subject, provider="demo")

    async def access_token(self, number: int, **options: Any) -> Any:
        return told(await self.vault.access_token(provider="demo", **given(options)))

    async def accounts(self, number: int, *, subject: str) -> Any:
        return [told(each) for each in await self.vault.list_accounts(subject=subject)]

    async def disconnect(self, number: int, *, subject: str, account: str | None = None) -> Any:
        return told(await self.vault.disconnect(subject=subject, provider="demo", account=account))

    async def forget(self, number: int, *, subject: str) -> None:
        await self.vault.forget_subject(subject=subject)

    async def reseal(self, number: int) -> Any:
        return told(await self.vault.reseal())

    async def close(self, number: int) -> None:
        await self.urlmode.aclose()

    async def run(self, id: int, verb: str, options: dict[str, Any]) -> None:
        try:
            # Those that are the same in the package: complete, cancel, abandon, claim, purge.
            own = getattr(self, verb, None)
            answer = await (own(id, **options) if own else getattr(self.urlmode, verb)(**given(options)))
            say(id=id, answer=answer)
        except asyncio.CancelledError:
            say(id=id, error={"code": "STOPPED"})
        except Exception as error:
            code = "DATABASE" if isinstance(error, psycopg.Error) else getattr(error, "code", "ARGUMENT")
            status, reason = getattr(error, "status", None), getattr(error, "reason", None) or getattr(error, "detail", None)
            say(id=id, error={"code": code, "status": status, "reason": reason, "message": str(error)})
            if not isinstance(error, (UrlModeError, TypeError, ValueError, psycopg.Error)):
                raise


async def main() -> None:
    lines = asyncio.StreamReader(limit=2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url=os.environ["URLMODE_BASE_URL"], **given(json.loads(os.environ.get("SETTINGS", "{}"))),
    ) as urlmode:
        driver = Driver(urlmode)
        async for line in lines:
            request = json.loads(line)
            work = driver.run(request["id"], request["do"], request.get("with", {}))
            driver.start(request["id"], work)


asyncio.run(main())
