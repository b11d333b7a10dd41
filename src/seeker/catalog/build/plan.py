"""Which views a catalog gets, and how each is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from seeker.catalog.build.source import Source, SourceContents, first_records
from seeker.catalog.manifest import METRICS, EmbedderEntry
from seeker.catalog.manifest_fields import VIEW_NAME
from seeker.embedders.custom import adapt
from seeker.errors import BadInput, NotFound
from seeker.space.packing import StoredVectors

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder

_LOOKED_AT = 1000


@dataclass(frozen=True)
class ViewSpec:
    """How one view is made.

    of: what its vectors come from. column: where ready-made ones, or the attribute, stand in a
    record. made_by: what catalog.json says of the embedder. dtype: the form in which they are
    stored.
    """

    name: str
    of: Literal["vectors", "picture", "text", "attribute"]
    dimensions: int
    metric: str
    column: str = ""
    embedder: Embedder | None = None
    made_by: EmbedderEntry | None = None
    dtype: StoredVectors | Literal["auto"] = "auto"


def plan_views(
    offer: SourceContents,
    views: Sequence[str] | None,
    metric: str | Mapping[str, str] | None,
    embedders: Mapping[str, Embedder],
    builtin_only: bool = False,
) -> list[ViewSpec]:
    """Return how every view is made.

    Without a choice, ready-made vectors are the views; else pictures give `image` and `colour`,
    and texts give `text`. A choice names views: those of the source, `embedders` that were given,
    or embedders that Seeker knows, also as NAME=EMBEDDER; category:ATTRIBUTE makes a view of what
    items say about themselves. builtin_only: load no others than
    Seeker's own.
    """
    chosen = (
        dict(map(_named_views, views))
        if views is not None
        else {one: one for one in _default_views(offer)}
    )
    if not chosen:
        raise BadInput(
            "The source has neither pictures nor texts nor vectors to compare items by.",
            "Say which columns they are in.",
        )
    unknown = [one for one in metric if one not in chosen] if isinstance(metric, Mapping) else []
    if unknown:
        raise BadInput(
            f"There is a metric for view {unknown[0]!r}, which is not one of those to make.",
            f"They are {list(chosen)}.",
        )
    ready = {view_name(column): column for column in offer.vectors}
    if len(ready) < len(offer.vectors):
        raise BadInput(
            f"The columns {list(offer.vectors)} would give views of the same name.", "Rename them."
        )
    made = [
        _view_spec(
            name,
            offer,
            ready,
            embedders.get(name),
            partial(_known_view, maker, ready, builtin_only),
        )
        for name, maker in chosen.items()
    ]
    return [_with_metric(one, metric) for one in made]


def check_attributes(makings: Sequence[ViewSpec], source: Source) -> None:
    """Refuse views of attributes that none of the first items has, before any work is done."""
    wanted = {one.column: one.name for one in makings if one.of == "attribute"}
    if not wanted:
        return
    seen: set[str] = set()
    for record in first_records(source, _LOOKED_AT):
        seen.update(name for name, value in record.attributes.items() if value is not None)
    for column, name in wanted.items():
        if column not in seen:
            raise BadInput(
                f"View '{name}' is made of the attribute '{column}', which none of the first "
                f"{_LOOKED_AT:,} items has.",
                f"They have {sorted(seen)}." if seen else "They have no attributes at all.",
            )


def _named_views(view: str) -> tuple[str, str]:
    name, equals, embedder = view.partition("=")
    return (name, embedder) if equals else (view_name(view), view)


def view_name(column: str) -> str:
    """Return a name for the view of a column, fit to be a file's."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", column).strip("_-")[:64]
    return name or "vectors"


def _default_views(offer: SourceContents) -> list[str]:
    if offer.vectors:
        return [view_name(column) for column in offer.vectors]
    return ["image", "colour"] * offer.pictures + ["text"] * offer.text


def _view_spec(
    name: str,
    offer: SourceContents,
    ready: Mapping[str, str],
    given: Embedder | None,
    known: Callable[[], Embedder],
) -> ViewSpec:
    if not VIEW_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a name for a view.", "Use letters, digits, - and _.")
    if name in ready and given is None:
        return ViewSpec(name, "vectors", offer.vectors[ready[name]], "euclidean", ready[name])
    embedder = known() if given is None else adapt(given)
    reads = set(embedder.reads)
    of: Literal["picture", "text", "attribute"]
    if "attribute" in reads:
        of = "attribute"
    elif "picture" in reads and offer.pictures:
        of = "picture"
    elif "text" in reads and offer.text:
        of = "text"
    else:
        wanted = " or ".join(f"{one}s" for one in sorted(reads))
        raise BadInput(
            f"View '{name}' is made of {wanted}, but the source has none.",
            "Say which column they are in, or choose other views.",
        )
    made_by = EmbedderEntry(embedder.name, embedder.version, tuple(sorted(reads)))
    column = embedder.attribute
    return ViewSpec(name, of, embedder.dimensions, embedder.metric, column, embedder, made_by)


def _known_view(name: str, ready: Mapping[str, str], builtin_only: bool) -> Embedder:
    from seeker import embedders

    try:
        return embedders.named(name, builtin_only)
    except NotFound:
        also = f" The source itself has {sorted(ready)}." if ready else ""
        raise BadInput(
            f"There is no view '{name}' to make.",
            f"Known are image, colour, text and category:<attribute>.{also}",
        ) from None


def _with_metric(one: ViewSpec, metric: str | Mapping[str, str] | None) -> ViewSpec:
    chosen = metric.get(one.name) if isinstance(metric, Mapping) else metric
    if chosen is None or (one.embedder is not None and not isinstance(metric, Mapping)):
        return one
    if chosen not in METRICS:
        raise BadInput(f"{chosen!r} is not a metric.", f"Use one of {list(METRICS)}.")
    return replace(one, metric=chosen)
