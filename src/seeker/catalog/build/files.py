"""The files of a catalog: one item table, one file of vectors per view, in bounded memory."""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from seeker.catalog.attributes import Kind, PlainValue, shorten
from seeker.catalog.build.chunks import Chunk
from seeker.catalog.build.fit_attributes import SAMPLE_ROWS, fit_attributes, still_fits
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import RowProblem
from seeker.catalog.item_table import ItemRecord, ItemTable
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest import FileEntry, ViewEntry
from seeker.catalog.nofollow import new_file, real_folder, remove_tree
from seeker.embedders.attributes import AttributeEncoding, AttributesEmbedder
from seeker.errors import BadInput
from seeker.files import atomic_write
from seeker.space import View
from seeker.space.metric import FAST
from seeker.space.metric import check as check_metric
from seeker.space.packing import StoredVectors, choose_dtype, pack_in_runs
from seeker.space.view import mean
from seeker.types import Array, Floats

_HEADER_BYTES = 128
"""Room for the header, which can be written only when the count is known; keeps rows aligned."""


_ENCODED_ITEMS = 1024
"""Of how many items the attributes are encoded at once."""


class VectorFile:
    """A (items, d) array in a file, filled by appending."""

    def __init__(self, file: BinaryIO, dimensions: int, dtype: StoredVectors = "float32") -> None:
        """Fill a new file that was opened to write."""
        self._handle = file
        self._handle.write(b"\0" * _HEADER_BYTES)
        self._dimensions = dimensions
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self.count = 0

    def append(self, vectors: Array) -> None:
        """Add rows at the end, (n, d)."""
        self._handle.write(np.ascontiguousarray(vectors, self._dtype).data)
        self.count += len(vectors)

    def write_header(self) -> None:
        """Write the header, which says how many rows there are."""
        header = io.BytesIO()
        described = {
            "descr": npy.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self.count, self._dimensions),
        }
        npy.write_array_header_1_0(header, described)
        start = header.getvalue()
        # The length of the header is in bytes 8 and 9; blanks before its final newline are free.
        text = start[10:].rstrip() + b" " * _HEADER_BYTES
        text = text[: _HEADER_BYTES - 11] + b"\n"
        self._handle.seek(0)
        self._handle.write(start[:8] + len(text).to_bytes(2, "little") + text)

    def finish(self) -> None:
        """Write the header, bring everything to disk, and close the file."""
        self.write_header()
        self._handle.flush()
        os.fsync(self._handle.fileno())
        self._handle.close()

    def close(self) -> None:
        """Give up the file."""
        self._handle.close()


def compact(path: Path, dtype: StoredVectors, centre: Floats | None) -> Floats:
    """Rewrite vectors in a compact form, int8 with a file of steps beside it; return the centre.

    centre: the one to keep, as in a new version of a catalog; the mean unless given.
    """
    vectors: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    if centre is None:
        centre = mean(vectors).astype(np.float32)
    every = []
    with atomic_write(path) as handle:
        file = VectorFile(handle, vectors.shape[1], dtype)
        for _, codes, steps in pack_in_runs(vectors, dtype, centre):
            file.append(codes)
            if steps is not None:
                every.append(steps)
        file.write_header()
        if every:
            with new_file(steps_path(path)) as steps_file:
                np.save(steps_file, np.concatenate(every), allow_pickle=False)
    return centre


def steps_path(path: Path) -> Path:
    """Return where the steps of an int8 view's file are kept."""
    return path.with_name(f"{path.stem}.steps.npy")


class _OneConnection:
    """Lends the connection to a table that is still being written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        yield self._connection


@dataclass(frozen=True)
class AssembledFiles:
    """The files of a version, as catalog.json names them; media: how many thumbnails.

    notes: what views of attributes were made of, in sentences for people.
    """

    count: int
    media: int
    items: FileEntry
    attributes: Mapping[str, Kind]
    views: Mapping[str, ViewEntry]
    notes: Sequence[str] = ()


def item_record(item: Mapping[str, Any]) -> ItemRecord:
    """Return an item of a chunk as the item table keeps it."""
    digests = (item[f"{part}_digest"] for part in ("picture", "text"))
    return ItemRecord(
        item["id"],
        item["title"] or item["id"],
        item["text"],
        item["media"],
        item["attributes"],
        *(digest and bytes.fromhex(digest) for digest in digests),
    )


class Assembly:
    """Files of a version in the spec, in a folder of their own."""

    def __init__(self, folder: Path, specs: Sequence[ViewSpec], loose: bool) -> None:
        """Start empty; loose: texts may stand for numbers and booleans."""
        self._folder = real_folder(folder)
        self._specs = list(specs)
        self._attributes: Mapping[str, Kind] = {}
        self._notes: list[str] = []
        for ending in ("", "-journal", "-wal", "-shm"):
            (folder / f"items.sqlite{ending}").unlink(missing_ok=True)
        remove_tree(folder / "views")
        connection = sqlite3.connect(folder / "items.sqlite", isolation_level=None)
        self.writer = ItemWriter(connection, loose)
        self._views = real_folder(folder / "views")
        self.vectors = {one.name: self._new_file(one) for one in specs if one.input != "attributes"}

    def _new_file(self, spec: ViewSpec) -> VectorFile:
        return VectorFile(new_file(self._views / f"{spec.name}.npy"), spec.dimensions)

    def add(self, chunk: Chunk) -> list[RowProblem]:
        """Add the items of a chunk; return what could not be added."""
        problems, places = [], []
        for place, item in enumerate(chunk.items):
            if not self.writer.add(*item_record(item)):
                problems.append(RowProblem(item["place"], "duplicate id", shorten(item["id"])))
                continue
            places.append(place)
        for name, file in self.vectors.items():
            vectors = chunk.vectors[name]
            file.append(vectors if len(places) == len(vectors) else vectors[places])
        return problems

    def append(self, vectors: Mapping[str, Floats]) -> None:
        """Add vectors whose items were added to the writer, (n, d) by view."""
        for name, file in self.vectors.items():
            file.append(vectors[name])

    def complete_items(
        self, encodings: Mapping[str, AttributeEncoding] | None = None
    ) -> Sequence[ViewSpec]:
        """Complete the items, make views of what is said of them, and return how views are made.

        To be called when all items are there. encodings: by view, one to go on with if it is still
        about what a new one would be.
        """
        self._attributes = self.writer.finish()
        for spec in [one for one in self._specs if one.input == "attributes"]:
            fitted = self._fitted(spec, (encodings or {}).get(spec.name))
            place = self._specs.index(spec)
            self._specs[place : place + 1] = [] if fitted is None else [fitted]
            if fitted is not None:
                self._encode(fitted)
        if not self._specs:
            raise BadInput(
                "The source has neither pictures nor texts nor vectors to compare items by, and "
                "its other columns do not say what an item is.",
                "Say which columns do, with --attributes-view.",
            )
        return self._specs

    def _fitted(self, spec: ViewSpec, before: AttributeEncoding | None) -> ViewSpec | None:
        """Return how a view of attributes is made; None if there is nothing to make it of."""
        if spec.encoding is not None:
            return spec
        step = -(-self.writer.count // SAMPLE_ROWS)
        sample = islice(self._items(), 0, None, step)
        fit = fit_attributes(
            (attributes for _, attributes in sample), self._attributes, spec.columns
        )
        if fit.encoding is None:
            return None
        self._notes += fit.lines(spec.name)
        keeps = before is not None and still_fits(before, fit.encoding)
        return spec.with_encoding(before if before is not None and keeps else fit.encoding)

    def _encode(self, spec: ViewSpec) -> None:
        if spec.encoding is None:
            raise ValueError(f"view {spec.name} has no encoding")
        embedder = AttributesEmbedder(spec.encoding)
        file = self.vectors[spec.name] = self._new_file(spec)
        items = self._items()
        while batch := list(islice(items, _ENCODED_ITEMS)):
            file.append(embedder.embed(batch))

    def _items(self) -> Iterator[tuple[str, Mapping[str, PlainValue]]]:
        """Yield the id and the attributes of every item."""
        table = ItemTable(_OneConnection(self.writer.connection), self.writer.count)
        return ((one.id, one.attributes) for one in table.walk())

    def finish(
        self, prefix: str = "", centres: Mapping[str, Floats] | None = None
    ) -> AssembledFiles:
        """Complete the files; prefix: what stands before their names in catalog.json.

        To be called after `complete_items`. centres: by view, those that compact vectors keep.
        """
        attributes = self._attributes
        media = self.writer.connection.execute("SELECT count(DISTINCT media) FROM items")
        pictures = int(media.fetchone()[0])
        self.writer.connection.close()
        fsync_file(self._folder / "items.sqlite")
        views = {}
        for spec in self._specs:
            self.vectors[spec.name].finish()
            centre = (centres or {}).get(spec.name)
            views[spec.name] = finish_view(self._folder, spec, self.writer.count, prefix, centre)
        items = _prefixed_entry(self._folder, "items.sqlite", prefix)
        return AssembledFiles(
            self.writer.count, pictures, items, attributes, views, tuple(self._notes)
        )

    def close(self) -> None:
        """Give up, or let go after the end."""
        self.writer.connection.close()
        for file in self.vectors.values():
            file.close()


def finish_view(
    folder: Path, spec: ViewSpec, count: int, prefix: str = "", centre: Floats | None = None
) -> ViewEntry:
    """Pack and measure the vectors of a view, which are in their file; return what it is.

    count: of the items. prefix, centre: as for `Assembly.finish`.
    """
    file = f"views/{spec.name}.npy"
    path = folder / file
    dtype = choose_dtype(spec.dtype, count, spec.dimensions)
    if dtype != "float32":
        centre = compact(path, dtype, centre)
    vectors = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    steps = np.load(steps_path(path), allow_pickle=False) if dtype == "int8" else None
    # Vectors of a cosine view have length one already; what is measured is the same.
    metric = check_metric("euclidean" if spec.metric in FAST else spec.metric)
    if dtype == "float32":
        view = View.from_vectors(spec.name, vectors, metric)
    else:
        view = View.measure(spec.name, vectors, metric, steps=steps, centre=centre)
    moments = f"views/{spec.name}.moments.npy"
    rows = [view.mean, view.variance, *(() if view.centre is None else (view.centre,))]
    with new_file(folder / moments) as handle:
        np.save(handle, np.stack(rows), allow_pickle=False)
    fsync_file(folder / moments)
    if steps is not None:
        fsync_file(steps_path(path))
    beside = steps_path(path).relative_to(folder).as_posix()
    return ViewEntry(
        vectors=_prefixed_entry(folder, file, prefix),
        moments=_prefixed_entry(folder, moments, prefix),
        dimensions=spec.dimensions,
        metric=spec.metric,
        units="unit",
        scale=view.scale,
        radius=view.radius,
        dtype=dtype,
        steps=None if steps is None else _prefixed_entry(folder, beside, prefix),
        embedder=spec.embedder_entry,
    )


def fsync_file(path: Path) -> None:
    """Bring a file to disk."""
    with path.open("rb+") as handle:
        os.fsync(handle.fileno())


def _prefixed_entry(folder: Path, file: str, prefix: str) -> FileEntry:
    return replace(FileEntry.of(folder, file), file=f"{prefix}{file}")
