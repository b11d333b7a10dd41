"""A study as rows, and how far it has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from seeker.lab.results import SCHEMA_VERSION, STUDY_SOURCE
from seeker.stores.sql import SqlStore
from seeker.study.design import Cell
from seeker.study.records import FOUND, GAVE_UP, Step, Trial
from seeker.study.tables import ParticipantTable, TrialTable


def study_rows(store: SqlStore) -> Iterator[dict[str, Any]]:
    """Yield one row per page of every trial; participants have their random labels only."""
    people, trials = ParticipantTable(store), TrialTable(store)
    design = people.require_design()
    labels = {person.number: person.label for person in people.all()}
    for trial in trials.all():
        if trial.person not in labels:
            continue  # They have withdrawn meanwhile.
        cell = Cell(trial.model, trial.strategy)
        same = {
            "schema": SCHEMA_VERSION,
            "version": trial.version,
            "catalog": f"{design.catalog} {design.content}",
            "items": design.items,
            "source": STUDY_SOURCE,
            "person": STUDY_SOURCE,
            "person_settings": "{}",
            "method": cell.method,
            "method_settings": cell.settings(design.repeat),
            "page_size": design.page_size,
            "pages": design.steps,
            "seed": trial.seed,
            "target": trial.target_row,
            "participant": labels[trial.person],
            "trial": trial.number,
            "outcome": trial.outcome,
            "target_id": trial.target,
        }
        for row in _pages(trial, trials.steps(trial.session)):
            yield {**same, **row}


def _pages(trial: Trial, steps: list[Step]) -> Iterator[dict[str, Any]]:
    likes = dislikes = 0
    row_of: dict[str, int] = {trial.target: trial.target_row}
    for step in steps:
        row_of.update(zip(step.page, step.rows, strict=True))
        clicked = [] if step.item is None else [row_of[step.item]]
        liked = clicked if step.act == "like" else []
        disliked = clicked if step.act == "dislike" else []
        likes, dislikes = likes + len(liked), dislikes + len(disliked)
        yield {
            "step": step.number,
            "rank": step.rank,
            "on_page": step.on_page,
            "claimed": step.claimed,
            "likes": likes,
            "dislikes": dislikes,
            "milliseconds": step.milliseconds,
            "page": list(step.rows),
            "liked": liked,
            "disliked": disliked,
            "found": step.picked(trial.target),
            "overlooked": step.overlooked(trial.target),
            "mistaken": step.mistaken,
            "act": step.act,
            "item": step.item,
            "shown": list(step.shown),
            "seconds": step.seconds,
            "elapsed": step.at - trial.began,
            "page_ids": list(step.page),
        }


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
        counts = asdict(self)
        steps = counts.pop("steps")
        counts["mean_steps"] = sum(steps) / len(steps) if steps else None
        return counts


@dataclass(frozen=True)
class StudyProgress:
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


def count_progress(store: SqlStore) -> StudyProgress:
    """Count what has been done."""
    people = ParticipantTable(store)
    design = people.require_design()
    cells = {(cell.model, cell.strategy): CellCount(**vars(cell)) for cell in design.cells}
    done: Counter[int] = Counter()
    for model, strategy, person, outcome, pages, overlooked in TrialTable(store).counts():
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
    return StudyProgress(
        joined=joined,
        withdrawn=withdrawn,
        finished=sum(count >= design.trials for count in done.values()),
        trials=done.total(),
        wanted=design.trials * (joined - withdrawn),
        cells=list(cells.values()),
    )


def describe_progress(progress: StudyProgress) -> Iterator[str]:
    """Yield the lines of a table for the organiser."""
    yield (
        f"{progress.joined - progress.withdrawn:,} people take part "
        f"({progress.withdrawn:,} have withdrawn); "
        f"{progress.finished:,} have done all their searches."
    )
    yield f"{progress.trials:,} of {progress.wanted:,} searches are done."
    width = max(len(f"{cell.model} + {cell.strategy}") for cell in progress.cells)
    yield f"{'':{width}}  done  under way  found  gave up  overlooked  mean steps"
    for cell in progress.cells:
        name = f"{cell.model} + {cell.strategy}"
        share = f"{cell.found / cell.done:5.0%}" if cell.done else "    –"
        steps = f"{sum(cell.steps) / len(cell.steps):10.1f}" if cell.steps else f"{'–':>10}"
        yield (
            f"{name:{width}}  {cell.done:4,}  {cell.under_way:9,}  {share}  {cell.gave_up:7,}  "
            f"{cell.overlooked:10,}  {steps}"
        )
