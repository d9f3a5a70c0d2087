#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What an MCP server does, in Python without the SDK, over HTTP (API.md): creates an
elicitation, waits, and claims the outcome.

    URLMODE_API_URL= URLMODE_API_KEY= ./wait.py SUBJECT"""
import json, os, sys, time, urllib.error, urllib.request, uuid


def call(method, **members):
    request = urllib.request.Request(
        f"{os.environ['URLMODE_API_URL']}/v1/{method}", json.dumps(members).encode(),
        {"Authorization": f"Bearer {os.environ['URLMODE_API_KEY']}", "Content-Type": "application/json"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=75) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503, 504):
                return error.code, json.load(error)
            time.sleep(float(error.headers.get("Retry-After", 1)))
        except OSError as error:  # each call that is used here can be made again
            print("again:", error, file=sys.stderr)
            time.sleep(1)


def answer_of(method, **members):
    status, body = call(method, **members)
    return body if status < 400 else sys.exit(f"{method}: {body['error']['message']}")


owner = {"id": str(uuid.uuid4()), "subject": (sys.argv[1:] or ["user-42"])[0]}
made = answer_of("create", **owner, provider="demo", kind="oauth", name="An example in Python",
                 target_url="https://provider.example/authorize?client_id=a", ttl_ms=300_000)
print("elicit with", made["url"], flush=True)

seen = None
while True:  # an answer without an elicitation: the time is over, so ask again
    element = {**owner, **({"seen": seen} if seen else {})}
    for row in answer_of("wait", of=[element], for_ms=60_000)["elicitations"]:
        seen = row["seen"]
    if seen and row["status"] == "completed":
        break
print(row["action"], row["reason"], json.dumps(row["result"]))

claim = {**owner, "claim_id": str(uuid.uuid4())}  # with which it can be repeated
status, body = call("begin_claim", **claim, lease_ms=30_000)
if status == 200:  # one call acts on it: here
    end = {"fence": body["fence"], "end": "delivered"} if body["fence"] is not None else {}  # an account has none
    answer_of("fulfil_claim", **owner, **end)
print("claimed" if status == 200 else f"not claimed: {body['error']['code']}")
