"""The engine: catalogs, a store of events and a cache of beliefs, for many people at once."""

from seeker.engine.acting import Moved
from seeker.engine.catalogs import Catalogs
from seeker.engine.engine import Engine
from seeker.engine.pool import Busy, Pool
from seeker.engine.sessions import no_session, no_share
from seeker.engine.shown import Shown, Summary

__all__ = [
    "Busy",
    "Catalogs",
    "Engine",
    "Moved",
    "Pool",
    "Shown",
    "Summary",
    "no_session",
    "no_share",
]
