"""By how much the next click lowers all scores at least, found out before it.

Where scores lie close together, a click lowers all of them by nearly the same amount, so that
bounds from before it hardly tell items apart. The next click is nearly always a verdict on an item
of the page: for each of these, one number for all items is found in one reading of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from seeker.kernels import EXACT
from seeker.kernels.parallel import Interrupted, Stop, over_blocks
from seeker.models.base import Evidence, Term, is_text
from seeker.models.evaluator import ColumnBatch, ScoreEvaluator
from seeker.space.columns import DistanceProbe
from seeker.types import Doubles


@dataclass(frozen=True, eq=False)
class ClickEffect:
    """What the next click can do at most, as a model knows it.

    likes, dislikes: what is judged now. most(gap, count): the most that a click can add to any
    score if, at every item, the mean distance to what is judged the other way exceeds the clicked
    item's (for a dislike: falls short of it) by no more than the gap; count: how many are judged
    the other way. click(terms): the clicked item and whether it was liked, as new terms tell.
    """

    likes: tuple[int, ...]
    dislikes: tuple[int, ...]
    most: Callable[[float, int], float]
    click: Callable[[Sequence[Term]], tuple[int, bool] | None]


@dataclass(frozen=True, eq=False)
class ScoreDropBound:
    """What clicks on some items add at most to any score of a stage; caps: by item and verdict."""

    stage: frozenset[Term]
    effect: ClickEffect
    caps: Mapping[tuple[int, bool], float]

    def between(self, stage: frozenset[Term], terms: frozenset[Term]) -> float:
        """Return the most that leads from a stage to the terms that count: 0 where nobody knows."""
        new = {term for term in terms - stage if not is_text(term)}  # words only lower scores
        if stage != self.stage or stage - terms or not new:
            return 0.0
        click = self.effect.click(list(new))
        return 0.0 if click is None else self.caps.get(click, 0.0)


def find_drop_bound(
    evaluator: ScoreEvaluator,
    evidence: Evidence,
    rows: Sequence[int],
    parts: Sequence[slice],
    stop: Stop,
) -> ScoreDropBound | None:
    """Return what a click on one of some items adds at most, if the model knows.

    evidence: that of the terms that count. parts: the items, in pieces between which the work may
    be stopped.
    """
    effect = evaluator.model.click_effect(evidence)
    if effect is None or not evaluator.space.fast:
        return None
    if max(map(evaluator.depth, evaluator.terms), default=0.0) > EXACT:
        return None  # what such terms add is less than the formula says
    gaps = _largest_gaps(evaluator, effect, rows, parts, stop)
    caps = {
        (row, liked): effect.most(gap, len(effect.dislikes if liked else effect.likes))
        for liked, side in ((True, gaps[0]), (False, gaps[1]))
        for row, gap in zip(rows, side.tolist(), strict=True)
    }
    return ScoreDropBound(evaluator.terms, effect, caps)


def _largest_gaps(
    evaluator: ScoreEvaluator,
    effect: ClickEffect,
    rows: Sequence[int],
    parts: Sequence[slice],
    stop: Stop,
) -> Doubles:
    """Return the largest gaps over all items at a like and at a dislike of each row, (2, rows)."""
    probes = map(DistanceProbe, [*rows, *effect.likes, *effect.dislikes])
    batch = ColumnBatch(evaluator.space, evaluator.store, probes)
    by_row = {probe.row: place for probe, place in batch.places.items()}
    places = [by_row[row] for row in rows]
    sides = [[by_row[row] for row in side] for side in (effect.likes, effect.dislikes)]
    mixture = evaluator.grid.mixtures[0]
    gaps = np.full((2, len(rows)), -np.inf)
    lock = Lock()

    def work(start: int, end: int) -> None:
        columns = batch.columns(np.arange(start, end), slice(start, end))
        mixed = np.tensordot(mixture, columns, 1)
        likes, dislikes = (mixed[side].mean(axis=0) for side in sides)
        largest = (dislikes - mixed[places]).max(axis=1), (mixed[places] - likes).max(axis=1)
        with lock:
            np.maximum(gaps, largest, out=gaps)

    for part in parts:
        if stop():
            raise Interrupted
        over_blocks(part.stop - part.start, work, part.start)
    return gaps
