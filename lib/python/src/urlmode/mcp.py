"""The official Python SDK (`mcp`), 1.25 to 2.x: protocol revisions 2025-11-25 and 2026-07-28.

Functions for the body of a tool, which has the SDK's `Context`. In a server of 2.x that has more than one process,
`request_state_security` lets each process open what another has sealed.
"""

from ._adapter import Accepted, Approval, Input
from ._sdk import Adapter, request_state_security

__all__ = [
    "Accepted",
    "Approval",
    "Input",
    "ask_approval",
    "collect_input",
    "connect_account",
    "request_state_security",
    "with_elicitation",
]

_adapter = Adapter()
with_elicitation = _adapter.with_elicitation
collect_input = _adapter.collect_input
connect_account = _adapter.connect_account
ask_approval = _adapter.ask_approval
