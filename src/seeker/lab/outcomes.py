"""Runs as arrays: one line per search, made from the rows of an experiment or a study."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seeker.types import Array, Doubles, Rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Searches side by side, all arrays of shape (searches,) unless another is given.

    found: whether the target was on a page, and picked there where a participant searched. steps:
    the pages until then, all of them where it was never found. ranks: (searches, pages + 1) the
    target's rank divided by the number of items before every page; after a search has ended its
    last rank stays. claims: (searches, pages) how probable it was held that the target is on the
    page, NaN where unknown or over. hits: (searches, pages) whether it was. unit: what intervals
    are drawn over, because searches of one unit are alike: targets, or participants of a study.
    """

    method: Array
    person: Array
    task: Array
    found: NDArray[np.bool_]
    steps: Rows
    ranks: Doubles
    claims: Doubles
    hits: NDArray[np.bool_]
    milliseconds: Doubles
    unit: Array = field(default_factory=lambda: np.array([], object))

    def __post_init__(self) -> None:
        if len(self.unit) != len(self.found):
            object.__setattr__(self, "unit", self.task)

    @property
    def from_study(self) -> bool:
        """Whether these are searches of a study, in which each has a target of its own."""
        return bool(len(self) and (self.unit != self.task).all())

    def __len__(self) -> int:
        return len(self.found)

    def of(self, method: str | None = None, person: str | None = None) -> Outcomes:
        """Return the searches by one method, of one person, or both."""
        keep = np.ones(len(self), bool)
        if method is not None:
            keep &= self.method == method
        if person is not None:
            keep &= self.person == person
        return Outcomes(**{name: array[keep] for name, array in vars(self).items()})

    @property
    def methods(self) -> list[str]:
        """The methods there are, in the order of their names."""
        return sorted(set(self.method.tolist()))

    @property
    def people(self) -> list[str]:
        """The people there are, in the order of their names."""
        return sorted(set(self.person.tolist()))

    @property
    def best(self) -> Doubles:
        """The best normalised rank of every search: the paper's ρ."""
        return np.asarray(self.ranks.min(axis=1))


def make_outcomes(table: pa.Table) -> Outcomes:
    """Gather the rows of every search into one line."""
    column = {
        name: table.column(name).to_numpy(zero_copy_only=False)
        for name in ("items", "page_size", "pages", "seed", "target", "step", "rank")
    }
    column |= {
        name: table.column(name).to_numpy(zero_copy_only=False)
        for name in ("on_page", "claimed", "milliseconds")
    }
    method = np.array(table.column("method").to_pylist(), object)
    person = np.array(table.column("person").to_pylist(), object)
    task = np.array(
        [
            f"{size} {seed} {target}"
            for size, seed, target in zip(
                column["page_size"], column["seed"], column["target"], strict=True
            )
        ],
        object,
    )
    search = np.array([f"{m}\n{p}\n{t}" for m, p, t in zip(method, person, task, strict=True)])
    _, first, which = np.unique(search, return_index=True, return_inverse=True)
    count, pages = len(first), int(column["pages"].max(initial=1))
    step = column["step"].astype(np.int64)
    ranks = np.full((count, pages + 1), np.nan)
    claims, hits = np.full((count, pages), np.nan), np.zeros((count, pages), bool)
    ranks[which, step] = column["rank"] / column["items"]
    picks = np.zeros((count, pages), bool)
    has_page = step < pages  # the step after the last page has none
    claims[which[has_page], step[has_page]] = column["claimed"][has_page]
    hits[which[has_page], step[has_page]] = column["on_page"][has_page]
    picks[which[has_page], step[has_page]] = _target_picks(table)[has_page]
    for page in range(1, pages + 1):
        over = np.isnan(ranks[:, page])
        ranks[over, page] = ranks[over, page - 1]
    found = np.asarray(picks.any(axis=1))
    milliseconds = np.zeros(count)
    np.add.at(milliseconds, which, np.nan_to_num(column["milliseconds"]))
    row_count = np.bincount(which, minlength=count)
    return Outcomes(
        method=method[first],
        person=person[first],
        task=task[first],
        found=found,
        steps=np.where(found, picks.argmax(axis=1) + 1, column["pages"][first]).astype(np.int64),
        ranks=ranks,
        claims=claims,
        hits=hits,
        milliseconds=milliseconds / row_count,
        unit=_units(table, task)[first],
    )


def _target_picks(table: pa.Table) -> NDArray[np.bool_]:
    """Return on which pages the target was found, (rows,): simulated people overlook nothing."""
    import pyarrow.compute as pc

    found = table["on_page"]
    if "found" in table.schema.names:
        found = pc.coalesce(table["found"], found)
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)


def _units(table: pa.Table, task: Array) -> Array:
    if "participant" not in table.schema.names:
        return task
    who = np.array(table.column("participant").to_pylist(), object)
    return np.where(who == None, task, who)  # noqa: E711
