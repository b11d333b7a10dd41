"""Seeker finds the thing a person has in mind but cannot put into words."""

from seeker import display, models
from seeker.catalog import Catalog, build
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.session import PAPER, Belief, Explanation, Item, Page, Session

__version__ = "0.1.0"

__all__ = [
    "PAPER",
    "BadInput",
    "Belief",
    "Catalog",
    "Conflict",
    "Explanation",
    "Item",
    "NotFound",
    "Page",
    "SeekerError",
    "Session",
    "build",
    "display",
    "models",
]
