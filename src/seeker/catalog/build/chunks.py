"""Chunks: a few hundred rows of a source, checked, embedded and drawn in one go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.catalog.build.known_items import (
    KnownItem,
    KnownItems,
    picture_digest,
    text_digest,
)
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import Picture, Record, RowProblem
from seeker.catalog.media import write_thumbnail
from seeker.embedders.pictures import MAX_SIDE_PIXELS, open_picture
from seeker.errors import BadInput, NotFound, SeekerError
from seeker.files import atomic_write
from seeker.kernels.parallel import cores
from seeker.types import Array, Floats

if TYPE_CHECKING:
    from PIL.Image import Image

BATCH_ITEMS = 32
"""How many pictures are held open at a time, and how many things are embedded at once."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """items: what the item table needs, and the place in the source. vectors: by view, (n, d).

    In an update, items that are known have their `row`, and `views` names those of which they have
    new vectors; only these are in vectors. unchanged: how many were just as they are known.
    """

    items: list[dict[str, Any]]
    vectors: dict[str, Floats]
    problems: list[RowProblem]
    unchanged: int = 0

    def save(self, path: Path) -> None:
        """Write the chunk to a file, all of it or nothing."""
        problems = [asdict(one) for one in self.problems]
        described = {"items": self.items, "problems": problems, "unchanged": self.unchanged}
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
        return cls(described["items"], vectors, problems, described["unchanged"])


def _prefixed(vectors: dict[str, Floats]) -> dict[str, Any]:
    return {f"view {name}": one for name, one in vectors.items()}


def chunk_fingerprint(rows: Sequence[Record | RowProblem], recipe: str) -> str:
    """Return a name for what these rows give; recipe: a name for how the views are made."""
    digest = hashlib.sha256(recipe.encode())
    for row in rows:
        if isinstance(row, RowProblem):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
            continue
        said = [row.title, row.text, row.default_title]
        parts = [row.place, row.id, said, row.attributes, sorted(row.vectors)]
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


def views_recipe(specs: Sequence[ViewSpec], sizes: Sequence[int]) -> str:
    """Return a name for how chunks are made: the same specs and sizes give the same name.

    Vectors of attributes are made of all items together, when the chunks are there.
    """
    described = [
        (one.name, one.input, one.dimensions, one.metric, one.column)
        + ((one.embedder.name, one.embedder.version) if one.embedder else ())
        for one in specs
        if one.input != "attributes"
    ]
    return json.dumps(["chunk 2", list(sizes), described])


@dataclass
class _PendingItem:
    """A record on its way: its open picture, its thumbnail, its vectors by view.

    known: the item as it is in the catalog. kept: the views whose vectors it has there already.
    """

    record: Record
    known: KnownItem | None = None
    image: Image | None = None
    media: str | None = None
    vectors: dict[str, Floats] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    picture_digest: bytes | None = None
    text_digest: bytes | None = None


class ChunkBuilder:
    """Turns rows into chunks; media: the folder that thumbnails are written to, in some sizes.

    known: the items of a catalog, whose vectors and thumbnails are taken over where they can be.
    loose: whether texts may stand for numbers. sync: whether thumbnails are on disk when a chunk is
    made; else a build that is resumed looks whether they are whole.
    """

    def __init__(
        self,
        specs: Sequence[ViewSpec],
        media: Path,
        sizes: Sequence[int],
        known: KnownItems | None = None,
        loose: bool = False,
        sync: bool = False,
    ) -> None:
        # Where views of attributes are fitted to all items, they are made when all are there.
        self._specs = [one for one in specs if one.input != "attributes" or one.encoding]
        self._media = media
        self._sizes = tuple(sizes)
        self._known = known
        self._loose = loose
        self._sync = sync
        self._reads_text = any(one.input == "text" for one in specs)
        self._pool = ThreadPoolExecutor(cores(), "pictures")

    def close(self) -> None:
        """Let the helping threads go."""
        self._pool.shutdown(cancel_futures=True)

    def make(self, rows: Sequence[Record | RowProblem]) -> Chunk:
        """Return the chunk of some rows; what cannot become an item becomes a problem."""
        problems: list[RowProblem] = []
        done: list[_PendingItem] = []
        ids = [row.id for row in rows if isinstance(row, Record)]
        known = {} if self._known is None else self._known.find(ids)
        for start in range(0, len(rows), BATCH_ITEMS):
            batch: list[_PendingItem] = []
            for one in self._prepared(rows[start : start + BATCH_ITEMS], known):
                (problems if isinstance(one, RowProblem) else batch).append(one)  # type: ignore[arg-type]
            for spec in self._specs:
                if spec.embedder is not None:
                    batch = self._embed(spec, batch, problems)
            for ready in batch:
                ready.image = None
            done += batch
        made = done
        if self._known is not None:
            made = self._reuse_vectors(done, self._known)
        vectors = {one.name: np.empty((0, one.dimensions), np.float32) for one in self._specs}
        for name in {name: None for one in made for name in one.vectors}:
            vectors[name] = np.stack([one.vectors[name] for one in made if name in one.vectors])
        items = [self._item(ready) for ready in made]
        return Chunk(items, vectors, problems, len(done) - len(made))

    def _reuse_vectors(self, done: list[_PendingItem], known: KnownItems) -> list[_PendingItem]:
        """Give items the vectors they keep; return those of which something is not as it was."""
        if known.update:
            changed = [ready for ready in done if self._is_changed(ready, known)]
            for ready in changed:
                row = None if ready.known is None else ready.known.row
                ready.vectors = known.with_learned(ready.vectors, row)
            return changed
        for spec in self._specs:
            reused = [one for one in done if spec.name in one.kept and one.known is not None]
            rows = [one.known.row for one in reused if one.known is not None]
            vectors = known.vectors(spec.name, rows) if rows else ()
            for ready, vector in zip(reused, vectors, strict=True):
                ready.vectors[spec.name] = vector
        return done

    def _is_changed(self, ready: _PendingItem, known: KnownItems) -> bool:
        """Return whether an item is new or not as it is known; drop vectors that are as they are.

        Of attributes, None stands for no value.
        """
        if ready.known is None:
            return True
        for name, vector in [*ready.vectors.items()]:
            if known.same_vector(name, ready.known.row, vector):
                del ready.vectors[name]
        item, old = self._item(ready), ready.known.item
        return bool(ready.vectors) or (
            (item["title"] or old.id, item["text"], item["media"], item["attributes"])
            != (old.title, old.text, old.media, old.attributes)
            or (ready.picture_digest, ready.text_digest) != (old.picture_digest, old.text_digest)
        )

    def _prepared(
        self, rows: Sequence[Record | RowProblem], known: Mapping[str, KnownItem]
    ) -> Iterable[_PendingItem | RowProblem]:
        """Prepare rows, pictures side by side; handing over anything else would cost more."""

        def prepare(row: Record | RowProblem) -> _PendingItem | RowProblem:
            return row if isinstance(row, RowProblem) else self._prepare(row, known.get(row.id))

        if any(isinstance(row, Record) and row.picture is not None for row in rows):
            return self._pool.map(prepare, rows)
        return map(prepare, rows)

    def _prepare(self, row: Record, known: KnownItem | None) -> _PendingItem | RowProblem:
        unsaid: set[str] = set()
        items, updated = self._known, False
        if items is not None and items.update:
            try:
                row = items.fit(row, self._loose)
            except BadInput as error:
                return RowProblem(row.place, "attribute of another kind", error.message)
            if known is not None:
                updated = True
                unsaid |= {"picture"} if row.picture is None else set()
                unsaid |= {"text"} if row.title is None and row.text is None else set()
                row = items.merge(row, known)
        ready = _PendingItem(row, known)
        for spec in self._specs:
            if spec.input == "vectors":
                cell = row.vectors.get(spec.column)
                if cell is None and not updated:
                    return RowProblem(row.place, "no vector", spec.column or spec.name)
                if cell is None:
                    continue
                vector = cell if isinstance(cell, str) else check_record_vector(cell, spec)
                if isinstance(vector, str):
                    return RowProblem(row.place, "bad vector", f"{spec.name}: {vector}")
                ready.vectors[spec.name] = vector
            elif spec.input in unsaid:
                ready.kept.add(spec.name)
            elif spec.input == "text" and not row.embedded_text:
                return RowProblem(row.place, "no text")
            elif spec.input == "picture" and row.picture is None:
                return RowProblem(row.place, "no picture")
        if self._reads_text:
            ready.text_digest = text_digest(row.embedded_text)
        try:
            if row.picture is not None:
                ready.picture_digest = picture_digest(row.picture)
            self._keep(ready, unsaid)
            needs_picture = ready.media is None or any(
                spec.input == "picture" and spec.name not in ready.kept for spec in self._specs
            )
            if row.picture is not None and needs_picture:
                ready.image = open_record_picture(row.picture)
                ready.media = self._thumbnail(row.picture, ready.image)
        except NotFound as error:
            return RowProblem(row.place, "no picture", error.message)
        except BadInput as error:
            return RowProblem(row.place, "broken picture", error.message)
        return ready

    def _keep(self, ready: _PendingItem, unsaid: set[str]) -> None:
        """Note what an item keeps of what it is known by, because it is made of the same.

        unsaid: of what the source says nothing.
        """
        known, items = ready.known, self._known
        if known is None or items is None:
            return
        if "picture" in unsaid:
            ready.picture_digest, ready.media = known.item.picture_digest, known.item.media
        if "text" in unsaid:
            ready.text_digest = known.item.text_digest
        same = {
            "picture": ready.picture_digest is not None
            and ready.picture_digest == known.item.picture_digest,
            "text": ready.text_digest is not None and ready.text_digest == known.item.text_digest,
        }
        sizes = items.sizes == self._sizes
        if same["picture"] and sizes and items.has_thumbnail(known.item.media):
            ready.media = known.item.media
        for spec in self._specs:
            if same.get(spec.input) and items.reusable(spec):
                ready.kept.add(spec.name)

    def _embed(
        self, spec: ViewSpec, batch: list[_PendingItem], problems: list[RowProblem]
    ) -> list[_PendingItem]:
        """Give every record its vector that has none yet; return those that have one then."""
        todo = [ready for ready in batch if spec.name not in ready.kept]
        if not todo or spec.embedder is None:
            return batch
        if spec.input == "picture":
            vectors = np.asarray(spec.embedder.embed([ready.image for ready in todo]))
        elif spec.input == "attributes":
            records = [(ready.record.id, ready.record.attributes) for ready in todo]
            vectors = np.asarray(spec.embedder.embed(records))
        else:
            texts = [ready.record.embedded_text for ready in todo]
            vectors = np.asarray(spec.embedder.embed_text(texts))
        if vectors.shape != (len(todo), spec.dimensions):
            raise SeekerError(
                f"The embedder '{spec.embedder.name}' returned shape {vectors.shape} instead of "
                f"{(len(todo), spec.dimensions)}."
            )
        bad = set()
        for ready, row in zip(todo, vectors, strict=True):
            vector = check_record_vector(row, spec)
            if isinstance(vector, str):
                problems.append(RowProblem(ready.record.place, "bad vector", vector))
                bad.add(id(ready))
            else:
                ready.vectors[spec.name] = vector
        return [ready for ready in batch if id(ready) not in bad]

    def _item(self, ready: _PendingItem) -> dict[str, Any]:
        record = ready.record
        return {
            "place": record.place,
            "id": record.id,
            "title": record.default_title if record.title is None else record.title,
            "text": record.text or "",
            "media": ready.media,
            "attributes": {
                name: value for name, value in record.attributes.items() if value is not None
            },
            "picture_digest": ready.picture_digest and ready.picture_digest.hex(),
            "text_digest": ready.text_digest and ready.text_digest.hex(),
            "row": None if ready.known is None else ready.known.row,
            "views": [*ready.vectors],
        }

    def _thumbnail(self, picture: Picture, image: Image) -> str:
        """Write a thumbnail; return its name in the catalog. image: the picture, open."""
        largest = self._sizes[-1]
        if largest > MAX_SIDE_PIXELS:
            # Vectors are made of the smaller one, whatever people want to see.
            image = open_record_picture(picture, largest)
        return write_thumbnail(self._media, image, self._sizes, self._sync)


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


def open_record_picture(picture: Picture, side: int = MAX_SIDE_PIXELS) -> Image:
    """Return a picture as RGB; one that is read from a file, at most side × side pixels."""
    if isinstance(picture, np.ndarray):
        from PIL import Image

        return Image.fromarray(picture).convert("RGB")
    return open_picture(picture, side=side)
