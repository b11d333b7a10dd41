"""Makes chunks: checks vectors, opens pictures, embeds, draws thumbnails."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.building.chunk import Chunk
from seeker.catalog.building.plan import Making
from seeker.catalog.building.record import Picture, Problem, Record
from seeker.catalog.nofollow import new_file, real_folder
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.kernels.threads import cores
from seeker.types import Array, Floats

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH = 32
"""How many pictures are held open at a time, and how many things are embedded at once."""

THUMBNAIL = 320
"""Thumbnails fit into this many pixels: two for each of a grid's places on a fine screen."""


@dataclass
class _Ready:
    """A record on its way: its open picture, its thumbnail, its vectors by view."""

    record: Record
    image: Image | None = None
    media: str | None = None
    vectors: dict[str, Floats] = field(default_factory=dict)


class Maker:
    """Turns rows into chunks; media: the folder that thumbnails are written to."""

    def __init__(self, makings: Sequence[Making], media: Path) -> None:
        self._makings = makings
        self._media = media
        self._hands = ThreadPoolExecutor(cores(), "pictures")

    def close(self) -> None:
        """Let the helping threads go."""
        self._hands.shutdown(cancel_futures=True)

    def make(self, rows: Sequence[Record | Problem]) -> Chunk:
        """Return the chunk of some rows; what cannot become an item becomes a problem."""
        problems: list[Problem] = []
        done: list[_Ready] = []
        for start in range(0, len(rows), BATCH):
            batch: list[_Ready] = []
            for one in self._prepared(rows[start : start + BATCH]):
                (problems if isinstance(one, Problem) else batch).append(one)  # type: ignore[arg-type]
            for making in self._makings:
                if making.embedder is not None:
                    batch = self._embed(making, batch, problems)
            for ready in batch:
                ready.image = None
            done += batch
        vectors = {
            making.name: np.stack([ready.vectors[making.name] for ready in done])
            if done
            else np.empty((0, making.dimensions), np.float32)
            for making in self._makings
        }
        return Chunk([_item(ready) for ready in done], vectors, problems)

    def _prepared(self, rows: Sequence[Record | Problem]) -> Iterable[_Ready | Problem]:
        """Prepare rows, pictures side by side; handing over anything else would cost more."""
        if any(isinstance(row, Record) and row.picture is not None for row in rows):
            return self._hands.map(self._prepare, rows)
        return map(self._prepare, rows)

    def _prepare(self, row: Record | Problem) -> _Ready | Problem:
        if isinstance(row, Problem):
            return row
        ready = _Ready(row)
        for making in self._makings:
            if making.of == "vectors":
                given = row.vectors.get(making.column)
                if given is None:
                    return Problem(row.place, "no vector", making.column)
                found = given if isinstance(given, str) else checked(given, making)
                if isinstance(found, str):
                    return Problem(row.place, "bad vector", f"{making.name}: {found}")
                ready.vectors[making.name] = found
            elif making.of == "text" and not (row.title or row.text):
                return Problem(row.place, "no text")
            elif making.of == "picture" and row.picture is None:
                return Problem(row.place, "no picture")
        if row.picture is not None:
            try:
                ready.image = opened(row.picture)
                ready.media = self._thumbnail(ready.image)
            except NotFound as error:
                return Problem(row.place, "no picture", error.message)
            except BadInput as error:
                return Problem(row.place, "broken picture", error.message)
        return ready

    def _embed(self, making: Making, batch: list[_Ready], problems: list[Problem]) -> list[_Ready]:
        """Give every record its vector; return those that got one."""
        if not batch or making.embedder is None:
            return batch
        if making.of == "picture":
            vectors = np.asarray(making.embedder.embed([ready.image for ready in batch]))
        elif making.of == "attribute":
            values = [ready.record.attributes.get(making.column) for ready in batch]
            vectors = np.asarray(making.embedder.embed(values))
        else:
            texts = [embedded_text(ready.record) for ready in batch]
            vectors = np.asarray(making.embedder.embed_text(texts))
        if vectors.shape != (len(batch), making.dimensions):
            raise SeekerError(
                f"The embedder '{making.embedder.name}' returned shape {vectors.shape} instead of "
                f"{(len(batch), making.dimensions)}."
            )
        kept = []
        for ready, vector in zip(batch, vectors, strict=True):
            found = checked(vector, making)
            if isinstance(found, str):
                problems.append(Problem(ready.record.place, "bad vector", found))
            else:
                ready.vectors[making.name] = found
                kept.append(ready)
        return kept

    def _thumbnail(self, image: Image) -> str:
        """Write a thumbnail under a name made of its contents; return its path in the catalog."""
        from seeker.embedders.pictures import thumbnail

        contents = thumbnail(image, THUMBNAIL)
        name = hashlib.sha256(contents).hexdigest()[:32]
        file = self._media / name[:2] / f"{name}.webp"
        if not file.exists() or file.stat().st_size != len(contents):
            real_folder(self._media)
            real_folder(file.parent)
            aside = file.with_name(f"{name}.{os.getpid()}-{id(image)}.new")
            with new_file(aside) as handle:
                handle.write(contents)
            aside.replace(file)
        return f"media/{name[:2]}/{name}.webp"


def checked(vector: Array, making: Making) -> Floats | str:
    """Return a vector as it is kept, (d,) float32, or what is wrong with it."""
    if vector.shape != (making.dimensions,):
        return f"{vector.size} numbers instead of {making.dimensions}"
    kept = vector if vector.dtype == np.float32 else _single(vector)
    if not np.isfinite(kept).all():
        return "it holds NaN, infinity or a number that is too large"
    if making.metric == "cosine":
        exact = kept.astype(np.float64)
        length = np.sqrt((exact**2).sum())
        if not length:
            return "it is all zeros, which has no direction"
        kept = (exact / length).astype(np.float32)
    return kept


def _single(vector: Array) -> Floats:
    with np.errstate(over="ignore"):
        return vector.astype(np.float32)


def embedded_text(record: Record) -> str:
    """Return the text that stands for an item: its title, then what is said about it."""
    return "\n".join(filter(None, (record.title, record.text)))


def opened(picture: Picture) -> Image:
    """Return a picture as RGB."""
    if isinstance(picture, np.ndarray):
        from PIL import Image

        return Image.fromarray(picture).convert("RGB")
    from seeker.embedders.pictures import open_picture

    return open_picture(picture)


def _item(ready: _Ready) -> dict[str, Any]:
    record = ready.record
    return {
        "place": record.place,
        "id": record.id,
        "title": record.title,
        "text": record.text,
        "media": ready.media,
        "attributes": dict(record.attributes),
    }
