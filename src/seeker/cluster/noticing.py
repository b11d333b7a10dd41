"""Who of the shards could not answer when last asked, and why."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from seeker.cluster.messages import Lacking, Report
from seeker.cluster.transport import NO_ROWS, Silent

LOGGER = logging.getLogger("seeker")


class Noticed:
    """Shards that are silent; whoever falls silent or answers again is logged. For any thread.

    So is whoever was started again: Ray does that by itself, and clicks are merely late then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent: dict[int, str] = {}
        self._processes: dict[int, tuple[str, int]] = {}

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
                again = isinstance(reply, Report) and self._is_new(shard, reply)
            if again:
                LOGGER.warning("shard %d had died and was started again", shard)
            if trouble is not None and before in (None, NO_ROWS) and trouble != before:
                LOGGER.warning("shard %d cannot answer: %s", shard, trouble)
            elif trouble is None and before is not None:
                LOGGER.info("shard %d answers again", shard)

    def _is_new(self, shard: int, report: Report) -> bool:
        """Whether a shard is in another process than when it was last heard of."""
        process = (report.node, report.pid)
        before, self._processes[shard] = self._processes.get(shard, process), process
        return before != process


def _trouble(reply: object) -> str | None:
    """Return why a shard cannot answer, or None if it can."""
    match reply:
        case Silent(why):
            return why
        case Lacking(part=True) | Report(ready=False):
            return NO_ROWS
    return None
