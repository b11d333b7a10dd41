"""How far a study has come: counts by cell, and nobody's identity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from seeker.stores.sql import SqlStore
from seeker.study.records import FOUND, GAVE_UP
from seeker.study.tables import People
from seeker.study.trials import Trials


@dataclass
class CellCount:
    """One combination of model and strategy.

    overlooked: trials in which the target was on a page and the person went on without it. steps:
    the pages until it was found, all of them where it was not.
    """

    model: str
    strategy: str
    under_way: int = 0
    done: int = 0
    found: int = 0
    gave_up: int = 0
    overlooked: int = 0
    steps: list[int] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        written = asdict(self)
        steps = written.pop("steps")
        written["mean_steps"] = sum(steps) / len(steps) if steps else None
        return written


@dataclass(frozen=True)
class Progress:
    """The whole study. finished: people who have done all their trials."""

    joined: int
    withdrawn: int
    finished: int
    trials: int
    wanted: int
    cells: list[CellCount]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**vars(self), "cells": [cell.to_json() for cell in self.cells]}


def progress(store: SqlStore) -> Progress:
    """Count what has been done."""
    people = People(store)
    design = people.begun()
    cells = {(cell.model, cell.strategy): CellCount(**vars(cell)) for cell in design.cells}
    done: Counter[int] = Counter()
    for model, strategy, person, outcome, pages, overlooked in Trials(store).counts():
        cell = cells[model, strategy]
        if outcome is None:
            cell.under_way += 1
            continue
        done[person] += 1
        cell.done += 1
        cell.found += outcome == FOUND
        cell.gave_up += outcome == GAVE_UP
        cell.overlooked += overlooked
        cell.steps.append(pages if outcome == FOUND else design.steps)
    joined, withdrawn = people.counts()
    return Progress(
        joined,
        withdrawn,
        sum(count >= design.trials for count in done.values()),
        done.total(),
        design.trials * (joined - withdrawn),
        list(cells.values()),
    )


def told(one: Progress) -> Iterator[str]:
    """Yield the lines of a table for the organiser."""
    yield (
        f"{one.joined - one.withdrawn:,} people take part ({one.withdrawn:,} have withdrawn); "
        f"{one.finished:,} have done all their searches."
    )
    yield f"{one.trials:,} of {one.wanted:,} searches are done."
    width = max(len(f"{cell.model} + {cell.strategy}") for cell in one.cells)
    yield f"{'':{width}}  done  under way  found  gave up  overlooked  mean steps"
    for cell in one.cells:
        name = f"{cell.model} + {cell.strategy}"
        share = f"{cell.found / cell.done:5.0%}" if cell.done else "    –"
        steps = f"{sum(cell.steps) / len(cell.steps):10.1f}" if cell.steps else f"{'–':>10}"
        yield (
            f"{name:{width}}  {cell.done:4,}  {cell.under_way:9,}  {share}  {cell.gave_up:7,}  "
            f"{cell.overlooked:10,}  {steps}"
        )
