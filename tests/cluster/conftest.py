"""A Ray cluster of several nodes on this machine."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seeker.cluster.ray_runtime import STORE_BYTES, connect_ray, import_ray

# A node that is gone refuses, which is noticed at once; one that is slow is given time.
QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 3,
}


@pytest.fixture(scope="package")
def nodes() -> Iterator[Any]:
    """Run Ray as three machines would, with nothing of it in anybody's home."""
    home = Path.home() / ".ray"
    before = home.exists()
    folder = tempfile.mkdtemp(prefix="sr-")
    set_here = {"RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_TMPDIR": folder}
    os.environ |= {**set_here, "RAY_USAGE_STATS_ENABLED": "0"}
    ray = import_ray()
    from ray.cluster_utils import Cluster as Nodes

    each = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    head = {"_system_config": QUICK, "include_dashboard": False, **each}
    cluster = Nodes(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(**each, include_dashboard=False)
        connect_ray(cluster.address)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
        for name in set_here:
            del os.environ[name]
        shutil.rmtree(folder, ignore_errors=True)
    assert home.exists() == before
