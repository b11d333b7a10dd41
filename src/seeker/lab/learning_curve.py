"""Found against past searches: people search, the system learns, others are searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker import display, models
from seeker.catalog import Catalog
from seeker.catalog.view_map import LinearMap
from seeker.errors import BadInput
from seeker.lab.baselines import Seeker
from seeker.lab.baselines.seeker import KnownPerson, PersonalSeeker
from seeker.lab.metrics import Estimate, leader_board
from seeker.lab.outcomes import Outcomes
from seeker.lab.perception import Crowd, who_searches
from seeker.lab.simulate import BATCH_SEARCHES, Batch, Experiment, Task, draw_targets
from seeker.learning.calibration import calibrated, trials_of
from seeker.learning.fit import Learned, ViewSample, fit
from seeker.learning.observations import Observations
from seeker.learning.personal import personal_prior
from seeker.learning.proof import hold_aside
from seeker.learning.searches import OpenSearch, PastClick, PastSearch
from seeker.models import Choice
from seeker.types import Rows

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = (0, 100, 300, 1000, 3000, 10_000)
"""Numbers of past searches that a curve is usually drawn over."""

_PAST_SEED = 7_000_003
"""Past searches have seeds of their own."""

_OWN_SEED = 9_000_011
"""So have the searches of people who come back."""

_METHOD = re.compile(r"(?P<name>.*) after (?P<count>[\d,]+) searches")
_OWN_METHOD = re.compile(r"(?P<name>.*), after (?P<count>[\d,]+) searches of one's own")

OWN_PRIOR, OWN_EYES = "one's own prior of θ", "and one's own eyes"
"""Ways to know people who come back."""


@dataclass(frozen=True, eq=False)
class PastSearches(Experiment):
    """Searches that were served before: `count` of them, by all people in turn.

    Their targets are drawn from what the experiment itself does not search for, with seeds of
    their own. The first searches of a larger count are those of a smaller one. Batches come by
    people in turn, so that all have searched about as often when a run is stopped.
    """

    count: int = 0

    def batches(self) -> Iterator[Batch]:
        others, size, every = _others(self), self.page_sizes[0], len(self.people)
        draw = [np.random.default_rng([_PAST_SEED, place]) for place in range(every)]
        counts = [len(range(place, self.count, every)) for place in range(every)]
        rows = [rng.choice(others, mine).tolist() for rng, mine in zip(draw, counts, strict=True)]
        for start in range(0, max(counts, default=0), BATCH_SEARCHES):
            for place, person in enumerate(self.people):
                tasks = tuple(
                    Task(row, _PAST_SEED * (place + 1) + number, size, self.pages)
                    for number, row in enumerate(rows[place][start : start + BATCH_SEARCHES], start)
                )
                for name, searcher in self.searchers.items():
                    if tasks:
                        yield Batch(name, searcher, person, tasks)


@dataclass(frozen=True, eq=False)
class OwnSearches(Experiment):
    """Searches that the people of a crowd have made before: each `count` of them in each habit."""

    count: int = 0

    def batches(self) -> Iterator[Batch]:
        assert isinstance(self.perception, Crowd)
        others, size = _others(self), self.page_sizes[0]
        for place, person in enumerate(self.people):
            rng = np.random.default_rng([_OWN_SEED, place])
            for seeds in own_seeds(place, len(self.perception.people), self.count):
                rows = rng.choice(others, self.count).tolist()
                tasks = zip(rows, seeds, strict=True)
                every = tuple(Task(row, seed, size, self.pages) for row, seed in tasks)
                for name, searcher in self.searchers.items():
                    yield Batch(name, searcher, person, every)


def own_seeds(place: int, people: int, count: int) -> list[list[int]]:
    """Return by person of a crowd the seeds of their first searches; place: of the habit."""
    seeds: list[list[int]] = [[] for _ in range(people)]
    seed = _OWN_SEED * (place + 1)
    while min(map(len, seeds)) < count:
        mine = seeds[who_searches(seed, people)]
        if len(mine) < count:
            mine.append(seed)
        seed += 1
    return seeds


def _others(experiment: Experiment) -> Rows:
    """Return what an experiment does not search for."""
    count = len(experiment.catalog)
    searched = [draw_targets(count, experiment.targets, seed) for seed in experiment.seeds]
    others = np.setdiff1d(np.arange(count), np.concatenate(searched))
    if not len(others):
        raise BadInput(
            "All items are searched for, so that nothing is left to have been searched before.",
            "Take fewer targets, or a larger catalog.",
        )
    return others


def learning_curve(
    experiment: Experiment,
    searchers: Mapping[str, Seeker],
    counts: Sequence[int],
    folder: Path,
    processes: int | None = None,
    progress: bool = True,
) -> pa.Table:
    """Return the rows of the experiment after each number of past searches.

    searchers: by name, what searches with the model that was learned. The rows' methods are called
    by that name, after so many searches. The past searches were all made without anything learned;
    those that were not found are not learned from.
    """
    import pyarrow as pa

    rows = _past(experiment, max(counts), folder, processes, progress)
    tables = []
    for count in counts:
        catalog, model = experiment.catalog, models.named(models.DEFAULT)
        if count and rows is not None:
            learned = _learned(rows, experiment, count)
            catalog, model = with_learned(catalog, learned), learned.model
        after = {
            f"{name} after {count:,} searches": with_model(searcher, model, len(catalog))
            for name, searcher in searchers.items()
        }
        trial = replace(experiment, catalog=catalog, searchers=after, fingerprint="")
        tables.append(trial.run(folder, processes, progress))
    return pa.concat_tables(tables)


def with_model(searcher: Seeker, model: models.Model, items: int) -> Seeker:
    """Return a searcher with a model; after learning one that searches as usual does so as then.

    items: how many the catalog has.
    """
    usual = searcher.strategy == display.named(display.DEFAULT) and items <= display.LEARNED_ITEMS
    learned = usual and model != models.named(models.DEFAULT)
    strategy = display.named(display.LEARNED) if learned else searcher.strategy
    return replace(searcher, model=model, strategy=strategy)


def _past(
    experiment: Experiment, count: int, folder: Path, processes: int | None, progress: bool
) -> pa.Table | None:
    """Return the rows of so many past searches."""
    past = PastSearches(
        experiment.catalog,
        experiment.perception,
        {"past": Seeker()},
        experiment.people,
        experiment.targets,
        experiment.page_sizes[:1],
        experiment.pages,
        experiment.seeds,
        experiment.fingerprint,
        count,
    )
    return past.run(folder / "past", processes, progress) if count else None


def returning_curve(
    experiment: Experiment,
    name: str,
    counts: Sequence[int],
    folder: Path,
    learn_from: int = 0,
    processes: int | None = None,
    progress: bool = True,
) -> pa.Table:
    """Return the rows of the experiment when everybody comes back after so many searches.

    Everybody, that is every pair of eyes in every habit, is known by their own searches for other
    things, those of them that were found. All begin with what was learned from `learn_from` other
    searches by all of them. Two ways are tried: with the person's prior of θ, and with their
    vector c beside it.
    """
    import pyarrow as pa

    crowd = experiment.perception
    if not isinstance(crowd, Crowd):
        raise BadInput(
            "All people see alike, so that nobody can be known.", "Use --eyes differing."
        )
    catalog, model = experiment.catalog, models.named(models.DEFAULT)
    maps: dict[str, LinearMap] = {}
    rows = _past(experiment, learn_from, folder, processes, progress)
    if rows is not None:
        learned = _learned(rows, experiment, learn_from)
        catalog, model = with_learned(catalog, learned), learned.model
        maps = {one.name: one for one in learned.maps}
    assert isinstance(model, Choice)
    begun = replace(experiment, catalog=catalog, fingerprint="")
    usual = with_model(Seeker(), model, len(catalog))
    own = OwnSearches(**{**vars(begun), "searchers": {"own": usual}, "count": max(counts)})
    before = _own_searches(own.run(folder / "own", processes, progress), own) if own.count else {}
    tables = []
    for count, (way, own_maps) in product(counts, ((OWN_PRIOR, {}), (OWN_EYES, maps))):
        if not count and way != OWN_PRIOR:
            continue
        for habit in experiment.people:
            people = []
            for one in range(len(crowd.people)):
                searches = before.get((habit.name, one), [])[:count]
                known = KnownPerson(model)
                if found := [search for search in searches if search is not None]:
                    prior = personal_prior(catalog, model, found, own_maps)
                    weights = tuple(float(weight) for weight in np.round(prior.weights, 6))
                    vectors = {view: np.round(c, 2) for view, c in prior.vectors.items()}
                    known = KnownPerson(replace(model, weights=weights), vectors or None)
                people.append(known)
            method = f"{name}, {way}, after {count:,} searches of one's own"
            searcher = PersonalSeeker(model, usual.strategy, people=tuple(people))
            trial = replace(begun, people=(habit,), searchers={method: searcher})
            tables.append(trial.run(folder, processes, progress))
    return pa.concat_tables(tables)


def observations_of(table: pa.Table, experiment: Experiment, count: int) -> Observations:
    """Return the clicks of the found ones of the first `count` searches of a table of rows."""
    pages = _first_searches(table, experiment, count)
    found = [(target, 1.0, clicks) for target, clicks, was_found in pages if was_found]
    return Observations.of(found)


def open_searches(table: pa.Table, experiment: Experiment, count: int) -> list[OpenSearch]:
    """Return those of the first `count` searches of a table of rows that were not found."""
    ids = experiment.catalog.ids
    return [
        OpenSearch(tuple(_past_click(ids, liked, among) for liked, among in clicks))
        for _, clicks, was_found in _first_searches(table, experiment, count)
        if not was_found
    ]


def _first_searches(
    table: pa.Table, experiment: Experiment, count: int
) -> Iterator[tuple[int, list[tuple[bool, list[int]]], bool]]:
    """Yield target and clicks of the first searches that have any, and whether it was found.

    Likes of a page come before dislikes, and each was chosen among what was not judged yet.
    """
    people = [person.name for person in experiment.people]
    searches: dict[tuple[int, int], list[dict[str, Any]]] = {}
    columns = ["person", "seed", "target", "step", "on_page", "page", "liked", "disliked"]
    for row in table.select(columns).to_pylist():
        place = people.index(row["person"])
        number = row["seed"] - _PAST_SEED * (place + 1)
        if number * len(people) + place < count:
            searches.setdefault((number, place), []).append(row)
    for _, pages in sorted(searches.items()):
        pages.sort(key=lambda row: int(row["step"]))
        clicks = [click for row in pages for click in _clicks(row)]
        if clicks:
            yield int(pages[0]["target"]), clicks, bool(pages[-1]["on_page"])


def _past_click(ids: Sequence[str], liked: bool, among: Sequence[int]) -> PastClick:
    return PastClick(ids[among[0]], liked, tuple(ids[row] for row in among))


def _clicks(row: Mapping[str, object]) -> Iterator[tuple[bool, list[int]]]:
    left: list[int] = list(row["page"])  # type: ignore[call-overload]
    for liked, clicked in ((True, row["liked"]), (False, row["disliked"])):
        for item in clicked:  # type: ignore[attr-defined]
            left.remove(item)
            yield liked, [item, *left]


def _learned(table: pa.Table, experiment: Experiment, count: int) -> Learned:
    """Learn from the first searches of a table as `seeker learn` does: some are held aside."""
    catalog, open = experiment.catalog, open_searches(table, experiment, count)
    observations = observations_of(table, experiment, count)
    searches = _searches(catalog.ids, observations)
    aside = hold_aside(searches, 0)
    train = observations.subset(~aside)
    rows: Rows = train.rows
    samples = {name: ViewSample.of(view, rows) for name, view in catalog.views.items()}
    learned = fit(samples, train.reindexed(rows))
    places = np.flatnonzero(aside), np.flatnonzero(~aside)
    trials = trials_of(catalog, learned, searches, observations.weights, *places, open)
    return replace(learned, model=calibrated(learned.model, learned.views, trials))


def _searches(ids: Sequence[str], observations: Observations) -> list[PastSearch]:
    """Return observations as searches of items by their names."""
    clicks: list[list[PastClick]] = [[] for _ in range(len(observations))]
    offsets = observations.offsets.tolist()
    for place, search in enumerate(observations.searches.tolist()):
        among = tuple(ids[row] for row in observations.shown[offsets[place] : offsets[place + 1]])
        clicks[search].append(PastClick(among[0], bool(observations.liked[place]), among))
    targets = observations.targets.tolist()
    return [PastSearch(ids[row], tuple(one)) for row, one in zip(targets, clicks, strict=True)]


def with_learned(catalog: Catalog, learned: Learned) -> Catalog:
    """Return a catalog in memory with the learned views beside its own."""
    vectors = {name: np.asarray(view.vectors) for name, view in catalog.views.items()}
    metrics = {name: view.metric for name, view in catalog.views.items()}
    for one in learned.maps:
        vectors[one.name], metrics[one.name] = one.apply(vectors), "euclidean"
    return Catalog.from_arrays(
        catalog.ids,
        {name: vectors[name] for name in learned.views},
        metric={name: metrics[name] for name in learned.views},
    )


def _own_searches(
    table: pa.Table, experiment: OwnSearches
) -> dict[tuple[str, int], list[PastSearch | None]]:
    """Return by habit and person of the crowd their searches, in order; None: not found."""
    assert isinstance(experiment.perception, Crowd)
    ids, people = experiment.catalog.ids, len(experiment.perception.people)
    pages: dict[tuple[str, int], list[dict[str, Any]]] = {}
    columns = ["person", "seed", "target", "step", "on_page", "page", "liked", "disliked"]
    for row in table.select(columns).to_pylist():
        pages.setdefault((row["person"], row["seed"]), []).append(row)
    searches: dict[tuple[str, int], list[PastSearch | None]] = {}
    for (habit, seed), rows in sorted(pages.items()):
        rows.sort(key=lambda row: int(row["step"]))
        clicks = tuple(_past_click(ids, *click) for one in rows for click in _clicks(one))
        search = PastSearch(ids[rows[0]["target"]], clicks)
        taught = search if clicks and any(one["on_page"] for one in rows) else None
        searches.setdefault((habit, who_searches(seed, people)), []).append(taught)
    return searches


def own_curves(outcomes: Outcomes) -> dict[str, list[tuple[int, Estimate]]]:
    """Return found rates against how often people came before, by the way they are known."""
    points = curves(outcomes, _OWN_METHOD)
    begin = [one for curve in points.values() for one in curve if not one[0]]
    return {name: curve if curve[0][0] == 0 else [*begin, *curve] for name, curve in points.items()}


def curves(
    outcomes: Outcomes, pattern: re.Pattern[str] = _METHOD
) -> dict[str, list[tuple[int, Estimate]]]:
    """Return found rates against past searches, by the name of what searched; none if none."""
    points: dict[str, list[tuple[int, Estimate]]] = {}
    for line in leader_board(outcomes):
        if told := pattern.fullmatch(line.method):
            count = int(told["count"].replace(",", ""))
            points.setdefault(told["name"], []).append((count, line.found))
    return {name: sorted(points[name], key=lambda one: one[0]) for name in sorted(points)}
