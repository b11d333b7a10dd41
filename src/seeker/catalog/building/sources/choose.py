"""Chooses how a source is read, from its name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seeker.catalog.building.record import Source
from seeker.catalog.paths import PathLike, path_of
from seeker.catalog.values import short
from seeker.embedders.formats import SUFFIXES
from seeker.errors import BadInput, NotFound

if TYPE_CHECKING:
    from seeker.catalog.building.sources.table import Table

KNOWN = "a folder of pictures, .csv, .tsv, .jsonl, .parquet, .npy, .npz, or postgresql://…"
_INSTEAD = {
    ".json": "Write one JSON object per line, and call it .jsonl: `jq -c '.[]' FILE.json`.",
    ".xlsx": "Save the sheet as CSV.",
    ".zip": "Unpack it first.",
    **dict.fromkeys(SUFFIXES, "Give the folder that the pictures are in."),
}


@dataclass(frozen=True)
class Options:
    """How a source is to be read; what is None is guessed.

    images: the folder that a table's picture paths are in. id, title, picture: columns. text,
    attributes, vectors: lists of columns. ids: a file with the ids of arrays. table: which table
    of a database; for a folder, a file with what is known of its pictures.
    """

    images: Path | None = None
    id: str | None = None
    title: str | None = None
    text: tuple[str, ...] | None = None
    picture: str | None = None
    attributes: tuple[str, ...] | None = None
    vectors: tuple[str, ...] | None = None
    ids: Path | None = None
    table: str | None = None
    encoding: str = "utf-8-sig"


def open_source(source: PathLike | Source, options: Options) -> Source:
    """Return a source by its address; one that is a source already stays as it is."""
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "records"):
            return source
        raise BadInput(
            f"{short(source)} is not a source.",
            f"A source is {KNOWN}; what is in memory goes to `Catalog.from_arrays`.",
        )
    path = path_of(source, "a source")
    address = os.fspath(source)
    if address.startswith(("postgres://", "postgresql://")):
        from seeker.catalog.building.sources.postgres import PostgresRows
        from seeker.catalog.building.sources.table import Table

        return Table(PostgresRows(address, options), options, None)
    if not path.exists():
        raise NotFound(f"There is no file or folder '{path}'.", f"A source is {KNOWN}.")
    if path.is_dir():
        from seeker.catalog.building.sources.folder import Folder

        if options.table is None:
            return Folder(path)
        from seeker.catalog.building.sources.labelled import LabelledFolder

        return LabelledFolder(Folder(path), path, Path(options.table), options)
    if not path.is_file():
        raise BadInput(f"'{path}' is not a plain file.", f"A source is {KNOWN}.")
    ending = path.suffix.lower()
    if ending in (".npy", ".npz"):
        from seeker.catalog.building.sources.arrays import Arrays

        return Arrays(path, options)
    return open_table(path, options, options.images or path.parent)


def open_table(path: Path, options: Options, images: Path) -> Table:
    """Return the table in a file; images: the folder its pictures are in."""
    from seeker.catalog.building.sources.table import Table

    ending = path.suffix.lower()
    if not path.is_file():
        raise NotFound(f"There is no file '{path}'.")
    if not images.is_dir():
        raise NotFound(f"There is no folder '{images}' with pictures.")
    if ending in (".csv", ".tsv"):
        from seeker.catalog.building.sources.csvfile import CsvRows

        return Table(CsvRows(path, options.encoding), options, images)
    if ending in (".jsonl", ".ndjson"):
        from seeker.catalog.building.sources.jsonlines import JsonRows

        return Table(JsonRows(path), options, images)
    if ending in (".parquet", ".pq"):
        from seeker.catalog.building.sources.parquet import ParquetRows

        return Table(ParquetRows(path), options, images)
    raise BadInput(
        f"Seeker cannot read '{path.name}' as a source.",
        _INSTEAD.get(ending, f"A source is {KNOWN}."),
    )
