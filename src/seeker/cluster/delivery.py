"""Bringing shards on Ray their rows, where they cannot see the catalog's folder."""

from __future__ import annotations

import logging
import secrets
import threading
from typing import Any

from seeker.cluster.connecting import imported
from seeker.cluster.copies import checksum, pieces
from seeker.cluster.part import Part

LOGGER = logging.getLogger("seeker")


class Deliveries:
    """What is on its way to shards; one delivery to each at a time. parts: of all shards."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._under_way: dict[int, threading.Thread] = {}

    def deliver(self, shard: int, actor: Any, seconds: float) -> bool:
        """Bring a shard, which is this actor, its part; return whether that is over in time."""
        with self._lock:
            thread = self._under_way.get(shard)
            if thread is None or not thread.is_alive():
                thread = threading.Thread(
                    target=_send,
                    args=(shard, actor, self._parts[shard]),
                    name="seeker-delivery",
                    daemon=True,
                )
                self._under_way[shard] = thread
                thread.start()
        thread.join(seconds)
        return not thread.is_alive()


def _send(shard: int, actor: Any, part: Part) -> None:
    """Send a shard its rows, piece by piece; whoever asks it next sees whether they came."""
    ray, sender = imported(), secrets.token_hex(8)
    sums = []
    try:
        for piece in pieces(part):
            ray.get(actor.receive.remote(sender, piece))
            sums.append(piece.sha256)
        ray.get(actor.finish.remote(sender, checksum(sums), part.outline))
    except (ray.exceptions.RayError, ConnectionError) as error:
        LOGGER.warning("shard %d was not sent its rows: %s", shard, error)
