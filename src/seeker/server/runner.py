"""Serving: listen, say where, hang up on who dawdles, and stop without dropping anything."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from seeker.engine import Catalogs
from seeker.errors import BadInput, SeekerError
from seeker.server.app import SETTINGS, create_app
from seeker.server.auth import ApiKeys
from seeker.server.catalogs import join_cluster, watching
from seeker.server.compaction import compacting_by_itself
from seeker.server.learning import learning_by_itself
from seeker.server.logging import set_up_logging
from seeker.server.metrics import SHARED
from seeker.server.middleware import AllowedHosts
from seeker.server.service import CLOSING
from seeker.server.settings import Settings
from seeker.stores import MEMORY, open_store

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

_KEEP_ALIVE_SECONDS = 75
"""Seconds that a connection stays open between requests: people think longer than programs."""

_BACKLOG = 2048
_MAX_DESCRIPTORS = 65_536
"""How many descriptors are asked for; the usual 1,024 are few for people who keep connections."""
_OTHER_DESCRIPTORS = 64
"""For files and databases that are opened later."""


class ListenError(SeekerError):
    """The address cannot be used."""


Make: TypeAlias = "Callable[[Settings, Catalogs], FastAPI]"
"""How an application is made of its settings and its open catalogs."""


def serve(
    settings: Settings,
    tell: Callable[[str], None],
    make: Make = create_app,
    factory: str = "seeker.server.app:from_environment",
) -> None:
    """Serve until a signal comes. tell: told the address as soon as it can be called.

    make: how the application is made, and factory: where its worker processes find the same.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    set_up_logging(settings.log_level)
    # Whatever is wrong is said here, once, and not by every worker.
    catalogs, joined = join_cluster(settings, wait=True)
    ApiKeys.read(joined.keys)
    AllowedHosts(joined.host, joined.allowed_host)
    if joined.workers > 1 and joined.store == MEMORY:
        raise SeekerError(
            "Several processes cannot share a store in memory.", "Use --store FILE, or one worker."
        )
    if joined.learn and joined.store == MEMORY:
        raise BadInput(
            "Nothing can be learned from a store in memory.", "Use --store FILE with --learn."
        )
    open_store(joined.store, joined.store_timeouts).close()
    listening = listen(joined.host, joined.port)
    tell(_address(joined.host, listening, joined.root))
    if joined.workers == 1:
        app = make(joined, catalogs)
        app.state.exits = True
        server = uvicorn.Server(server_config(joined, app))
        with (
            learning_by_itself(joined),
            compacting_by_itself(joined),
            watching(settings, lambda: setattr(server, "should_exit", True)),
        ):
            try:
                server.run([listening])
            except SystemExit as end:
                # So uvicorn ends where the application cannot start.
                raise app.state.failure or end from None
        return
    with tempfile.TemporaryDirectory(prefix="seeker-metrics-") as figures:
        os.environ[SHARED] = figures
        os.environ[SETTINGS] = joined.to_json()
        config = server_config(joined, factory, factory=True, workers=joined.workers)
        supervisor = Multiprocess(config, sockets=[listening])
        with (
            learning_by_itself(joined),
            compacting_by_itself(joined),
            watching(settings, supervisor.should_exit.set),
        ):
            supervisor.run()


def server_config(settings: Settings, app: FastAPI | str, **more: Any) -> uvicorn.Config:
    """Return how the web server is set up, however many processes there are."""
    import uvicorn

    from seeker.server.connections import ConnectionLimit, TimeoutProtocol

    most, backlog = connection_room()
    http = partial(
        TimeoutProtocol,
        seconds=settings.request_timeout,
        limit=ConnectionLimit(most, spare=backlog),
    )
    return uvicorn.Config(
        app,
        http=http,  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, int(settings.stop_timeout * (1 - CLOSING))),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        backlog=backlog,
        **more,
    )


def connection_room() -> tuple[int, int]:
    """Return how many connections a process may have, and how many may be accepted at once.

    The descriptors that the system gives a process are for files and databases, too, and a process
    that has none left can neither answer nor say so.
    """
    try:
        import resource
    except ImportError:
        return _MAX_DESCRIPTORS, _BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    room = soft - len(os.listdir("/dev/fd")) - _OTHER_DESCRIPTORS
    backlog = max(1, min(_BACKLOG, room // 16))
    # Connections are accepted before they can be counted and closed a little after they are turned
    # away: up to four turns of the event loop, a backlog in each, and those that are told why.
    return max(1, room - 5 * backlog), backlog


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, or say in one sentence why nothing can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # Names that cannot be looked up have numbers of their own, below zero.
        reason = os.strerror(number) if number and number > 0 else error.args[-1]
        raise ListenError(
            f"Nothing can listen at {host}, port {port} ({reason}).",
            "Choose another with --port; 0 takes any that is free.",
        ) from None
    listening.set_inheritable(True)
    return listening


def _address(host: str, listening: socket.socket, root: str) -> str:
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{root}"
