"""Arrays as a source: vectors, or stacks of pictures, with an id for every row."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from seeker.catalog.attributes import is_unicode, plain_value, shorten
from seeker.catalog.build.source import Record, RowProblem, SourceContents, SourceOptions
from seeker.errors import BadInput, NotFound
from seeker.types import Array

_ID_NAMES = ("ids", "id", "names")


class ArraySource:
    """The rows of a .npy or .npz file.

    Arrays of shape (n, d) are views. Arrays of shape (n, h, w) or (n, h, w, 3) of bytes are
    pictures, whose pixels are the view `pixels`. Of the other arrays with n rows, one called `ids`
    holds the ids, and the rest are attributes.
    """

    loose = False

    def __init__(self, path: Path, options: SourceOptions) -> None:
        self._path = path
        arrays = _load(path)
        views = {name: array for name, array in arrays.items() if _is_view(array)}
        stacks = [name for name, array in arrays.items() if _is_stack(array)]
        if not views and not stacks:
            shapes = {name: array.shape for name, array in arrays.items()}
            raise BadInput(
                f"'{path}' holds neither vectors nor pictures: {shorten(shapes, 120)}.",
                "Vectors have shape (items, dimensions); pictures (items, h, w) or (…, 3), bytes.",
            )
        self._length = len(arrays[stacks[0]] if stacks else next(iter(views.values())))
        self._views = {name: one for name, one in views.items() if len(one) == self._length}
        self._pictures = arrays[stacks[0]] if stacks else None
        if self._pictures is not None:
            self._views["pixels"] = self._pictures.reshape(self._length, -1)
        self._columns = {
            name: array
            for name, array in arrays.items()
            if array.ndim == 1 and len(array) == self._length
        }
        self._ids = self._read_ids(None if options.ids is None else Path(options.ids))
        used = {*self._views, *self._columns, *stacks[:1], *_ID_NAMES}
        self._unused = [name for name in arrays if name not in used]
        self.offer = SourceContents(
            pictures=self._pictures is not None,
            vectors={name: one.shape[1] for name, one in self._views.items()},
            attributes=bool(self._columns),
        )

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {"kind": self._path.suffix[1:].lower(), "path": str(self._path)}

    def notes(self) -> list[str]:
        """Return what the arrays were taken for."""
        views = [f"{name} ({one.shape[1]})" for name, one in self._views.items()]
        notes = [
            "Arrays:",
            f"  id          {'given' if self._ids is not None else 'none: the number of the row'}",
            f"  picture     {'yes' if self._pictures is not None else 'none'}",
            f"  vectors     {', '.join(views)}",
            f"  attributes  {', '.join(self._columns) or 'none'}",
        ]
        if self._unused:
            notes.append(f"  not used    {', '.join(self._unused)}")
        return notes

    def count(self) -> int:
        """Return how many rows there are."""
        return self._length

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield the rows in order."""
        for row in range(self._length):
            id = str(row) if self._ids is None else self._ids[row]
            place = f"row {row}"
            if not id or not is_unicode(id):
                yield RowProblem(place, "no id")
                continue
            yield Record(
                place,
                id,
                picture=None if self._pictures is None else np.asarray(self._pictures[row]),
                attributes={
                    name: plain_value(column[row]) for name, column in self._columns.items()
                },
                vectors={name: np.asarray(one[row]) for name, one in self._views.items()},
            )

    def _read_ids(self, file: Path | None) -> list[str] | None:
        if file is not None:
            ids = _ids_of(file)
        else:
            name = next((name for name in _ID_NAMES if name in self._columns), None)
            if name is None:
                return None
            ids = [str(one) for one in self._columns.pop(name).tolist()]
        if len(ids) != self._length:
            raise BadInput(f"There are {len(ids):,} ids for {self._length:,} rows.")
        return ids


def _load(path: Path) -> dict[str, Array]:
    """Return the arrays in a file; a .npy file is mapped, the arrays of a .npz are read."""
    try:
        if path.suffix.lower() == ".npy":
            # As a plain array: rows of numpy's own kind of mapped array cost ten times as much.
            return {"vectors": np.asarray(_one(np.load(path, mmap_mode="r", allow_pickle=False)))}
        with path.open("rb") as handle:
            archive = np.load(handle, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("one array, not several")
            with archive:
                return {name: _member(path, archive, name) for name in archive.files}
    except MemoryError:
        raise BadInput(f"'{path}' needs more memory than there is.", "Use .npy files.") from None
    except BadInput:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError):
        raise BadInput(
            f"'{path}' is not a file of plain arrays; Python objects are never read.",
            "Save numbers with numpy.save.",
        ) from None


def _one(loaded: Any) -> Array:
    """Return what was loaded if it is one array."""
    if not isinstance(loaded, np.ndarray):
        raise ValueError("several arrays, not one")
    return loaded


def _member(path: Path, archive: Any, name: str) -> Array:
    """Return an array of a .npz file; whatever else lies in it is refused by name."""
    try:
        array = archive[name]
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        array = None
    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        raise BadInput(
            f"{shorten(name)} in '{path}' cannot be read as an array of numbers or texts; Python "
            "objects are never read.",
            "Leave it out, or save it as an array with numpy.savez.",
        )
    return array


def _is_view(array: Array) -> bool:
    return array.ndim == 2 and array.shape[1] > 0 and array.dtype.kind in "fiub"


def _is_stack(array: Array) -> bool:
    if array.dtype != np.uint8 or 0 in array.shape:
        return False
    return array.ndim == 3 or (array.ndim == 4 and array.shape[3] == 3)


def _ids_of(file: Path) -> list[str]:
    """Return the ids in a file: a JSON list, an array, or one per line."""
    if not file.is_file():
        raise NotFound(f"There is no file '{file}' with ids.")
    try:
        if file.suffix.lower() == ".npy":
            array = _one(np.load(file, allow_pickle=False))
            return [str(one) for one in array.reshape(-1).tolist()]
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix.lower() == ".json":
            ids = json.loads(text)
            if not isinstance(ids, list):
                raise ValueError("not a list")
            return [str(one) for one in ids]
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise BadInput(
            f"'{file}' cannot be read as ids.", "Give one per line, a JSON list, or an array."
        ) from None
    return text.splitlines()
