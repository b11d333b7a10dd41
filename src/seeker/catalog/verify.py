"""`seeker verify`: reads a whole catalog and says what is wrong with it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from seeker.catalog.catalog import Catalog
from seeker.catalog.head import Head, Stored

_ROWS = 16_384


def problems(path: str | Path) -> list[str]:
    """Return what is wrong with a catalog, in sentences; none if it is whole.

    A folder that cannot even be opened is an error, as it is for everybody else.
    """
    folder = Path(path)
    catalog = Catalog.open(folder)
    if catalog.head is None:
        return []
    return list(_problems(folder, catalog, catalog.head))


def _problems(folder: Path, catalog: Catalog, head: Head) -> Iterator[str]:
    for stored in head.files:
        if Stored.of(folder, stored.file).sha256 != stored.sha256:
            yield f"'{stored.file}' is not what was written: its checksum is another."
    yield from _item_problems(folder, head)
    for name, view in catalog.views.items():
        for start in range(0, len(view), _ROWS):
            if not np.isfinite(view.rows(slice(start, start + _ROWS))).all():
                yield f"View '{name}' holds numbers that are not finite from row {start:,} on."
                break


def _item_problems(folder: Path, head: Head) -> Iterator[str]:
    address = f"{(folder / head.items.file).absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True)
    try:
        for (said,) in connection.execute("PRAGMA integrity_check"):
            if said != "ok":
                yield f"'{head.items.file}' is damaged: {said.splitlines()[0]}."
        count, last = connection.execute("SELECT count(*), max(row) FROM items").fetchone()
        if (count, last) != (head.count, head.count - 1):
            yield f"The item table has {count:,} items instead of {head.count:,}."
        media = connection.execute("SELECT DISTINCT media FROM items WHERE media IS NOT NULL")
        missing, changed = 0, 0
        for (name,) in media:
            whole = _thumbnail_is_whole(folder, name)
            missing += whole is None
            changed += whole is False
        if missing:
            yield f"{missing:,} thumbnails are missing."
        if changed:
            yield f"{changed:,} thumbnails are not what was written."
    except sqlite3.DatabaseError as error:
        yield f"'{head.items.file}' cannot be read: {error}."
    finally:
        connection.close()


def _thumbnail_is_whole(folder: Path, name: str) -> bool | None:
    """Return whether a thumbnail's contents are those it is named by; None if it is missing."""
    file = folder / name
    try:
        contents = file.read_bytes()
    except OSError:
        return None
    return hashlib.sha256(contents).hexdigest()[:32] == file.stem
