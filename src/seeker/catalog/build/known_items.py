"""What a catalog has of the items of a source: nothing is made again that is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seeker.catalog.attributes import Kind, fit_kind
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import Picture, Record
from seeker.catalog.catalog import Catalog
from seeker.catalog.item_table import ItemRecord
from seeker.catalog.manifest import Manifest
from seeker.catalog.media import media_files
from seeker.catalog.view_map import with_mapped
from seeker.errors import NotFound
from seeker.space.packing import StoredVectors, pack
from seeker.types import Floats

_DIGEST_BYTES = 16


def picture_digest(picture: Picture) -> bytes:
    """Return a digest of a picture's contents; NotFound if its file cannot be read."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    if isinstance(picture, Path):
        try:
            with picture.open("rb") as handle:
                while block := handle.read(2**20):
                    digest.update(block)
        except OSError as error:
            raise NotFound(f"'{picture}' cannot be read ({error.strerror}).") from None
    elif isinstance(picture, bytes):
        digest.update(picture)
    else:
        digest.update(f"pixels {picture.shape}".encode())
        digest.update(np.ascontiguousarray(picture).data)
    return digest.digest()


def text_digest(text: str) -> bytes:
    """Return a digest of a text that is embedded."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def views_made_alike(manifest: Manifest, specs: Sequence[ViewSpec]) -> frozenset[str]:
    """Return the views that a catalog has and that the specs make in the same way."""
    return frozenset(
        one.name
        for one in specs
        if one.name in manifest.made_views
        and manifest.views[one.name].dimensions == one.dimensions
        and manifest.views[one.name].metric == one.metric
        and manifest.views[one.name].embedder == one.embedder_entry
    )


@dataclass(frozen=True)
class KnownItem:
    """An item that is in the catalog already, at a row of it."""

    row: int
    item: ItemRecord


class KnownItems:
    """The items of a catalog, for a source in which they may be again.

    specs: how views are made now. update: what the source does not say of an item stays as it is;
    otherwise nothing of it stays, and only what would be made in the same way again is taken over.
    """

    def __init__(self, catalog: Catalog, specs: Sequence[ViewSpec], update: bool) -> None:
        manifest, folder = catalog.manifest, catalog.folder
        self._catalog = catalog
        self._folder = Path() if folder is None else folder
        self.update = update
        self.sizes = () if manifest is None else manifest.thumbnail_sizes
        self._alike = frozenset() if manifest is None else views_made_alike(manifest, specs)
        self._kinds: Mapping[str, Kind] = {} if manifest is None else manifest.attributes

    def find(self, ids: Iterable[str]) -> dict[str, KnownItem]:
        """Return those items that are known, by id."""
        return {id: KnownItem(row, item) for id, (row, item) in self._catalog.known(ids).items()}

    def fit(self, record: Record, loose: bool) -> Record:
        """Return a record with attributes of the kinds that they have in the catalog."""
        fitting = {
            name: fit_kind(name, value, self._kinds[name], loose) if name in self._kinds else value
            for name, value in record.attributes.items()
        }
        return replace(record, attributes=fitting)

    def merge(self, record: Record, known: KnownItem) -> Record:
        """Return a record with all that it does not say taken from the item as it is."""
        item = known.item
        title = record.title
        if title is None:
            # An item without a title shows its id; what was embedded tells which it is.
            whole = "\n".join(filter(None, (item.title, item.text)))
            without = item.title == item.id and text_digest(whole) != item.text_digest
            title = "" if without else item.title
        attributes = {**item.attributes, **record.attributes}
        return replace(
            record,
            title=title,
            text=item.text if record.text is None else record.text,
            attributes={name: value for name, value in attributes.items() if value is not None},
        )

    def reusable(self, spec: ViewSpec) -> bool:
        """Return whether the vectors that the catalog has are those that a spec would make."""
        return spec.name in self._alike

    def has_thumbnail(self, media: str | None) -> bool:
        """Return whether the catalog has a thumbnail of this name, in all its sizes."""
        try:
            return media is not None and all(
                (self._folder / file).stat().st_size > 0 for file in media_files(media)
            )
        except OSError:
            return False

    def vectors(self, view: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of some items in a view, (rows, d) float32."""
        return self._catalog.views[view].rows(np.array(rows, np.int64)).astype(np.float32)

    def with_learned(self, vectors: Mapping[str, Floats], row: int | None) -> dict[str, Floats]:
        """Return an item's new vectors, (d,) by view, with those of views learned from them.

        row: where it is known; what it has there is taken for the views that are not new.
        """
        maps = self._catalog.maps
        if not maps or not vectors:
            return dict(vectors)
        made = [name for name in self._catalog.views if name not in maps]
        whole = {
            name: vectors[name][None]
            if row is None or name in vectors
            else self.vectors(name, [row])
            for name in made
        }
        mapped = with_mapped(whole, maps)
        return {**vectors, **{name: mapped[name][0] for name in maps}}

    def same_vector(self, view: str, row: int, vector: Floats) -> bool:
        """Return whether an item's vector in a view is this one, as it is stored."""
        known = self._catalog.views[view]
        centre = np.zeros(known.dimensions, np.float32) if known.centre is None else known.centre
        dtype: StoredVectors = known.dtype  # type: ignore[assignment]
        codes, steps = pack(vector[None], dtype, centre)
        (slot,) = known.stored_rows(np.array([row]))
        if known.steps is not None and (steps is None or steps[0] != known.steps[slot]):
            return False
        return bool(np.array_equal(codes[0], known.stored[slot]))
