"""What tests do to shards on Ray, and to sessions over them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from seeker import Session
from seeker.cluster import ShardsSilentError
from seeker.cluster.messages import ShardReport
from seeker.cluster.ray_transport import RayShards


def step(both: tuple[Session, Session], n: int) -> None:
    """Do the next of a row of things in two sessions."""
    page = both[0].page().ids
    item = page[n % 12]
    for session in both:
        match n % 5:
            case 3:
                session.undo()
            case 4:
                session.filter({"price": {"lt": 15.0 - n / 5}})
            case _:
                session.click(item, "dislike" if n % 2 else "like", page)


def answers(session: Session) -> bool:
    """Whether all shards answer."""
    try:
        return not session.page().partial
    except ShardsSilentError:
        return False


def pid(shards: RayShards, number: int) -> int:
    """Return the process of a shard."""
    report = shards.reports(60.0)[number]
    assert isinstance(report, ShardReport)
    return report.pid


@contextmanager
def stalled(pid: int) -> Iterator[None]:
    """Let a process stand still."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
