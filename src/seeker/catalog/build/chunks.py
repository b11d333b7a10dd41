"""Chunks: a few hundred rows of a source, checked, embedded and drawn in one go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import Picture, Record, RowProblem
from seeker.catalog.nofollow import real_folder
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.files import atomic_write
from seeker.kernels.parallel import cores
from seeker.types import Array, Floats

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH_ITEMS = 32
"""How many pictures are held open at a time, and how many things are embedded at once."""

THUMBNAIL_PIXELS = 320
"""Thumbnails fit into so many pixels each way: two for each of a card's on a fine screen."""


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
        with atomic_write(path) as handle:
            np.savez(handle, described=text, **_prefixed(self.vectors))

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


def chunk_fingerprint(rows: Sequence[Record | RowProblem], recipe: str) -> str:
    """Return a name for what these rows give; recipe: a name for how the views are made."""
    digest = hashlib.sha256(recipe.encode())
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
        status = path.stat()
    except OSError:
        return f"{path} is gone".encode("utf-8", "surrogatepass")
    return f"{path} {status.st_size} {status.st_mtime_ns}".encode("utf-8", "surrogatepass")


def views_recipe(specs: Sequence[ViewSpec]) -> str:
    """Return a name for how vectors in chunks are made: the same specs give the same name.

    Those of attributes are made of all items together, when the chunks are there.
    """
    described = [
        (one.name, one.input, one.dimensions, one.metric, one.column)
        + ((one.embedder.name, one.embedder.version) if one.embedder else ())
        for one in specs
        if one.input != "attributes"
    ]
    return json.dumps(["chunk 1", THUMBNAIL_PIXELS, described])


@dataclass
class _PendingItem:
    """A record on its way: its open picture, its thumbnail, its vectors by view."""

    record: Record
    image: Image | None = None
    media: str | None = None
    vectors: dict[str, Floats] = field(default_factory=dict)


class ChunkBuilder:
    """Turns rows into chunks; media: the folder that thumbnails are written to."""

    def __init__(self, specs: Sequence[ViewSpec], media: Path) -> None:
        self._specs = [one for one in specs if one.input != "attributes"]
        self._media = media
        self._pool = ThreadPoolExecutor(cores(), "pictures")

    def close(self) -> None:
        """Let the helping threads go."""
        self._pool.shutdown(cancel_futures=True)

    def make(self, rows: Sequence[Record | RowProblem]) -> Chunk:
        """Return the chunk of some rows; what cannot become an item becomes a problem."""
        problems: list[RowProblem] = []
        done: list[_PendingItem] = []
        for start in range(0, len(rows), BATCH_ITEMS):
            batch: list[_PendingItem] = []
            for one in self._prepared(rows[start : start + BATCH_ITEMS]):
                (problems if isinstance(one, RowProblem) else batch).append(one)  # type: ignore[arg-type]
            for spec in self._specs:
                if spec.embedder is not None:
                    batch = self._embed(spec, batch, problems)
            for ready in batch:
                ready.image = None
            done += batch
        vectors = {
            spec.name: np.stack([ready.vectors[spec.name] for ready in done])
            if done
            else np.empty((0, spec.dimensions), np.float32)
            for spec in self._specs
        }
        return Chunk([_item(ready) for ready in done], vectors, problems)

    def _prepared(self, rows: Sequence[Record | RowProblem]) -> Iterable[_PendingItem | RowProblem]:
        """Prepare rows, pictures side by side; handing over anything else would cost more."""
        if any(isinstance(row, Record) and row.picture is not None for row in rows):
            return self._pool.map(self._prepare, rows)
        return map(self._prepare, rows)

    def _prepare(self, row: Record | RowProblem) -> _PendingItem | RowProblem:
        if isinstance(row, RowProblem):
            return row
        ready = _PendingItem(row)
        for spec in self._specs:
            if spec.input == "vectors":
                cell = row.vectors.get(spec.column)
                if cell is None:
                    return RowProblem(row.place, "no vector", spec.column)
                vector = cell if isinstance(cell, str) else check_record_vector(cell, spec)
                if isinstance(vector, str):
                    return RowProblem(row.place, "bad vector", f"{spec.name}: {vector}")
                ready.vectors[spec.name] = vector
            elif spec.input == "text" and not (row.title or row.text):
                return RowProblem(row.place, "no text")
            elif spec.input == "picture" and row.picture is None:
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
        self, spec: ViewSpec, batch: list[_PendingItem], problems: list[RowProblem]
    ) -> list[_PendingItem]:
        """Give every record its vector; return those that got one."""
        if not batch or spec.embedder is None:
            return batch
        if spec.input == "picture":
            vectors = np.asarray(spec.embedder.embed([ready.image for ready in batch]))
        else:
            texts = [ready.record.embedded_text for ready in batch]
            vectors = np.asarray(spec.embedder.embed_text(texts))
        if vectors.shape != (len(batch), spec.dimensions):
            raise SeekerError(
                f"The embedder '{spec.embedder.name}' returned shape {vectors.shape} instead of "
                f"{(len(batch), spec.dimensions)}."
            )
        embedded = []
        for ready, row in zip(batch, vectors, strict=True):
            vector = check_record_vector(row, spec)
            if isinstance(vector, str):
                problems.append(RowProblem(ready.record.place, "bad vector", vector))
            else:
                ready.vectors[spec.name] = vector
                embedded.append(ready)
        return embedded

    def _thumbnail(self, image: Image) -> str:
        """Write a thumbnail under a name made of its contents; return its path in the catalog."""
        from seeker.embedders.pictures import thumbnail

        contents = thumbnail(image, THUMBNAIL_PIXELS)
        name = hashlib.sha256(contents).hexdigest()[:32]
        file = self._media / name[:2] / f"{name}.webp"
        if not file.exists() or file.stat().st_size != len(contents):
            real_folder(self._media)
            real_folder(file.parent)
            # Not brought to disk one by one: a resumed build looks whether they are whole.
            with atomic_write(file, sync=False) as handle:
                handle.write(contents)
        return f"media/{name[:2]}/{name}.webp"


def check_record_vector(vector: Array, spec: ViewSpec) -> Floats | str:
    """Return a vector as it is kept, (d,) float32, or what is wrong with it."""
    if vector.shape != (spec.dimensions,):
        return f"{vector.size} numbers instead of {spec.dimensions}"
    single = vector if vector.dtype == np.float32 else _single(vector)
    if not np.isfinite(single).all():
        return "it holds NaN, infinity or a number that is too large"
    if spec.metric == "cosine":
        exact = single.astype(np.float64)
        length = np.sqrt((exact**2).sum())
        if not length:
            return "it is all zeros, which has no direction"
        single = (exact / length).astype(np.float32)
    return single


def _single(vector: Array) -> Floats:
    with np.errstate(over="ignore"):
        return vector.astype(np.float32)


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
