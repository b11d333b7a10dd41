"""Who of the shards could not answer when last asked, and why."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from seeker.cluster.messages import Lacking, Report
from seeker.cluster.transport import NO_ROWS, Silent

LOGGER = logging.getLogger("seeker")


class Noticed:
    """Shards that are silent; whoever falls silent or answers again is logged. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent: dict[int, str] = {}

    @property
    def silent(self) -> dict[int, str]:
        """The shards that could not answer when last asked, and why."""
        with self._lock:
            return dict(self._silent)

    def note(self, replies: Mapping[int, object]) -> None:
        """Take in what shards have replied to anything, by number."""
        for shard, reply in replies.items():
            trouble = _trouble(reply)
            with self._lock:
                before = self._silent.pop(shard, None)
                if trouble is not None:
                    self._silent[shard] = trouble
            if trouble is not None and before is None:
                LOGGER.warning("shard %d cannot answer: %s", shard, trouble)
            elif trouble is None and before is not None:
                LOGGER.info("shard %d answers again", shard)


def _trouble(reply: object) -> str | None:
    """Return why a shard cannot answer, or None if it can."""
    match reply:
        case Silent(why):
            return why
        case Lacking(part=True) | Report(ready=False):
            return NO_ROWS
    return None
