"""A search by one person: clicks in, pages out."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from seeker import display, models
from seeker.errors import BadInput
from seeker.models.base import Evidence, Judged, Said, Spoken
from seeker.models.checks import check_number
from seeker.models.scores import Interrupted, Scores, never
from seeker.models.warm import warm_up
from seeker.numbers import numbers
from seeker.session import events as log
from seeker.session.belief import Belief
from seeker.session.checks import (
    check_count,
    check_filter,
    check_page_size,
    check_prior,
    check_seed,
    check_user,
)
from seeker.session.events import (
    REPEATS,
    Click,
    Event,
    Explore,
    Found,
    Narrow,
    Redo,
    Repeat,
    Say,
    Start,
    Undo,
    Unsay,
    Verdict,
)
from seeker.session.explanation import Explanation, Share
from seeker.session.page import Page
from seeker.session.searchable import Searchable
from seeker.session.state import State, after, fold
from seeker.session.whereabouts import Whereabouts
from seeker.types import Array, Doubles, Floats, Rows


class PaperSetting(TypedDict):
    """The keywords of the paper's own setting."""

    model: models.Model
    strategy: display.Strategy
    page_size: int
    repeat: Repeat


PAPER: PaperSetting = {
    "model": models.Pairwise(alpha=1.0, scale="raw"),
    "strategy": display.Boltzmann(score="log", first="ranked"),
    "page_size": 12,
    "repeat": "always",
}
"""The setting of the paper's experiment: catalog.session(**PAPER)."""

MOST_EXPLORATION = 100.0
KEPT_BELIEF = 1_000_000
"""Up to so many items a belief is kept until the next click; beyond, while somebody holds it."""

_SAMPLE = 256
_PER_ITEM = 8


class Session:
    """One search by one person: an append-only log of events, and what follows from it."""

    def __init__(self, catalog: Searchable, events: Iterable[Event]) -> None:
        """Open the session that these events make up; `Session.begin` starts a new one."""
        self.catalog = catalog
        self._events = list(events)
        self._state = fold(self._events)
        self._names = tuple(catalog.views)
        self._rows = Whereabouts(catalog)
        start = self._state.start
        person = None if isinstance(start.user, str) else start.user
        self._assumed = self._assumption()
        self._scores = self._scored(person, self._rows.departed(self._events))
        self._belief: Callable[[], Belief | None] | None = None
        self._order: display.Ranking | None = None
        self._displayed: tuple[display.Ranking, list[str]] | None = None
        warm_up(self._scores)
        self._show()

    @classmethod
    def begin(
        cls,
        catalog: Searchable,
        *,
        model: str | models.Model = models.DEFAULT,
        strategy: str | display.Strategy = display.DEFAULT,
        page_size: int = 12,
        seed: int = 0,
        prior: object = None,
        filter: Mapping[str, Any] | None = None,
        user: object = None,
        repeat: Repeat = "never",
    ) -> Session:
        """Start a search; see `Catalog.session`."""
        if repeat not in REPEATS:
            raise BadInput(f"repeat is {repeat!r}, but it must be 'never', 'unrated' or 'always'.")
        start = Start(
            model=models.named(model),
            strategy=display.named(strategy),
            page_size=check_page_size(page_size),
            seed=check_seed(seed),
            prior=check_prior(prior, len(catalog)),
            filter=filter,
            user=check_user(user, catalog.views),
            repeat=repeat,
        )
        return cls(catalog, [start])

    @classmethod
    def replay(cls, catalog: Searchable, events: Iterable[Event | Mapping[str, Any]]) -> Session:
        """Return the session that these events, or their JSON, make up: the same to the bit."""
        return cls(
            catalog,
            [log.from_json(event) if isinstance(event, Mapping) else event for event in events],
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened, first things first."""
        return tuple(self._events)

    @property
    def state(self) -> State:
        """What the events amount to."""
        return self._state

    @property
    def step(self) -> int:
        """How many events in effect have changed the belief."""
        return self._state.step

    @property
    def likes(self) -> list[str]:
        """The ids of the liked items, in the order of the clicks."""
        return self._state.likes

    @property
    def dislikes(self) -> list[str]:
        """The ids of the disliked items, in the order of the clicks."""
        return self._state.dislikes

    @property
    def nbytes(self) -> int:
        """How many bytes this session keeps; they can be dropped and rebuilt by a replay."""
        prior = self._scores.log_prior
        return self._scores.nbytes + (0 if prior is None else prior.nbytes)

    @property
    def asked_bytes(self) -> int:
        """About how many bytes a ranking takes that was asked for: they are not in nbytes."""
        return _PER_ITEM * len(self.catalog)

    def page(self) -> Page:
        """Return the items on display."""
        page = self.more(0, self._state.start.page_size)
        self._displayed = None if page.partial else (self._ranking, page.ids)
        return page

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        for name, value, least in (("offset", offset, 0), ("limit", limit, 1)):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise BadInput(
                    f"{name} is {value!r}, but it must be a whole number of at least {least}."
                )
        rows = self._head(int(offset) + int(limit))[offset:].tolist()
        items = tuple(self.catalog.items(rows))
        self._rows.learn((item.id for item in items), rows)
        return Page(items, self.step, int(offset), int(limit), self._ranking.total)

    def like(self, item: str, shown: Sequence[str] | None = None) -> None:
        """Say that an item is like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "like", shown)

    def dislike(self, item: str, shown: Sequence[str] | None = None) -> None:
        """Say that an item is not like the one looked for; shown: what was on screen (the page)."""
        self.click(item, "dislike", shown)

    def clear(self, item: str) -> None:
        """Take back the verdict on an item."""
        self.click(item, "clear", ())

    def click(self, item: str, verdict: Verdict, shown: Sequence[str] | None = None) -> None:
        """Give a verdict on an item; the clicked item counts as shown, too."""
        log.check_verdict(verdict)
        if verdict != "clear" or item not in self._state.ratings:
            self._rows.of(item)
        on_screen = self._on_display(item) if shown is None else self._checked(shown)
        self._append(Click(str(item), verdict, tuple(on_screen)))

    def say(self, text: str | Array | Sequence[float], view: str | None = None) -> None:
        """Give feedback in words, or as a vector r in a view (the first one unless named).

        Words are placed in a view that reads text; where there is none, they are searched for.
        """
        if isinstance(text, str):
            if not text.strip():
                raise BadInput("There are no words to read.", "Say something in words.")
            if not self.catalog.reads_text:
                self._append(Say(text))
                return
            name, vector = self.catalog.embed_text(text)
        else:
            name = self._names[0] if view is None else view
            if name not in self._names:
                known = list(self._names)
                raise BadInput(f"There is no view {name!r}.", f"The catalog has {known}.")
            vector = numbers("The vector", text, self.catalog.views[name].dimensions)
            if not np.isfinite(vector).all():
                raise BadInput("The vector must hold finite numbers.")
            text = ""
        self._append(Say(text, name, tuple(map(float, vector))))

    def unsay(self, text: str) -> None:
        """Let words no longer count: a text, or the words that the session began with."""
        self._append(Unsay(str(text)))

    def narrow(self, filter: Mapping[str, Any] | None) -> None:
        """Show only items that pass a filter from now on, or all again; clicks go on counting."""
        self._append(Narrow(check_filter(filter)))

    def explore(self, level: float) -> None:
        """Explore so many times as much as usual from now on: 1 is usual, 0 the best only."""
        check_number("level", level, 0.0)
        if level > MOST_EXPLORATION:
            raise BadInput(f"level is {level!r}, but it can be at most {MOST_EXPLORATION:g}.")
        self._state.start.strategy.bolder(level)
        self._append(Explore(float(level)))

    def found(self, item: str) -> None:
        """Say that this is the item looked for."""
        self._rows.of(item)
        self._append(Found(str(item)))

    @property
    def target(self) -> str | None:
        """The id of the item that was found, if it was."""
        return self._state.target

    def undo(self, count: int = 1) -> None:
        """Take back the last events that are still in effect."""
        self._append(Undo(check_count(count)))

    def redo(self, count: int = 1) -> None:
        """Bring back what was undone last, as long as nothing else has happened since."""
        self._append(Redo(check_count(count)))

    def take(self, event: Event) -> None:
        """Take in an event that another copy of this session has had."""
        if isinstance(event, Click):
            self.click(event.item, event.verdict, event.shown)
        else:
            self._append(event)

    def refresh(self, stop: Callable[[], bool] = never) -> None:
        """Bring all bounds up to date, between clicks: the next page is cheaper, not different.

        stop: asked every so often; once it says so, `Interrupted` is raised, and nothing is lost.
        """
        self._scores.settle(stop)
        if self._scores.strained:
            rows = self._head(self._state.start.page_size).tolist()
            self._scores.foresee(self._evidence(), rows, stop)

    def prepare(self, stop: Callable[[], bool] = never) -> Belief | None:
        """Do in advance what the next page and a look at the belief need; None if it was stopped.

        The belief that is returned is `self.belief`, kept for as long as somebody holds it.
        """
        try:
            self.refresh(stop)
            return self._believed(stop)
        except Interrupted:
            return None

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self._believed(never)

    def _believed(self, stop: Callable[[], bool]) -> Belief:
        belief = None if self._belief is None else self._belief()
        if belief is None:
            state, happened = self._state, tuple(self._events)

            def then() -> Session:
                """Return the session as it is now, also when it has moved on."""
                return self if self._state is state else Session(self.catalog, happened)

            belief = Belief(
                self._scores.everywhere(stop),
                self._names,
                self._scores.grid,
                lambda log_total: then()._scores.settings(log_total),
                lambda: then()._head(state.start.page_size),
                self.catalog.row,
            )
            kept = belief
            few = len(self.catalog) <= KEPT_BELIEF
            self._belief = (lambda: kept) if few else weakref.ref(belief)
        return belief

    def lighten(self, columns: bool = False) -> None:
        """Let go of this step's belief, and of columns kept for later clicks; no result changes."""
        self._belief = None
        if columns:
            self._scores.store.clear()

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        row, evidence, scores = self.catalog.row(item), self._evidence(), self._scores
        sample = np.linspace(0, scores.count - 1, min(scores.count, _SAMPLE)).astype(np.int64)
        rows = np.concatenate([[row], sample])
        terms = scores.model.terms(evidence, scores.space)
        said = [term for term in terms if isinstance(term, Said)]
        clicked = [term for term in terms if not isinstance(term, Said)]
        shares = scores.model.shares(evidence, clicked, lambda some: scores.values(some, rows))
        text = float(scores.values(said, rows[:1])[0, 0] - scores.grid.log_weights[0])
        prior = 0.0 if scores.log_prior is None else float(scores.log_prior[row])
        return Explanation(
            item=str(item),
            score=float(scores.at(rows[:1])[0]),
            prior=prior,
            text=text,
            clicks=tuple(
                Share(
                    item=rating.item,
                    verdict="like" if rating.liked else "dislike",
                    log_likelihood=float(share[0]),
                    pull=float(share[0] - share[1:].mean()),
                )
                for rating, share in zip(self._state.ratings.values(), shares, strict=True)
            ),
        )

    def _scored(
        self, person: Mapping[str, Doubles] | None, departed: Sequence[Mapping[str, Floats]]
    ) -> Scores:
        """Return the scores of all items: before any evidence, but with the prior."""
        model = self._state.start.model
        space = model.space(list(self.catalog.views.values()), person, departed)
        return Scores(model, space, self._log_prior())

    def _append(self, event: Event) -> None:
        """Take an event into the log, or leave everything as it was."""
        before = self._state
        self._state = after(before, event)
        try:
            self._show()
        except BaseException:
            self._state = before
            self._show()
            raise
        self._events.append(event)

    def _show(self) -> None:
        """Make belief and ranking those of the present state; nothing is computed yet."""
        assumed = self._assumption()
        if assumed != self._assumed:
            self._scores.assume(self._log_prior())
            self._assumed = assumed
        self._scores.want(self._evidence())
        self._belief = None
        self._order = None

    @property
    def _ranking(self) -> display.Ranking:
        """The order of all items at this step."""
        if self._order is None:
            strategy, level = self._state.start.strategy, self._state.exploration
            bold = strategy if level == 1.0 else strategy.bolder(level)
            self._order = bold.rank(self._scene())
        return self._order

    def _head(self, count: int) -> Rows:
        return self._ranking.head(min(count, self._ranking.total))

    def _scene(self) -> display.Scene:
        state, row = self._state, self._rows.of
        rated = {row(item) for item in state.ratings}
        later: list[set[int]] = []
        if state.start.repeat == "never":
            later.append(set(self._rows.of_known(state.seen)) - rated)
        if state.start.repeat != "always":
            later.append(rated)
        prior = self._scores.log_prior
        groups = [np.array(sorted(group), np.int64) for group in later if group]
        groups = [rows[rows < len(self.catalog)] for rows in groups]
        if prior is not None:
            groups = [rows[prior[rows] > -np.inf] for rows in groups]
        return display.Scene(
            scores=self._scores,
            seed=state.start.seed,
            step=state.step,
            page_size=state.start.page_size,
            blank=state.blank and state.exploration == 1.0,
            clicks={
                row(item): count
                for item, count in state.clicks.items()
                if self._rows.known(item) and row(item) < len(self.catalog)
            },
            later=tuple(rows for rows in groups if len(rows)),
        )

    def _evidence(self) -> Evidence:
        row, of_known = self._rows.of, self._rows.of_known
        return Evidence(
            clicks=tuple(
                Judged(row(one.item), one.liked, tuple(of_known(one.among)))
                for one in self._state.ratings.values()
            ),
            texts=tuple(
                Spoken(self._names.index(said.view), said.vector)
                for said in self._state.texts
                if said.view is not None
            ),
        )

    def _on_display(self, item: str) -> list[str]:
        """Return the ids of the page given out last if it holds the item, else of this step's page.

        Who clicks on several items of a page before asking for the next one still looks at it.
        """
        if self._displayed is not None:
            ranking, ids = self._displayed
            if item in ids or ranking is self._ranking:
                return ids
        return self.more(0, self._state.start.page_size).ids

    def _checked(self, shown: Sequence[str]) -> list[str]:
        if isinstance(shown, str):
            raise BadInput("shown is a single word, but it must be a list of item ids.")
        for item in shown:
            self._rows.of(item)
        return [str(item) for item in shown]

    def _assumption(self) -> tuple[str | None, tuple[str, ...], Mapping[str, Any] | None]:
        """Return what the prior depends on: the query, words searched for, and the filter."""
        state = self._state
        said = tuple(text.text for text in state.texts if text.view is None)
        return state.query, said, state.filter

    def _log_prior(self) -> Doubles | None:
        """Return the log-prior of this moment, (items,), or None where all is open."""
        given = self._state.start.prior
        prior = None if isinstance(given, str) else given
        if prior is not None and prior.shape != (len(self.catalog),):
            raise BadInput(
                f"The session's prior has {prior.size} numbers for {len(self.catalog)} items.",
                "Open the session with the catalog it was made with.",
            )
        query, said, kept = self._assumption()
        for words in said if query is None else (query, *said):
            prior = self.catalog.keyword_prior(words) + (0.0 if prior is None else prior)
        if kept:
            passing = self.catalog.matching(kept)
            prior = np.where(passing, 0.0 if prior is None else prior, -np.inf)
            if not np.isfinite(prior).any():
                raise BadInput("No item passes the filter.", "Loosen it, or leave it out.")
        return None if prior is None else np.asarray(prior - np.logaddexp.reduce(prior))
