"""A shard: answers for the rows it holds, exactly, whatever it remembers."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from seeker.cluster.held import Held, Shelf
from seeker.cluster.messages import (
    Above,
    Answer,
    Best,
    Everything,
    Found,
    Lacking,
    LogTotal,
    Moment,
    Probable,
    Question,
    Refresh,
    Shuffled,
    Stopped,
    Supply,
    Weigh,
    Weighed,
)
from seeker.cluster.part import Part
from seeker.display import Scene
from seeker.display.ranking import ByValue
from seeker.models.stopping import Interrupted, Stop, never


class Shard:
    """Some rows of a catalog; safe for any number of threads.

    memory: bytes that may be kept of sessions.
    """

    def __init__(self, part: Part, memory: int = 512_000_000) -> None:
        self.part = part
        self.shelf = Shelf(part, memory)
        self._urgent = 0
        self._guard = threading.Lock()

    def answer(
        self, moment: Moment, supply: Supply, question: Question, given_up: Stop = never
    ) -> Answer | Lacking:
        """Answer a question about a session at a moment, or say what is lacking to do so.

        given_up: whether nobody waits for the answer any longer.
        """
        idle = isinstance(question, Refresh) or question == Weigh(idle=True)
        with self._counted(0 if idle else 1), self.shelf.lend(moment) as held:
            rows = question.page if isinstance(question, Refresh) else ()
            lacking = held.learn(moment, supply, rows)
            if lacking is not None:
                return lacking
            try:
                stop = (lambda: given_up() or self._busy()) if idle else given_up
                return self._answer(held, moment, question, stop)
            except Interrupted:
                return Stopped()

    @contextmanager
    def _counted(self, urgent: int) -> Iterator[None]:
        """Count what somebody waits for."""
        with self._guard:
            self._urgent += urgent
        try:
            yield
        finally:
            with self._guard:
                self._urgent -= urgent

    def _busy(self) -> bool:
        return self._urgent > 0

    def _answer(self, held: Held, moment: Moment, question: Question, stop: Stop) -> Answer:
        scores = held.scores
        match question:
            case Best(width, per_click, count):
                held.order = self._scene(held, moment).ordered(width, per_click)
                return self._first(held.order, count)
            case Shuffled(count):
                return self._first(self._scene(held, moment).shuffled(), count)
            case Probable(width, per_click, log_total, count):
                scene = self._scene(held, moment)
                return self._first(scene.by_probability(width, per_click, log_total), count)
            case LogTotal(so_far):
                found = scores.everywhere(stop)
                if so_far is not None:
                    found = np.concatenate([[so_far], found])
                return float(np.logaddexp.reduce(found))
            case Weigh():
                return _weighed(held, stop)
            case Above(log_total, value):
                logs = scores.everywhere(stop) - log_total
                return int(np.count_nonzero(logs > value)), int(np.count_nonzero(logs == value))
            case Everything():
                return scores.everywhere(stop)
            case Refresh(page):
                scores.settle(stop)
                if held.order is not None:
                    held.shortlist = held.order.shortlist()
                scores.anticipate(moment.evidence, page, stop)
                return None

    def _scene(self, held: Held, moment: Moment) -> Scene:
        rows = self.part.rows
        return Scene(
            scores=held.scores,
            seed=moment.seed,
            step=moment.step,
            page_size=1,
            blank=False,
            clicks={row - rows.first: count for row, count in moment.clicks.items() if row in rows},
            later=tuple(some for some in map(rows.local, moment.later) if len(some)),
            first=rows.first,
            shortlist=held.shortlist,
        )

    def _first(self, order: ByValue, count: int) -> Found:
        rows = order.early(count)
        return Found(rows + self.part.rows.first, order.values(rows))


def _weighed(held: Held, stop: Stop) -> Weighed:
    """Return the shard's part of the belief."""
    scores = held.scores
    logs = scores.everywhere(stop)
    top = float(logs.max())
    if top == -math.inf:
        return Weighed(top, 0.0, 0.0, np.zeros(scores.thetas))
    logs -= top
    likely = logs[logs > -700.0]
    shares = np.exp(likely)
    return Weighed(top, float(shares.sum()), float(shares @ likely), scores.settings(top))
