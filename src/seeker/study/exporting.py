"""A study as rows: those of the lab's runs, and what people add to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seeker.lab.rows import VERSION
from seeker.lab.studies import SOURCE
from seeker.stores.sql import SqlStore
from seeker.study.cells import Cell
from seeker.study.records import Step, Trial
from seeker.study.tables import People
from seeker.study.trials import Trials


def rows(store: SqlStore) -> Iterator[dict[str, Any]]:
    """Yield one row per page of every trial; participants have their random labels only."""
    people, trials = People(store), Trials(store)
    design = people.begun()
    labels = {person.number: person.label for person in people.all()}
    for trial in trials.all():
        if trial.person not in labels:
            continue  # They have withdrawn meanwhile.
        cell = Cell(trial.model, trial.strategy)
        same = {
            "schema": VERSION,
            "version": trial.version,
            "catalog": f"{design.catalog} {design.content}",
            "items": design.items,
            "source": SOURCE,
            "person": SOURCE,
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
    place: dict[str, int] = {trial.target: trial.target_row}
    for step in steps:
        place.update(zip(step.page, step.rows, strict=True))
        clicked = [] if step.item is None else [place[step.item]]
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
