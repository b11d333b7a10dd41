"""Logs as JSON Lines. Session ids are keys, so only a short hash of them is written."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

from seeker.errors import SeekerError
from seeker.stores import DamagedSession, StoreError, pseudonym

LOGGER = logging.getLogger("seeker")
_LOG_EVERY_SECONDS = 60.0
_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def set_up_logging(level: str) -> None:
    """Send our logs and the web server's to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("seeker", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == "seeker" else "WARNING")


def log_error(error: SeekerError) -> None:
    """Write down what is wrong with the service's own store, which its clients are not told."""
    if isinstance(error, StoreError):
        fields = {"reason": error.reason, "remedy": error.remedy}
        LOGGER.error("store failed", extra={"fields": fields})
    elif isinstance(error, DamagedSession):
        damage = {
            "session": short_hash(error.session),
            "event": error.sequence,
            "reason": error.reason,
        }
        LOGGER.error("session damaged", extra={"fields": damage})


class LogThrottle:
    """Says whether it is time to log again what happens again and again."""

    def __init__(self) -> None:
        self._next = 0.0

    def due(self) -> bool:
        """Return True once, and then no more for a minute."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _LOG_EVERY_SECONDS
        return True


class LoopErrorHandler:
    """What the event loop reports, of which a lack of descriptors comes thousands of times."""

    def __init__(self) -> None:
        self._throttle = LogThrottle()

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log what has happened."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _NO_ROOM):
            loop.default_exception_handler(context)
        elif self._throttle.due():
            fields = {"reason": error.strerror}
            LOGGER.error("cannot accept connections", extra={"fields": fields})


def short_hash(session: str) -> str:
    """Return what a session is called in logs: how its pseudonym begins."""
    return pseudonym(session)[:10]
