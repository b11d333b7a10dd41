"""What a shard keeps of sessions between questions: as much as fits, the longest unused go."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from seeker.cluster.messages import Lacking, Moment, Supply, Vectors
from seeker.cluster.part import Part
from seeker.cluster.space import PartSpace
from seeker.display import Shortlist
from seeker.display.ranking import ByValue
from seeker.models.scores import Scores
from seeker.models.warm import warm_up

_BESIDES = 16_384


class Held:
    """One session in a shard: its scores, and what it was told of the world outside."""

    def __init__(self, part: Part, moment: Moment) -> None:
        self._part = part
        self.vectors: dict[int, Vectors] = {}
        space = PartSpace(part, moment.model, moment.person, self.vectors)
        self.scores = Scores(moment.model, space)
        # Warming up asks about the first and last rows, which only a space of its own knows.
        warm_up(Scores(moment.model, moment.model.space(part.views, moment.person)))
        self._prior: str | None = None
        self.order: ByValue | None = None
        """The order that was asked for last."""
        self.shortlist: Shortlist | None = None

    def learn(self, moment: Moment, supply: Supply, rows: tuple[int, ...]) -> Lacking | None:
        """Bring the scores to a moment; say what is lacking where that cannot be done yet.

        rows: items whose vectors are needed beside those that the moment speaks of.
        """
        self.vectors.update(supply.vectors)
        unknown = tuple(
            row
            for row in dict.fromkeys((*moment.rows, *rows))
            if row not in self.vectors and row not in self._part.rows
        )
        if moment.prior != self._prior and moment.prior is not None and supply.prior is None:
            return Lacking(prior=True, rows=unknown)
        if unknown:
            return Lacking(rows=unknown)
        if moment.prior != self._prior:
            self.scores.assume(None if supply.prior is None else supply.prior.unpacked())
            self._prior = moment.prior
        self.scores.want(moment.evidence)
        return None

    @property
    def nbytes(self) -> int:
        """About how many bytes this takes."""
        vectors = sum(one.nbytes for many in self.vectors.values() for one in many)
        short = 0 if self.shortlist is None else self.shortlist.nbytes
        return _BESIDES + self.scores.nbytes + vectors + short


class Shelf:
    """Sessions by key; each is lent to one caller at a time."""

    def __init__(self, part: Part, limit: int) -> None:
        self._part = part
        self._limit = limit
        self._guard = threading.Lock()
        self._held: OrderedDict[str, tuple[threading.Lock, Held, int]] = OrderedDict()
        self._bytes = 0

    @contextmanager
    def lend(self, moment: Moment) -> Iterator[Held]:
        """Lend what is kept of a session, or a new beginning."""
        with self._guard:
            lock, held, counted = self._held.pop(moment.key, (None, None, 0))
            if lock is None or held is None:
                lock, held = threading.Lock(), Held(self._part, moment)
            self._held[moment.key] = (lock, held, counted)
        with lock:
            try:
                yield held
            finally:
                self._measure(moment.key, lock, held)

    def _measure(self, key: str, lock: threading.Lock, held: Held) -> None:
        """Count what a session takes now, and drop others where it is too much."""
        bytes = held.nbytes
        with self._guard:
            known = self._held.get(key)
            if known is None or known[1] is not held:
                return  # dropped while it was in use
            self._bytes += bytes - known[2]
            self._held[key] = (lock, held, bytes)
            while self._bytes > self._limit and len(self._held) > 1:
                _, (_, _, gone) = self._held.popitem(last=False)
                self._bytes -= gone

    @property
    def bytes(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._held)
