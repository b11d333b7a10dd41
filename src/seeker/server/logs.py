"""Logs as JSON Lines. Session ids are keys, so only a short hash of them is written."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from datetime import UTC, datetime

from seeker.errors import SeekerError
from seeker.stores import DamagedSession, StoreFailed

LOGGER = logging.getLogger("seeker")


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        written = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            written["error"] = self.formatException(record.exc_info)
        return json.dumps(written, ensure_ascii=True)


def set_up(level: str) -> None:
    """Send our logs and the web server's to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("seeker", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == "seeker" else "WARNING")


def log_error(error: SeekerError) -> None:
    """Write down what is wrong with the service's own store, which its clients are not told."""
    if isinstance(error, StoreFailed):
        fields = {"reason": error.reason, "remedy": error.remedy}
        LOGGER.error("The store failed.", extra={"fields": fields})
    elif isinstance(error, DamagedSession):
        damage = {
            "session": short(error.session),
            "event": error.sequence,
            "reason": error.reason,
        }
        LOGGER.error("A session is damaged.", extra={"fields": damage})


def short(session: str) -> str:
    """Return a name for a session that tells sessions apart, but opens none."""
    return hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:10]
