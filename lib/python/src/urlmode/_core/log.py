"""Problems that make no call fail are logged once, by the logger `urlmode`."""

from __future__ import annotations

import logging

logger = logging.getLogger("urlmode")


def warn(code: str, message: str, error: BaseException | None = None) -> None:
    """`code` does not change between versions. It begins the message, and is `record.code`. The traceback of `error`
    follows it."""
    logger.warning("%s: %s", code, message, extra={"code": code}, exc_info=error)
