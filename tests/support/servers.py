"""What tests of the service share: catalogs and servers; and that these are sound."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from support import forks

TIMEOUT_SECONDS = 120.0
"""Seconds after which something that should happen soon is given up."""
PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    410: "Gone",
    413: "Content Too Large",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    429: "Too Many Requests",
}
"""The titles of problems, by status."""


def until(what: Callable[[], Any], within: float = TIMEOUT_SECONDS) -> Any:
    """Return what a question answers as soon as the answer is a yes."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        answer = what()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"not within {within} s")


def until_answers(url: str, process: subprocess.Popen[Any], log: Path) -> None:
    """Wait for somebody else's server to answer; if it ends before, its log is the reason."""

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return httpx.get(url).status_code == 200
        except httpx.TransportError:
            return False

    until(answers)


class Server:
    """A server in a process of its own."""

    def __init__(self, catalog: Path | str, *flags: str, environment: dict[str, str] | None = None):
        self._command = [sys.executable, "-m", "seeker", "serve", str(catalog), *flags]
        self._environment = {**os.environ, "NUMBA_NUM_THREADS": "1", **(environment or {})}
        # What is read when a process begins must be there then, and workers begin from nothing.
        self._forked = (
            forks.POSSIBLE and not environment and not {"--workers", "--cluster"} & {*flags}
        )
        self.process: subprocess.Popen[str] | forks.Fork | None = None
        self.url = ""
        self.log = Path()

    def limit_descriptors(self, most: int) -> None:
        """Have it run with few descriptors."""
        self._forked = False
        self._command = ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *self._command]

    def start(self, log: Path, port: int = 0) -> Server:
        """Start it and wait until it can be called."""
        self.log = log
        command = [*self._command, "--port", str(port)]
        with log.open("a") as errors:
            if self._forked:
                self.process = forks.fork_seeker(command[3:], self._environment, errors)
            else:
                self.process = subprocess.Popen(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    env=self._environment,
                    start_new_session=True,
                )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("Seeker is at http://"), log.read_text()
        self.url = line.split()[3]
        return self

    def ready(self) -> Server:
        """Wait until it is ready."""

        def answers() -> bool:
            try:
                return httpx.get(f"{self.url}/healthz/ready", timeout=10).status_code == 200
            except httpx.TransportError:
                return False

        until(answers)
        return self

    @contextmanager
    def running(self, log: Path, port: int = 0) -> Iterator[Server]:
        """Start it, wait until it is ready, and stop it in the end."""
        try:
            yield self.start(log, port).ready()
        finally:
            self.stop()

    def client(self) -> httpx.Client:
        """Return a client for its address, to be closed."""
        return httpx.Client(base_url=self.url, timeout=TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill it with all its workers, at once and without warning."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._gone()

    def workers_gone(self) -> bool:
        """Return whether no process is left that could write where it wrote."""
        assert self.process is not None
        assert self.process.stdout is not None
        waiting = select.poll()
        waiting.register(self.process.stdout, 0)  # a hang-up comes without being asked for
        return bool(waiting.poll(0))

    def stop(self) -> int:
        """Ask it to stop, and return its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def _gone(self) -> int:
        assert self.process is not None
        code = self.process.wait(TIMEOUT_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


@contextmanager
def serving(catalog: Path | str, log: Path, *flags: str) -> Iterator[httpx.Client]:
    """Serve a catalog and give a client for its address."""
    with Server(catalog, *flags).running(log) as server, server.client() as client:
        yield client


def tcp_segments(http: httpx.Client, path: str, count: int = 5) -> float:
    """Return in how many pieces an answer comes, over one kept connection, as TCP counts them."""
    if not sys.platform.startswith("linux"):
        pytest.skip("TCP tells its counts on Linux only")
    with httpx.Client(base_url=http.base_url, timeout=TIMEOUT_SECONDS) as client:
        for _ in range(count):
            with client.stream("GET", path) as answer:
                answer.read()
                assert answer.status_code == 200
                line = answer.extensions["network_stream"].get_extra_info("socket")
                told = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
    # tcpi_data_segs_in, see linux/tcp.h
    return float(struct.unpack_from("I", told, 152)[0]) / count


def start(http: httpx.Client, **given: Any) -> dict[str, Any]:
    """Start a session, and return the answer."""
    answer = http.post("/v1/sessions", json=given)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def seeker_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `seeker`, however it ends."""
    command = [sys.executable, "-m", "seeker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)


def seeker_output(*arguments: str) -> str:
    """Run the command `seeker`, which must end well, and return what it printed."""
    command = [sys.executable, "-m", "seeker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def log_lines(log: Path) -> list[dict[str, Any]]:
    """Return the lines of a log."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
