"""What a shard must know of the views beside its rows, written beside a copy of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from seeker.cluster.part import PartView
from seeker.errors import BadInput
from seeker.space.metric import check as check_metric

_PLAIN = ("name", "metric", "radius", "scale", "units")
_ARRAYS = ("mean", "variance", "centre", "standing")


def check(views: tuple[PartView, ...]) -> None:
    """Refuse views that cannot be sent to another process."""
    for view in views:
        if callable(view.metric):
            raise BadInput(
                f"View '{view.name}' is measured by a function, which cannot be sent to shards.",
                "Use the metric 'euclidean', 'cosine' or 'manhattan'.",
            )


def write(folder: Path, views: tuple[PartView, ...]) -> None:
    """Write all that there is of the views but their rows."""
    plain = [
        {
            **{name: getattr(view, name) for name in _PLAIN},
            "dtype": view.dtype,
            "dimensions": view.dimensions,
            "steps": view.steps is not None,
        }
        for view in views
    ]
    (folder / "views.json").write_text(json.dumps(plain), encoding="utf-8")
    arrays = {
        f"{number} {name}": getattr(view, name)
        for number, view in enumerate(views)
        for name in _ARRAYS
        if getattr(view, name) is not None
    }
    np.savez(folder / "views.npz", **arrays)


def read(folder: Path) -> tuple[PartView, ...]:
    """Return the views that were written, with none of their rows."""
    views = []
    with np.load(folder / "views.npz", allow_pickle=False) as arrays:
        written = json.loads((folder / "views.json").read_text(encoding="utf-8"))
        for number, plain in enumerate(written):
            known: dict[str, Any] = {name: arrays.get(f"{number} {name}") for name in _ARRAYS}
            none = np.empty((0, plain["dimensions"]), plain["dtype"])
            settings = {name: plain[name] for name in _PLAIN}
            check_metric(settings["metric"])
            steps = np.empty(0, np.float32) if plain["steps"] else None
            views.append(PartView(vectors=none, steps=steps, **settings, **known))
    return tuple(views)
