"""Ray: started on this machine, or joined where it runs already."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seeker.cluster.fleet import ClusterError
from seeker.errors import BadInput, missing_package

_FOLDER_PREFIX = "seeker-ray-"
_LOCK_FILE = "lock"
MAX_PARENT_CHARACTERS = 18
"""Of the folder around ours: Ray puts sockets inside, whose paths end at 103 on macOS."""


def make_ray_folder(
    max_parent_characters: int = MAX_PARENT_CHARACTERS,
) -> tuple[Path, Callable[[], None]]:
    """Return a new temporary folder, and what removes it."""
    import fcntl

    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > max_parent_characters:
        parent = Path("/tmp")
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=parent))
    lock = (folder / _LOCK_FILE).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()

    return folder, remove


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that are gone."""
    import fcntl

    for lock in parent.glob(f"{_FOLDER_PREFIX}*/{_LOCK_FILE}"):
        try:
            with lock.open("r+") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:
            continue  # its process lives, or it is somebody else's


LOCAL = "local"
NAMESPACE = "seeker"
_CONNECT_SECONDS = 5.0
_WATCH_SECONDS = 0.5
_REQUIRED_PROCESSES = ("raylet", "gcs_server")
"""The processes of Ray without which nothing on this machine is found or started again."""
STORE_BYTES = 100_000_000
"""Memory for messages on a machine where Seeker starts Ray; shards keep their own."""


def import_ray() -> Any:
    """Return the module ray; it must not call home, nor leave a token in anybody's home."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Whoever asks for a shard after Ray has ended would start another, with a token in the home.
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    # Shards answer people: Ray would have everything else on the machine come first.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # Ray would print whatever happens to shards among the lines of our own log, which tells it too.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError:
        raise missing_package("A cluster", "ray", "cluster", BadInput) from None
    return ray


def connect_ray(address: str) -> str:
    """Connect this process to a Ray cluster; return an address for others on this machine.

    address: "local" starts one on this machine, which ends with this process; ray://host:10001
    goes through a Ray client server; host:6379 is for processes on a machine of the cluster.
    """
    if address == LOCAL and not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & set(os.environ):
        # A token of its own, handed down to child processes; Ray would write one to the home.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    ray = import_ray()
    if ray.is_initialized():
        return address if address != LOCAL else str(ray.get_runtime_context().gcs_address)
    quiet: dict[str, Any] = {
        "namespace": NAMESPACE,
        "log_to_driver": False,
        "configure_logging": False,
    }
    logging.getLogger("ray").setLevel(logging.WARNING)
    try:
        with _keep_signal_handlers(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if address == LOCAL:
                return _start_ray(ray, quiet)
            _check_listening(address)
            ray.init(address=address, **quiet)
    except (ConnectionError, TimeoutError, RuntimeError, ValueError, OSError) as error:
        raise ClusterError(
            f"There is no Ray cluster at {address!r} ({_first_line(error)}).",
            "Give --cluster local, ray://HOST:10001, or HOST:6379 on a machine of the cluster.",
        ) from None
    return address


def _first_line(error: Exception) -> str:
    """Return the first line of what Ray says, which goes on for pages, without its full stop."""
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return first.rstrip(".")


@contextmanager
def watch_ray(stop: Callable[[], None]) -> Iterator[None]:
    """While the block runs, see to it that the Ray lives which this process has started.

    Where it has ended, stop is called, and after the block `ClusterError` is raised: Ray cannot be
    started anew in a process whose threads may be asking it something, so whoever watches over the
    process is to start it again.
    """
    over, ended = threading.Event(), list[str]()

    def watch() -> None:
        while not over.wait(_WATCH_SECONDS):
            ended.extend(_dead_processes())
            if ended:
                stop()
                return

    threading.Thread(target=watch, name="seeker-ray-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()
    if ended:
        raise ClusterError(
            f"Ray, which was started on this machine, has ended ({', '.join(ended)}).",
            "Start the service again; nothing that was answered is lost.",
        )


def _dead_processes() -> list[str]:
    """Return the names of Ray's own processes that were started here and have ended."""
    # Ray tells in no public way; where this one goes, nothing is noticed but silent shards.
    node = getattr(import_ray()._private.worker, "_global_node", None)
    dead = getattr(node, "dead_processes", list[tuple[str, object]])
    return [name for name, _ in dead() if name in _REQUIRED_PROCESSES]


def _check_listening(address: str) -> None:
    """Fail at once where nobody listens; Ray itself would go on trying for a minute."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()


@contextmanager
def _keep_signal_handlers() -> Iterator[None]:
    """Keep what this process does at a signal: Ray would have it end without finishing anything.

    Where it would end at once, it ends in order, for there is a folder to tidy up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    if handlers[signal.SIGTERM] == signal.SIG_DFL:
        handlers[signal.SIGTERM] = lambda number, _: sys.exit(128 + number)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _start_ray(ray: Any, quiet: dict[str, Any]) -> str:
    """Start Ray on this machine with all it writes in one temporary folder."""
    import atexit

    folder, remove = make_ray_folder()
    # What is registered last is done first: Ray ends, then the folder goes.
    atexit.register(remove)
    try:
        context = ray.init(
            address=LOCAL,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            _temp_dir=str(folder),
            **quiet,
        )
    except Exception as error:  # Ray has no class of its own for a start that fails
        raise ClusterError(
            f"Ray did not start on this machine ({_first_line(error)}).",
            "It gives up after half a minute: try again when the machine is less busy.",
        ) from None
    atexit.register(ray.shutdown)
    return str(context.address_info["gcs_address"])
