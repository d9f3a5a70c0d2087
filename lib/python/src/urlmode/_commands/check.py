"""`python -m urlmode check`: the setup of a server. The findings have the form of `urlmode check` on a callback host."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from email.message import Message
from http.client import HTTPMessage
from typing import IO, Any, Literal, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .._core import contract_database as sql
from .._core.contract_calls import NewRow, Query, RowKey, create_elicitation, settle
from .._core.contract_limits import CHECK_CLOCK_S, CHECK_S
from .._core.contract_statements import CHANNEL, CHECK_FUNCTIONS, CHECK_SESSION
from .._core.keys import KeysFile
from .._core.pool import Connection, Server
from .._core.token import binding_of, mint_link
from . import contract_texts as texts
from .migrate import migration_digests

_OF_CHECK = "urlmode-check"
"""The provider, the tenant and the subject of elicitations that a check makes."""

Severity = Literal["ok", "warning", "error", "skipped"]


class _Finding(NamedTuple):
    check: str
    severity: Severity
    message: str
    advice: str


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


class _Report:
    def __init__(self) -> None:
        self.findings: list[_Finding] = []

    def add(self, check: str, severity: Severity, message: str, advice: str = "") -> None:
        self.findings.append(_Finding(check, severity, _printable(message), advice))

    async def attempt(self, check: str, advice: str, look: Callable[[], Awaitable[None]]) -> None:
        """What it raises is a finding."""
        try:
            await look()
        except Exception as error:
            reason = getattr(error, "reason", None) or error
            self.add(check, "error", str(reason) or type(error).__name__, advice)

    def count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    def print(self) -> None:
        for check, severity, message, advice in self.findings:
            print(f"{severity:<8} {check:<14} {message}")
            if advice:
                print(f"{'':<23} -> {advice}")
        print(f"{self.count('error')} errors, {self.count('warning')} warnings, {self.count('skipped')} skipped")

    def print_json(self) -> None:
        errors, warnings = self.count("error"), self.count("warning")
        print(json.dumps({
            "status": "error" if errors else "warning" if warnings else "ok", "errors": errors, "warnings": warnings,
            "skipped": self.count("skipped"), "findings": [finding._asdict() for finding in self.findings],
        }))  # fmt: skip


def check(*, provider: str | None, as_json: bool) -> int:
    """Prints what it finds. Returns the exit status."""
    report = _Report()
    asyncio.run(_Checks(report, provider or _OF_CHECK).run())
    if as_json:
        report.print_json()
    else:
        report.print()
    return 2 if report.count("error") else 1 if report.count("warning") else 0


def _required(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ValueError(f"{name} is not set")
    return value


class _Checks:
    def __init__(self, report: _Report, provider: str) -> None:
        self._report = report
        self._provider = provider
        self._keys: KeysFile | None = None

    async def run(self) -> None:
        report = self._report
        await report.attempt("keys", "copy the keys file of a callback host", self._check_keys)
        await report.attempt("database", texts.CHECK_DATABASE_ADVICE, self._check_database)
        if report.count("error") == 0:
            advice = texts.CHECK_WALK_ADVICE
            await report.attempt("walk", advice, self._check_walk)
        advice = texts.CHECK_CALLBACK_ADVICE
        await report.attempt("callback", advice, self._check_callback)

    async def _check_keys(self) -> None:
        self._keys = KeysFile(_required("URLMODE_KEYS_FILE"))
        count = sum(self._keys.find(kid) is not None for kid in range(256))
        self._report.add("keys", "ok", texts.check_keys(self._keys.minting.kid, count))

    async def _check_database(self) -> None:
        connection = await _connect()
        try:
            cursor = await connection.execute(CHECK_SESSION)
            row = await cursor.fetchone()
            assert row is not None
            name, has_schema, has_settings, now, is_standby = row
            advice = texts.CHECK_STANDBY_ADVICE if is_standby else ""
            self._report.add("database", "error" if is_standby else "ok", f"reached as {name}", advice)
            ahead = now - time.time()
            if abs(ahead) > CHECK_CLOCK_S:
                message = texts.check_clock(f"{ahead:.1f}")
                self._report.add("clock", "warning", message, "synchronize both clocks")
            if not has_schema:
                self._report.add("schema", "error", texts.CHECK_NO_SCHEMA, "run urlmode migrate")
                return
            await self._check_schema(connection)
            if not has_settings:
                message = texts.check_role(name)
                self._report.add("role", "warning", message, "ALTER ROLE … SET enable_seqscan = off, and jit = off")
        finally:
            await connection.close()

    async def _check_schema(self, connection: Connection) -> None:
        cursor = await connection.execute(CHECK_FUNCTIONS)
        functions = await cursor.fetchall()
        refused = sorted(name for name, mine, server in functions if server and not mine)
        missing = sorted(_called_functions() - {name for name, _, _ in functions})
        has_digests = any(name == "migration_digests" and mine for name, mine, _ in functions)
        changed = await _changed_migrations(connection) if has_digests else []
        if refused:
            server = next(server for name, _, server in functions if name == refused[0])
            advice = texts.check_login_advice(server)
            self._report.add("role", "error", f"no right to execute {', '.join(refused)}", advice)
        elif changed:
            self._report.add("schema", "error", texts.check_changed(", ".join(changed)), texts.CHECK_CHANGED_ADVICE)
        elif missing:
            advice = "run urlmode migrate of the same version"
            self._report.add("schema", "error", f"it does not have the functions {', '.join(missing)}", advice)
        else:
            self._report.add("schema", "ok", "it has the functions of this version")

    async def _check_walk(self) -> None:
        """What a server does, with its login: each step is committed."""
        connection = await _connect()
        key = RowKey(str(uuid.uuid4()), binding_of(_OF_CHECK, "", _OF_CHECK))
        query = _query_of(connection)
        try:
            await connection.execute(f"LISTEN {CHANNEL}")
            await create_elicitation(query, [_row_of(key)])
            await settle(
                query, key, action="cancel", reason="", result=None, amount=None, currency=None, reference=None
            )
            async for notification in connection.notifies(timeout=CHECK_S):
                if f'"id":"{key.id}","status":"completed"' in notification.payload:
                    break
            else:
                raise TimeoutError(texts.CHECK_NOT_HEARD)
            self._report.add("walk", "ok", texts.CHECK_HEARD)
        finally:
            try:
                await sql.end_walk(query, id=key.id)
            finally:
                await connection.close()

    async def _check_callback(self) -> None:
        base_url = _required("URLMODE_BASE_URL").rstrip("/")
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("URLMODE_BASE_URL must begin with https://")
        status, headers, _ = await asyncio.to_thread(_get, f"{base_url}/done")
        if status != 200 or not re.fullmatch("[0-9a-f]{32}", headers.get("x-request-id", "")):
            message = texts.check_done_page(base_url, status)
            self._report.add("callback", "error", message, texts.CHECK_NGINX_ADVICE)
            return
        self._report.add("callback", "ok", f"urlmode answers at {base_url}")
        if self._keys is None:
            self._report.add("same_keys", "skipped", "not compared")
            return
        # A good link of no elicitation: the programs say that they do not know it, or that the state is not good. With
        # user_check openid they redirect to the sign-in, once they have opened the state.
        state = mint_link(self._keys.minting, self._provider, str(uuid.uuid4()))
        status, _, page = await asyncio.to_thread(_get, f"{base_url}/connect/{quote(self._provider, '')}?state={state}")
        self._compare_keys(status, set(re.findall(r"\b[a-z_]+\b", page)))

    def _compare_keys(self, status: int, words: set[str]) -> None:
        add = self._report.add
        if status == 303 or words & {"unknown_elicitation", "sign_in_required", "sign_in_not_set_up"}:
            add("same_keys", "ok", texts.CHECK_SAME_KEYS)
        elif "state_invalid" in words:
            add("same_keys", "error", texts.CHECK_OTHER_KEYS, texts.CHECK_OTHER_KEYS_ADVICE)
        elif "unknown_provider" in words:
            message = texts.check_no_provider(self._provider)
            add("same_keys", "error", message, texts.CHECK_NO_PROVIDER_ADVICE)
        else:
            add("same_keys", "warning", texts.CHECK_OTHER_ANSWER, "see their log")


def _called_functions() -> set[str]:
    """Those of the schema that the package calls."""
    texts = (text for name, text in vars(sql).items() if name.isupper() and isinstance(text, str))
    return {name for text in texts for name in re.findall(r"urlmode\.(\w+)\(", text)}


async def _changed_migrations(connection: Connection) -> list[str]:
    """Those of the package that are not as they were applied to this database."""
    own = migration_digests()
    applied = await sql.migration_digests(_query_of(connection))
    return [row.name for row in applied if own.get(row.name, row.digest) != row.digest]


def _query_of(connection: Connection) -> Query:
    async def query(text: Any, values: Sequence[Any], reads: bool = False, /) -> list[tuple[Any, ...]]:
        return await (await connection.execute(text, values)).fetchall()

    return query


async def _connect() -> Connection:
    connecting = Server(_required("URLMODE_DATABASE_URL"), {"application_name": "urlmode check"}).connect()
    try:
        connection = await asyncio.wait_for(connecting, CHECK_S)
    except asyncio.TimeoutError:
        raise TimeoutError("no connection in time") from None
    await connection.execute(f"SET statement_timeout = '{CHECK_S}s'".encode())
    return connection


def _row_of(key: RowKey) -> NewRow:
    return NewRow(
        id=key.id, provider=_OF_CHECK, kind="approval", subject=_OF_CHECK, session="", binding=key.binding,
        requester="urlmode check", target_url=None, expected=None, verifier=None, ttl_ms=60_000, exclusive=False,
        resume_key=None, can_recheck=False, request=key.binding, checkout=None, client_id=None, link_kid=0,
        form=b"nobody opens it", approvers=None, verify_ms=None, traceparent=None, tenant=_OF_CHECK, item=None,
    )  # fmt: skip


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _lower(headers: Message[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _get(url: str) -> tuple[int, dict[str, str], str]:
    try:
        with build_opener(_NoRedirects).open(url, timeout=CHECK_S) as response:
            return response.status, _lower(response.headers), response.read(65536).decode(errors="replace")
    except HTTPError as error:
        with error:
            return error.code, _lower(error.headers), error.read(65536).decode(errors="replace")
