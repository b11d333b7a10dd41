"""Processes of a service for work that is not urgent: at low priority, ended with the service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from seeker.files import atomic_write

_NICENESS = 19

Status = TypeVar("Status")
"""A dataclass that tells how work in a catalog went."""


class StatusFiles(Generic[Status]):
    """A small file for every catalog in a folder that all processes of a service know."""

    def __init__(self, variable: str, status: type[Status]) -> None:
        """variable: of the environment, which names the folder for the time of `kept`."""
        self._variable = variable
        self._status = status

    def read(self) -> dict[str, Status]:
        """Return how work went by catalog, as far as there was any."""
        folder = os.environ.get(self._variable)
        statuses = {}
        for file in sorted(Path(folder).glob("*.json")) if folder else ():
            with suppress(OSError, ValueError, TypeError):
                statuses[file.stem] = self._status(**json.loads(file.read_text(encoding="utf-8")))
        return statuses

    def write(self, catalog: str, status: Status) -> None:
        """Let all who ask know how work in a catalog went."""
        told: Any = status
        file = Path(os.environ[self._variable]) / f"{catalog}.json"
        with atomic_write(file, sync=False) as out:
            out.write(json.dumps(asdict(told)).encode())

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have the folder for the time of a block; processes that are started in it know it."""
        with tempfile.TemporaryDirectory(prefix="seeker-status-") as folder:
            os.environ[self._variable] = folder
            try:
                yield
            finally:
                del os.environ[self._variable]


class LowPriorityProcess:
    """Runs one module of Seeker after the other, each as a process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, module: str, *arguments: str, **environment: str) -> tuple[int, bytes] | None:
        """Return the exit code of a module and what it printed; None if it was stopped.

        environment: what is added to the environment of this process.
        """
        command = [sys.executable, "-m", module, *arguments]
        everything: Mapping[str, str] = {**os.environ, **environment, "NUMBA_NUM_THREADS": "1"}
        with self._lock:
            if self._stopped:
                return None
            # It ends when this pipe does: nobody is left behind by a service that was killed.
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=everything
            )
        output = process.stdout.read() if process.stdout is not None else b""
        code = process.wait()
        if process.stdin is not None:
            process.stdin.close()
        with self._lock:
            self._process = None
            return None if self._stopped else (code, output)

    def stop(self) -> None:
        """End what is under way, and start nothing any more."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()


class Schedule(ABC):
    """Has work done by processes at low priority now and then, from a thread of its own."""

    def __init__(self, name: str) -> None:
        self.process = LowPriorityProcess()
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)

    @abstractmethod
    def run(self) -> None:
        """Do what there is to do until `stopped` is set."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run for the time of a block; what is under way then is published whole, or not."""
        self._thread.start()
        try:
            yield
        finally:
            self.stopped.set()
            self.process.stop()
            self._thread.join()


def become_low_priority() -> None:
    """Make way for everybody else, and end as soon as the process that started this one does."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End as soon as nobody holds the other end of what this process reads from."""
    # Not by sys.stdin: a thread that waits in its buffer breaks the end of the interpreter.
    while os.read(0, 1024):
        pass
    os._exit(1)
