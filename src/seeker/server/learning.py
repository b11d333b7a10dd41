"""Learning by itself: now and then, in a process of its own at low priority.

The process that listens starts the learning of one catalog after another, and keeps a small file on
each in a folder that its workers know: any of them can tell how it went.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from seeker.engine.catalogs import catalog_folders
from seeker.errors import SeekerError
from seeker.server.logging import LOGGER
from seeker.server.processes import Schedule, StatusFiles, become_low_priority
from seeker.server.settings import LEARN_SECONDS, Settings

_STORE = "SEEKER_LEARNING_STORE"


@dataclass(frozen=True)
class LearningStatus:
    """How the learning in a catalog last went.

    at: when it ended, in seconds since 1970. taken: whether something was. searches: how many there
    were to learn from. failures: how often it has failed since the service was started.
    """

    at: float | None = None
    taken: bool = False
    searches: int = 0
    reason: str = ""
    failures: int = 0


_STATUSES = StatusFiles("SEEKER_LEARNING_STATUS", LearningStatus)
learning_status = _STATUSES.read


def learning_by_itself(settings: Settings) -> AbstractContextManager[None]:
    """Learn now and then for the time of a block, if the settings say so."""
    return _Schedule(settings).running() if settings.learn else nullcontext()


class _Schedule(Schedule[LearningStatus]):
    """Starts the learning of every catalog once in a while, one after the other."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("seeker-learning", _STATUSES)
        self._places = catalog_folders(settings.catalogs)
        self._store = settings.store
        self._seconds = LEARN_SECONDS[settings.learn]

    def run(self) -> None:
        """Learn, now and then again, until it is stopped."""
        statuses = dict.fromkeys(self._places, LearningStatus())
        while not self.stopped.is_set():
            began = time.monotonic()
            for name, place in self._places.items():
                statuses[name] = self._learn(name, place, statuses[name])
            self.stopped.wait(max(1.0, self._seconds - (time.monotonic() - began)))

    def _learn(self, name: str, place: str, before: LearningStatus) -> LearningStatus:
        """Learn in one catalog; return how it went, after all who ask can know."""
        ended = self.process.run("seeker.server.learning", name, place, **{_STORE: self._store})
        if ended is None:
            return before
        code, output = ended
        try:
            result = json.loads(output) if code == 0 else {}
            status = LearningStatus(**result, at=time.time(), failures=before.failures)
        except (ValueError, TypeError):
            result = {}
        if not result:
            status = replace(before, at=time.time(), failures=before.failures + 1)
        fields = {"catalog": name, "taken": status.taken, "searches": status.searches}
        if result:
            LOGGER.info("learning ended", extra={"fields": {**fields, "reason": status.reason}})
        else:
            LOGGER.warning("learning failed", extra={"fields": {"catalog": name, "code": code}})
        self.statuses.write(name, status)
        return status


def main(arguments: list[str], environment: Mapping[str, str] = os.environ) -> int:
    """Learn in one catalog, as the process that was started for it: tell how it went as JSON."""
    name, place = arguments
    become_low_priority()
    import seeker

    try:
        result = seeker.learn(place, environment[_STORE], name=name)
    except SeekerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    summary = {"taken": result.taken, "searches": result.searches, "reason": result.reason}
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
