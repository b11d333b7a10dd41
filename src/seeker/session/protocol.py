"""What a session needs to know of the catalog it searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seeker.models.words import KeywordMatches
from seeker.session.page import Item
from seeker.space import View
from seeker.types import Array, Doubles, Floats

if TYPE_CHECKING:
    from seeker.session.finder import Finder
    from seeker.session.rows import RowIndex
    from seeker.session.start import Start
    from seeker.session.words import SearchWord


class TombstoneLookup(Protocol):
    """Items that were removed, by id."""

    def get(self, item: str) -> Mapping[str, Floats] | None:
        """Return an item's vectors by view, (d,) each, or None if nothing is known of it."""
        ...


class SearchableCatalog(Protocol):
    """Items with views; a catalog, or anything that can stand in for one."""

    @property
    def views(self) -> Mapping[str, View]:
        """The views by name."""
        ...

    def with_views(self, names: Sequence[str] | None) -> SearchableCatalog:
        """Return the catalog as sessions see it that compare items by some views.

        names: None for all views that were not learned.
        """
        ...

    def __len__(self) -> int: ...

    def row(self, item: str) -> int:
        """Return the place of an item; NotFound if there is none with this id."""
        ...

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        ...

    def picture_url(self, item: Item) -> str | None:
        """Return the thumbnail of an item as an address with all that it holds, if it has one."""
        ...

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,)."""
        ...

    def filter_hint(self, filter: Mapping[str, Any]) -> str:
        """Return what to do about a filter that no item passes."""
        ...

    @property
    def only(self) -> Mapping[str, Any] | None:
        """A filter that every search keeps to, whatever else it asks for."""
        ...

    def keyword_prior(self, words: str) -> Doubles:
        """Return log-probabilities from a search for any of the words, (items,)."""
        ...

    def find_words(self, text: str) -> tuple[SearchWord, ...]:
        """Return the words of a text, each with what stands for it in the items' fields."""
        ...

    def compare_words(self, texts: Sequence[str], others: Sequence[str]) -> Doubles | None:
        """Return the cosines in meaning between texts and others, (texts, others), if known."""
        ...

    def knows_word(self, word: str) -> bool:
        """Return whether a word is certainly one, whatever the items are called."""
        ...

    @property
    def values_in_words(self) -> tuple[str, ...]:
        """The most frequent values of attributes that are words, each once."""
        ...

    def match_words(self, words: Sequence[SearchWord]) -> KeywordMatches:
        """Return how much more the items match some words than the average one."""
        ...

    @property
    def reads_words(self) -> bool:
        """Whether there is anything that words can be compared with."""
        ...

    @property
    def reads_text(self) -> bool:
        """Whether words can be placed in one of the views."""
        ...

    def embed_text(self, text: str) -> tuple[str, Doubles]:
        """Return the view that reads text, and the text's vector in it."""
        ...

    @property
    def raw_views(self) -> Mapping[str, View]:
        """The views that were not learned, by name, also where sessions compare by others."""
        ...

    def complete_vectors(self, vectors: Mapping[str, Array]) -> Mapping[str, Floats]:
        """Return the vectors of something in all views that are compared, (d,) float32 each.

        vectors: by view that was not learned; in views that are missing, it is the average item.
        """
        ...

    def view_shares(self, name: str) -> Mapping[str, float]:
        """Return of which other views a learned one is made, adding up to 1; nothing of others."""
        ...

    def embed_picture(self, picture: Any) -> tuple[Mapping[str, Doubles], bytes]:
        """Return a picture's vectors in the views that read pictures, and a thumbnail of it."""
        ...

    @property
    def tombstones(self) -> TombstoneLookup:
        """Items that are gone, as far as they are remembered."""
        ...

    def finder(self, start: Start, rows: RowIndex) -> Finder:
        """Return what computes order and belief for a session that began like this."""
        ...
