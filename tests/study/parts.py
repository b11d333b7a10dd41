"""What tests of the study share: a design, a clock, what participants do, and a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seeker.engine import Catalogs
from seeker.study.design import Design, content_of
from seeker.study.study import Study
from seeker.study.tables import digest
from support.servers import Server

CONSENT = "You agree."
CATALOG = "shop"

Begin = Callable[..., Study]
"""Begins a study: in a store, with a clock, and with a design that differs as said."""


def design_of(catalogs: Catalogs, **changes: object) -> Design:
    name, catalog = catalogs.get(CATALOG)
    defaults: dict[str, object] = {
        "models": ("pairwise", "choice"),
        "strategies": ("boltzmann", "random"),
        "page_size": 6,
        "steps": 4,
        "trials": 3,
    }
    return Design(name, content_of(catalog), len(catalog), **{**defaults, **changes})  # type: ignore[arg-type]


class Clock:
    """Seconds that pass only when somebody says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def joined(study: Study) -> str:
    return study.join(digest(CONSENT))[0]


def session_of(study: Study, key: str) -> str:
    current = study.next(key).current
    assert current is not None
    return current.session


def target_in(study: Study, id: str) -> str:
    trial = study.trials.by_session(id)
    assert trial is not None
    return trial.target


class StudyServer(Server):
    """A study in a process of its own."""

    def __init__(self, catalog: Path | str, *flags: str) -> None:
        super().__init__(catalog, *flags)
        self._command[3:4] = ["study"]
