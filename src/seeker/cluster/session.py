"""A session over shards: the same events, the same pages, computed where the items are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from seeker.cluster.belief import MergedBelief
from seeker.cluster.fleet import Known, Told
from seeker.cluster.messages import Found, Moment, Question, Refresh
from seeker.cluster.prior import Prior
from seeker.cluster.scene import FrontScene
from seeker.cluster.scores import FrontScores
from seeker.cluster.space import front_space
from seeker.models.scores import Interrupted, Stop, never
from seeker.session import Belief, Event, Page, Session, State
from seeker.types import Doubles, Floats, Rows

if TYPE_CHECKING:
    from seeker.cluster.catalog import ClusterCatalog

Kind = TypeVar("Kind")


class ClusterSession(Session):
    """One search by one person, over a catalog whose items are in shards.

    The front knows the events and reads the few vectors that were clicked or shown; whatever has
    to do with all items is asked of the shards.
    """

    catalog: ClusterCatalog
    _scores: FrontScores

    def __init__(self, catalog: ClusterCatalog, events: Iterable[Event]) -> None:
        self._fleet = catalog.fleet
        self._missing: frozenset[int] = frozenset()
        self._merged: tuple[State, MergedBelief] | None = None
        super().__init__(catalog, events)

    def _scored(
        self,
        person: Mapping[str, Doubles] | None,
        departed: Sequence[Mapping[str, Floats]],
    ) -> FrontScores:
        model = self._state.start.model
        space = front_space(list(self.catalog.views.values()), model, person, departed)
        self._person = person
        self._key = _key(self._state.start.seed, model, person, departed)
        self._told = Told(space)
        return FrontScores(model, space, self._log_prior())

    def _log_prior(self) -> Prior | None:  # type: ignore[override]
        logs = super()._log_prior()
        return None if logs is None else Prior(logs, self._fleet.ranges)

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        page = super().more(offset, limit)
        return replace(page, partial=True) if self._missing else page

    def refresh(self, stop: Stop = never) -> None:
        """Bring all bounds up to date, between clicks: the next page is cheaper, not different."""
        page = self._head(self._state.start.page_size)
        if stop():
            raise Interrupted
        self._ask(self._now(), Refresh(tuple(page.tolist())), object)

    @property
    def nbytes(self) -> int:
        """How many bytes this session keeps at the front."""
        prior = self._scores.log_prior
        return 0 if prior is None else prior.nbytes

    @property
    def asked_bytes(self) -> int:
        """About how many bytes a belief and a ranking take that were asked for: the shards' do."""
        return 0

    def prepare(self, stop: Stop = never) -> Belief | None:
        """Do in advance what the next page and a look at the belief need; None if it was stopped.

        Shards stop it as soon as anything else is asked of them.
        """
        try:
            self.refresh(stop)
            belief = self._believed(stop)
            belief.weigh(stop)
        except Interrupted:
            return None
        return belief

    def lighten(self, columns: bool = False) -> None:
        """Let go of this step's belief; no result changes."""
        self._merged = None

    def _believed(self, stop: Stop) -> MergedBelief:
        if self._merged is None or self._merged[0] is not self._state:
            now, ranking = self._now(), self._ranking
            size = min(self._state.start.page_size, ranking.total)
            belief = MergedBelief(
                self._scores.then(),
                self._names,
                lambda question, whole: self._ask(now, question, object, whole)[0],
                lambda: ranking.head(size),
                self.catalog.row,
            )
            self._merged = self._state, belief
        return self._merged[1]

    def _head(self, count: int) -> Rows:
        self._missing = frozenset()
        rows = super()._head(count)
        if self._missing:
            self._order = None  # the next look may find all shards there again
        return rows

    def _scene(self) -> FrontScene:
        scene = super()._scene()
        view = self._now(scene.clicks, scene.later)

        def ask(question: Question) -> tuple[list[Found], bool]:
            return self._ask(view, question, Found)

        return FrontScene.of(scene, ask, lambda question: self._chain(view, question))

    def _now(self, clicks: Mapping[int, int] | None = None, later: tuple[Rows, ...] = ()) -> Known:
        """Return what shards must know of this moment."""
        prior = self._scores.log_prior
        moment = Moment(
            key=self._key,
            model=self._scores.model,
            person=self._person,
            evidence=self._scores.evidence,
            rows=self._scores.rows,
            prior=None if prior is None else prior.name,
            seed=self._state.start.seed,
            step=self._state.step,
            clicks=clicks or {},
            later=later,
        )
        return Known(moment, prior, self._told)

    def _ask(
        self, known: Known, question: Question, kind: type[Kind], whole: bool = False
    ) -> tuple[list[Kind], bool]:
        """Return the answers of the shards that have answered, and whether all have."""
        answers, silent = self._fleet.ask(known, question, kind, whole=whole)
        self._missing |= silent
        if silent:
            self._merged = None  # the next look may find all shards there again
        return [answers[shard] for shard in sorted(answers)], not silent

    def _chain(self, known: Known, question: Callable[[float | None], Question]) -> float:
        """Return a number that the shards make one after the other."""
        found: float | None = None
        for shard in range(len(self._fleet)):
            answers, silent = self._fleet.ask(known, question(found), float, among=[shard])
            found = answers.get(shard, found)
            self._missing |= silent
        return float("-inf") if found is None else found


def _key(
    seed: int,
    model: object,
    person: Mapping[str, Doubles] | None,
    departed: Sequence[Mapping[str, Floats]],
) -> str:
    """Return a name for what a shard keeps of a session; other fronts find it, too."""
    digest = hashlib.sha256(repr((seed, model)).encode())
    for one in ([] if person is None else [person], departed):
        for by_view in one:
            for name in sorted(by_view):
                digest.update(repr((name, by_view[name].shape)).encode())
                digest.update(by_view[name].tobytes())
    return digest.hexdigest()[:32]
