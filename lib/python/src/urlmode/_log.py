"""Problems that make no call fail are logged once, by the logger `urlmode`."""

from __future__ import annotations

import logging

logger = logging.getLogger("urlmode")


def warn(code: str, message: str) -> None:
    """`code` does not change between versions. It begins the message, and is `record.code`."""
    logger.warning("%s: %s", code, message, extra={"code": code})
