"""The odd answers of token endpoints, which all languages read alike (lib/PROTOCOL.md, "The vault")."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from conftest import ROOT

from urlmode._accounts.client_authentication import OAuthClient
from urlmode._accounts.provider import AccountOptions, AccountProvider
from urlmode._accounts.request import RequestFailed
from urlmode._accounts.token_response import NoTokens

CASES = json.loads((ROOT / "tests/vectors/token-answers.json").read_text())
READ = ("access_token", "refresh_token", "expires_in", "scope")


def bytes_of(answer: dict[str, Any]) -> bytes:
    """What the endpoint sends."""
    if "raw" in answer:
        return str(answer["raw"]).encode()

    def fill(text: str) -> str:
        for mark, (part, times, end) in answer.get("repeat", {}).items():
            text = text.replace(mark, part * times + end * times)
        return text

    content = bytes.fromhex(answer["hex"]) if "hex" in answer else fill(answer.get("body", "")).encode()
    kind = answer.get("type", "application/json")
    lines = [*([f"Content-Type: {kind}"] if kind else []), *map(fill, answer.get("headers", []))]
    lines += [f"Content-Length: {answer.get('length', len(content))}", "Connection: close"]
    head = f"{answer.get('before', '')}HTTP/1.1 {answer.get('status', 200)} Odd\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    return head.encode() + content


async def read(provider: AccountProvider) -> Any:
    try:
        tokens = await provider.refresh("old")
    except RequestFailed as error:
        if error.lost is not None:
            return "status" if error.lost == "status" else "lost"
        return {"refused": error.code} if isinstance(error, NoTokens) and error.code else "failed"
    return {"tokens": {name: tokens[name] for name in READ if name in tokens}}


async def test_odd_answers_of_token_endpoints_are_read_as_in_the_other_languages() -> None:
    sent = b""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A server that closes before it has read the whole request resets the connection, and with it what it has written.
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]))
        writer.write(sent)
        try:
            await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/token"
    oauth = {"token_endpoint": url, "token_endpoint_auth_method": "client_secret_post", "pkce": "S256"}
    options = AccountOptions(
        provider="odd", description=None, client=OAuthClient(id="a", secret="b"), scopes=[], required_scopes=[], variables={},
        parameters={},
    )  # fmt: skip
    provider = AccountProvider(options, oauth, oauth)
    different = []
    async with server:
        for case in CASES:
            sent = bytes_of(case)
            found = await read(provider)
            if found != case["is"]:
                different.append((case["name"], found, case["is"]))
    assert different == []
