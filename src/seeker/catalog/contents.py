"""What is in a catalog: its items, what is said of them, and what words and pictures mean there."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seeker.catalog import keywords, view_readers
from seeker.catalog.attributes import Kind, shorten
from seeker.catalog.filters import Facet, unknown_value
from seeker.catalog.item_table import ItemRecord
from seeker.catalog.items import ItemCollection, Tombstones
from seeker.catalog.manifest import Manifest
from seeker.catalog.presentation import NO_PRESENTATION, Presentation
from seeker.catalog.view_map import LinearMap, complete_vectors, map_shares
from seeker.errors import BadInput, Gone, NotFound
from seeker.models.words import KeywordMatches, combine_matches
from seeker.session import Item
from seeker.session.words import SearchWord
from seeker.space import View
from seeker.types import Array, Doubles, Floats
from seeker.validation import check_whole

_MAX_VALUES, _MAX_VALUE_LETTERS = 256, 40
"""So many values of attributes are compared with words that no item is called, none longer."""


@dataclass(frozen=True)
class Hit:
    """An item found by keyword search, and its score: how much more it matches than others."""

    item: Item
    score: float


class CatalogContents:
    """Items by row and id, filters and facets, words, pictures, and vectors of what is no item."""

    def __init__(
        self,
        collection: ItemCollection,
        views: Mapping[str, View],
        readers: Mapping[str, view_readers.ViewReader],
        folder: Path | None = None,
        manifest: Manifest | None = None,
        maps: Mapping[str, LinearMap] = MappingProxyType({}),
    ) -> None:
        """Put checked parts together; use `Catalog.from_arrays` or `Catalog.open`."""
        self._collection = collection
        self.views: Mapping[str, View] = MappingProxyType(dict(views))
        self.maps: Mapping[str, LinearMap] = MappingProxyType(dict(maps))
        """By name, how learned views follow from the others."""
        self.raw_views = MappingProxyType({name: views[name] for name in views if name not in maps})
        """The views that were not learned, by name, also where sessions compare by others."""
        self._readers = dict(readers)
        self._picture_readers = {
            name: one for name, one in readers.items() if "picture" in one.reads
        }
        self.folder = folder
        self.manifest = manifest

    @property
    def ids(self) -> Sequence[str]:
        """The ids in their order."""
        return self._collection.ids

    def __len__(self) -> int:
        return len(self._collection.ids)

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and self._collection.row(item) is not None

    def row(self, item: str) -> int:
        """Return the place of an item in the catalog."""
        row = self._collection.row(item) if isinstance(item, str) else None
        if row is None and self.folder is not None and self._collection.table.was_removed(item):
            raise Gone(
                f"Item {shorten(item)} has left this catalog.",
                "What was said about it before still counts; choose another.",
            )
        if row is None:
            raise NotFound(f"There is no item {shorten(item)} in this catalog.", self._meant(item))
        return row

    def _meant(self, item: object) -> str:
        """Return what somebody may have meant by something that is not an id."""
        near = getattr(item, "id", str(item))
        if not isinstance(item, str) and near in self:
            return f"Give its id, which is a text: {near!r}."
        return "Use an id from `catalog.ids`."

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        items = self._collection.items(rows)
        hidden = self.presentation.hidden
        return [replace(item, hidden=hidden) for item in items] if hidden else items

    def item(self, item: str) -> Item:
        """Return an item by its id."""
        return self.items([self.row(item)])[0]

    @property
    def in_memory(self) -> bool:
        """Whether nothing has to be read for any item."""
        return self._collection.in_memory

    @property
    def attributes(self) -> dict[str, Kind]:
        """The kind of every attribute, by name: number, text, boolean or tags."""
        return {name: one.kind for name, one in self._collection.table.attributes.items()}

    @property
    def presentation(self) -> Presentation:
        """How people see the attributes."""
        return self.manifest.presentation if self.manifest else NO_PRESENTATION

    @property
    def only(self) -> Mapping[str, Any] | None:
        """A filter that every search keeps to, whatever else it asks for."""
        return self.presentation.only

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,).

        A filter maps attributes to a value, a list of values, or bounds such as {"ge": 10, "lt":
        50}; all of it must hold. Tags pass if any of them does; None stands for 'no value'.
        """
        return self._collection.table.matching(filter)

    def filter_hint(self, filter: Mapping[str, Any]) -> str:
        """Return what to do about a filter that no item passes: how a value may be spelt."""
        wrong = unknown_value(self, filter, self.presentation.hidden)
        return " ".join(wrong or ("Loosen it, or leave it out.",))

    def facets(self, filter: Mapping[str, Any] | None = None, limit: int = 20) -> dict[str, Facet]:
        """Return how the values of every attribute are spread over the items that pass."""
        return self._collection.table.facets(filter, check_whole("limit", limit, 0))

    def search(
        self, words: str, limit: int = 50, filter: Mapping[str, Any] | None = None
    ) -> list[Hit]:
        """Return the items that match some words by their letters, best first."""
        limit = check_whole("limit", limit, 1)
        matches = self.match_words(self.find_words(words))
        passing = self.matching(filter)[matches.rows] if filter else np.True_
        scores = np.where(passing, matches.values, -np.inf)
        best = np.argsort(-scores, kind="stable")[:limit]
        best = best[scores[best] > -np.inf]
        items = self.items(matches.rows[best].tolist())
        return [Hit(item, score) for item, score in zip(items, scores[best].tolist(), strict=True)]

    def find_words(self, text: str) -> tuple[SearchWord, ...]:
        """Return the words of a text, each with what stands for it in the items' fields.

        Other forms of a word count, and longer words that it is a part of; where there are none,
        words that are spelled nearly so.
        """
        every_language = any(reader.name == "multilingual" for reader in self._readers.values())
        return self._collection.table.vocabulary.find(text, every_language)

    def match_words(self, words: Sequence[SearchWord]) -> KeywordMatches:
        """Return how much more the items match some words than the average one."""
        table = self._collection.table
        hits = [(*table.word_hits(word), word.trust) for word in words if word.terms]
        return combine_matches(hits, len(self))

    def keyword_prior(self, words: str) -> Doubles:
        """Return log-probabilities from a search for any of the words as they stand, (items,).

        Sessions that began before words were searched for otherwise go on with it. Three quarters
        are shared by the hits in proportion to their scores; the rest is spread evenly, so that
        nothing is impossible. Without a hit all items are equal.
        """
        return keywords.keyword_prior(*self._collection.table.scores(words), len(self))

    @property
    def values_in_words(self) -> tuple[str, ...]:
        """The most frequent values of attributes that are words, each once."""
        counts = {
            value: count
            for facet in self.facets(limit=_MAX_VALUES).values()
            for value, count in facet.values
            if isinstance(value, str) and count > 1 and len(value) <= _MAX_VALUE_LETTERS
        }
        return tuple(sorted(counts, key=lambda value: (-counts[value], value))[:_MAX_VALUES])

    def compare_words(self, texts: Sequence[str], others: Sequence[str]) -> Doubles | None:
        """Return how near in meaning texts are to others, as cosines, (texts, others).

        None where no view reads text, or where nobody knows how near is near there.
        """
        reader = self._measured_reader
        return None if reader is None else reader.compare_texts(texts, others)

    def knows_word(self, word: str) -> bool:
        """Return whether a word is certainly one, whatever the items are called."""
        reader = self._measured_reader
        return reader is not None and reader.embedder.knows_word(word)

    @property
    def _measured_reader(self) -> view_readers.ViewReader | None:
        """What reads text, if it is known how near is near there."""
        for reader in self._readers.values():
            if "text" in reader.reads:
                return reader if reader.name in view_readers.MEASURED_TEXT_READERS else None
        return None

    @property
    def reads_words(self) -> bool:
        """Whether words can be compared with anything: titles, texts, attributes, or a view."""
        return self.reads_text or self._collection.has_words

    @property
    def reads_text(self) -> bool:
        """Whether words can be placed in one of the views."""
        return any("text" in reader.reads for reader in self._readers.values())

    def embed_text(self, text: str) -> tuple[str, Doubles]:
        """Return the first view that reads text, and the text's vector in it, (d,)."""
        if not isinstance(text, str) or not text.strip():
            raise BadInput("There are no words to read.", "Say something in words.")
        for name, reader in self._readers.items():
            if "text" in reader.reads:
                return name, reader.read_text(text, self.views[name])
        raise BadInput(
            "No view of this catalog can read text.",
            "Give a vector instead: session.say(vector, view=…).",
        )

    @property
    def reads_pictures(self) -> bool:
        """Whether pictures can be placed in one of the views."""
        return bool(self._picture_readers)

    def embed_picture(self, picture: Any) -> tuple[dict[str, Doubles], bytes]:
        """Return a picture's vectors in the views that read pictures, (d,) each, and a thumbnail.

        picture: a path, the contents of a file, a Pillow picture, or pixels, (h, w, 3) uint8.
        """
        if not self.reads_pictures:
            raise BadInput(
                "No view of this catalog can read pictures.",
                "Give vectors instead: session.like_example({view: vector}).",
            )
        opened, thumbnail = view_readers.open_example(picture)
        vectors = {
            name: reader.read_picture(opened, self.raw_views[name])
            for name, reader in self._picture_readers.items()
        }
        return vectors, thumbnail

    def view_shares(self, name: str) -> dict[str, float]:
        """Return of which other views a learned one is made, adding up to 1; nothing of others."""
        return map_shares(self.maps[name], self.raw_views) if name in self.maps else {}

    def complete_vectors(self, vectors: Mapping[str, Array]) -> dict[str, Floats]:
        """Return the vectors of something in all views that are compared, (d,) float32 each.

        vectors: by view that was not learned; in views that are missing, it is the average item.
        """
        for name, vector in vectors.items():
            view = self.raw_views.get(name)
            if view is None or view.dimensions != len(vector):
                raise BadInput(
                    f"There is no view {name!r} of {len(vector)} dimensions in this catalog.",
                    f"It has {list(self.raw_views)}.",
                )
        return complete_vectors(vectors, self.views, self.maps)

    def media_file(self, item: Item) -> Path | None:
        """Return where the thumbnail of an item is, if it has one."""
        if self.folder is None or item.media is None:
            return None
        return self.folder / item.media

    def picture_url(self, item: Item) -> str | None:
        """Return the thumbnail of an item as an address with all that it holds, if it has one."""
        file = self.media_file(item)
        kind = None if file is None else mimetypes.guess_type(file.name)[0]
        if file is None or kind is None or not kind.startswith("image/"):
            return None
        try:
            content = file.read_bytes()
        except OSError:
            return None
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

    @property
    def tombstones(self) -> Tombstones:
        """The vectors of items that were removed, for sessions in which they were judged."""
        dimensions = {name: view.dimensions for name, view in self.views.items()}
        table = None if self.folder is None else self._collection.table
        return Tombstones(table, dimensions, self.maps)

    def walk(self) -> Iterator[ItemRecord]:
        """Yield all items with all that is kept of them, without holding them all."""
        return self._collection.table.walk()

    def walk_tombstones(self) -> Iterator[tuple[str, str, int, bytes]]:
        """Yield id, view, last version and vector of all items that were removed."""
        return self._collection.table.walk_tombstones()

    def known(self, ids: Iterable[str]) -> dict[str, tuple[int, ItemRecord]]:
        """Return those of some items that are in the catalog, by id, each with its row."""
        return self._collection.table.by_ids(ids)
