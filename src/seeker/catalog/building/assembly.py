"""Puts chunks together: one item table, one file of vectors per view."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seeker.catalog.building.chunk import Chunk
from seeker.catalog.building.compact import compact, steps_of
from seeker.catalog.building.plan import Making
from seeker.catalog.building.record import Problem
from seeker.catalog.building.vectors import VectorFile
from seeker.catalog.head import Stored, ViewEntry
from seeker.catalog.nofollow import new_file, real_folder
from seeker.catalog.values import Kind, fitting, short
from seeker.catalog.writer import ItemWriter
from seeker.errors import BadInput
from seeker.space import View
from seeker.space.metric import FAST
from seeker.space.metric import check as check_metric
from seeker.space.packing import chosen
from seeker.types import Floats


@dataclass(frozen=True)
class Assembled:
    """The files of a version, as catalog.json names them; media: how many thumbnails."""

    count: int
    media: int
    items: Stored
    attributes: Mapping[str, Kind]
    views: Mapping[str, ViewEntry]


class Assembly:
    """Files of a version in the making, in a folder of their own."""

    def __init__(
        self,
        folder: Path,
        makings: Sequence[Making],
        loose: bool,
        kinds: Mapping[str, Kind] | None = None,
        taken: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Start empty. kinds: what attributes must be; taken: whether an id is in use elsewhere."""
        self._folder = real_folder(folder)
        self._makings = makings
        self._loose = loose
        self._kinds = kinds or {}
        self._taken = taken
        for ending in ("", "-journal", "-wal", "-shm"):
            (folder / f"items.sqlite{ending}").unlink(missing_ok=True)
        connection = sqlite3.connect(folder / "items.sqlite", isolation_level=None)
        self.writer = ItemWriter(connection, loose)
        self.vectors = {
            one.name: VectorFile(folder / "views" / f"{one.name}.npy", one.dimensions)
            for one in makings
        }

    def add(self, chunk: Chunk) -> list[Problem]:
        """Add the items of a chunk; return what could not be added."""
        problems, kept = [], []
        for place, item in enumerate(chunk.items):
            attributes = item["attributes"]
            if self._taken(item["id"]):
                problems.append(
                    Problem(item["place"], "id that is in the catalog already", short(item["id"]))
                )
                continue
            try:
                for name, kind in self._kinds.items():
                    if name in attributes:
                        attributes[name] = fitting(name, attributes[name], kind, self._loose)
            except BadInput as error:
                problems.append(Problem(item["place"], "attribute of another kind", error.message))
                continue
            title = item["title"] or item["id"]
            if not self.writer.add(item["id"], title, item["text"], item["media"], attributes):
                problems.append(Problem(item["place"], "duplicate id", short(item["id"])))
                continue
            kept.append(place)
        for name, file in self.vectors.items():
            vectors = chunk.vectors[name]
            file.append(vectors if len(kept) == len(vectors) else vectors[kept])
        return problems

    def append(self, vectors: Mapping[str, Floats]) -> None:
        """Add vectors whose items were added to the writer, (n, d) by view."""
        for name, file in self.vectors.items():
            file.append(vectors[name])

    def finish(self, prefix: str = "", centres: Mapping[str, Floats] | None = None) -> Assembled:
        """Complete the files; prefix: what stands before their names in catalog.json.

        centres: by view, the centre that compact vectors are to keep.
        """
        attributes = self.writer.finish()
        media = self.writer.connection.execute("SELECT count(DISTINCT media) FROM items")
        pictures = int(media.fetchone()[0])
        self.writer.connection.close()
        synced(self._folder / "items.sqlite")
        views = {}
        for making in self._makings:
            self.vectors[making.name].finish()
            centre = (centres or {}).get(making.name)
            views[making.name] = self._measured(making, prefix, centre)
        items = _stored(self._folder, "items.sqlite", prefix)
        return Assembled(self.writer.count, pictures, items, attributes, views)

    def close(self) -> None:
        """Give up, or let go after the end."""
        self.writer.connection.close()
        for file in self.vectors.values():
            file.close()

    def _measured(self, making: Making, prefix: str, centre: Floats | None) -> ViewEntry:
        file = f"views/{making.name}.npy"
        path = self._folder / file
        dtype = chosen(making.dtype, self.writer.count, making.dimensions)
        if dtype != "float32":
            centre = compact(path, dtype, centre)
        vectors = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        steps = np.load(steps_of(path), allow_pickle=False) if dtype == "int8" else None
        # Vectors of a cosine view have length one already; what is measured is the same.
        metric = check_metric("euclidean" if making.metric in FAST else making.metric)
        if dtype == "float32":
            view = View.from_vectors(making.name, vectors, metric)
        else:
            view = View.measured(making.name, vectors, metric, steps=steps, centre=centre)
        moments = f"views/{making.name}.moments.npy"
        kept = [view.mean, view.variance, *(() if view.centre is None else (view.centre,))]
        with new_file(self._folder / moments) as handle:
            np.save(handle, np.stack(kept), allow_pickle=False)
        synced(self._folder / moments)
        if steps is not None:
            synced(steps_of(path))
        beside = steps_of(path).relative_to(self._folder).as_posix()
        return ViewEntry(
            vectors=_stored(self._folder, file, prefix),
            moments=_stored(self._folder, moments, prefix),
            dimensions=making.dimensions,
            metric=making.metric,
            units="unit",
            scale=view.scale,
            radius=view.radius,
            dtype=dtype,
            steps=None if steps is None else _stored(self._folder, beside, prefix),
            embedder=making.made_by,
        )


def synced(path: Path) -> None:
    """Bring a file to disk."""
    with path.open("rb+") as handle:
        os.fsync(handle.fileno())


def _stored(folder: Path, file: str, prefix: str) -> Stored:
    found = Stored.of(folder, file)
    return Stored(f"{prefix}{found.file}", found.bytes, found.sha256)
