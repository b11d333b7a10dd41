"""A server of the built-in catalog, for what is measured and shown in the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seeker.demo import demo_catalog, demo_folder
from support.servers import Server


@contextmanager
def served(place: Path) -> Iterator[str]:
    """Serve the built-in catalog on a free port; place: where its sessions and its log are kept."""
    demo_catalog()
    store = str(place / "sessions.sqlite")
    flags = ("--store", store, "--rate", "0", "--log-level", "warning")
    server = Server(f"emoji={demo_folder()}", *flags).start(place / "log")
    try:
        yield server.ready().url
    finally:
        server.stop()
