"""Seeker finds the thing a person has in mind but cannot put into words."""

from typing import TYPE_CHECKING, Any

from seeker import display, models
from seeker.catalog import Catalog
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.session import PAPER, Belief, Explanation, Item, Page, Session

if TYPE_CHECKING:
    from seeker.catalog.build.api import build
    from seeker.catalog.build.update import remove, update
    from seeker.client import Client
    from seeker.learning.learn import learn
    from seeker.notebook import widget

__version__ = "0.1.0"

__all__ = [
    "PAPER",
    "BadInput",
    "Belief",
    "Catalog",
    "Client",
    "Conflict",
    "Explanation",
    "Item",
    "NotFound",
    "Page",
    "SeekerError",
    "Session",
    "build",
    "display",
    "learn",
    "models",
    "remove",
    "update",
    "widget",
]


def __getattr__(name: str) -> Any:
    """Load what builds catalogs or talks over the network only for those who ask for it."""
    if name == "Client":
        from seeker.client import Client

        return Client
    if name == "build":
        from seeker.catalog.build.api import build

        return build
    if name in ("remove", "update"):
        from seeker.catalog.build import update as updates

        return getattr(updates, name)
    if name == "learn":
        from seeker.learning.learn import learn

        return learn
    if name == "widget":
        from seeker.notebook import widget

        return widget
    raise AttributeError(f"module 'seeker' has no attribute {name!r}")
