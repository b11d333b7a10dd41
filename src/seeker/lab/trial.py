"""One simulated search: a person, a target, a searcher, and what happened page by page."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker.catalog import Catalog
from seeker.lab.people import Glance, Person
from seeker.lab.perception import Perception
from seeker.lab.rivals import Feedback, Search, Searcher
from seeker.types import Doubles, Rows

NEAR, FAR = 0.1, 0.5
"""The shares of the catalog that people call near, and not far."""


@dataclass(frozen=True)
class Task:
    """What one search is about: the target's row, the seed, the size and number of pages."""

    target: int
    seed: int
    page_size: int = 12
    pages: int = 15


@dataclass(frozen=True)
class Step:
    """What was so at one page.

    rank: the target's place by score before this page was judged, 1 is best, ties share the
    middle. on_page: whether the target was on the page. claimed: how probable the searcher held
    that to be. likes, dislikes: all clicks so far. page, liked, disliked: rows of the catalog.
    """

    step: int
    rank: float
    on_page: bool
    claimed: float
    likes: int
    dislikes: int
    milliseconds: float
    page: tuple[int, ...]
    liked: tuple[int, ...]
    disliked: tuple[int, ...]


def trial(
    catalog: Catalog, perception: Perception, person: Person, searcher: Searcher, task: Task
) -> list[Step]:
    """Search until the target is on the page or the pages are used up; one step per page.

    After the last page there is one more step, without a page, that holds the final rank.
    """
    rng = np.random.default_rng([task.seed, task.target])
    decoy = int(rng.integers(len(catalog)))
    limits = {row: perception.quantiles(row, (NEAR, FAR)) for row in {task.target, decoy}}
    memory: dict[str, Any] = {}
    steps: list[Step] = []
    likes = dislikes = 0
    began = time.perf_counter()
    search = searcher.begin(catalog, task.page_size, task.seed)
    for number in range(task.pages):
        page = search.page()
        scores, claimed = search.scores(), search.on_page()
        elapsed = 1000.0 * (time.perf_counter() - began)
        rank, found = rank_of(scores, task.target), bool((page == task.target).any())
        feedback, undo = Feedback((), (), tuple(page.tolist())), False
        if not found:
            sought = decoy if person.mistaken(number, task.pages) else task.target
            seen = perception.seen(sought, page, rng)
            near, far = limits[sought]
            reaction = person.react(Glance(seen, near, far, number, task.pages), rng, memory)
            undo = reaction.undo
            feedback = Feedback(
                tuple(int(page[place]) for place in reaction.likes),
                tuple(int(page[place]) for place in reaction.dislikes),
                feedback.shown,
            )
        likes, dislikes = likes + len(feedback.likes), dislikes + len(feedback.dislikes)
        steps.append(
            Step(
                number,
                rank,
                found,
                claimed,
                likes,
                dislikes,
                elapsed,
                feedback.shown,
                feedback.likes,
                feedback.dislikes,
            )
        )
        if found:
            return steps
        began = time.perf_counter()
        _apply(search, feedback, undo)
    final = rank_of(search.scores(), task.target)
    elapsed = 1000.0 * (time.perf_counter() - began)
    steps.append(Step(task.pages, final, False, float("nan"), likes, dislikes, elapsed, (), (), ()))
    return steps


def _apply(search: Search, feedback: Feedback, undo: bool) -> None:
    if undo:
        search.undo()
    search.feedback(feedback)


def rank_of(scores: Doubles, row: int) -> float:
    """Return an item's place by score: 1 is best, ties share the middle place."""
    mine = scores[row]
    return float(np.count_nonzero(scores > mine) + (np.count_nonzero(scores == mine) + 1) / 2)


def targets_of(count: int, targets: int, seed: int) -> Rows:
    """Return different targets drawn evenly from a catalog, (targets,)."""
    rng = np.random.default_rng([seed, count])
    return np.sort(rng.choice(count, min(targets, count), replace=False))
