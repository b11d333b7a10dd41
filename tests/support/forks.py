"""Servers that begin with everything imported: it takes two seconds of a core, and once is enough.

A process imports what a service is made of and then forks whenever a server is asked for. What it
forks does from there on what `python -m seeker` does, in a session of its own. Where a test is
about how a process begins, it starts one from nothing.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

POSSIBLE = sys.platform.startswith("linux")
"""Whether messages can be sent to it whole, with open files."""

ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""What is forked should not have lost threads."""

_MOST_BYTES = 1 << 20

_IMPORTED = (
    *("seeker.cli", "seeker.server.runner", "seeker.study.app", "seeker.stores.sqlite"),
    *(f"seeker.kernels.{name}" for name in ("columns", "likelihood", "noise", "posterior")),
    *("uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl"),
)


class Fork:
    """A process that was forked, as its own parent would see it."""

    def __init__(self, pid: int, stdout: IO[str], told: IO[str]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._told = told
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None as long as it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("seeker", timeout or 0.0)
            self.returncode = int(self._told.readline())
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, if it still runs."""
        self.send_signal(signal.SIGKILL)


def fork_seeker(arguments: Sequence[str], environment: Mapping[str, str], errors: IO[str]) -> Fork:
    """Begin the command `seeker` with some arguments; errors: a file for what it says of them."""
    reading, writing = os.pipe()
    told, telling = os.pipe()
    asked = {"arguments": [*arguments], "environment": {**environment}, "folder": os.getcwd()}
    socket.send_fds(_imported(), [json.dumps(asked).encode()], [writing, errors.fileno(), telling])
    os.close(writing)
    os.close(telling)
    lines = os.fdopen(told)
    return Fork(int(lines.readline()), os.fdopen(reading), lines)


@cache
def _imported() -> socket.socket:
    """Start the process that forks; return how it is asked."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__)), str(there.fileno())],
            pass_fds=[there.fileno()],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _fork_when_asked(asked: socket.socket) -> list[str] | None:
    """Return the arguments of a command, in the process for it; None when nobody asks any more."""
    while True:
        told, files, *_ = socket.recv_fds(asked, _MOST_BYTES, 3)
        if not told:
            return None
        if not os.fork():
            asked.close()
            return _begin(json.loads(told), *files)
        for file in files:
            os.close(file)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _begin(asked: dict[str, Any], output: int, errors: int, telling: int) -> list[str]:
    """Fork once more: the one waits and tells how the other has ended, which returns."""
    pid = os.fork()
    if pid:
        os.close(output)
        os.close(errors)
        os.write(telling, f"{pid}\n".encode())
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(telling, f"{ended}\n".encode())
        os._exit(0)
    os.close(telling)
    os.setsid()
    for file, standard in ((output, 1), (errors, 2)):
        os.dup2(file, standard)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    return list(asked["arguments"])


def _import_everything() -> None:
    """Import what a service imports until it answers, and the parts of it that are compiled."""
    for name in _IMPORTED:
        importlib.import_module(name)


if __name__ == "__main__":
    _import_everything()
    arguments = _fork_when_asked(socket.socket(fileno=int(sys.argv[1])))
    if arguments is not None:
        sys.argv[1:] = arguments
        runpy.run_module("seeker", run_name="__main__", alter_sys=True)
