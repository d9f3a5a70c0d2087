"""The official Python SDK (`mcp`), 1.25 to 2.x: protocol revisions 2025-11-25 and 2026-07-28.

A function for the body of a tool, which has the SDK's `Context`. In a server of 2.x that has more than one process,
`request_state_security` lets each process open what another has sealed.
"""

from ._adapter import Accepted
from ._sdk import Adapter, request_state_security

__all__ = ["Accepted", "request_state_security", "with_elicitation"]

with_elicitation = Adapter().with_elicitation
