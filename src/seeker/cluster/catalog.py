"""A catalog whose vectors are searched by shards; in all else, a catalog like any other."""

from __future__ import annotations

from seeker.catalog import Catalog
from seeker.cluster.finder import ShardFinder
from seeker.cluster.fleet import Fleet
from seeker.kernels.parallel import Stop, never
from seeker.session import Start
from seeker.session.rows import RowIndex

START_SECONDS = 120.0
"""How long shards may take to start and to have their rows sent."""


class ClusterCatalog(Catalog):
    """Items, filters and keyword search here at the front; distances and scores in shards."""

    fleet: Fleet

    @classmethod
    def over(cls, catalog: Catalog, fleet: Fleet) -> ClusterCatalog:
        """Return a catalog with its rows searched by shards that were made for it."""
        same = cls(
            catalog._collection,
            catalog.views,
            catalog._readers,
            catalog.folder,
            catalog.manifest,
            catalog.maps,
        )
        same._stamp = catalog._stamp
        same.fleet = fleet
        return same

    def finder(self, start: Start, rows: RowIndex) -> ShardFinder:
        """Return what computes order and belief for a session, by asking the shards."""
        return ShardFinder(self, start, rows)

    def preload(self, stop: Stop = never) -> None:
        """Shards compute their own distances; nothing is shared here."""

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until all shards have their part of the catalog."""
        self.fleet.wait_until_ready(seconds)
