"""The engine: catalogs, a store of events and a cache of beliefs, for many people at once."""

from seeker.engine.catalogs import Catalogs
from seeker.engine.commands import StaleStepError
from seeker.engine.engine import Engine
from seeker.engine.repository import no_session, no_share
from seeker.engine.snapshot import BeliefSummary, SessionSnapshot
from seeker.engine.workers import BusyError, WorkerPool

__all__ = [
    "BeliefSummary",
    "BusyError",
    "Catalogs",
    "Engine",
    "SessionSnapshot",
    "StaleStepError",
    "WorkerPool",
    "no_session",
    "no_share",
]
