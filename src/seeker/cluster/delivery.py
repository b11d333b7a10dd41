"""Bringing shards on Ray their rows, where they cannot see the catalog's folder."""

from __future__ import annotations

import secrets
import threading
from typing import Any

from seeker.cluster.connecting import imported
from seeker.cluster.copies import checksum, pieces
from seeker.cluster.part import Part
from seeker.cluster.transport import NO_ROWS


class Deliveries:
    """What is on its way to shards; one delivery to each at a time. parts: of all shards."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._under_way: dict[int, Delivery] = {}

    def deliver(self, shard: int, actor: Any, seconds: float) -> str | None:
        """Bring a shard, which is this actor, its part; return why that is not done, or None."""
        with self._lock:
            under_way = self._under_way.get(shard)
            if under_way is None or not under_way.is_alive():
                under_way = Delivery(actor, self._parts[shard])
                self._under_way[shard] = under_way
                under_way.start()
        under_way.join(seconds)
        return NO_ROWS if under_way.is_alive() else under_way.trouble


class Delivery(threading.Thread):
    """Sends a shard its rows, piece by piece; trouble: why that could not be done."""

    def __init__(self, actor: Any, part: Part) -> None:
        super().__init__(name="seeker-delivery", daemon=True)
        self._actor = actor
        self._part = part
        self.trouble: str | None = None

    def run(self) -> None:
        """Send the rows."""
        ray, sender = imported(), secrets.token_hex(8)
        sums = []
        try:
            for piece in pieces(self._part):
                ray.get(self._actor.receive.remote(sender, piece))
                sums.append(piece.sha256)
            ray.get(self._actor.finish.remote(sender, checksum(sums), self._part.outline))
        except ray.exceptions.RayTaskError as error:
            self.trouble = f"it could not keep its part of the catalog: {error.cause}"
        except (ray.exceptions.RayError, ConnectionError) as error:
            self.trouble = f"its part of the catalog did not arrive: {type(error).__name__}"
