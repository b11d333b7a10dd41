"""Ray: started on this machine, or found where it runs already."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import tempfile
import warnings
from typing import Any

from seeker.cluster.failures import NoCluster
from seeker.errors import BadInput

LOCAL = "local"
NAMESPACE = "seeker"
STORE_BYTES = 100_000_000
"""Memory for messages on a machine where Seeker starts Ray; shards keep their own."""


def imported() -> Any:
    """Return the module ray; it must not call home, nor leave a token in anybody's home."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise BadInput(
            "A cluster needs the package 'ray'.", 'Install it with: pip install "seeker[cluster]"'
        ) from None
    return ray


def connect(address: str) -> str:
    """Connect this process to a Ray cluster; return an address for others on this machine.

    address: "local" starts one on this machine, which ends with this process; ray://host:10001
    goes through a Ray client server; host:6379 is for processes on a machine of the cluster.
    """
    ray = imported()
    if ray.is_initialized():
        return address
    quiet: dict[str, Any] = {
        "namespace": NAMESPACE,
        "log_to_driver": False,
        "configure_logging": False,
    }
    logging.getLogger("ray").setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if address == LOCAL:
                return _started(ray, quiet)
            ray.init(address=address, **quiet)
    except (ConnectionError, TimeoutError, RuntimeError, ValueError, OSError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise NoCluster(
            f"There is no Ray cluster at {address!r} ({first.rstrip('.')}).",
            "Give --cluster local, ray://HOST:10001, or HOST:6379 on a machine of the cluster.",
        ) from None
    return address


def _started(ray: Any, quiet: dict[str, Any]) -> str:
    """Start Ray on this machine with all it writes in one temporary folder."""
    folder = tempfile.mkdtemp(prefix="seeker-ray-")
    if "RAY_AUTH_TOKEN" not in os.environ and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    context = ray.init(
        address=LOCAL,
        include_dashboard=False,
        object_store_memory=STORE_BYTES,
        _temp_dir=folder,
        **quiet,
    )
    import atexit

    def tidy() -> None:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(tidy)
    return str(context.address_info["gcs_address"])
