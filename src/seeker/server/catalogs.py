"""The catalogs of a service: searched in this process, or in shards on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from seeker.engine import Catalogs
from seeker.engine.cache import LEAST_CACHE_BYTES
from seeker.server.settings import Settings

if TYPE_CHECKING:
    from seeker.cluster import FleetHealth


def open_catalogs(settings: Settings) -> Catalogs:
    """Open the catalogs that the settings name."""
    return join_cluster(settings)[0]


def join_cluster(settings: Settings, wait: bool = False) -> tuple[Catalogs, Settings]:
    """Open the catalogs; return also the settings with which other processes share the cluster.

    wait: until all shards have their parts.
    """
    if not settings.cluster:
        return Catalogs.open(settings.catalogs), settings
    from seeker.cluster import ClusterCatalog
    from seeker.cluster.cluster import Cluster

    cluster = Cluster(
        settings.cluster,
        settings.shards,
        settings.shard_timeout,
        settings.partial_ok,
        settings.belief_cache or LEAST_CACHE_BYTES,
        settings.shard_copies or None,
    )
    catalogs = Catalogs.open(settings.catalogs, cluster.open, cluster.renew)
    for name in catalogs.names if wait else ():
        catalog = catalogs.get(name)[1]
        if isinstance(catalog, ClusterCatalog):
            catalog.wait_until_ready()
    return catalogs, replace(settings, cluster=cluster.address)


def watching(settings: Settings, stop: Callable[[], None]) -> AbstractContextManager[None]:
    """Return what watches over the cluster that this process starts by itself, if it does.

    Where that ends, stop is called, and after the block an error says so.
    """
    if not settings.cluster:
        return nullcontext()
    from seeker.cluster import ray_runtime

    return ray_runtime.watch_ray(stop) if settings.cluster == ray_runtime.LOCAL else nullcontext()


def shard_health(catalogs: Catalogs) -> dict[str, FleetHealth]:
    """Return how the shards of each catalog are, by its name, of those that have any."""
    from seeker.cluster import ClusterCatalog

    served = [catalogs.get(name) for name in catalogs.names]
    return {
        name: catalog.fleet.health()
        for name, catalog in served
        if isinstance(catalog, ClusterCatalog)
    }
