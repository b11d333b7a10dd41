"""Questions to the shards about one moment of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from seeker.cluster.fleet import Fleet
from seeker.cluster.known import Known
from seeker.cluster.messages import Question
from seeker.models.stopping import Stop

Kind = TypeVar("Kind")


class Inquiry:
    """Asks all shards about one moment, and remembers whether any of them was silent.

    silent: some answers are missing, so whatever was made of the others is not the whole truth.
    """

    def __init__(self, fleet: Fleet, known: Known) -> None:
        self._fleet = fleet
        self._known = known
        self.silent = False

    def ask(
        self,
        question: Question,
        kind: type[Kind],
        whole: bool = False,
        stop: Stop | None = None,
    ) -> list[Kind]:
        """Return the answers of the shards in order; whole, stop: see `Fleet.ask`."""
        answers, silent = self._fleet.ask(self._known, question, kind, whole=whole, stop=stop)
        self.silent |= bool(silent)
        return [answers[shard] for shard in sorted(answers)]

    def chain(self, question: Callable[[float | None], Question]) -> float:
        """Return a number that the shards make one after the other, each from the one before."""
        found: float | None = None
        for shard in range(len(self._fleet)):
            answers, silent = self._fleet.ask(self._known, question(found), float, among=[shard])
            self.silent |= bool(silent)
            found = answers.get(shard, found)
        return float("-inf") if found is None else found
