"""`seeker.learn`: from past searches to a new version of a catalog, if it helps."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from seeker import models
from seeker.catalog import Catalog
from seeker.catalog.build.learned import forget_learned, publish_learned
from seeker.catalog.manifest import PathLike, path_of
from seeker.errors import BadInput
from seeker.learning.calibration import (
    ENOUGH_SEARCHES,
    calibrated,
    trials_of,
)
from seeker.learning.fit import Learned, ViewSample, fit
from seeker.learning.observations import Observations
from seeker.learning.proof import (
    REPLAYED_SEARCHES,
    Proof,
    Replayer,
    Way,
    compare,
    hold_aside,
    replay_all,
)
from seeker.learning.searches import (
    PastSearch,
    SearchReader,
    observe,
    read_searches,
    search_weights,
)
from seeker.learning.theta import fit_words
from seeker.models.words import word_shares
from seeker.session import Session
from seeker.types import Array, Doubles, Rows
from seeker.validation import check_whole

LEAST_SEARCHES = 40
"""Of fewer searches, nothing can be learned and tried."""

LEAST_ASIDE = 8


class Bars(Protocol):
    """Shows how far work is: bar(what, total) lends what is told of pieces that are done."""

    def __call__(
        self, what: str, total: int | None
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Show a bar for the time of a block."""
        ...


@dataclass(frozen=True, eq=False)
class LearningResult:
    """What came of learning.

    taken: whether new sessions begin with it from now on, or would but for a dry run. reason: why,
    or why not, in a sentence or two. searches: how many found searches there were. proof: what the
    replays of searches held aside came to. learned: what was learned, and read: what was read.
    examples: some items that were found in searches held aside. catalog: in its present version.
    """

    taken: bool
    reason: str
    searches: int
    proof: Proof | None = field(default=None, repr=False)
    learned: Learned | None = field(default=None, repr=False)
    read: SearchReader | None = field(default=None, repr=False)
    examples: Sequence[str] = field(default=(), repr=False)
    catalog: Catalog | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        what = "Learned" if self.taken else "Nothing learned"
        return f"<{what} from {self.searches:,} searches: {self.reason}>"


def learn(
    catalog: PathLike,
    sessions: str | Path | Iterable[Session | str] | None = None,
    *,
    name: str | None = None,
    seed: int = 0,
    dry_run: bool = False,
    forget: bool = False,
    report: PathLike | None = None,
    bars: Bars | None = None,
) -> LearningResult:
    """Learn from past searches what people go by, and publish it if it helps.

    catalog: the folder of a catalog. sessions: the address of a store; an export, .jsonl or
    .parquet; or sessions, or lines of `Session.to_json`. Only searches that ended with `found` are
    learned from. Some are held aside, and what was learned is taken only if it explains these
    better beyond chance, and no kind of search worse. Then it is a new version of the catalog, with
    which new sessions begin. The same searches and seed give the same.

    name: under which the catalog is served, if not that of its folder. dry_run: publish nothing.
    forget: take back what was learned before, instead. report: a file, .html, that shows it.
    """
    folder = path_of(catalog, "the path of a catalog")
    opened = Catalog.open(folder)
    if forget:
        return _forget(folder, dry_run, opened)
    if sessions is None:
        raise BadInput(
            "There is nothing to learn from.",
            "Give a store with --store, or a file with --sessions.",
        )
    check_whole("seed", seed, 0)
    learner = _Learner(
        opened, folder.resolve().name if name is None else name, seed, bars or _quiet
    )
    result = learner.run(sessions, None if dry_run else folder)
    if report is not None:
        from seeker.learning.report import write_report

        write_report(path_of(report, "the path of a report"), opened, result)
    return result


def _forget(folder: Path, dry_run: bool, catalog: Catalog) -> LearningResult:
    known = catalog.learned.searches if catalog.learned else 0
    if not dry_run:
        forget_learned(folder)
    if not known:
        return LearningResult(False, "Nothing had been learned, so nothing was forgotten.", 0)
    verb = "would be" if dry_run else "is"
    return LearningResult(
        False, f"What was learned from {known:,} searches {verb} forgotten.", known
    )


def _quiet(what: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda count: None)


class _Learner:
    """Learning in a catalog, called by a name in the sessions."""

    def __init__(self, catalog: Catalog, name: str, seed: int, bars: Bars) -> None:
        self.catalog = catalog
        self.name = name
        self.seed = seed
        self.bars = bars
        made = catalog.with_views(None).views
        self.views = {name: view for name, view in made.items() if view.fast}

    def run(
        self, sessions: str | Path | Iterable[Session | str], target: Path | None
    ) -> LearningResult:
        """Learn, prove, and publish in the folder `target`, if there is one."""
        with self.bars("reading", None) as done:
            read = read_searches(self.catalog, self.name, sessions, done)
        searches = read.searches
        weights = search_weights(searches)

        def nothing(reason: str, **known: Any) -> LearningResult:
            return LearningResult(False, reason, len(searches), read=read, **known)

        if not self.views:
            return nothing("No view of the catalog is compared by straight distances.")
        counted = float(weights.sum())
        aside = hold_aside(searches, self.seed)
        enough = counted >= LEAST_SEARCHES and LEAST_ASIDE <= aside.sum() < len(searches)
        if not enough:
            return nothing(_too_few(read, counted))
        digest = _digest(searches, self.seed)
        present = self.catalog.learned
        if present is not None and present.summary.get("digest") == digest:
            return nothing("Nothing is new since it was learned from these searches.")
        fitted = self._with_words(self._fit(searches, weights, ~aside), searches, weights, aside)
        places = np.flatnonzero(aside)
        if len(places) > REPLAYED_SEARCHES:
            drawn = np.random.default_rng([self.seed, len(places)]).permutation(places)
            places = np.sort(drawn[:REPLAYED_SEARCHES])
        held = [searches[place] for place in places.tolist()]
        fitted = self._calibrated(fitted, read, weights, places, np.flatnonzero(~aside))
        proof, against = self._prove(held, weights[places], fitted)
        known: dict[str, Any] = {
            "proof": proof,
            "learned": fitted,
            "examples": list(dict.fromkeys(one.target for one in held)),
            "catalog": self.catalog,
        }
        learned_before = 0 if present is None else present.searches
        refusal = _refusal(proof, against, len(searches), learned_before)
        if refusal is not None:
            return nothing(refusal, **known)
        reason = _praise(proof)
        if target is not None:
            summary = self._summary(read, proof, counted, digest)
            summary["words"] = list(fitted.model.words)
            names = {one.name for one in fitted.maps}
            kept = [view for view in fitted.views if view not in names]
            total = len(self.catalog) * len(fitted.maps)
            with self.bars("publishing", total) as done:
                known["catalog"] = publish_learned(
                    target, fitted.maps, kept, fitted.model, len(searches), summary, done
                )
        return LearningResult(True, reason, len(searches), read=read, **known)

    def _fit(self, searches: Sequence[PastSearch], weights: Doubles, chosen: Any) -> Learned:
        every = observe(self.catalog, searches, weights)
        train: Observations = every.subset(chosen)
        rows = train.rows
        samples = {name: ViewSample.of(view, rows) for name, view in self.views.items()}
        with self.bars("learning", None) as done:
            so_far = 0

            def progress(count: int, total: int) -> None:
                nonlocal so_far
                done(count - so_far)
                so_far = count

            return fit(samples, train.reindexed(rows), seed=self.seed, progress=progress)

    def _with_words(
        self, fitted: Learned, searches: Sequence[PastSearch], weights: Doubles, aside: Array
    ) -> Learned:
        """Return what was learned, with how much words count against clicks."""
        usual = word_shares(fitted.model.words)
        said = [one for search in searches for one in search.said]
        if usual is None or not said:
            return fitted
        counts = [len(search.said) for search in searches]
        letters, meaning, _ = fit_words(
            said,
            np.repeat(weights, counts),
            np.repeat(aside, counts),
            (usual.letters, usual.meaning, 1.0 - usual.letters - usual.meaning),
        )
        model = replace(fitted.model, words=(letters, meaning, usual.noise))
        return replace(fitted, model=model)

    def _calibrated(
        self,
        fitted: Learned,
        read: SearchReader,
        weights: Doubles,
        held: Rows,
        train: Rows,
    ) -> Learned:
        """Return what was learned, as sure of itself as it is right on searches held aside.

        held: places of searches that were not learned from; train: of those that were. Two
        numbers are fitted to them, which are not part of the gain that they are to prove.
        """
        past = read.searches, weights, held, train, read.open
        trials = trials_of(self.catalog, fitted, *past, seed=self.seed)
        total = min(ENOUGH_SEARCHES, sum(len(one.searches) for one in trials))
        with self.bars("calibrating", total) as done:
            model = calibrated(fitted.model, fitted.views, trials, done)
        return replace(fitted, model=model)

    def _prove(
        self, held: Sequence[PastSearch], weights: Doubles, fitted: Learned
    ) -> tuple[Proof, Proof | None]:
        """Return what the new way is worth against none, and against what was learned before."""
        replayer = Replayer(self.catalog, fitted.maps, self.seed)
        ways: list[Way] = [
            (models.named(models.DEFAULT), list(self.catalog.with_views(None).views)),
            (fitted.model, fitted.views),
        ]
        if self.catalog.learned is not None:
            model, views = self.catalog.usual_model()
            ways.append((model, views or ()))
        with self.bars("trying", len(ways) * len(held)) as done:
            none, new, *before = replay_all(replayer, held, ways, done)
        items = replayer.items
        proof = compare(held, weights, none, new, items)
        return proof, compare(held, weights, before[0], new, items) if before else None

    def _summary(
        self, read: SearchReader, proof: Proof, counted: float, digest: str
    ) -> dict[str, Any]:
        mean, error = proof.gain()
        return {
            "seed": self.seed,
            "digest": digest,
            "sessions": read.sessions,
            "left out": dict(read.left_out),
            "counted": round(counted, 1),
            "held aside": len(proof),
            "gain": round(mean, 4),
            "gain error": round(error, 4),
        }


def _digest(searches: Sequence[PastSearch], seed: int) -> str:
    """Return a name for what is learned from: the same searches give the same name."""
    every = sorted(hashlib.sha256(repr(one).encode()).digest() for one in searches)
    return hashlib.sha256(repr(seed).encode() + b"".join(every)).hexdigest()[:16]


def _too_few(read: SearchReader, counted: float) -> str:
    found = len(read.searches)
    missing = max(10, math.ceil((LEAST_SEARCHES - counted) / 10) * 10)
    if found > 2 * counted:
        return (
            f"{found:,} searches were found, but by so few people, or for so few items, that they "
            f"count as {counted:.0f}; about {missing} more by others are needed. If all come "
            "through one proxy, name it with --proxies, so that people are told apart."
        )
    return (
        f"{read.sentence} At least {LEAST_SEARCHES} must count, and {counted:.0f} do: about "
        f"{missing} more are needed."
    )


def _refusal(proof: Proof, against: Proof | None, searches: int, learned_before: int) -> str | None:
    """Return why what was learned is not taken; None if it is."""
    mean, error = proof.gain()
    measured = f"{len(proof):,} searches that were held aside"
    if not proof.helps:
        more = proof.lacking(searches)
        need = (
            f"about {more:,} more searches would show whether it helps"
            if more is not None
            else "more searches may show more, but how many cannot be told"
        )
        return (
            f"On {measured}, what was learned does not explain what people chose better beyond "
            f"chance (by {mean:.2f} ± {error:.2f} per search); {need}."
        )
    if proof.worse:
        return (
            f"On {measured}, what was learned explains searches better on the whole, but these "
            f"are worse: {', '.join(proof.worse)}; about {math.ceil(searches / 20) * 10:,} more "
            "searches may mend that."
        )
    if against is not None and against.gain()[0] < 0.0:
        return (
            f"What was learned before, from {learned_before:,} searches, explains {measured} "
            "better than what these teach, and stays; --forget takes it back."
        )
    return None


def _praise(proof: Proof) -> str:
    mean, error = proof.gain()
    # Where every search was over before its fourth click, there is nothing to say of it.
    ranks_known = [one[~np.isnan(one[:, 2]), 2] for one in (proof.before, proof.after)]
    before, after = (float(np.median(one)) if one.size else np.nan for one in ranks_known)
    ranks = (
        f"; after 4 clicks its median rank among {proof.items:,} is {after:,.0f} instead of "
        f"{before:,.0f}"
        if np.isfinite([before, after]).all()
        else ""
    )
    low, times, high = (math.exp(mean + wide * 1.96 * error) for wide in (-1.0, 0.0, 1.0))
    return (
        f"On {len(proof):,} searches that were held aside, the item that was found is held "
        f"{times:.1f} times as probable on the way (from {low:.1f} to {high:.1f}){ranks}."
    )
