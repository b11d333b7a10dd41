"""Serving: listen, say where, hang up on who dawdles, and stop without dropping anything."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from seeker.engine import Catalogs
from seeker.errors import BadInput, SeekerError
from seeker.server.app import SETTINGS, create_app
from seeker.server.auth import ApiKeys
from seeker.server.catalogs import join_cluster, watching
from seeker.server.compaction import compacting_by_itself
from seeker.server.connections import BACKLOG
from seeker.server.learning import learning_by_itself
from seeker.server.logging import set_up_logging
from seeker.server.metrics import SHARED
from seeker.server.middleware import AllowedHosts
from seeker.server.placement import SlotListener
from seeker.server.processes import ServerConfig
from seeker.server.service import CLOSING
from seeker.server.settings import Settings
from seeker.stores import MEMORY, open_store

if TYPE_CHECKING:
    from fastapi import FastAPI

_KEEP_ALIVE_SECONDS = 75
"""Seconds that a connection stays open between requests: people think longer than programs."""

_SILENT_WORKER_SECONDS = 15
"""A worker that does not answer its parent for so long is killed, and another one is started.

A worker imports for a second before it can answer. Where a machine is so busy that this takes
longer than it may, no worker would ever serve. The parent hears no signal while it waits.
"""


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
    with tempfile.TemporaryDirectory(prefix="seeker-workers-") as shared:
        os.environ[SHARED] = shared
        os.environ[SETTINGS] = joined.to_json()
        config = server_config(joined, factory, factory=True, workers=joined.workers)
        sockets = [listening]
        if SlotListener.possible(Path(shared)):
            sockets.append(cast(socket.socket, SlotListener(Path(shared), joined.workers)))
        supervisor = Multiprocess(config, sockets=sockets)
        with (
            learning_by_itself(joined),
            compacting_by_itself(joined),
            watching(settings, supervisor.should_exit.set),
        ):
            supervisor.run()


def server_config(settings: Settings, app: FastAPI | str, **more: Any) -> ServerConfig:
    """Return how the web server is set up, however many processes there are."""
    return ServerConfig(
        app,
        request_timeout=settings.request_timeout,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, int(settings.stop_timeout * (1 - CLOSING))),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_worker_healthcheck=_SILENT_WORKER_SECONDS,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        **more,
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, or say in one sentence why nothing can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
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
