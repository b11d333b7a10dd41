"""Checks of what a catalog in memory is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seeker.catalog.values import short
from seeker.errors import BadInput
from seeker.space import Metric, View
from seeker.space.metric import check as check_metric
from seeker.space.packing import check_dtype
from seeker.space.view import Scale, check_scale
from seeker.types import Array


def checked_views(
    views: Mapping[str, Array | Sequence[Sequence[float]]],
    count: int,
    metric: Metric | Mapping[str, Metric],
    scale: Scale,
    dtype: str = "float32",
) -> dict[str, View]:
    """Return the views if each has one vector per item."""
    if not isinstance(views, Mapping) or not views:
        raise BadInput("The catalog has no views.", "Give at least one: {'name': vectors}.")
    unknown = [name for name in metric if name not in views] if isinstance(metric, Mapping) else []
    if unknown:
        raise BadInput(
            f"There is a metric for view {unknown[0]!r}, which the catalog has not.",
            f"It has {list(views)}.",
        )
    check_scale(scale)
    stored = check_dtype(dtype)
    made = {}
    for name, vectors in views.items():
        if not isinstance(name, str) or not name:
            raise BadInput(f"{name!r} is not a name for a view.", "Use a text, such as 'image'.")
        chosen = metric.get(name, "euclidean") if isinstance(metric, Mapping) else metric
        made[name] = View.from_vectors(name, _rows(vectors), check_metric(chosen), scale, stored)
        if len(made[name]) != count:
            raise BadInput(
                f"View '{name}' has {len(made[name])} rows, but there are {count} ids.",
                "Every view needs one row per item, in the order of the ids.",
            )
    return made


def _rows(vectors: Any) -> Any:
    """Return vectors as a list where they are a column of them, as a data frame may have."""
    kind = getattr(getattr(vectors, "dtype", None), "kind", "")
    return list(vectors) if kind == "O" and vectors.ndim == 1 else vectors


def checked_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids if they are different texts, at least one."""
    names = one_per_item("ids", ids)
    if not names:
        raise BadInput("The catalog is empty.", "Give at least one item.")
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise BadInput(
                f"The id at place {place} is {short(name)}.",
                "Every id must be a text that is not empty, such as str(number).",
            )
    if len(set(names)) < len(names):
        seen: set[str] = set()
        double = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise BadInput(f"The id {double!r} is there more than once.", "Ids must be different.")
    return tuple(map(str, names))


def checked_titles(titles: Iterable[str] | None, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return the titles if there is one text per item."""
    if titles is None:
        return None
    given = one_per_item("titles", titles)
    if len(given) != len(ids):
        raise BadInput(f"There are {len(given)} titles, but {len(ids)} ids.")
    for place, title in enumerate(given):
        if not isinstance(title, str):
            raise BadInput(
                f"The title at place {place} is {short(title)}.", "Titles must be texts."
            )
    return given


def one_per_item(name: str, given: object) -> tuple[Any, ...]:
    """Return what was given as a list; a single text would be one of letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadInput(f"{name} is {short(given)}.", "Give a list with one value per item.")
    return tuple(given)
