"""The catalogs of a service: searched in this process, or in shards on a cluster."""

from __future__ import annotations

from dataclasses import replace

from seeker.engine import Catalogs
from seeker.server.settings import Settings


def open_catalogs(settings: Settings) -> Catalogs:
    """Open the catalogs that the settings name."""
    return joined(settings)[0]


def joined(settings: Settings, wait: bool = False) -> tuple[Catalogs, Settings]:
    """Open the catalogs; return also the settings with which other processes share the cluster.

    wait: until all shards have their parts.
    """
    if not settings.cluster:
        return Catalogs.open(settings.catalogs), settings
    from seeker.cluster import ClusterCatalog
    from seeker.cluster.opening import Cluster
    from seeker.cluster.opening import wait as wait_for

    cluster = Cluster(
        settings.cluster,
        settings.shards,
        settings.shard_timeout,
        settings.partial_ok,
        settings.belief_cache,
        settings.shard_copies or None,
    )
    catalogs = Catalogs.open(settings.catalogs, cluster.open)
    for name in catalogs.names if wait else ():
        catalog = catalogs.get(name)[1]
        if isinstance(catalog, ClusterCatalog):
            wait_for(catalog)
    return catalogs, replace(settings, cluster=cluster.address)
