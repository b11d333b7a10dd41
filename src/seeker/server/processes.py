"""Processes of a service: its workers, and others for work that is not urgent; all end with it."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvicorn

from seeker.files import atomic_write

_LOGGER = logging.getLogger("seeker")
_NICENESS = 19
_POLL_SECONDS = 0.1
EXIT_CODE = 7
"""Of a process that was stopped and did not wait any longer for what hung."""

Status = TypeVar("Status")
"""A dataclass that tells how work in a catalog went."""


class StatusFiles(Generic[Status]):
    """A small file for every catalog in a folder that all processes of a service know."""

    def __init__(self, variable: str, status: type[Status]) -> None:
        """variable: of the environment, which names the folder for the time of `shared`."""
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
        fields: Any = status
        file = Path(os.environ[self._variable]) / f"{catalog}.json"
        with atomic_write(file, sync=False) as out:
            out.write(json.dumps(asdict(fields)).encode())

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Have the folder for the time of a block; processes that are started in it know it."""
        with tempfile.TemporaryDirectory(prefix="seeker-status-") as folder:
            os.environ[self._variable] = folder
            try:
                yield
            finally:
                del os.environ[self._variable]


class ServerConfig(uvicorn.Config):
    """How the web server is set up; a worker that is given it ends with its parent from then on.

    Not only once it serves: what it imports first takes seconds, on a busy machine many. For the
    same reason nothing here needs what the service is made of before the worker answers its parent.
    request_timeout: seconds that a request may take to arrive, and an answer to be taken.
    """

    def __init__(self, app: Any, request_timeout: float, **more: Any) -> None:
        super().__init__(app, **more)
        self._request_timeout = request_timeout

    def load(self) -> None:
        """Import the application, and have its connections limited by what this process may."""
        from seeker.server.connections import ConnectionLimit, TimeoutProtocol, connection_room

        most, self.backlog = connection_room()
        limit = ConnectionLimit(most, spare=self.backlog)
        self.http = partial(  # type: ignore[assignment]
            TimeoutProtocol, seconds=self._request_timeout, limit=limit
        )
        with _stopped_at_once():
            super().load()

    def __reduce__(self) -> tuple[Any, ...]:
        return _begin_worker, (os.getpid(), pickle.dumps(self.__dict__))


@contextmanager
def _stopped_at_once() -> Iterator[None]:
    """Let a signal end a worker as long as there is nobody whose answer it would wait for."""
    if multiprocessing.parent_process() is None:
        yield
        return
    graceful = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, graceful)


def _begin_worker(parent: int, state: bytes) -> ServerConfig:
    threading.Thread(
        target=_stop_with_parent, args=(parent,), name="parent-watch", daemon=True
    ).start()
    config = ServerConfig.__new__(ServerConfig)
    vars(config).update(pickle.loads(state))
    return config


worker_serves = threading.Event()
"""Set in a worker that may have begun to answer somebody."""


def _stop_with_parent(pid: int) -> None:
    """Stop this worker as a signal would, when the process that started it is gone.

    A parent that is killed cannot stop its workers, and they would keep the port. The parent holds
    one end of a pipe, which the system closes with it, on Linux and macOS alike. While a process
    still reads how it is to begin, it does not know that pipe yet.
    """
    while (parent := multiprocessing.parent_process()) is None and os.getppid() == pid:
        time.sleep(_POLL_SECONDS)
    if parent is not None:
        parent.join()
    if not worker_serves.is_set():
        os._exit(EXIT_CODE)
    _LOGGER.warning("parent process gone")
    os.kill(os.getpid(), signal.SIGTERM)


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


class Schedule(ABC, Generic[Status]):
    """Has work done by processes at low priority now and then, from a thread of its own.

    statuses: where all who ask can read how it went, as long as it runs.
    """

    def __init__(self, name: str, statuses: StatusFiles[Status]) -> None:
        self.statuses = statuses
        self.process = LowPriorityProcess()
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)

    @abstractmethod
    def run(self) -> None:
        """Do what there is to do until `stopped` is set."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run for the time of a block; what is under way then is published whole, or not."""
        with self.statuses.shared():
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
