"""Processes as Linux tells of them: their children, processor time and memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    with suppress(OSError):
        # A child is the child of the thread that has started it.
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from process_tree(int(child))


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not fetched does not."""
    try:
        return _stat(pid)[0] not in "ZX"
    except OSError:
        return False


def cpu_seconds(pid: int) -> float:
    """Return how many seconds the cores have worked for a process; 0 where nothing tells of it."""
    try:
        fields = _stat(pid)
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(kind: str, pid: int | None = None) -> int:
    """Return the bytes of memory that a process holds, this one unless another is named.

    kind: as Linux names it. "Anonymous" is what a process has for itself, without mapped files;
    "Pss" is all of it, shared parts divided by how many share them.
    """
    lines = Path(f"/proc/{pid or os.getpid()}/smaps_rollup").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))


def _stat(pid: int) -> list[str]:
    """Return what the system tells of a process after its name, which may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
