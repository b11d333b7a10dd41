"""How a study is conducted: people join, are given one target after the other, and may leave."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from seeker import __version__
from seeker.catalog import Catalog
from seeker.engine import Engine
from seeker.errors import Conflict, NotFound
from seeker.study.design import Design, cell_of, seed_of, target_of
from seeker.study.records import Participant, Trial
from seeker.study.tables import ParticipantTable, TrialTable, digest, tables_of


@dataclass(frozen=True)
class ParticipantProgress:
    """Where a participant is: their trials so far, and how far the last one has come."""

    person: Participant
    trials: list[Trial]
    used: int

    @property
    def current(self) -> Trial | None:
        """The trial that goes on."""
        last = self.trials[-1] if self.trials else None
        return last if last is not None and last.outcome is None else None

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return sum(trial.outcome is not None for trial in self.trials)


class Study:
    """The study over an engine; its tables are in the engine's store."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        store = tables_of(engine.store)
        self.engine = engine
        self.people = ParticipantTable(store)
        self.trials = TrialTable(store)
        self.clock = clock
        self.design: Design = self.people.begun()

    @property
    def catalog(self) -> Catalog:
        """The catalog that is searched."""
        return self.engine.catalogs.get(self.design.catalog)[1]

    def join(self, consented: str) -> tuple[str, ParticipantProgress]:
        """Let somebody take part who consented to a text (its digest); return their key."""
        key, person = self.people.join(consented, self.design.people, self.clock())
        return key, ParticipantProgress(person, [], 0)

    def consent(self) -> tuple[str, str]:
        """Return the consent text and its digest."""
        text = self.people.consent()
        return text, digest(text)

    def standing(self, key: str) -> ParticipantProgress:
        """Return where the holder of a key is."""
        person = self.people.of(key)
        trials = self.trials.of_person(person.number)
        used = max(0, self.trials.last(trials[-1].session)) if trials else 0
        return ParticipantProgress(person, trials, used)

    def next(self, key: str) -> ParticipantProgress:
        """Begin the next trial of a participant, or go on with the one that is not over."""
        standing = self.standing(key)
        if standing.current is not None:
            return standing
        if standing.done >= self.design.trials:
            raise Conflict("You have looked for everything.", "Thank you.")
        trial = self._begun(standing.person.number, standing.done)
        if not self.trials.add(trial):
            # Another tab was faster: its trial is the one.
            self.engine.delete(trial.session)
        return self.standing(key)

    def withdraw(self, key: str) -> None:
        """Delete a participant, their searches and all that was recorded of them."""
        person = self.people.of(key)
        for trial in self.trials.of_person(person.number):
            try:
                self.engine.delete(trial.session)
            except NotFound:
                continue  # It went the first time this was asked for.
        self.people.withdraw(person.number)

    def _begun(self, person: int, number: int) -> Trial:
        design = self.design
        cell = cell_of(design.cells, design.seed, person, number, design.trials)
        row = target_of(design.items, design.seed, person, number, design.trials)
        seed = seed_of(design.seed, person, number)
        model, strategy, repeat = cell.made(design.repeat)
        shown = self.engine.start(
            design.catalog,
            model=model,
            strategy=strategy,
            page_size=design.page_size,
            seed=seed,
            repeat=repeat,
        )
        return Trial(
            shown.id,
            person,
            number,
            self.catalog.ids[row],
            row,
            cell.model,
            cell.strategy,
            seed,
            __version__,
            self.clock(),
        )
