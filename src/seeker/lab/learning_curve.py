"""Found against past searches: people search, the system learns, others are searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seeker.catalog import Catalog
from seeker.errors import BadInput
from seeker.lab.baselines import Seeker
from seeker.lab.metrics import Estimate, leader_board
from seeker.lab.outcomes import Outcomes
from seeker.lab.simulate import BATCH_SEARCHES, Batch, Experiment, Task, draw_targets
from seeker.learning.fit import Learned, ViewSample, fit
from seeker.learning.observations import Observations
from seeker.types import Rows

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = (0, 100, 300, 1000, 3000, 10_000)
"""Numbers of past searches that a curve is usually drawn over."""

_PAST_SEED = 7_000_003
"""Past searches have seeds of their own."""

_METHOD = re.compile(r"(?P<name>.*) after (?P<count>[\d,]+) searches")


@dataclass(frozen=True, eq=False)
class PastSearches(Experiment):
    """Searches that were served before: `count` of them, by all people in turn.

    Their targets are drawn from what the experiment itself does not search for, with seeds of
    their own. The first searches of a larger count are those of a smaller one.
    """

    count: int = 0

    def batches(self) -> Iterator[Batch]:
        searched = [draw_targets(len(self.catalog), self.targets, seed) for seed in self.seeds]
        others = np.setdiff1d(np.arange(len(self.catalog)), np.concatenate(searched))
        if not len(others):
            raise BadInput(
                "All items are searched for, so that nothing is left to have been searched before.",
                "Take fewer targets, or a larger catalog.",
            )
        size = self.page_sizes[0]
        for place, person in enumerate(self.people):
            mine = len(range(place, self.count, len(self.people)))
            rows = np.random.default_rng([_PAST_SEED, place]).choice(others, mine).tolist()
            for start in range(0, mine, BATCH_SEARCHES):
                tasks = tuple(
                    Task(row, _PAST_SEED * (place + 1) + number, size, self.pages)
                    for number, row in enumerate(rows[start : start + BATCH_SEARCHES], start)
                )
                for name, searcher in self.searchers.items():
                    yield Batch(name, searcher, person, tasks)


def learning_curve(
    experiment: Experiment,
    name: str,
    counts: Sequence[int],
    folder: Path,
    processes: int | None = None,
    progress: bool = True,
) -> pa.Table:
    """Return the rows of the experiment after each number of past searches.

    The rows' methods are called `name` after so many searches. The past searches were all made
    without anything learned; those that were not found are not learned from.
    """
    import pyarrow as pa

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
        max(counts),
    )
    rows = past.run(folder / "past", processes, progress) if past.count else None
    tables = []
    for count in counts:
        catalog, searcher = experiment.catalog, Seeker()
        if count and rows is not None:
            learned = _learn(catalog, observations_of(rows, experiment, count))
            catalog, searcher = with_learned(catalog, learned), Seeker(learned.model)
        method = f"{name} after {count:,} searches"
        trial = replace(experiment, catalog=catalog, searchers={method: searcher}, fingerprint="")
        tables.append(trial.run(folder, processes, progress))
    return pa.concat_tables(tables)


def observations_of(table: pa.Table, experiment: Experiment, count: int) -> Observations:
    """Return the clicks of the found ones of the first `count` searches of a table of rows.

    Likes of a page come before dislikes, and each was chosen among what was not judged yet.
    """
    people = [person.name for person in experiment.people]
    searches: dict[tuple[int, int], list[dict[str, object]]] = {}
    columns = ["person", "seed", "target", "step", "on_page", "page", "liked", "disliked"]
    for row in table.select(columns).to_pylist():
        place = people.index(row["person"])
        number = row["seed"] - _PAST_SEED * (place + 1)
        if number * len(people) + place < count:
            searches.setdefault((number, place), []).append(row)
    found = []
    for _, pages in sorted(searches.items()):
        pages.sort(key=lambda row: row["step"])  # type: ignore[arg-type, return-value]
        clicks = [click for row in pages for click in _clicks(row)]
        if clicks and pages[-1]["on_page"]:
            found.append((int(str(pages[0]["target"])), 1.0, clicks))
    return Observations.of(found)


def _clicks(row: Mapping[str, object]) -> Iterator[tuple[bool, list[int]]]:
    left: list[int] = list(row["page"])  # type: ignore[call-overload]
    for liked, clicked in ((True, row["liked"]), (False, row["disliked"])):
        for item in clicked:  # type: ignore[attr-defined]
            left.remove(item)
            yield liked, [item, *left]


def _learn(catalog: Catalog, observations: Observations) -> Learned:
    rows: Rows = observations.rows
    samples = {name: ViewSample.of(view, rows) for name, view in catalog.views.items()}
    return fit(samples, observations.reindexed(rows))


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


def curves(outcomes: Outcomes) -> dict[str, list[tuple[int, Estimate]]]:
    """Return found rates against past searches, by the name of what searched; none if none."""
    points: dict[str, list[tuple[int, Estimate]]] = {}
    for line in leader_board(outcomes):
        if told := _METHOD.fullmatch(line.method):
            count = int(told["count"].replace(",", ""))
            points.setdefault(told["name"], []).append((count, line.found))
    return {name: sorted(points[name], key=lambda one: one[0]) for name in sorted(points)}
