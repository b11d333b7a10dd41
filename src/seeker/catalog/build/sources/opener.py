"""Chooses how a source is read, from its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeker.catalog.attributes import shorten
from seeker.catalog.build.source import Source, SourceOptions
from seeker.catalog.build.sources.table_rows import (
    CsvRows,
    FrameRows,
    JsonRows,
    ParquetRows,
    is_frame,
)
from seeker.catalog.build.sources.vector_stores import store_rows
from seeker.catalog.manifest import PathLike, path_of
from seeker.embedders.pictures import FORMAT_SUFFIXES
from seeker.errors import BadInput, NotFound

if TYPE_CHECKING:
    from seeker.catalog.build.sources.table import TableSource

_SOURCE_KINDS = "a folder of pictures, .csv, .tsv, .jsonl, .parquet, .npy, .npz, or postgresql://…"
_ADVICE = {
    ".json": "Write one JSON object per line, and call it .jsonl: `jq -c '.[]' FILE.json`.",
    ".xlsx": "Save the sheet as CSV.",
    ".zip": "Unpack it first.",
    **dict.fromkeys(FORMAT_SUFFIXES, "Give the folder that the pictures are in."),
}


def open_source(source: PathLike | Source | Any, options: SourceOptions) -> Source:
    """Return a source by its address; one that is a source already stays as it is."""
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "records"):
            return source
        stored = store_rows(source)
        if stored is not None:
            from seeker.catalog.build.sources.table import TableSource

            return TableSource(stored, options, None)
        if is_frame(source):
            from seeker.catalog.build.sources.table import TableSource

            images = Path(options.images) if options.images is not None else None
            if images is not None and not images.is_dir():
                raise NotFound(f"There is no folder '{images}' with pictures.")
            return TableSource(FrameRows(source), options, images)
        raise BadInput(
            f"{shorten(source)} is not a source.",
            f"A source is {_SOURCE_KINDS}; a data frame, a list of dicts, or a collection of a "
            "vector database. Arrays go to `Catalog.from_arrays`.",
        )
    path = path_of(source, "a source")
    address = os.fspath(source)
    if address.startswith(("postgres://", "postgresql://")):
        from seeker.catalog.build.sources.postgres import PostgresRows
        from seeker.catalog.build.sources.table import TableSource

        return TableSource(PostgresRows(address, options), options, None)
    if not path.exists():
        raise NotFound(f"There is no file or folder '{path}'.", f"A source is {_SOURCE_KINDS}.")
    if path.is_dir():
        from seeker.catalog.build.sources.folder import FolderSource

        if options.table is None:
            return FolderSource(path)
        from seeker.catalog.build.sources.folder import LabelledFolderSource

        return LabelledFolderSource(FolderSource(path), path, Path(options.table), options)
    if not path.is_file():
        raise BadInput(f"'{path}' is not a plain file.", f"A source is {_SOURCE_KINDS}.")
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        from seeker.catalog.build.sources.arrays import ArraySource

        return ArraySource(path, options)
    return open_table(path, options, Path(options.images or path.parent))


def open_table(path: Path, options: SourceOptions, images: Path) -> TableSource:
    """Return the table in a file; images: the folder its pictures are in."""
    from seeker.catalog.build.sources.table import TableSource

    ending = path.suffix.lower()
    if not path.is_file():
        raise NotFound(f"There is no file '{path}'.")
    if not images.is_dir():
        raise NotFound(f"There is no folder '{images}' with pictures.")
    if ending in (".csv", ".tsv"):
        return TableSource(CsvRows(path, options.encoding), options, images)
    if ending in (".jsonl", ".ndjson"):
        return TableSource(JsonRows(path), options, images)
    if ending in (".parquet", ".pq"):
        return TableSource(ParquetRows(path), options, images)
    raise BadInput(
        f"Seeker cannot read '{path.name}' as a source.",
        _ADVICE.get(ending, f"A source is {_SOURCE_KINDS}."),
    )
