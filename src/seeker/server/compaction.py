"""Compaction by itself: in quiet times, in a process of its own at low priority.

Changes of items are written beside what is there. Where many have come together, the process that
listens has all of it written anew, as soon as nobody has changed the catalog for a while; otherwise
whoever makes the change that is one too many would wait for that. Changes and clicks go on
meanwhile: if the catalog is changed before it is done, it was for nothing, and nothing is lost.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from seeker.catalog.build.segments import fullness
from seeker.catalog.build.versions import compact_aside
from seeker.catalog.manifest import MANIFEST_NAME
from seeker.catalog.manifest_reader import read_manifest
from seeker.engine.catalogs import catalog_folders
from seeker.errors import Conflict, SeekerError
from seeker.server.logging import LOGGER
from seeker.server.processes import Schedule, StatusFiles, become_low_priority
from seeker.server.settings import Settings

MIN_FULLNESS = 0.5
"""From this part of what may be changed on, a catalog is written anew."""

_MAX_POLL_SECONDS = 10.0
_DONE, _IN_VAIN = "done", "in vain"


@dataclass(frozen=True)
class CompactionStatus:
    """How often a catalog was written anew, when last, in seconds since 1970, and how often not."""

    count: int = 0
    at: float = 0.0
    failures: int = 0


_STATUSES = StatusFiles("SEEKER_COMPACTION_STATUS", CompactionStatus)
compaction_status = _STATUSES.read


def compacting_by_itself(settings: Settings) -> AbstractContextManager[None]:
    """Write catalogs anew in quiet times for the time of a block, unless the settings forbid it."""
    return _Schedule(settings).running() if settings.compact_after else nullcontext()


class _Schedule(Schedule[CompactionStatus]):
    """Looks at all catalogs now and then."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("seeker-compaction", _STATUSES)
        self._places = {
            name: Path(place) for name, place in catalog_folders(settings.catalogs).items()
        }
        self._quiet_seconds = settings.compact_after
        self._latest = dict.fromkeys(self._places, CompactionStatus())
        self._failed: dict[str, str] = {}

    def run(self) -> None:
        """Look until it is stopped."""
        while not self.stopped.wait(min(_MAX_POLL_SECONDS, self._quiet_seconds)):
            for name, place in self._places.items():
                with suppress(SeekerError, OSError):  # a catalog that cannot be read is left alone
                    self._look(name, place)

    def _look(self, name: str, place: Path) -> None:
        manifest = read_manifest(place)
        quiet = time.time() - (place / MANIFEST_NAME).stat().st_mtime >= self._quiet_seconds
        if not quiet or fullness(manifest) < MIN_FULLNESS:
            return
        if self._failed.get(name) == manifest.identity:
            return  # it would fail again
        ended = self.process.run("seeker.server.compaction", str(place))
        if ended is None:
            return
        code, output = ended
        status, outcome = self._latest[name], output.decode("utf-8", "replace").strip()
        if code:
            self._failed[name] = manifest.identity
            status = replace(status, failures=status.failures + 1)
            LOGGER.warning("compaction failed", extra={"fields": {"catalog": name, "code": code}})
        elif outcome == _DONE:
            status = replace(status, count=status.count + 1, at=time.time())
            LOGGER.info("compaction ended", extra={"fields": {"catalog": name}})
        self._latest[name] = status
        self.statuses.write(name, status)


def main(arguments: list[str]) -> int:
    """Write one catalog anew, as the process that was started for it."""
    (place,) = arguments
    become_low_priority()
    try:
        print(_DONE if compact_aside(place) else _IN_VAIN)
    except Conflict:
        print(_IN_VAIN)  # somebody else is at it
    except SeekerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
