"""A process that writes changes of a catalog's items for a service.

    python -m seeker.server.change_writer FOLDER

A version is written by Python, and one interpreter does one thing at a time: whoever clicks while
another thread writes gets the interpreter back only after milliseconds, as often as the click lets
go of it. Requests and answers are pickled objects, in pipes that nobody else has.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from seeker.catalog.build.item_changes import ChangeResult, ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.errors import SeekerError

Changed: TypeAlias = tuple[int, list[ChangeResult]]
"""The version of a catalog, and what became of changes of its items."""

_END_SECONDS = 5.0
"""So long a process may take to end when it is told to."""

_WRITER_NICENESS = 5
"""People who click come first."""


class WriterProcessDied(SeekerError):
    """Nobody knows whether the changes were written; made again, they do no harm."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "It is not known whether the changes were written, for who wrote them is gone.",
            "Make them again.",
        )


class WriterProcess:
    """A process that writes changes of one catalog; used by one thread at a time.

    It ends when it is told to, and as soon as the process that started it is gone.
    """

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "seeker.server.change_writer", str(folder.absolute())]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
        self._listens = threading.Event()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="seeker-change-answers", daemon=True).start()

    @property
    def listens(self) -> bool:
        """Whether it has begun to listen."""
        return self._listens.is_set()

    @property
    def ended(self) -> bool:
        """Whether it is there no more."""
        return self._process.poll() is not None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def apply(self, changes: Sequence[ItemChange]) -> Changed:
        """Return the version and what became of the changes; raise what it raised."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(pickle.dumps(changes))
                self._process.stdin.flush()
        except OSError:
            raise WriterProcessDied from None
        answer = self._answers.get()
        if isinstance(answer, Exception):
            raise answer
        changed: Changed = answer
        return changed

    def end(self) -> None:
        """Let it finish what it does, but not for long."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        """Take in all that it says; the last is that it is gone."""
        output = self._process.stdout
        if output is not None:
            with output, suppress(EOFError, OSError, pickle.UnpicklingError):
                pickle.load(output)
                self._listens.set()
                while True:
                    self._answers.put(pickle.load(output))
        self._answers.put(WriterProcessDied())


def main(arguments: list[str]) -> int:
    """Write what is asked for until nobody asks any more."""
    (folder,) = arguments
    for number in (signal.SIGINT, signal.SIGTERM):
        # They are meant for the service, which first has what was asked for done.
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_WRITER_NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nobody else's words may come between the answers

    def answer(value: object) -> None:
        answers.write(pickle.dumps(value))
        answers.flush()

    with suppress(BrokenPipeError):
        answer("listening")
        while True:
            try:
                changes = pickle.load(requests)
            except EOFError:
                break
            try:
                answer(apply_changes(folder, changes))
            except Exception as error:
                answer(_portable(error))
    return 0


def _portable(error: Exception) -> Exception:
    """Return an error as it arrives in another process, or what can be said of it there."""
    try:
        copied = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(repr(error))
    return copied if isinstance(copied, Exception) else RuntimeError(repr(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
