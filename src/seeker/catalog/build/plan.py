"""Which views a catalog gets, and how each is made."""

from __future__ import annotations

import re
import unicodedata
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

_ATTRIBUTE_ROWS = 1000
_LANGUAGE_ROWS = 200
"""How many of the first rows are looked at."""

_ENGLISH_EMBEDDER = "text"
_LANGUAGE_NOTICE = (
    "Many texts are in letters that the view '{view}' does not read: it knows English. Words are "
    "found all the same; for their meaning, choose another embedder with --views."
)


@dataclass(frozen=True)
class ViewSpec:
    """How one view is made.

    input: what its vectors come from. column: where ready-made ones, or the attribute, stand in a
    record. embedder_entry: what catalog.json says of the embedder. dtype: the form in which they
    are stored.
    """

    name: str
    input: Literal["vectors", "picture", "text", "attribute"]
    dimensions: int
    metric: str
    column: str = ""
    embedder: Embedder | None = None
    embedder_entry: EmbedderEntry | None = None
    dtype: StoredVectors | Literal["auto"] = "auto"


def plan_views(
    offer: SourceContents,
    views: Sequence[str] | None,
    metric: str | Mapping[str, str] | None,
    embedders: Mapping[str, Embedder],
    dtype: StoredVectors | Literal["auto"] = "auto",
    builtin_only: bool = False,
) -> list[ViewSpec]:
    """Return how every view is made.

    Without a choice, ready-made vectors are the views; else pictures give `image` and `colour`,
    and texts give `text`. A choice names views: those of the source, `embedders` that were given,
    or embedders that Seeker knows, also as NAME=EMBEDDER; category:ATTRIBUTE makes a view of what
    items say about themselves. builtin_only: load no others than Seeker's own.
    """
    names = _default_views(offer) if views is None else views
    embedder_names = dict(map(_split_view, names))
    if not embedder_names:
        raise BadInput(
            "The source has neither pictures nor texts nor vectors to compare items by.",
            "Say which columns they are in.",
        )
    unknown = (
        [one for one in metric if one not in embedder_names] if isinstance(metric, Mapping) else []
    )
    if unknown:
        raise BadInput(
            f"There is a metric for view {unknown[0]!r}, which is not one of those to make.",
            f"They are {list(embedder_names)}.",
        )
    vector_columns = {view_name(column): column for column in offer.vectors}
    if len(vector_columns) < len(offer.vectors):
        raise BadInput(
            f"The columns {list(offer.vectors)} would give views of the same name.", "Rename them."
        )
    specs = [
        _view_spec(
            name,
            offer,
            vector_columns,
            embedders.get(name),
            partial(_load_embedder, embedder, vector_columns, builtin_only),
        )
        for name, embedder in embedder_names.items()
    ]
    return [replace(_with_metric(one, metric), dtype=dtype) for one in specs]


def check_attributes(specs: Sequence[ViewSpec], source: Source) -> None:
    """Refuse views of attributes that none of the first items has, before any work is done."""
    views = {one.column: one.name for one in specs if one.input == "attribute"}
    if not views:
        return
    names: set[str] = set()
    for record in first_records(source, _ATTRIBUTE_ROWS):
        names.update(name for name, value in record.attributes.items() if value is not None)
    for column, name in views.items():
        if column not in names:
            raise BadInput(
                f"View '{name}' is made of the attribute '{column}', which none of the first "
                f"{_ATTRIBUTE_ROWS:,} items has.",
                f"They have {sorted(names)}." if names else "They have no attributes at all.",
            )


def language_notice(source: Source, specs: Sequence[ViewSpec]) -> str | None:
    """Return what to say where half of the letters of the first texts are not Latin ones.

    Seeker's own embedder of texts cannot make sense of them: it was taught English.
    """
    entries = ((one.name, one.embedder_entry) for one in specs)
    views = [name for name, entry in entries if entry and entry.name == _ENGLISH_EMBEDDER]
    if not views:
        return None
    texts = (record.embedded_text for record in first_records(source, _LANGUAGE_ROWS))
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    strange = sum(not _is_latin(letter) for letter in letters)
    return _LANGUAGE_NOTICE.format(view=views[0]) if strange * 2 > len(letters) else None


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _split_view(view: str) -> tuple[str, str]:
    """Return the name of a view and what makes it, from NAME=EMBEDDER or one for both."""
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
    vector_columns: Mapping[str, str],
    own: Embedder | None,
    load: Callable[[], Embedder],
) -> ViewSpec:
    if not VIEW_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a name for a view.", "Use letters, digits, - and _.")
    if name in vector_columns and own is None:
        column = vector_columns[name]
        return ViewSpec(name, "vectors", offer.vectors[column], "euclidean", column)
    embedder = load() if own is None else adapt(own)
    reads = set(embedder.reads)
    input: Literal["picture", "text", "attribute"]
    if "attribute" in reads:
        input = "attribute"
    elif "picture" in reads and offer.pictures:
        input = "picture"
    elif "text" in reads and offer.text:
        input = "text"
    else:
        inputs = " or ".join(f"{one}s" for one in sorted(reads))
        raise BadInput(
            f"View '{name}' is made of {inputs}, but the source has none.",
            "Say which column they are in, or choose other views.",
        )
    return ViewSpec(
        name,
        input,
        embedder.dimensions,
        embedder.metric,
        embedder.attribute,
        embedder,
        EmbedderEntry(embedder.name, embedder.version, tuple(sorted(reads))),
    )


def _load_embedder(name: str, vector_columns: Mapping[str, str], builtin_only: bool) -> Embedder:
    from seeker import embedders

    try:
        return embedders.named(name, builtin_only)
    except NotFound:
        also = f" The source itself has {sorted(vector_columns)}." if vector_columns else ""
        raise BadInput(
            f"There is no view '{name}' to make.",
            f"Known are image, colour, text and category:<attribute>.{also}",
        ) from None


def _with_metric(one: ViewSpec, metric: str | Mapping[str, str] | None) -> ViewSpec:
    name = metric.get(one.name) if isinstance(metric, Mapping) else metric
    if name is None or (one.embedder is not None and not isinstance(metric, Mapping)):
        return one
    if name not in METRICS:
        raise BadInput(f"{name!r} is not a metric.", f"Use one of {list(METRICS)}.")
    return replace(one, metric=name)
