"""`seeker.build`, which loads what it needs only when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seeker.catalog.catalog import Catalog
from seeker.catalog.manifest import PathLike, path_of
from seeker.errors import BadInput

if TYPE_CHECKING:
    from seeker.catalog.build.source import Source
    from seeker.catalog.build.sources.opener import SourceOptions
    from seeker.embedders.base import Embedder


def build(
    source: PathLike | Source,
    out: PathLike,
    *,
    views: Sequence[str] | None = None,
    images: PathLike | None = None,
    id: str | None = None,
    title: str | None = None,
    text: Sequence[str] | None = None,
    picture: str | None = None,
    attributes: Sequence[str] | None = None,
    vectors: Sequence[str] | None = None,
    ids: PathLike | None = None,
    table: PathLike | None = None,
    encoding: str = "utf-8-sig",
    metric: str | Mapping[str, str] | None = None,
    dtype: str = "auto",
    embedders: Mapping[str, Embedder] | None = None,
    about: Mapping[str, Any] | None = None,
    strict: bool = False,
    replace: bool = False,
    tell: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Catalog:
    """Build a catalog from a source and open it.

    source: a folder of pictures; a .csv, .tsv, .jsonl or .parquet table; .npy or .npz arrays; the
    address of a PostgreSQL database; or an object with the methods of `Source`. out: the folder
    to make. It is made aside and put in place at the end; a build that was interrupted goes on
    where it was.

    views: which to make, such as ["image", "colour", "kind=category:label"]; chosen from what the
    source has unless given. id, title, picture (one column each), text, attributes, vectors
    (several): what the columns of a table are; guessed unless given. images: the folder that a
    table's picture paths are in. ids: a file with the ids of arrays. table: which table of a
    database; for a folder, a file that says more about its pictures. metric: how ready-made vectors
    are compared, for all or by view. dtype: how vectors are stored, "float32", "float16" or "int8";
    "auto" is float32 up to 2 GB a view, float16 up to 8 GB, then int8.
    embedders: by name of a view, embedders of your own; `views` says which are used.
    about: title, licence, attribution and the like. strict: refuse bad rows instead of leaving
    them out. replace: make a new version of a catalog that is there. tell: called with what was
    guessed and what was left out. progress: show a bar.
    """
    from seeker.catalog.build import build as building

    return building.build(
        source,
        out,
        views=several("views", views),
        embedders=embedders,
        metric=metric,
        dtype=dtype,
        options=options(
            images, id, title, text, picture, attributes, vectors, ids, table, encoding
        ),
        about=about,
        strict=strict,
        replace=replace,
        tell=tell,
        progress=progress,
    )


def options(
    images: PathLike | None = None,
    id: str | None = None,
    title: str | None = None,
    text: Sequence[str] | None = None,
    picture: str | None = None,
    attributes: Sequence[str] | None = None,
    vectors: Sequence[str] | None = None,
    ids: PathLike | None = None,
    table: PathLike | None = None,
    encoding: str = "utf-8-sig",
) -> SourceOptions:
    """Return how a source is to be read."""
    from seeker.catalog.build.sources.opener import SourceOptions

    return SourceOptions(
        images=None if images is None else path_of(images, "the path of a folder"),
        id=id,
        title=title,
        text=several("text", text),
        picture=picture,
        attributes=several("attributes", attributes),
        vectors=several("vectors", vectors),
        ids=None if ids is None else path_of(ids, "the path of a file of ids"),
        table=None if table is None else str(table),
        encoding=encoding,
    )


def several(name: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return a list of names as it is kept; a single text is a common slip."""
    if given is None:
        return None
    if isinstance(given, str):
        raise BadInput(f"{name} is a single text.", f"Give a list: {name}=[{given!r}].")
    return tuple(given)
