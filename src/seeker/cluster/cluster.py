"""A cluster to search catalogs in: joined once per process, shared by all that is served."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future

from seeker.catalog import Catalog
from seeker.cluster.finder import ClusterCatalog
from seeker.cluster.fleet import Fleet
from seeker.cluster.ray_runtime import connect_ray
from seeker.cluster.ray_transport import RayShards
from seeker.engine.catalogs import warm
from seeker.errors import BadInput


class Cluster:
    """Shards on Ray.

    address: see `connect_ray`. shards: into how many each catalog is split. seconds: how long to
    wait for a shard. partial_ok: answer from those that do answer, and say so. memory: bytes that
    each shard may keep of sessions. copies: a folder on the shards' machines for parts of catalogs
    whose folder they do not see. idle: seconds after which a shard that nobody asks ends.
    """

    def __init__(
        self,
        address: str,
        shards: int = 2,
        seconds: float = 10.0,
        partial_ok: bool = False,
        memory: int = 512_000_000,
        copies: str | None = None,
        idle: float = 600.0,
    ) -> None:
        self.address = connect_ray(address)
        """Where others on this machine find the same cluster."""
        self._shards = shards
        self._seconds = seconds
        self._partial_ok = partial_ok
        self._memory = memory
        self._copies = copies
        self._idle = idle
        self._lock = threading.Lock()
        self._latest: dict[str, Fleet] = {}
        self._renewals: dict[str, Future[ClusterCatalog]] = {}

    def open(self, folder: str | os.PathLike[str]) -> ClusterCatalog:
        """Open a catalog folder; its shards are found, or begin to start."""
        return self._put_in_use(folder, self._open(folder))

    def renew(self, folder: str | os.PathLike[str]) -> ClusterCatalog | None:
        """Return the present version of a catalog folder once all shards have their parts of it.

        Until then, None: it is opened aside, which takes as long as it takes to send the rows.
        """
        name = os.fspath(folder)
        with self._lock:
            opening = self._renewals.get(name)
            if opening is None:
                opening = self._renewals[name] = Future()
                threading.Thread(
                    target=self._open_aside,
                    args=(folder, opening),
                    name="seeker-renewal",
                    daemon=True,
                ).start()
            if not opening.done():
                return None
            del self._renewals[name]
        return self._put_in_use(folder, opening.result())

    def _open(self, folder: str | os.PathLike[str]) -> ClusterCatalog:
        catalog = Catalog.open(folder)
        return ClusterCatalog.over(catalog, self._fleet(catalog))

    def _put_in_use(
        self, folder: str | os.PathLike[str], catalog: ClusterCatalog
    ) -> ClusterCatalog:
        """Return a catalog after letting go of the shards of the version before.

        Sessions that nobody looks at any more may hold that one for days; they must not keep its
        shards alive. Whoever does ask these still has an answer.
        """
        with self._lock:
            before = self._latest.get(os.fspath(folder))
            self._latest[os.fspath(folder)] = catalog.fleet
        if before is not None:
            before.close()
        return catalog

    def _open_aside(self, folder: str | os.PathLike[str], opening: Future[ClusterCatalog]) -> None:
        """Open a catalog folder and warm its shards up; whoever asks next is told how it went."""
        try:
            catalog = self._open(folder)
            catalog.wait_until_ready()
            warm(catalog)
        except Exception as error:
            opening.set_exception(error)
        else:
            opening.set_result(catalog)

    def _fleet(self, catalog: Catalog) -> Fleet:
        if catalog.folder is None or catalog.manifest is None:
            raise BadInput("Only a catalog in a folder can be searched by shards on Ray.")
        transport = RayShards(
            catalog.views,
            catalog.manifest.identity,
            self._shards,
            str(catalog.folder.resolve()),
            memory=self._memory,
            idle=self._idle,
            copies=self._copies,
        )
        return Fleet(transport, self._seconds, self._partial_ok)
