"""Examples: something that is liked though nobody was shown it, such as a picture of one's own.

An example counts like a like of an item that was chosen over a sample of the catalog. So it is a
rating like any other, and models, undo, explanations and replays need to know nothing of it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from seeker.errors import BadInput
from seeker.session.base import Event, EventContext, Readers
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import Rating, SampleComparison, State
from seeker.space import View
from seeker.types import Array, Floats
from seeker.validation import check_vector, within_range

SAMPLE_ITEMS = 24
"""Items that an example is chosen over."""

_SAMPLED_SHARE = 2
"""Of a small catalog, one in so many items is sampled."""

_GOLDEN = 0.6180339887498949
"""Multiples of this, without what is before the point, lie evenly spread however many there are."""

COMPARISON = SampleComparison(distance=0.7, times=4, doubt=0.1)
"""How examples are compared from now on; each event says how it was.

Random items are so far from an example that all its neighbours would be as good; drawn nearer, they
tell a copy of it from what is merely like it. Who has the very thing at hand need not describe it:
words beside an example say what it lacks, and without the doubt they could not lead away from it.
Found on photos: docs/decisions/saying.md.
"""


@dataclass(frozen=True, eq=False)
class Example(Event):
    """Something is liked that was not on screen: a thing that is in no catalog, or an item.

    item: its id. vectors: by view, (d,) each, of a thing that is in no catalog; views that are
    missing say nothing. sample: the items that it was chosen over. thumbnail: a WebP picture.
    comparison: how it is compared with the sample. picture: before the check, what the vectors are
    to be made of.
    """

    type = "example"
    path = "examples"
    readers: ClassVar[Readers] = {}
    item: str = ""
    vectors: Any = field(default_factory=dict)
    sample: tuple[str, ...] = ()
    thumbnail: bytes | None = field(default=None, repr=False)
    comparison: SampleComparison = COMPARISON
    picture: Any = field(default=None, repr=False)

    @property
    def judged(self) -> str | None:
        return self.item

    @property
    def outside(self) -> Mapping[str, Mapping[str, Floats]]:
        return {self.item: self.vectors} if self.vectors else {}

    @property
    def reveals_items(self) -> bool:
        return True

    def fields(self) -> dict[str, Any]:
        small = self.thumbnail
        return {
            "item": self.item,
            "vectors": {view: _to_base64(vector) for view, vector in self.vectors.items()},
            "sample": list(self.sample),
            "distance": self.comparison.distance,
            "times": self.comparison.times,
            **({"doubt": self.comparison.doubt} if self.comparison.doubt else {}),
            "thumbnail": None if small is None else base64.b64encode(small).decode("ascii"),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        small, doubt = data["thumbnail"], float(data.get("doubt", 0.0))
        if not 0.0 <= doubt <= 1.0:
            raise ValueError(doubt)
        return cls(
            item=str(data["item"]),
            vectors={view: _from_base64(text) for view, text in data["vectors"].items()},
            sample=tuple(map(str, data["sample"])),
            comparison=SampleComparison(float(data["distance"]), int(data["times"]), doubt),
            thumbnail=None if small is None else base64.b64decode(small),
        )

    def request(self) -> dict[str, Any]:
        if self.picture is not None:
            return {"picture": self.picture}
        if not isinstance(self.vectors, Mapping):
            raise BadInput(
                "An example for a remote session must say which views its vectors are in.",
                "Give {view: vector}.",
            )
        return {"vectors": {view: _numbers(vector) for view, vector in self.vectors.items()}}

    def check(self, session: EventContext) -> Event:
        catalog = session.catalog
        if self.picture is not None:
            try:
                found, thumbnail = catalog.embed_picture(self.picture)
            except BadInput as error:
                error.code = error.code or "picture"
                raise
            vectors = _check_vectors(found, catalog)
            return Example(name_of(vectors), vectors, sample_over(catalog), thumbnail)
        if self.item:
            row = session.row(self.item)
            if row >= len(catalog):
                raise BadInput(f"Item '{self.item}' is not in the catalog any more.")
            return Example(str(self.item), {}, sample_over(catalog, row))
        vectors = _check_vectors(self.vectors, catalog)
        return Example(name_of(vectors), vectors, sample_over(catalog))

    def apply(self, state: State) -> State:
        others = {key: one for key, one in state.ratings.items() if key != self.item}
        rating = Rating(self.item, True, (self.item, *self.sample), self.comparison)
        return state.advance(self, ratings=MappingProxyType({**others, self.item: rating}))

    def summary(self) -> dict[str, Any]:
        return {"type": self.type, "item": self.item}

    def describe(self) -> str:
        what = f"an example in {', '.join(self.vectors)}" if self.vectors else repr(self.item)
        return f"like {what}, over a sample of {len(self.sample)}"


def example_of(thing: Any) -> Example:
    """Return the example that a thing is: a picture in any form, or vectors; not checked yet."""
    numbers = isinstance(thing, Sequence) and not isinstance(thing, str | bytes)
    if isinstance(thing, Mapping) or numbers or (isinstance(thing, np.ndarray) and thing.ndim == 1):
        return Example(vectors=thing)
    return Example(picture=thing)


def name_of(vectors: Mapping[str, Floats]) -> str:
    """Return an id for a thing that is in no catalog: the same vectors have the same."""
    digest = hashlib.sha256()
    for view in sorted(vectors):
        digest.update(repr((view, vectors[view].shape)).encode())
        digest.update(vectors[view].astype("<f4").tobytes())
    return f"example:{digest.hexdigest()[:16]}"


def sample_over(catalog: SearchableCatalog, own: int | None = None) -> tuple[str, ...]:
    """Return the items that an example is chosen over, by id: the same each time.

    own: the row of the example, if it has one.
    """
    count = len(catalog)
    size = min(SAMPLE_ITEMS, max(1, count // _SAMPLED_SHARE))
    drawn = (np.arange(8 * (size + 1)) * _GOLDEN % 1.0 * count).astype(np.int64)
    rows = [row for row in dict.fromkeys(drawn.tolist()) if row != own][:size]
    return tuple(item.id for item in catalog.items(sorted(rows)))


def _check_vectors(vectors: object, catalog: SearchableCatalog) -> dict[str, Floats]:
    """Return vectors by view, (d,) float32 each, as they count."""
    views = catalog.raw_views
    if not isinstance(vectors, Mapping):
        if len(views) > 1:
            raise BadInput(
                "The catalog has several views, so an example must say which its vectors are in.",
                f"Give {{view: vector}} with views from {list(views)}.",
            )
        vectors = {next(iter(views)): vectors}
    unknown = [name for name in vectors if name not in views]
    if unknown:
        raise BadInput(f"There is no view {unknown[0]!r}.", f"The catalog has {list(views)}.")
    if not vectors:
        raise BadInput("The example has no vectors.", f"Give some in views from {list(views)}.")
    return {name: _placed(name, vectors[name], views[name]) for name in views if name in vectors}


def _placed(name: str, vector: object, view: View) -> Floats:
    """Return a vector where it counts, (d,) float32."""
    numbers = check_vector(f"The vector in view '{name}'", vector, view.dimensions)
    if not within_range(numbers):
        raise BadInput(
            f"The vector in view '{name}' must hold finite numbers, and none beyond 1e100."
        )
    if view.metric == "cosine":
        length = float(np.sqrt((numbers**2).sum()))
        if not length:
            raise BadInput(f"The vector in view '{name}' is all zeros, which has no direction.")
        numbers /= length
    placed: Floats = view.within_radius(numbers).astype(np.float32)
    placed.setflags(write=False)
    return placed


def _numbers(vector: object) -> Any:
    return np.asarray(vector).tolist()


def _to_base64(vector: Array) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _from_base64(text: str) -> Floats:
    array: Array = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    if not np.isfinite(array).all():
        raise ValueError("a vector that is not finite")
    return array.astype(np.float32)
