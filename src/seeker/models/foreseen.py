"""What the next click can do at most, found out between clicks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from seeker.kernels.parallel import Interrupted, Stop
from seeker.models.base import ClickEffect, Term
from seeker.models.columns import ColumnBatch
from seeker.types import Doubles


@dataclass(frozen=True, eq=False)
class ScoreDropBound:
    """What was found out at a stage; caps: by item and verdict, the most a click adds."""

    stage: frozenset[Term]
    seen: ClickEffect
    caps: Mapping[tuple[int, bool], float]

    def ceiling(self, stage: frozenset[Term], wanted: frozenset[Term]) -> float:
        """Return the most that leads from a stage to what is wanted: 0 where nobody knows."""
        new = wanted - stage
        if stage != self.stage or stage - wanted or not new:
            return 0.0
        click = self.seen.click(list(new))
        return 0.0 if click is None else self.caps.get(click, 0.0)


def drop_bounds(
    seen: ClickEffect,
    rows: Sequence[int],
    asked: ColumnBatch,
    mixture: Doubles,
    parts: Sequence[slice],
    stop: Stop,
) -> dict[tuple[int, bool], float]:
    """Return the most that a like or dislike of each row can add to the score of any item.

    asked: the columns of the rows and of what is judged. mixture: weights of the views, (views,).
    parts: the items, in pieces between which the work may be stopped.
    """
    from seeker.kernels.parallel import over_blocks

    by_row = {probe.row: place for probe, place in asked.places.items()}
    places = [by_row[row] for row in rows]
    sides = [[by_row[row] for row in side] for side in (seen.likes, seen.dislikes)]
    gaps = np.full((2, len(rows)), -np.inf)
    lock = Lock()

    def work(start: int, end: int) -> None:
        columns = asked.columns(np.arange(start, end), slice(start, end))
        mixed = np.tensordot(mixture, columns, 1)
        likes, dislikes = (mixed[side].mean(axis=0) for side in sides)
        found = (dislikes - mixed[places]).max(axis=1), (mixed[places] - likes).max(axis=1)
        with lock:
            np.maximum(gaps, found, out=gaps)

    for part in parts:
        if stop():
            raise Interrupted
        over_blocks(part.stop - part.start, work, part.start)
    return {
        (row, liked): seen.most(float(gap), len(seen.dislikes if liked else seen.likes))
        for liked, line in ((True, gaps[0]), (False, gaps[1]))
        for row, gap in zip(rows, line, strict=True)
    }
