"""Requests to a provider: what a call that ends leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from urlmode._accounts.request import send


async def test_a_provider_that_does_not_answer_holds_up_nothing_else() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/token"
        calls = [asyncio.ensure_future(send("POST", url, {}, b"code")) for _ in range(40)]
        await asyncio.sleep(0.1)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


@pytest.fixture
def contexts(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """One that trusts everybody, and one of a server."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "provider")])
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    certificate = builder.not_valid_before(now).not_valid_after(now + timedelta(hours=1)).sign(key, hashes.SHA256())
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(serialization.Encoding.PEM)  # fmt: skip
    (tmp_path / "pem").write_bytes(pem)
    trusting, serving = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    serving.load_cert_chain(tmp_path / "pem")
    return trusting, serving


async def test_a_call_that_was_cancelled_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    trusting, serving = contexts
    read_in: list[threading.Thread] = []

    def tls() -> ssl.SSLContext:
        read_in.append(threading.current_thread())
        return trusting

    monkeypatch.setattr("urlmode._accounts.request._tls", tls)
    has_come, may_go_on, received = threading.Event(), threading.Event(), []

    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            has_come.set()
            may_go_on.wait()
            with contextlib.suppress(OSError), serving.wrap_socket(connection, server_side=True) as peer:
                received.append(peer.recv(4096))

        thread = threading.Thread(target=answer)
        thread.start()
        call = asyncio.ensure_future(send("POST", f"https://127.0.0.1:{server.getsockname()[1]}/token", {}, b"code"))
        await asyncio.to_thread(has_come.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_go_on.set()
        await asyncio.to_thread(thread.join)
    # To read the certificates of the machine takes long.
    assert len(read_in) == 1 and read_in[0] is not threading.current_thread()
    assert b"".join(received) == b""


def is_shaken(tls: ssl.SSLObject) -> bool:
    """Goes on with the handshake. False if it needs more of the other side."""
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


async def test_a_call_that_is_cancelled_sends_nothing_in_clear(
    monkeypatch: pytest.MonkeyPatch, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    """The thread of the call has seen that it goes on, and is about to send when the call is cancelled."""
    trusting, serving = contexts
    is_about_to_send, may_send, has_sent = threading.Event(), threading.Event(), threading.Event()

    class Below(socket.socket):
        def shutdown(self, how: int) -> None:
            # Called by SSLSocket.shutdown, which has given up the TLS: what is sent now is in clear.
            may_send.set()
            has_sent.wait()
            super().shutdown(how)

    class Held(ssl.SSLSocket, Below):
        def send(self, *given: Any) -> int:
            is_about_to_send.set()
            may_send.wait()
            try:
                return super().send(*given)
            finally:
                has_sent.set()

    trusting.sslsocket_class = Held
    monkeypatch.setattr("urlmode._accounts.request._tls", lambda: trusting)
    received: list[bytes] = []

    with socket.create_server(("127.0.0.1", 0)) as server:

        def record() -> None:
            connection, _ = server.accept()
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = serving.wrap_bio(incoming, outgoing, server_side=True)
            with connection:
                while not is_shaken(tls):
                    connection.sendall(outgoing.read())
                    incoming.write(connection.recv(65_536))
                connection.sendall(outgoing.read())
                with contextlib.suppress(ConnectionResetError):
                    received.extend(iter(lambda: connection.recv(65_536), b""))

        thread = threading.Thread(target=record)
        thread.start()
        call = asyncio.ensure_future(send("POST", f"https://127.0.0.1:{server.getsockname()[1]}/token", {}, b"code"))
        await asyncio.to_thread(is_about_to_send.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_send.set()
        await asyncio.to_thread(has_sent.wait)
        await asyncio.to_thread(thread.join)
    assert received == []
