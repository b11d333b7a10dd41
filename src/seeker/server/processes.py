"""Processes of a service for work that is not urgent: at low priority, ended with the service."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping

_NICENESS = 19


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
