"""How a catalog is partitioned: which rows are in which shard, and what a shard knows of views."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from seeker.errors import BadInput
from seeker.space import View
from seeker.space.metric import check as check_metric
from seeker.types import Array, Doubles, Rows

MAX_SHARDS = 4096


@dataclass(frozen=True)
class RowRange:
    """The rows from first to before last."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and self.first <= row < self.last

    def local(self, rows: Rows) -> Rows:
        """Return those of the rows that are in this range, counted from its beginning."""
        return rows[(rows >= self.first) & (rows < self.last)] - self.first


def split_rows(count: int, shards: int) -> tuple[RowRange, ...]:
    """Cut the rows of a catalog into runs of even length; no shard is empty."""
    if not isinstance(shards, int) or isinstance(shards, bool) or not 1 <= shards <= MAX_SHARDS:
        raise BadInput(
            f"shards is {shards!r}, but it must be a whole number from 1 to {MAX_SHARDS:,}."
        )
    if shards > count:
        raise BadInput(
            f"{count:,} items cannot be split into {shards:,} shards.", "Use fewer shards."
        )
    ends = [count * part // shards for part in range(shards + 1)]
    return tuple(RowRange(first, last) for first, last in pairwise(ends))


@dataclass(frozen=True, eq=False)
class PartView(View):
    """Some rows of a view; mean, scale and the like are those of the whole.

    whole_sample: the vectors that stand for the whole catalog, which some metrics need.
    """

    whole_sample: Doubles = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @cached_property
    def sample(self) -> Doubles:
        """Vectors that stand for the whole catalog."""
        return self.whole_sample

    @classmethod
    def cut(cls, view: View, rows: RowRange) -> PartView:
        """Cut some rows out of a view; nothing is copied."""
        same = {field.name: getattr(view, field.name) for field in fields(View)}
        if view.slots is not None and len(rows):
            same["slots"] = view.slots[rows.first : rows.last]
        else:
            same["slots"] = None
            same["stored"] = view.stored[rows.first : rows.last]
            if view.steps is not None:
                same["steps"] = view.steps[rows.first : rows.last]
        return cls(**same, whole_sample=view.sample)

    @property
    def arrays(self) -> list[Array]:
        """What there is of every item."""
        return [self.vectors] if self.item_steps is None else [self.vectors, self.item_steps]


@dataclass(frozen=True, eq=False)
class CatalogPart:
    """The views of a part, in the order of the catalog's."""

    rows: RowRange
    views: tuple[PartView, ...]

    @classmethod
    def of(cls, views: Mapping[str, View], rows: RowRange) -> CatalogPart:
        """Cut a part out of a catalog's views; nothing is copied."""
        return cls(rows, tuple(PartView.cut(view, rows) for view in views.values()))

    def with_views(self, names: Sequence[str]) -> CatalogPart:
        """Return the same rows in some of the views, in the order of the names."""
        views = {view.name: view for view in self.views}
        return CatalogPart(self.rows, tuple(views[name] for name in names))

    @property
    def outline(self) -> tuple[PartView, ...]:
        """The views with none of their rows: all that is needed to read a copy of these."""
        no_rows = RowRange(0, 0)
        return tuple(PartView.cut(view, no_rows) for view in self.views)

    @property
    def arrays(self) -> list[Array]:
        """What there is of every item, in all views."""
        return [array for view in self.views for array in view.arrays]


_SETTING_FIELDS = ("name", "metric", "radius", "scale", "units")
_ARRAY_FIELDS = ("mean", "variance", "whole_sample")


def check_outline(views: tuple[PartView, ...]) -> None:
    """Refuse views that cannot be sent to another process."""
    for view in views:
        if callable(view.metric):
            raise BadInput(
                f"View '{view.name}' is measured by a function, which cannot be sent to shards.",
                "Use the metric 'euclidean', 'cosine' or 'manhattan'.",
            )


def write_outline(folder: Path, views: tuple[PartView, ...]) -> None:
    """Write all that there is of the views but their rows."""
    settings = [
        {
            **{name: getattr(view, name) for name in _SETTING_FIELDS},
            "dtype": view.dtype,
            "dimensions": view.dimensions,
            "steps": view.steps is not None,
        }
        for view in views
    ]
    (folder / "views.json").write_text(json.dumps(settings), encoding="utf-8")
    arrays = {
        f"{number} {name}": getattr(view, name)
        for number, view in enumerate(views)
        for name in (*_ARRAY_FIELDS, "centre")
        if getattr(view, name) is not None
    }
    np.savez(folder / "views.npz", **arrays)


def read_outline(folder: Path) -> tuple[PartView, ...]:
    """Return the views that were written, with none of their rows."""
    views = []
    with np.load(folder / "views.npz", allow_pickle=False) as arrays:
        records = json.loads((folder / "views.json").read_text(encoding="utf-8"))
        for number, record in enumerate(records):
            values: dict[str, Any] = {name: record[name] for name in _SETTING_FIELDS}
            values |= {name: arrays[f"{number} {name}"] for name in _ARRAY_FIELDS}
            values["centre"] = arrays.get(f"{number} centre")
            check_metric(values["metric"])
            no_vectors = np.empty((0, record["dimensions"]), record["dtype"])
            no_steps = np.empty(0, np.float32) if record["steps"] else None
            views.append(PartView(stored=no_vectors, steps=no_steps, **values))
    return tuple(views)
