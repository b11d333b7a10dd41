"""What follows from a session's state: the order of the items, and what is believed of them.

A session keeps the log and takes what a person does; its finder computes. There are two kinds: one
that holds scores of all items itself (`local_finder`), and one that asks shards (`seeker.cluster`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker import display
from seeker.display.base import RankingInputs
from seeker.errors import BadInput
from seeker.kernels.parallel import Stop, never
from seeker.models.base import ClickEvidence, Evidence, TextEvidence
from seeker.models.scores import ItemScores
from seeker.models.warmup import warm_up
from seeker.models.words import WordsTerm
from seeker.session.belief import Belief
from seeker.session.explanation import Explanation, explain_item
from seeker.session.protocol import SearchableCatalog
from seeker.session.rows import RowIndex, SeenItems
from seeker.session.state import Rating, State
from seeker.session.validation import view_of
from seeker.session.words import Say, words_term
from seeker.types import Doubles, Rows


@dataclass(frozen=True)
class PriorInputs:
    """What of a state the prior depends on: keywords, and what must hold of items.

    words: only those of sessions in which they are no terms.
    """

    words: tuple[str, ...]
    filter: Mapping[str, Any] | None


def prior_inputs(state: State) -> PriorInputs:
    """Return what of a state makes its prior; as long as it is the same, so is the prior."""
    words = [one.text for one in state.texts if one.view is None and one.search is None]
    if state.query is not None and state.start.query is None:
        words.insert(0, state.query)
    return PriorInputs(tuple(words), state.filter)


def log_prior(
    catalog: SearchableCatalog, base: Doubles | None, inputs: PriorInputs
) -> Doubles | None:
    """Return the log-prior, (items,), or None where all is open.

    base: log-probabilities that the session began with, (items,).
    """
    if base is not None and base.shape != (len(catalog),):
        raise BadInput(
            f"The session's prior has {base.size} numbers for {len(catalog)} items.",
            "Open the session with the catalog it was made with.",
        )
    prior = base
    for words in inputs.words:
        prior = catalog.keyword_prior(words) + (0.0 if prior is None else prior)
    for filter in (catalog.only, inputs.filter):
        if filter:
            passing = catalog.matching(filter)
            prior = np.where(passing, 0.0 if prior is None else prior, -np.inf)
            if not np.isfinite(prior).any():
                raise BadInput(
                    "No item passes the filter.",
                    catalog.filter_hint(filter),
                    code="nothing-passes",
                )
    return None if prior is None else np.asarray(prior - np.logaddexp.reduce(prior))


@dataclass(frozen=True, eq=False)
class RankingHead:
    """The first items of a ranking of `total` items, by row.

    partial: part of the catalog could not be asked, so better items may be missing.
    """

    rows: Rows
    total: int
    partial: bool = False


class Finder(ABC):
    """Order and belief of all items of a catalog, in one state of a session after another.

    It must follow a state before it is asked anything, and little is computed before it is asked
    for. scores: under the model of the session, before anything is known.
    """

    _state: State

    def __init__(self, catalog: SearchableCatalog, rows: RowIndex, scores: ItemScores) -> None:
        self._catalog = catalog
        self._rows = rows
        self._scores = scores
        self._prior_inputs: PriorInputs | None = None
        self._focus: Mapping[str, float] = {}
        self._evidence = Evidence()
        self._click_evidence: dict[str, tuple[Rating, bool, ClickEvidence]] = {}
        self._words: dict[int, tuple[Say, WordsTerm]] = {}
        self._seen = SeenItems(rows)
        self._order: display.Ranking | None = None
        self._later: tuple[Rows, ...] | None = None
        warm_up(scores)

    def follow(self, state: State) -> None:
        """Be about this state from now on. If that fails, follow the state before again."""
        inputs = prior_inputs(state)
        if inputs != self._prior_inputs:
            self._scores.set_prior(log_prior(self._catalog, state.start.prior_array, inputs))
            self._prior_inputs = inputs
        if state.focus != self._focus:
            self._scores.set_focus(self._focus_factors(state))
            self._focus = state.focus
        self._evidence = self._evidence_of(state)
        self._scores.condition_on(self._evidence)
        self._seen.follow(state)
        self._state = state
        self._order = self._later = None
        self.release_caches()

    def move_to(self, catalog: SearchableCatalog) -> bool:
        """Go on in a version of the catalog with the same items and vectors, if that can be.

        Return whether it can; if not, or if something is raised, nothing has changed.
        """
        return False

    def head(self, count: int) -> RankingHead:
        """Return the first items of the ranking, (count,) or fewer at the end of the catalog."""
        ranking = self._ranking
        return RankingHead(ranking.head(min(count, ranking.total)), ranking.total)

    @abstractmethod
    def believe(self, stop: Stop = never) -> Belief:
        """Return what is believed now; it stays that of this moment, whatever comes."""

    @abstractmethod
    def refresh(self, stop: Stop) -> None:
        """Do in advance what the next page needs; `Interrupted` is raised if it was stopped."""

    def prepare(self, stop: Stop) -> Belief:
        """Do in advance what the next page and a look at the belief need; stop: as for refresh."""
        self.refresh(stop)
        return self.believe(stop)

    def look_ahead(self, stop: Stop) -> None:  # noqa: B027
        """After `prepare`, find the pages that the next click can lead to, where that is quick."""

    @abstractmethod
    def release_caches(self, columns: bool = False) -> None:
        """Let go of the belief, and of columns kept for later clicks; no result changes."""

    @property
    def spare_bytes(self) -> int:
        """How many of the bytes that are kept are quickly there again."""
        return 0

    def release_sums(self) -> None:  # noqa: B027
        """Let go of these; no result changes."""

    @property
    def pending_work(self) -> float:
        """About how many multiplications it takes to bring all items up to date after a replay."""
        return self._scores.pending_work

    def catch_up_in_pieces(self, between: Callable[[], None]) -> None:  # noqa: B027
        """Compute what many pending clicks need, some at a time; between: called after each."""

    @property
    def quick(self) -> bool:
        """Whether the next page takes a millisecond or so, whatever is clicked."""
        return False

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        row, ratings = self._catalog.row(item), self._state.ratings.values()
        return explain_item(str(item), row, self._scores, self._evidence, ratings)

    @property
    def nbytes(self) -> int:
        """How many bytes are kept here; they can be dropped and computed again."""
        return self._scores.nbytes + sum(term.matches.nbytes for term in self._evidence.words)

    @property
    @abstractmethod
    def ranking_bytes(self) -> int:
        """About how many bytes a ranking takes while it is computed: they are not in nbytes."""

    @property
    def _ranking(self) -> display.Ranking:
        """The order of all items in this state."""
        if self._order is None:
            self._order = self._ranked(self._context())
        return self._order

    def _ranked(self, context: display.RankingContext) -> display.Ranking:
        """Return the order of all items at a moment, by the strategy of this state."""
        strategy, level = self._state.start.strategy, self._state.exploration
        return (strategy if level == 1.0 else strategy.with_exploration(level)).rank(context)

    @abstractmethod
    def _context(self) -> display.RankingContext:
        """Return the moment that is ranked."""

    def _ranking_inputs(self) -> RankingInputs:
        """Return what of this state its ranking depends on."""
        state, items = self._state, len(self._catalog)
        return RankingInputs(
            seed=state.start.seed,
            step=state.step,
            page_size=state.start.page_size,
            blank=state.blank and state.exploration == 1.0,
            liked=any(rating.liked for rating in state.ratings.values()),
            clicks={row: count for row, count in self._seen.clicks.items() if row < items},
            later=self._later_items(),
        )

    def _focus_factors(self, state: State) -> tuple[float, ...] | None:
        """Return by how much each view matters more than usual, (views,), None: as usual.

        A learned view is a mixture of others, so it matters by what these do, each by its share.
        """
        if not state.focus:
            return None
        factors = []
        for name in self._catalog.views:
            factor = state.focus.get(name, 1.0)
            for part, share in self._catalog.view_shares(name).items():
                factor *= state.focus.get(part, 1.0) ** share
            factors.append(factor)
        return tuple(factors)

    def _later_items(self) -> tuple[Rows, ...]:
        """Return the items that come after all others, in groups: first the seen, then the judged.

        Only those that are in the catalog and that the prior does not rule out.
        """
        if self._later is None:
            self._later = self._group_later_items()
        return self._later

    def _group_later_items(self) -> tuple[Rows, ...]:
        state, row = self._state, self._rows.of
        rated = {row(item) for item in state.ratings}
        groups: list[set[int]] = []
        if state.start.repeat == "never":
            groups.append(self._seen.rows - rated)
        if state.start.repeat != "always":
            groups.append(rated)
        prior = self._scores.log_prior
        later = []
        for group in groups:
            rows = np.fromiter(group, np.int64, len(group))
            rows.sort()
            rows = rows[rows < len(self._catalog)]
            later.append(rows if prior is None else rows[prior[rows] > -np.inf])
        return tuple(rows for rows in later if len(rows))

    def _over(self) -> Rows:
        """Return the items that have been seen and do not come again before all others have."""
        return np.concatenate([np.empty(0, np.int64), *self._later_items()])

    def _evidence_of(self, state: State) -> Evidence:
        """Return what the person has said so far, by rows and views of the catalog."""
        before, self._click_evidence = self._click_evidence, {}
        worded = any(text.search is not None for text in state.texts)
        for item, rating in state.ratings.items():
            entry = before.get(item)
            if entry is None or entry[0] is not rating or entry[1] != worded:
                entry = rating, worded, self._evidence_of_click(rating, worded)
            self._click_evidence[item] = entry
        return Evidence(
            clicks=tuple(click for _, _, click in self._click_evidence.values()),
            texts=tuple(
                TextEvidence(view_of(self._catalog, text), tuple(text.vector))
                for text in state.texts
                if text.view is not None and text.search is None
            ),
            words=self._words_of(state),
        )

    def _words_of(self, state: State) -> tuple[WordsTerm, ...]:
        """Return what the words that are searched for say of the items of the catalog."""
        before, self._words = self._words, {}
        for text in state.texts:
            if text.search is None:
                continue
            term = before.get(id(text), (None, None))[1]
            self._words[id(text)] = text, term or words_of(self._catalog, text)
        return tuple(term for _, term in self._words.values())

    def _evidence_of_click(self, rating: Rating, worded: bool) -> ClickEvidence:
        """Return a click by rows of the catalog; worded: whether words are searched for, too."""
        row = self._rows.of(rating.item)
        others = sorted({*self._rows.of_known(rating.among)} - {row})
        sample = rating.example
        if sample is None:
            return ClickEvidence(row, rating.liked, (row, *others))
        # Of a sample that nobody saw, what has left the catalog since need not be remembered.
        inside = [other for other in others if other < len(self._catalog)]
        decoys = self._rows.decoys(row, inside, sample.distance)
        doubt = sample.doubt if worded else 0.0
        return ClickEvidence(row, rating.liked, (row, *decoys), sample.times, doubt)


def words_of(catalog: SearchableCatalog, text: Say) -> WordsTerm:
    """Return what words that are searched for say of the items of a catalog."""
    if text.search is None:
        raise ValueError("these words are not searched for")
    view = None if text.view is None else view_of(catalog, text)
    return words_term(catalog, text.search, view, text.vector)
