"""Compaction by itself: in quiet times, in a process of its own at low priority.

Changes of items are written beside what is there. Where many have come together, the process that
listens has all of it written anew, as soon as nobody has changed the catalog for a while; otherwise
whoever makes the change that is one too many would wait for that. Changes and clicks go on
meanwhile: if the catalog is changed before it is done, it was for nothing, and nothing is lost.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from seeker.catalog.build.segments import fullness
from seeker.catalog.build.versions import compact_aside
from seeker.catalog.manifest import MANIFEST_NAME, read_manifest
from seeker.engine.catalogs import catalog_folders
from seeker.errors import Conflict, SeekerError
from seeker.files import atomic_write
from seeker.server.logging import LOGGER
from seeker.server.processes import LowPriorityProcess, become_low_priority
from seeker.server.settings import Settings

STATUS_FOLDER = "SEEKER_COMPACTION_STATUS"

MIN_FULLNESS = 0.5
"""From this part of what may be changed on, a catalog is written anew."""

_MAX_LOOK_SECONDS = 10.0
_DONE, _IN_VAIN = "done", "in vain"


@dataclass(frozen=True)
class CompactionStatus:
    """How often a catalog was written anew, when last, in seconds since 1970, and how often not."""

    count: int = 0
    at: float = 0.0
    failures: int = 0


def compaction_status() -> dict[str, CompactionStatus]:
    """Return how compaction went by catalog, as far as there was any."""
    folder = os.environ.get(STATUS_FOLDER)
    statuses = {}
    for file in sorted(Path(folder).glob("*.json")) if folder else ():
        with suppress(OSError, ValueError, TypeError):
            statuses[file.stem] = CompactionStatus(**json.loads(file.read_text(encoding="utf-8")))
    return statuses


@contextmanager
def compacting_by_itself(settings: Settings) -> Iterator[None]:
    """Write catalogs anew in quiet times for the time of a block, unless the settings forbid it."""
    if not settings.compact_after:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="seeker-compaction-") as folder:
        os.environ[STATUS_FOLDER] = folder
        schedule = _Schedule(settings, Path(folder))
        schedule.start()
        try:
            yield
        finally:
            schedule.stop()
            del os.environ[STATUS_FOLDER]


class _Schedule:
    """Looks at all catalogs now and then."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._places = {
            name: Path(place) for name, place in catalog_folders(settings.catalogs).items()
        }
        self._quiet_seconds = settings.compact_after
        self._folder = folder
        self._statuses = dict.fromkeys(self._places, CompactionStatus())
        self._failed: dict[str, str] = {}
        self._process = LowPriorityProcess()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="seeker-compaction", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End what is under way; nothing of it was published, or all."""
        self._stopped.set()
        self._process.stop()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(min(_MAX_LOOK_SECONDS, self._quiet_seconds)):
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
        ended = self._process.run("seeker.server.compaction", str(place))
        if ended is None:
            return
        code, output = ended
        status, told = self._statuses[name], output.decode("utf-8", "replace").strip()
        if code:
            self._failed[name] = manifest.identity
            status = replace(status, failures=status.failures + 1)
            LOGGER.warning("compaction failed", extra={"fields": {"catalog": name, "code": code}})
        elif told == _DONE:
            status = replace(status, count=status.count + 1, at=time.time())
            LOGGER.info("compaction ended", extra={"fields": {"catalog": name}})
        self._statuses[name] = status
        with atomic_write(self._folder / f"{name}.json", sync=False) as file:
            file.write(json.dumps(asdict(status)).encode())


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
