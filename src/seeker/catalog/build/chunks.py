"""Chunks: a few hundred rows of a source, checked, embedded and drawn in one go."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import Picture, Record, RowProblem
from seeker.catalog.nofollow import new_file, real_folder
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.kernels.parallel import cores
from seeker.types import Array, Floats

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False)
class Chunk:
    """items: what the item table needs, and the place in the source. vectors: by view, (n, d)."""

    items: list[dict[str, Any]]
    vectors: dict[str, Floats]
    problems: list[RowProblem]

    def save(self, path: Path) -> None:
        """Write the chunk to a file, all of it or nothing."""
        described = {"items": self.items, "problems": [asdict(one) for one in self.problems]}
        text = np.frombuffer(json.dumps(described).encode(), np.uint8)
        aside = path.with_suffix(".new")
        with new_file(aside) as handle:
            np.savez(handle, described=text, **_prefixed(self.vectors))
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Chunk:
        """Read a chunk back."""
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
            described = json.loads(archive["described"].tobytes())
            vectors = {
                name.removeprefix("view "): archive[name]
                for name in archive.files
                if name.startswith("view ")
            }
        problems = [RowProblem(**one) for one in described["problems"]]
        return cls(described["items"], vectors, problems)


def _prefixed(vectors: dict[str, Floats]) -> dict[str, Any]:
    return {f"view {name}": one for name, one in vectors.items()}


def chunk_fingerprint(rows: Sequence[Record | RowProblem], making: str) -> str:
    """Return a name for what these rows give; making: a name for how the views are made."""
    digest = hashlib.sha256(making.encode())
    for row in rows:
        if isinstance(row, RowProblem):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
            continue
        parts = [row.place, row.id, row.title, row.text, row.attributes, sorted(row.vectors)]
        digest.update(json.dumps(parts, default=dict).encode())
        for name in sorted(row.vectors):
            vector = row.vectors[name]
            digest.update(
                vector.encode() if isinstance(vector, str) else np.ascontiguousarray(vector).data
            )
        match row.picture:
            case None:
                pass
            case Path():
                digest.update(_stamp(row.picture))
            case bytes():
                digest.update(hashlib.sha256(row.picture).digest())
            case pixels:
                digest.update(f"{pixels.shape}".encode())
                digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()[:32]


def _stamp(path: Path) -> bytes:
    try:
        found = path.stat()
    except OSError:
        return f"{path} is gone".encode("utf-8", "surrogatepass")
    return f"{path} {found.st_size} {found.st_mtime_ns}".encode("utf-8", "surrogatepass")


def chunk_name(makings: Sequence[ViewSpec], thumbnail: int) -> str:
    """Return a name for how views are made: the same makings give the same name."""
    described = [
        (one.name, one.of, one.dimensions, one.metric, one.column)
        + ((one.embedder.name, one.embedder.version) if one.embedder else ())
        for one in makings
    ]
    return json.dumps(["chunk 1", thumbnail, described])


EMBED_BATCH = 32
"""How many pictures are held open at a time, and how many things are embedded at once."""

THUMBNAIL_SIDE = 320
"""Thumbnails fit into this many pixels: two for each of a grid's places on a fine screen."""


@dataclass
class _PendingItem:
    """A record on its way: its open picture, its thumbnail, its vectors by view."""

    record: Record
    image: Image | None = None
    media: str | None = None
    vectors: dict[str, Floats] = field(default_factory=dict)


class ChunkBuilder:
    """Turns rows into chunks; media: the folder that thumbnails are written to."""

    def __init__(self, makings: Sequence[ViewSpec], media: Path) -> None:
        self._makings = makings
        self._media = media
        self._hands = ThreadPoolExecutor(cores(), "pictures")

    def close(self) -> None:
        """Let the helping threads go."""
        self._hands.shutdown(cancel_futures=True)

    def make(self, rows: Sequence[Record | RowProblem]) -> Chunk:
        """Return the chunk of some rows; what cannot become an item becomes a problem."""
        problems: list[RowProblem] = []
        done: list[_PendingItem] = []
        for start in range(0, len(rows), EMBED_BATCH):
            batch: list[_PendingItem] = []
            for one in self._prepared(rows[start : start + EMBED_BATCH]):
                (problems if isinstance(one, RowProblem) else batch).append(one)  # type: ignore[arg-type]
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

    def _prepared(self, rows: Sequence[Record | RowProblem]) -> Iterable[_PendingItem | RowProblem]:
        """Prepare rows, pictures side by side; handing over anything else would cost more."""
        if any(isinstance(row, Record) and row.picture is not None for row in rows):
            return self._hands.map(self._prepare, rows)
        return map(self._prepare, rows)

    def _prepare(self, row: Record | RowProblem) -> _PendingItem | RowProblem:
        if isinstance(row, RowProblem):
            return row
        ready = _PendingItem(row)
        for making in self._makings:
            if making.of == "vectors":
                given = row.vectors.get(making.column)
                if given is None:
                    return RowProblem(row.place, "no vector", making.column)
                found = given if isinstance(given, str) else check_record_vector(given, making)
                if isinstance(found, str):
                    return RowProblem(row.place, "bad vector", f"{making.name}: {found}")
                ready.vectors[making.name] = found
            elif making.of == "text" and not (row.title or row.text):
                return RowProblem(row.place, "no text")
            elif making.of == "picture" and row.picture is None:
                return RowProblem(row.place, "no picture")
        if row.picture is not None:
            try:
                ready.image = open_record_picture(row.picture)
                ready.media = self._thumbnail(ready.image)
            except NotFound as error:
                return RowProblem(row.place, "no picture", error.message)
            except BadInput as error:
                return RowProblem(row.place, "broken picture", error.message)
        return ready

    def _embed(
        self, making: ViewSpec, batch: list[_PendingItem], problems: list[RowProblem]
    ) -> list[_PendingItem]:
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
            found = check_record_vector(vector, making)
            if isinstance(found, str):
                problems.append(RowProblem(ready.record.place, "bad vector", found))
            else:
                ready.vectors[making.name] = found
                kept.append(ready)
        return kept

    def _thumbnail(self, image: Image) -> str:
        """Write a thumbnail under a name made of its contents; return its path in the catalog."""
        from seeker.embedders.pictures import thumbnail

        contents = thumbnail(image, THUMBNAIL_SIDE)
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


def check_record_vector(vector: Array, making: ViewSpec) -> Floats | str:
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


def open_record_picture(picture: Picture) -> Image:
    """Return a picture as RGB."""
    if isinstance(picture, np.ndarray):
        from PIL import Image

        return Image.fromarray(picture).convert("RGB")
    from seeker.embedders.pictures import open_picture

    return open_picture(picture)


def _item(ready: _PendingItem) -> dict[str, Any]:
    record = ready.record
    return {
        "place": record.place,
        "id": record.id,
        "title": record.title,
        "text": record.text,
        "media": ready.media,
        "attributes": dict(record.attributes),
    }
