"""Servers whose pages are looked at, and how long something may take to be on screen."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from support.servers import TIMEOUT_SECONDS, Server

TIMEOUT_MILLISECONDS = 1000 * TIMEOUT_SECONDS
"""Milliseconds after which something that should be on screen is given up."""

FLAGS = ("--rate", "0", "--log-level", "warning")


class Serving(Protocol):
    """Starts servers that stop when the tests are over."""

    def __call__(self, *catalogs: Path | str, flags: tuple[str, ...] = ()) -> Server:
        """Start a server with these catalogs."""
        ...
