"""Serving: listen, say where, and stop without dropping what is under way."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from seeker.engine import Catalogs
from seeker.errors import SeekerError
from seeker.server.app import SETTINGS, create_app
from seeker.server.keys import Keys
from seeker.server.logs import set_up
from seeker.server.metrics import SHARED
from seeker.server.opening import joined, watching
from seeker.server.settings import Settings
from seeker.stores import open_store
from seeker.stores.opening import MEMORY

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

_FINISH = 30
_THINKING = 75
"""Seconds that a connection stays open between requests: people think longer than programs."""

_BACKLOG = 2048


class CannotListen(SeekerError):
    """The address cannot be used."""

    title = "The address cannot be used"


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

    # Whatever is wrong is said here, once, and not by every worker.
    given = settings
    catalogs, settings = joined(given, wait=True)
    Keys.read(settings.keys)
    if settings.workers > 1 and settings.store == MEMORY:
        raise SeekerError(
            "Several processes cannot share a store in memory.", "Use --store FILE, or one worker."
        )
    open_store(settings.store, settings.store_timeouts).close()
    listening = listen(settings.host, settings.port)
    set_up(settings.log_level)
    tell(_address(settings.host, listening))
    if settings.workers == 1:
        app = make(settings, catalogs)
        server = uvicorn.Server(server_config(settings, app))
        with watching(given, lambda: setattr(server, "should_exit", True)):
            server.run([listening])
        return
    with tempfile.TemporaryDirectory(prefix="seeker-metrics-") as figures:
        os.environ[SHARED] = figures
        os.environ[SETTINGS] = settings.to_json()
        config = server_config(settings, factory, factory=True, workers=settings.workers)
        supervisor = Multiprocess(config, sockets=[listening])
        with watching(given, supervisor.should_exit.set):
            supervisor.run()


def server_config(settings: Settings, app: FastAPI | str, **more: Any) -> uvicorn.Config:
    """Return how the web server is set up, however many processes there are."""
    import uvicorn

    from seeker.server.connections import PunctualProtocol

    return uvicorn.Config(
        app,
        http=partial(PunctualProtocol, seconds=settings.request_timeout),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_FINISH,
        timeout_keep_alive=_THINKING,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        backlog=_BACKLOG,
        **more,
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, or say in one sentence why nothing can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # Names that cannot be looked up have numbers of their own, below zero.
        reason = os.strerror(number) if number and number > 0 else error.args[-1]
        raise CannotListen(
            f"Nothing can listen at {host}, port {port} ({reason}).",
            "Choose another with --port; 0 takes any that is free.",
        ) from None
    listening.set_inheritable(True)
    return listening


def _address(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
