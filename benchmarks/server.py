"""A real server in a process of its own, to be measured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from seeker.demo import demo_catalog, demo_folder

READY_SECONDS = 120.0
"""Seconds within which a server must be ready."""


@contextmanager
def running_server(
    catalog: Path | str, *flags: str, workers: int = 1, environment: dict[str, str] | None = None
) -> Iterator[tuple[str, int]]:
    """Run `seeker serve` on a free port; give its address and its process id once it is ready."""
    command = [sys.executable, "-m", "seeker", "serve", str(catalog), "--port", "0"]
    command += ["--workers", str(workers), "--rate", "0", "--log-level", "warning", *flags]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    )
    try:
        line = server.stdout.readline() if server.stdout is not None else ""
        if not line.startswith("Seeker is at http://"):
            raise SystemExit("The server does not say where it is.")
        url = line.split()[3]
        _wait_until_ready(url, 5 * workers if workers > 1 else 1)
        yield url, server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


@contextmanager
def demo_server(place: Path, catalog: Path | None = None) -> Iterator[tuple[str, int]]:
    """Serve the built-in catalog, or another, with one thread; place: where sessions are kept."""
    if catalog is None:
        demo_catalog()
    store = str(place / "sessions.sqlite")
    one_thread = {"NUMBA_NUM_THREADS": "1"}
    with running_server(
        str(catalog or f"emoji={demo_folder()}"), "--store", store, environment=one_thread
    ) as url_and_pid:
        yield url_and_pid


def _wait_until_ready(url: str, answers: int) -> None:
    """Wait for so many good answers in a row, so that every worker has most likely given one."""
    ready, end = 0, time.monotonic() + READY_SECONDS
    while ready < answers:
        if time.monotonic() > end:
            raise SystemExit(f"The server was not ready within {READY_SECONDS:g} s.")
        answer = httpx.get(f"{url}/healthz/ready", timeout=60)
        ready = ready + 1 if answer.status_code == 200 else 0
        time.sleep(0.05)
