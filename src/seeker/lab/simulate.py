"""Simulated searches: one, and experiments of people × searchers × page sizes × seeds."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog import Catalog
from seeker.errors import BadInput
from seeker.kernels.parallel import cores
from seeker.lab import results
from seeker.lab.baselines import Feedback, Searcher
from seeker.lab.people import SIX, PageView, Person
from seeker.lab.perception import Perception
from seeker.types import Doubles, Rows

if TYPE_CHECKING:
    import pyarrow as pa


NEAR, FAR = 0.1, 0.5
"""The shares of the catalog that people call near, and not far."""

BATCH_SEARCHES = 25
"""Searches per file."""


@dataclass(frozen=True)
class Task:
    """What one search is about: the target's row, the seed, the size and number of pages."""

    target: int
    seed: int
    page_size: int = 12
    pages: int = 15


@dataclass(frozen=True)
class Step:
    """What was so at one page.

    rank: the target's place by score before this page was judged, 1 is best, ties share the
    middle. on_page: whether the target was on the page. claimed: how probable the searcher held
    that to be. likes, dislikes: all clicks so far. page, liked, disliked: rows of the catalog.
    """

    step: int
    rank: float
    on_page: bool
    claimed: float
    likes: int
    dislikes: int
    milliseconds: float
    page: tuple[int, ...]
    liked: tuple[int, ...]
    disliked: tuple[int, ...]


def simulate_search(
    catalog: Catalog, perception: Perception, person: Person, searcher: Searcher, task: Task
) -> list[Step]:
    """Search until the target is on the page or the pages are used up; one step per page.

    After the last page there is one more step, without a page, that holds the final rank.
    """
    perception = perception.of_search(task.seed)
    rng = np.random.default_rng([task.seed, task.target])
    decoy = int(rng.integers(len(catalog)))
    limits: dict[int, list[float]] = {}
    words = words_for(catalog, task)
    memory: dict[str, Any] = {}
    steps: list[Step] = []
    likes = dislikes = 0
    began = time.perf_counter()
    search = searcher.begin(catalog, task.page_size, task.seed)
    for number in range(task.pages):
        page = search.page()
        scores, claimed = search.scores(), search.on_page()
        elapsed = 1000.0 * (time.perf_counter() - began)
        rank, found = rank_of(scores, task.target), bool((page == task.target).any())
        feedback, undo = Feedback((), (), tuple(page.tolist())), False
        if not found:
            aim = decoy if person.has_wrong_target(number, task.pages) else task.target
            if aim not in limits:
                limits[aim] = perception.quantiles(aim, (NEAR, FAR)).tolist()
            near, far = limits[aim]
            view = PageView(perception.noisy_distances(aim, page, rng), near, far, words)
            reaction = person.react(view, rng, memory)
            undo = reaction.undo
            feedback = Feedback(
                tuple(int(page[place]) for place in reaction.likes),
                tuple(int(page[place]) for place in reaction.dislikes),
                feedback.shown,
                reaction.words,
            )
        likes, dislikes = likes + len(feedback.likes), dislikes + len(feedback.dislikes)
        steps.append(
            Step(
                number,
                rank,
                found,
                claimed,
                likes,
                dislikes,
                elapsed,
                feedback.shown,
                feedback.likes,
                feedback.dislikes,
            )
        )
        if found:
            return steps
        began = time.perf_counter()
        if undo:
            search.undo()
        search.feedback(feedback)
    final = rank_of(search.scores(), task.target)
    elapsed = 1000.0 * (time.perf_counter() - began)
    steps.append(Step(task.pages, final, False, float("nan"), likes, dislikes, elapsed, (), (), ()))
    return steps


def words_for(catalog: Catalog, task: Task) -> dict[str, str]:
    """Return what could be said of a target, by attribute, and a label that is not its own."""
    (target,) = catalog.items([task.target])
    words = {name: value for name, value in target.attributes.items() if isinstance(value, str)}
    if "label" in words:
        rng = np.random.default_rng([task.seed, task.target, 1])
        for row in rng.permutation(len(catalog))[:100].tolist():
            other = catalog.items([row])[0].attributes.get("label")
            if other and other != words["label"]:
                return {**words, "wrong label": other}
    return words


def rank_of(scores: Doubles, row: int) -> float:
    """Return an item's place by score: 1 is best, ties share the middle place."""
    mine = scores[row]
    return float(np.count_nonzero(scores > mine) + (np.count_nonzero(scores == mine) + 1) / 2)


def draw_targets(count: int, targets: int, seed: int) -> Rows:
    """Return different targets drawn evenly from a catalog, (targets,)."""
    rng = np.random.default_rng([seed, count])
    return np.sort(rng.choice(count, min(targets, count), replace=False))


@dataclass(frozen=True, eq=False)
class Experiment:
    """Who searches for what with what.

    perception: the space in which all people see. people, searchers: by the names under which
    they are reported. targets: how many different targets are drawn for every seed; every
    searcher and every person gets the same ones. fingerprint: names the catalog in the rows.
    """

    catalog: Catalog
    perception: Perception
    searchers: Mapping[str, Searcher]
    people: Sequence[Person] = SIX
    targets: int = 200
    page_sizes: Sequence[int] = (12,)
    pages: int = 15
    seeds: Sequence[int] = (0,)
    fingerprint: str = field(default="")

    def __post_init__(self) -> None:
        if self.perception.count != len(self.catalog):
            raise BadInput(
                f"The person sees {self.perception.count} items, but the catalog has "
                f"{len(self.catalog)}.",
                "Give the person's senses one row per item, in the catalog's order.",
            )
        for name, value in (("targets", self.targets), ("pages", self.pages)):
            if value < 1:
                raise BadInput(f"{name} is {value}, but it must be at least 1.")
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", fingerprint(self.catalog))

    def batches(self) -> Iterator[Batch]:
        """Return all work to be done, in pieces of a few searches, in a fixed order."""
        for seed in self.seeds:
            rows = draw_targets(len(self.catalog), self.targets, seed).tolist()
            for start in range(0, len(rows), BATCH_SEARCHES):
                for size in self.page_sizes:
                    tasks = tuple(
                        Task(row, seed * 1_000_003 + row, size, self.pages)
                        for row in rows[start : start + BATCH_SEARCHES]
                    )
                    for name, searcher in self.searchers.items():
                        for person in self.people:
                            yield Batch(name, searcher, person, tasks)

    def run(
        self, folder: Path | str, processes: int | None = None, progress: bool = True
    ) -> pa.Table:
        """Run what has not been run yet, write it as it goes, and return all rows.

        Files of an earlier, interrupted run of the same experiment are kept and not done again.
        """
        import pyarrow as pa

        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        results.write_item_ids(out, self.fingerprint, self.catalog.ids)
        paths = {out / f"{self._key(batch)}.parquet": batch for batch in self.batches()}
        pending = [(batch, path) for path, batch in paths.items() if not path.exists()]
        workers = min(processes or cores(), max(1, len(pending)))
        bar = _bar(sum(len(batch.tasks) for batch, _ in pending), progress)
        if workers == 1:
            simulator = Simulator(self.catalog, self.perception, self.fingerprint)
            for batch, path in pending:
                results.write_rows(path, simulator.rows(batch))
                bar.update(len(batch.tasks))
        elif pending:
            views = {name: np.array(view.vectors) for name, view in self.catalog.views.items()}
            metrics = {name: view.metric for name, view in self.catalog.views.items()}
            ids = tuple(self.catalog.ids)  # those of a folder are read as they are asked for
            words = [item.attributes for item in self.catalog.items(range(len(ids)))]
            setup = (ids, views, metrics, words, self.perception, self.fingerprint)
            with _one_thread_each(), get_context("spawn").Pool(workers, _set_up, setup) as pool:
                for count in pool.imap_unordered(_run_batch, pending):
                    bar.update(count)
        bar.close()
        return pa.concat_tables([results.read_rows(path) for path in paths])

    def _key(self, batch: Batch) -> str:
        """Return a name for a batch that says all that its rows depend on."""
        settings = json.dumps(
            [
                results.SCHEMA_VERSION,
                version(),
                self.fingerprint,
                self.perception.settings(),
                batch.name,
                batch.searcher.settings(),
                batch.person.settings(),
                [vars(task) for task in batch.tasks],
            ],
            sort_keys=True,
        )
        return hashlib.sha256(settings.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Batch:
    """A few searches by one person with one searcher."""

    name: str
    searcher: Searcher
    person: Person
    tasks: tuple[Task, ...]


class Simulator:
    """Carries out searches: a catalog, eyes to see it with, and the catalog's name in the rows."""

    def __init__(self, catalog: Catalog, perception: Perception, fingerprint: str) -> None:
        self.catalog = catalog
        self.perception = perception
        self.fingerprint = fingerprint

    def rows(self, batch: Batch) -> list[dict[str, Any]]:
        """Carry out the searches of a batch."""
        person = {**batch.person.settings(), "perception": self.perception.settings()}
        same = {
            "schema": results.SCHEMA_VERSION,
            "version": version(),
            "catalog": self.fingerprint,
            "items": len(self.catalog),
            "source": "simulated",
            "person": batch.person.name,
            "person_settings": json.dumps(person, sort_keys=True),
            "method": batch.name,
            "method_settings": json.dumps(batch.searcher.settings(), sort_keys=True),
        }
        rows = []
        for task in batch.tasks:
            for step in simulate_search(
                self.catalog, self.perception, batch.person, batch.searcher, task
            ):
                rows.append({**same, **vars(task), **vars(step)})
        return rows


def fingerprint(catalog: Catalog) -> str:
    """Return a short name for the contents of a catalog."""
    digest = hashlib.sha256()
    for name, view in catalog.views.items():
        digest.update(f"{name} {view.metric} {view.vectors.shape}".encode())
        digest.update(view.vectors.tobytes())
    return f"{len(catalog)} items {digest.hexdigest()[:12]}"


def version() -> str:
    """Return the version of Seeker that makes the rows."""
    import seeker

    return seeker.__version__


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that start now use one thread of linear algebra each: cores are shared out."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_simulator: Simulator | None = None
"""That of a worker process."""


def _set_up(
    ids: tuple[str, ...],
    views: Mapping[str, Any],
    metrics: Mapping[str, Any],
    words: Sequence[Mapping[str, Any]],
    perception: Perception,
    fingerprint: str,
) -> None:
    """Make a worker's simulator."""
    global _simulator
    # Ctrl-C reaches all processes of a terminal; it is the first one's to stop the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    catalog = Catalog.from_arrays(ids, views, attributes=words, metric=metrics)
    _simulator = Simulator(catalog, perception, fingerprint)


def _run_batch(task: tuple[Batch, Path]) -> int:
    """Carry out and write one batch; return how many searches it was."""
    batch, path = task
    if _simulator is None:
        raise RuntimeError("A worker got work before it was set up.")
    results.write_rows(path, _simulator.rows(batch))
    return len(batch.tasks)


def _bar(total: int, visible: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit=" searches", disable=not visible, smoothing=0.05)
