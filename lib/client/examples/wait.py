#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An MCP server's waiting side in Python, with Debian's python3-psycopg and
python3-cryptography: creates an elicitation, waits, opens the result, and claims it.

    URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= ./wait.py SUBJECT"""
import base64, hashlib, hmac, json, os, re, select, sys, uuid

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def read_keys(path):  # {kid: secret}; the first one mints
    lines = [line.split() for line in open(path) if re.match(r"\s*\d", line)]
    return {int(kid): base64.b64decode(key.replace("-", "+").replace("_", "/").rstrip("=") + "===") for kid, key in lines}


def derive(secret, salt, info):
    return HKDF(SHA256(), 32, salt, info).derive(secret)


def connect_url(keys, provider, id):
    version = bytes([1, kid := next(iter(keys))])
    mac = hmac.digest(derive(keys[kid], None, b"urlmode link v1"), version + b"connect\0" + provider.encode() + b"\0" + id.bytes, "sha256")
    state = base64.urlsafe_b64encode(version + id.bytes + mac[:14]).decode().rstrip("=")
    return f"{os.environ['URLMODE_BASE_URL']}/connect/{provider}?state={state}"


def open_result(keys, id, binding, sealed):
    info = b"urlmode result v2" if sealed[0] == 2 else b"urlmode result v1" + binding
    key = derive(keys[sealed[1]], id.bytes, info)
    return json.loads(AESGCM(key).decrypt(sealed[2:14], sealed[14:], sealed[:2] + id.bytes))


keys = read_keys(os.environ["URLMODE_KEYS_FILE"])
id, provider, subject, session = uuid.uuid4(), "demo", (sys.argv[1:] or ["user-42"])[0], ""
binding = hashlib.sha256(f"urlmode binding v1\0{subject}\0{session}".encode()).digest()[:16]
with psycopg.connect(os.environ["URLMODE_DATABASE_URL"], autocommit=True) as conn:
    conn.execute(
        "SELECT outcome FROM urlmode.create_elicitation(%s::uuid[], %s::text[], %s::text[],"
        " %s::text[], %s::text[], %s::bytea[], %s::text[], %s::text[], NULL, NULL, %s::bigint[])",
        [[value] for value in (id, provider, "oauth", subject, session, binding, "An example in Python",
                               "https://provider.example/authorize?client_id=a", 300_000)])
    print("elicit with", connect_url(keys, provider, id), flush=True)
    news, one = [], ([id], [binding])
    conn.add_notify_handler(news.append)

    def read():
        news.clear()
        conn.execute("SELECT urlmode.expire(%s::uuid[], %s::bytea[])", one)
        return conn.execute("SELECT status, action, reason, result, payment_reference FROM urlmode.read(%s::uuid[], %s::bytea[])", one).fetchone()

    conn.execute("LISTEN urlmode")  # first listen, then read, then wait
    while (row := read())[0] != "completed":
        news or select.select([conn], [], [], 30)  # the row is the truth: what wakes only makes us look
    _, action, reason, sealed, reference = row
    print(action, reason, json.dumps(open_result(keys, id, binding, sealed)) if sealed else "null")
    conn.execute("SELECT urlmode.mark_read(%s::uuid[], %s::bytea[])", one)  # it is dropped in ten minutes, not in a day
    outcome, = conn.execute("SELECT urlmode.claim(%s, %s, %s, action => %s)", (id, binding, reference, action)).fetchone()
    print("claimed" if outcome == "claimed" else "claimed by another call")  # one call acts on it
