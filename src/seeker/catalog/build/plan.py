"""Which views a catalog gets, and how each is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from seeker.catalog.build.source import Source, SourceContents, check_list, first_records
from seeker.catalog.manifest import METRICS, EmbedderEntry, Manifest
from seeker.catalog.manifest_fields import VIEW_NAME
from seeker.embedders.adapters import adapt
from seeker.embedders.attributes import AttributeEncoding, AttributesEmbedder, checked_weight
from seeker.embedders.text import MULTILINGUAL_EXTRA, multilingual_is_installed
from seeker.errors import BadInput, NotFound
from seeker.space.packing import StoredVectors

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder

ATTRIBUTES_VIEW = "attributes"
"""The view of what a table says of its items."""

_ATTRIBUTE_ROWS = 1000
_LANGUAGE_ROWS = 200
"""How many of the first rows are looked at."""

AttributesView = bool | Sequence[str] | Mapping[str, float] | None
"""Whether there is a view of attributes, or the columns it is made of, with or without weights."""

ENGLISH, MULTILINGUAL = "text", "multilingual"
"""Seeker's own embedders of texts."""

_ENGLISH_SHARE = 0.45
"""Texts are English if their embedder knows more of their words than so many."""

_LANGUAGE_NOTICE = (
    "Many texts are not English, which is what the view '{view}' reads. Words are found by their "
    "letters all the same; for their meaning, {hint}."
)
_MULTILINGUAL_NOTICE = "Many texts are not English: the view '{view}' reads sixteen languages."


@dataclass(frozen=True)
class ViewSpec:
    """How one view is made.

    input: what its vectors come from. column: where ready-made ones stand in a record.
    embedder_entry: what catalog.json says of the embedder. dtype: the form in which they are
    stored. columns: the attributes to make it of, with their weights; None leaves the choice to
    what is in them. encoding: how they become vectors; it is fitted to all items unless given.
    """

    name: str
    input: Literal["vectors", "picture", "text", "attributes"]
    dimensions: int
    metric: str
    column: str = ""
    embedder: Embedder | None = None
    embedder_entry: EmbedderEntry | None = None
    dtype: StoredVectors | Literal["auto"] = "auto"
    columns: Mapping[str, float] | None = None
    encoding: AttributeEncoding | None = None

    def with_encoding(self, encoding: AttributeEncoding) -> ViewSpec:
        """Return how a view of attributes is made by an encoding."""
        embedder = AttributesEmbedder(encoding)
        entry = EmbedderEntry(
            embedder.name, embedder.version, tuple(embedder.reads), encoding.to_json()
        )
        return replace(
            self, dimensions=embedder.dimensions, encoding=encoding, embedder_entry=entry
        )


def plan_views(
    offer: SourceContents,
    views: Sequence[str] | None,
    metric: str | Mapping[str, str] | None,
    embedders: Mapping[str, Embedder],
    dtype: StoredVectors | Literal["auto"] = "auto",
    builtin_only: bool = False,
    attributes_view: AttributesView = None,
    text_embedder: str = ENGLISH,
) -> list[ViewSpec]:
    """Return how every view is made.

    Without a choice, ready-made vectors are views; else pictures give `image` and `colour`, and
    texts give `text`; and what is said of items gives `attributes`. A choice names views: those of
    the source, `embedders` that were given, or embedders that Seeker knows, also as NAME=EMBEDDER;
    attributes:COLUMN makes a view of one column. builtin_only: load no others than Seeker's own.
    attributes_view: the columns of that view, with weights if it is a mapping; False for none.
    text_embedder: what makes `text` where nothing is chosen.
    """
    names = list(_default_views(offer, text_embedder) if views is None else views)
    columns = _attribute_columns(attributes_view)
    wanted = views is None and offer.attributes and attributes_view is not False
    if wanted or columns is not None:
        names += [ATTRIBUTES_VIEW] * (ATTRIBUTES_VIEW not in map(_name_of_view, names))
    embedder_names = dict(map(_split_view, names))
    if not embedder_names:
        raise _nothing_to_compare()
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
        _attributes_spec(name, embedder, columns if name == ATTRIBUTES_VIEW else None)
        if _reads_attributes(embedder) and name not in {*vector_columns, *embedders}
        else _view_spec(
            name,
            offer,
            vector_columns,
            embedders.get(name),
            partial(_load_embedder, embedder, vector_columns, builtin_only),
        )
        for name, embedder in embedder_names.items()
    ]
    return [replace(_with_metric(one, metric), dtype=dtype) for one in specs]


def attribute_encodings(manifest: Manifest | None) -> dict[str, AttributeEncoding]:
    """Return the encodings of a catalog's views of attributes, by view."""
    views = {} if manifest is None else manifest.views
    return {
        name: AttributeEncoding.from_json(entry.embedder.settings)
        for name, entry in views.items()
        if entry.embedder is not None and entry.embedder.name == AttributesEmbedder.name
    }


def check_attributes(
    specs: Sequence[ViewSpec], source: Source, presented: Sequence[str] = ()
) -> None:
    """Refuse attributes that none of the first items has, before any work is done.

    Of such a view may be made, or they may be presented to people.
    """
    views = [one for one in specs if one.input == "attributes"]
    if not any(one.columns for one in views) and len(views) < len(specs) and not presented:
        return
    names: set[str] = set()
    for record in first_records(source, _ATTRIBUTE_ROWS):
        names.update(name for name, value in record.attributes.items() if value is not None)
    for one in views:
        for column in one.columns or ():
            if column not in names:
                raise BadInput(
                    f"View '{one.name}' is made of the attribute '{column}', which none of the "
                    f"first {_ATTRIBUTE_ROWS:,} items has.",
                    f"They have {sorted(names)}." if names else "They have no attributes at all.",
                )
    for name in presented:
        if name not in names:
            raise BadInput(
                f"None of the first {_ATTRIBUTE_ROWS:,} items has the attribute '{name}', which is "
                "to be shown, hidden or filtered by.",
                f"They have {sorted(names)}." if names else "They have no attributes at all.",
            )
    if not names and len(views) == len(specs):
        raise _nothing_to_compare()


def text_embedder(source: Source, views: Sequence[str] | None) -> str:
    """Return what makes the view `text` that a build makes by itself: by the texts' language."""
    automatic = views is None and source.offer.text and not source.offer.vectors
    if not automatic or not multilingual_is_installed() or _is_english(source):
        return ENGLISH
    return MULTILINGUAL


def language_notice(source: Source, specs: Sequence[ViewSpec], automatic: bool) -> str | None:
    """Return what to say where the first texts are not English; automatic: nobody chose views."""
    made = {one.embedder_entry.name: one.name for one in specs if one.embedder_entry}
    if automatic and MULTILINGUAL in made:
        return _MULTILINGUAL_NOTICE.format(view=made[MULTILINGUAL])
    if ENGLISH not in made or _is_english(source):
        return None
    hint = f"choose --views {ENGLISH}={MULTILINGUAL}"
    if not multilingual_is_installed():
        hint = f"pip install 'seeker-search[{MULTILINGUAL_EXTRA}]' and build it again"
    return _LANGUAGE_NOTICE.format(view=made[ENGLISH], hint=hint)


def _is_english(source: Source) -> bool:
    """Return whether the first texts are English, as far as their embedder can tell."""
    from seeker.embedders.text import english_share

    texts = (record.embedded_text for record in first_records(source, _LANGUAGE_ROWS))
    return english_share(texts) > _ENGLISH_SHARE


def _split_view(view: str) -> tuple[str, str]:
    """Return the name of a view and what makes it, from NAME=EMBEDDER or one for both."""
    name, equals, embedder = view.partition("=")
    return (name, embedder) if equals else (view_name(view), view)


def view_name(column: str) -> str:
    """Return a name for the view of a column, fit to be a file's."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", column).strip("_-")[:64]
    return name or "vectors"


def _name_of_view(view: str) -> str:
    return _split_view(view)[0]


def _nothing_to_compare() -> BadInput:
    return BadInput(
        "The source has neither pictures nor texts nor vectors to compare items by.",
        "Say which columns they are in.",
    )


def _attribute_columns(choice: AttributesView) -> dict[str, float] | None:
    """Return the columns that were named for the view of attributes, with their weights."""
    if choice is None or isinstance(choice, bool):
        return None
    check_list("attributes_view", choice)
    pairs = choice.items() if isinstance(choice, Mapping) else ((name, 1.0) for name in choice)
    columns = {name: checked_weight(name, weight) for name, weight in pairs}
    if not columns:
        raise BadInput("The view of attributes has no columns.", "Name some, or leave it out.")
    return columns


def _reads_attributes(embedder: str) -> bool:
    return embedder.partition(":")[0] == ATTRIBUTES_VIEW


def _attributes_spec(name: str, embedder: str, columns: Mapping[str, float] | None) -> ViewSpec:
    """Return how a view is made of attributes; of one column where the embedder names it."""
    _check_name(name)
    column = embedder.partition(":")[2]
    return ViewSpec(
        name,
        "attributes",
        0,
        AttributesEmbedder.metric,
        columns={column: 1.0} if column else columns,
    )


def _check_name(name: str) -> None:
    if not VIEW_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a name for a view.", "Use letters, digits, - and _.")


def _default_views(offer: SourceContents, text_embedder: str) -> list[str]:
    if offer.vectors:
        return [view_name(column) for column in offer.vectors]
    return ["image", "colour"] * offer.pictures + [f"text={text_embedder}"] * offer.text


def _view_spec(
    name: str,
    offer: SourceContents,
    vector_columns: Mapping[str, str],
    own: Embedder | None,
    load: Callable[[], Embedder],
) -> ViewSpec:
    _check_name(name)
    if name in vector_columns and own is None:
        column = vector_columns[name]
        return ViewSpec(name, "vectors", offer.vectors[column], "euclidean", column)
    embedder = load() if own is None else adapt(own)
    reads = set(embedder.reads)
    input: Literal["picture", "text"]
    if "picture" in reads and offer.pictures:
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
        embedder=embedder,
        embedder_entry=EmbedderEntry(embedder.name, embedder.version, tuple(sorted(reads))),
    )


def _load_embedder(name: str, vector_columns: Mapping[str, str], builtin_only: bool) -> Embedder:
    from seeker import embedders

    try:
        return embedders.named(name, builtin_only)
    except NotFound:
        also = f" The source itself has {sorted(vector_columns)}." if vector_columns else ""
        raise BadInput(
            f"There is no view '{name}' to make.",
            f"Known are image, colour, text, multilingual, attributes and "
            f"attributes:<column>.{also}",
        ) from None


def _with_metric(one: ViewSpec, metric: str | Mapping[str, str] | None) -> ViewSpec:
    name = metric.get(one.name) if isinstance(metric, Mapping) else metric
    made = one.embedder is not None or one.input == "attributes"
    if name is None or (made and not isinstance(metric, Mapping)):
        return one
    if name not in METRICS:
        raise BadInput(f"{name!r} is not a metric.", f"Use one of {list(METRICS)}.")
    return replace(one, metric=name)
