"""The words that users and models read are those of the Node package."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone
from typing import Any, get_args

import pytest
from conftest import ROOT

from urlmode import ApprovalElicitation, Elicitation, Expected, Kind, OpenStatus, Outcome
from urlmode._adapters import messages as _messages
from urlmode._adapters.contract_messages import REASONS
from urlmode._core import errors

SOURCE = ROOT / "lib/node/src/adapters/messages.js"
PRICE = Expected(1050, "EUR")
ID = "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
LINK = "https://c.example/connect/stripe?state=a"
NOW = 1_800_000_000
LASTS = [-5, 20, 60, 89, 91, 3_569, 3_571, 7_169, 7_170, 7_200, 10_000, 172_769, 172_770, 200_000]


def of_node(expression: str) -> Any:
    """What an expression is in the Node package, which uses `messages` and `urlmode`."""
    program = f"""
        import * as messages from {json.dumps(SOURCE.as_uri())};
        import {{ setInternals }} from {json.dumps((ROOT / "lib/node/src/core/internals.js").as_uri())};
        Date.now = () => {NOW * 1000};
        const urlmode = {{}};
        setInternals(urlmode, {{ name: 'Reports' }});
        console.log(JSON.stringify({expression}));
    """
    done = subprocess.run(["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_why_a_call_has_failed() -> None:
    cases = [("cancel", reason) for reason in [*REASONS, "", "unknown_reason"]] + [("decline", "")]
    theirs = of_node(f"{json.dumps(cases)}.map((each) => messages.failureResult(...each))")
    assert theirs == [_messages.failure_result(*case) for case in cases]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_what_a_call_says_of_an_open_elicitation(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = [*get_args(OpenStatus), "claimed"]
    options = f"{{ urlmode, message: 'Please.', kind: '{kind}', expected: {{ amount: 1050, currency: 'EUR' }} }}"
    theirs = of_node(f"{json.dumps(statuses)}.map((each) => messages.openResult({options}, {{ elicitationId: '{ID}' }}, each))")
    assert theirs == [_messages.open_result("Please.", kind, ID, status) for status in statuses]
    progress = ["pending", "opened", "attempt_failed", "processing"]
    theirs = of_node(f"{json.dumps(progress)}.map((each) => messages.progressMessage('{kind}', each))")
    assert theirs == [_messages.progress_message(kind, each) for each in progress]
    monkeypatch.setattr("time.time", lambda: NOW)
    ends = [NOW + seconds for seconds in LASTS]
    elicitation = f"{{ elicitationId: '{ID}', url: '{LINK}', expiresAt: new Date(end * 1000) }}"
    theirs = of_node(f"{json.dumps(ends)}.map((end) => messages.linkResult({options}, {elicitation}, 'opened'))")
    ours = []
    for end in ends:
        asked = Elicitation(
            elicitation_id=ID, url=LINK, return_url="", expires_at=datetime.fromtimestamp(end, timezone.utc)
        )  # fmt: skip
        ours.append(_messages.link_result("Please.", kind, PRICE, "Reports", asked, "opened"))
    assert theirs == ours
    reasons = ["client_declined", "client_dismissed", "client_failed"]
    elicitation = elicitation.replace("end * 1000", f"{ends[-1]} * 1000")
    theirs = of_node(f"{json.dumps(reasons)}.map((each) => messages.linkResult({options}, {elicitation}, 'pending', each))")
    assert theirs == [_messages.link_result("Please.", kind, PRICE, "Reports", asked, "pending", each) for each in reasons]


@pytest.mark.parametrize("approver", ["others", ["bob"], ["bob", "grace"]])
@pytest.mark.parametrize("is_sent", [True, False])
def test_what_a_call_says_of_an_approval_by_others(approver: Any, is_sent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    ends = datetime.fromtimestamp(NOW + 7_200, timezone.utc)
    asked = ApprovalElicitation(elicitation_id=ID, url=None, approval_url=LINK, expires_at=ends)
    send = "sendLink() {}, " if is_sent else ""
    options = f"{{ urlmode, message: 'Please.', kind: 'approval', {send}approver: {json.dumps(approver)} }}"
    elicitation = f"{{ elicitationId: '{ID}', approvalUrl: '{LINK}', expiresAt: new Date({ends.timestamp() * 1000}) }}"
    for status in ("pending", "opened"):
        theirs = of_node(f"messages.approversResult({options}, {elicitation}, '{status}')")
        assert theirs == _messages.approvers_result("Please.", approver, is_sent, "Reports", asked, status)


def test_what_a_call_says_of_an_approval_that_was_refused() -> None:
    for comment in (None, "Too dear."):
        outcome = Outcome(elicitation_id=ID, action="decline", approver="grace", comment=comment)
        given = {"approver": "grace", **({"comment": comment} if comment else {})}
        assert of_node(f"messages.declinedResult({json.dumps(given)})") == _messages.declined_result(outcome)


def test_errors_have_the_names_and_codes_of_the_contract() -> None:
    contract = json.loads((ROOT / "lib/contract/codes.json").read_text("utf-8"))
    theirs = {each["class"]: each["code"] for each in contract["errors"] if "class" in each}
    classes = {name: each for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, Exception)}
    ours = {name: getattr(each, "code") for name, each in classes.items()}
    assert ours == {**theirs, "UrlModeError": "URLMODE", "StateTokenError": "STATE_INVALID"}
