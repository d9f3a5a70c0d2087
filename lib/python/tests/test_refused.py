"""Settings, keys files and arguments that are refused."""

from __future__ import annotations

import gc
import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import ACCOUNT, VECTORS, owner, required

from urlmode import Expected, KeysFileError, Target, UrlMode
from urlmode._core.create_options import Request, check_request

ITEM: dict[str | None, dict[str, Any]] = {"payment": {"item": "report:42"}, "signature": {"item": "contract:7"}}
"""What a call of each of these kinds must have."""


def settings(keys_file: Path, /, **more: Any) -> dict[str, Any]:
    given = {"database_url": required("URLMODE_DATABASE_URL"), "base_url": "https://c.example"}
    return {**given, "keys_file": keys_file, **more}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"database_url": "mysql://a:hunter2@b/c"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": "postgresql://u:hunter2%zz@h/d"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": "postgresql://u@h/d?sslmood=require"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": None}, "database_url must be a str"),
        ({"pool": object()}, "pool and database_url"),
        ({"database_url": None, "pool": object()}, "pool must be a psycopg_pool"),
        ({"base_url": "https://c.example/path"}, "base_url must consist of"),
        ({"base_url": "http://c.example"}, "base_url must be https"),
        ({"base_url": "https://u:p@c.example"}, "base_url must not contain a user name"),
        ({"base_url": "c.example"}, "base_url must be an absolute URL"),
        ({"name": "x" * 201}, "name must have 1 to 200 bytes"),
        ({"listen": 1}, "listen must be True or False"),
        ({"keys": "1 AAAA"}, "keys and keys_file cannot be used together"),
        ({"keys_file": None}, "keys_file must be a str or a path"),
        ({"keep_results": -1}, "keep_results must be from 0 to 86400 seconds"),
        ({"keep_unclaimed": 1}, "keep_unclaimed must be from"),
        ({"retention": "90 days"}, "retention must be a number of seconds or a timedelta"),
    ],
)  # fmt: skip
def test_settings_that_are_refused(keys_file: Path, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error) as refused:
        UrlMode(**settings(keys_file, **given))
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the file contains no key"), ("1\n", "the line must be"), ("256 " + "A" * 44, "number from 0 to 255"),
        ("1 short", "base64|at least 32 bytes"), ("1 " + "A" * 42, "at least 32 bytes"),
        (f"1 {'A' * 43}\n1 {'A' * 43}", "keys:2: kid 1 is used twice"), (f"1 {'A' * 42}B", "must be base64"),
        (f"1 {'A' * 400}", "at most 256 bytes"),
    ],
)  # fmt: skip
def test_keys_files_that_are_refused(keys_file: Path, text: str, error: str) -> None:
    keys_file.write_text(text)
    with pytest.raises(KeysFileError, match=error) as refused:
        UrlMode(**settings(keys_file))
    assert str(keys_file) in str(refused.value)
    assert "AAAA" not in str(refused.value)


def files_open_in(folder: Path) -> list[str]:
    """What other threads open and close meanwhile is elsewhere."""
    opened = (os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd"))
    return [each for each in opened if Path(each).is_relative_to(folder)]


def test_a_keys_file_that_cannot_be_read(keys_file: Path, tmp_path: Path) -> None:
    for file, why in ((tmp_path / "none", "No such file"), (tmp_path, "directory|regular file")):
        with pytest.raises(KeysFileError, match=why):
            UrlMode(**settings(file))
    assert files_open_in(tmp_path) == []
    keys_file.chmod(0o644)
    with pytest.raises(KeysFileError, match="chmod o="):
        UrlMode(**settings(keys_file))


async def a_coroutine() -> str:
    return "https://provider.example"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"provider": "Git Hub"}, "provider must be a name"), ({"kind": "gift"}, "kind must be one of"),
        ({"subject": ""}, "subject must have 1 to 512 bytes"), ({"subject": 5}, "subject must be a str"),
        ({"subject": "\ud800"}, "subject must be valid Unicode"), ({"session": "a\0"}, "session must be valid"),
        ({"target_url": "http://p.example"}, "target_url must be https"),
        ({"target_url": "https://p.example/#x"}, "must not have a fragment"),
        ({"target_url": "https://p.example/?state=1"}, "must not have a state"),
        ({"target_url": "https://p.example/é"}, "must be ASCII"),
        ({"target_url": "https://p.example/a b"}, "absolute URL, with special characters"),
        ({"target_url": "https://p.example/" + "x" * 8200}, "at most 8192 bytes"),
        ({"target_url": 5}, "target_url must be a str"),
        ({"target_url": lambda urls: 5}, "target_url must be a str"),
        ({"target_url": Target("https://p.example", "cs_1")}, "checkout is only allowed"),
        ({"target_url": "https://p.example?code_challenge=x", "pkce": True}, "code_challenge"),
        ({"ttl": "5"}, "ttl must be a number of seconds or a timedelta"), ({"ttl": 0}, "ttl must be from"),
        ({"ttl": True}, "ttl must be a number"), ({"id": "x"}, "elicitation_id must be a UUID"),
        ({"expected": Expected(1, "EUR")}, "expected is only allowed"),
        ({"provider": "stripe", "kind": "payment"}, "expected is required"),
        ({"provider": "stripe", "kind": "payment", "expected": {"amount": 1, "currency": "EUR"}}, "expected is required"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(1, "USDC")}, "currency of ISO 4217"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(-1, "EUR")}, "whole number of minor units"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(1, "KWD")}, "multiple of 10"),
        ({"provider": "stripe", "kind": "payment", "expected": "any", "pkce": True}, "pkce is only allowed"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(1, "EUR", "about")}, "expected.match must be one of"),  # type: ignore[arg-type]
        ({"provider": "stripe", "kind": "payment", "expected": Expected(match="checkout")}, "requires a Target"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(match="at-least")}, "expected.amount"),
        ({"provider": "lemon-squeezy", "kind": "payment", "expected": Expected(match="checkout")}, "cannot be checkout"),
        ({"item": "report:42"}, "item is only allowed"),
        ({"provider": "stripe", "kind": "payment", "expected": "any", "item": ""}, "item must have 1 to 512 bytes"),
        ({"provider": "stripe", "kind": "payment", "expected": "any", "item": "x" * 513}, "item must have 1 to 512 bytes"),
        ({"provider": "stripe", "kind": "payment", "expected": "any", "item": 42}, "item must be a str"),
        ({"provider": "stripe", "kind": "payment", "expected": "any", "item": None}, "item is required .* such as report:42"),
        ({"provider": "stripe", "kind": "signature", "item": None}, "item is required for kinds payment and signature"),
        ({"same_client": True}, "same_client requires client_id"), ({"about": [1]}, "about must be a mapping"),
        ({"about": {"a": object()}}, "about must be plain JSON"), ({"resume_key": ""}, "resume_key must have"),
        ({"traceparent": 5}, "traceparent must be a str"),
        ({"traceparent": "00-" + 32 * "0" + "-00f067aa0ba902b7-01"}, "traceparent must be one of W3C"),
        ({"traceparent": "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, "traceparent must be one of W3C"),
    ],
)  # fmt: skip
async def test_arguments_that_are_refused(urlmode: UrlMode, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        await urlmode.create(**{**ACCOUNT, **owner(), **ITEM.get(given.get("kind"), {}), **given})


@pytest.mark.parametrize("name", ["target_url", "subject", "provider", "ttl", "expected", "item", "resume_key", "id"])
async def test_a_coroutine_where_a_value_belongs(urlmode: UrlMode, name: str) -> None:
    kind = {"provider": "stripe", "kind": "payment", "expected": "any", "item": "a"} if name in ("expected", "item") else {}
    with pytest.raises(TypeError, match="not a coroutine"):
        await urlmode.create(**{**ACCOUNT, **owner(), **kind, name: a_coroutine()})


@pytest.mark.parametrize("name", ["database_url", "keys_file", "keys", "base_url", "name", "listen", "retention", "clients"])
async def test_a_coroutine_where_a_setting_belongs(keys_file: Path, name: str) -> None:
    given = {"keys_file": None} if name == "keys" else {}
    with pytest.raises(TypeError, match=f"{name} must be a value, not a coroutine"):
        UrlMode(**settings(keys_file, **given, **{name: a_coroutine()}))
    gc.collect()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"timeout": -1}, "timeout must be at least 0"), ({"timeout": "5"}, "timeout must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout must be a number"), ({"on_progress": 5}, "on_progress must be a function"),
        ({"recheck": "x"}, "recheck must be a function"), ({"abandon": None}, "abandon must be True or False"),
    ],
)  # fmt: skip
async def test_waits_that_are_refused(urlmode: UrlMode, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", subject="a", **given)
    assert urlmode.open_waits == 0


async def test_a_time_without_a_zone(urlmode: UrlMode) -> None:
    with pytest.raises(TypeError, match="time zone"):
        await urlmode.unclaimed(since=datetime.now())


@pytest.mark.parametrize(
    ("provider", "kind", "taken"), json.loads((VECTORS / "described-kinds.json").read_text("utf-8"))["cases"]
)
def test_what_a_shipped_description_cannot_be(provider: str, kind: Any, taken: bool) -> None:
    def call() -> Request:
        return check_request(
            provider=provider, kind=kind, expected="any" if kind == "payment" else None,
            about=None, client_id=None, same_client=False, **ITEM.get(kind, {}),
        )  # fmt: skip

    if taken:
        assert call().kind == kind
        return
    with pytest.raises(TypeError, match=f"^provider {provider} cannot be of kind {kind}: its description"):
        call()
