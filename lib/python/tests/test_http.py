"""Requests to a provider: what a call that ends leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from urlmode._http import send


async def test_a_provider_that_does_not_answer_holds_up_nothing_else() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/token"
        calls = [asyncio.ensure_future(send("POST", url, {}, b"code")) for _ in range(40)]
        await asyncio.sleep(0.1)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


async def test_a_call_that_was_cancelled_sends_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
    read_in: list[threading.Thread] = []

    def tls() -> ssl.SSLContext:
        read_in.append(threading.current_thread())
        return trusting

    monkeypatch.setattr("urlmode._http._tls", tls)
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
