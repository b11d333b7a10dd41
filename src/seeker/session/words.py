"""Words as they are searched for: by their letters in the items' fields, and by their meaning.

What was understood is decided once, when the words are said, and becomes part of the event: which
terms of the catalog's index each word stands for, and how near to the words the catalog lies. Which
items have those terms, the catalog says at any time. `Say` and `Unsay` are the events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from seeker import models
from seeker.errors import BadInput, Conflict
from seeker.models.base import Model
from seeker.models.words import MAX_EXPONENT, SAMPLE_ITEMS, WordShares, WordsTerm, word_shares
from seeker.session.base import Event, EventContext, Readers, text_or_none
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import State
from seeker.session.validation import check_say_vector
from seeker.space import View
from seeker.space.columns import DirectionProbe
from seeker.types import Doubles, Rows

if TYPE_CHECKING:
    from seeker.session.protocol import SearchableCatalog


Match = Literal["exact", "form", "beginning", "part", "spelling", "meaning", "filler", "none"]
"""How a word was found among the terms of an index: as it is, as another form of it, as the
beginning or a part of longer ones, spelled otherwise, or as a value that means the same; a filler,
which is not looked for; or not at all."""

NEAR_MEANING = 0.55
"""A word means the same as a value with this cosine: 58 of 68 words for clothes in four languages
have it with their label, and none of twenty words with a slip with a label that is not theirs."""

SURE_MEANING, SURER_MEANING = 0.7, 0.1
"""So near a value must be, and so much nearer than the term that a word was found as by its
letters, to stand in its place."""

SAME_MEANING = 0.5
"""A word that is one for certain stands for a term that looks like it from this cosine on: bigger
for big (0.8), but not cloak for clock (0.29) or salmon for salad (0.37)."""

FEW_CALLED = 12
"""Fewer items than so many leave room on a page for what means something near to the words."""

_MEANING_STEP = 0.03
_MIN_MEANING_SHARE = 0.1
"""A value that is this much less near counts e times less; below this share it does not count."""


@dataclass(frozen=True)
class SearchWord:
    """A word that was said, and the terms of the catalog's index that it stands for.

    terms: each with how much it counts, from 0 to 1; several words in a term follow each other.
    """

    text: str
    match: Match
    terms: tuple[tuple[str, float], ...] = ()

    @property
    def trust(self) -> float:
        """How sure it is that the word stands for these terms, from 0 to 1."""
        return max((weight for _, weight in self.terms), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"text": self.text, "match": self.match, "terms": dict(self.terms)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SearchWord:
        """Return what `to_json` wrote."""
        terms = tuple((str(term), float(weight)) for term, weight in data["terms"].items())
        return cls(str(data["text"]), data["match"], terms)


@dataclass(frozen=True)
class WordSearch:
    """How words were understood.

    words: what they are by their letters. letters, meaning: how much each counts, the rest is
    chance (`seeker.models.words`). sharpness, level: an item with r·x = level matches by meaning as
    much as the average one, and e times as much for every 1 / sharpness beyond; none matches more
    than one with r·x = limit would, where there is one.
    """

    words: tuple[SearchWord, ...]
    letters: float
    meaning: float
    sharpness: float = 0.0
    level: float = 0.0
    limit: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        fields = {**vars(self), "words": [word.to_json() for word in self.words]}
        if self.limit is None:
            del fields["limit"]
        return fields

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> WordSearch | None:
        """Return what `to_json` wrote; None stands for words that are not searched for so."""
        if data is None:
            return None
        words = tuple(SearchWord.from_json(word) for word in data["words"])
        numbers = {name: float(data[name]) for name in ("letters", "meaning", "sharpness", "level")}
        limit = float(data["limit"]) if "limit" in data else None
        return cls(words, **numbers, limit=limit)


@dataclass(frozen=True)
class UnderstoodWords:
    """What became of words that were said.

    unknown: those of the words that no item is called, however they are spelled. corrections: by
    word, what it was taken for that is spelled otherwise in the catalog. letters, meaning: whether
    items were found by these. nearest: by unknown word, the value that is nearest to it in meaning.
    """

    text: str
    unknown: tuple[str, ...]
    corrections: Mapping[str, str]
    letters: bool
    meaning: bool
    nearest: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, search: WordSearch) -> UnderstoodWords:
        """Sum up how a text is searched for."""
        words = search.words
        return cls(
            text=text,
            unknown=tuple(word.text for word in words if word.match in ("none", "meaning")),
            corrections={word.text: word.terms[0][0] for word in words if word.match == "spelling"},
            letters=search.letters > 0.0,
            meaning=search.meaning > 0.0,
            nearest={word.text: word.terms[0][0] for word in words if word.match == "meaning"},
        )

    @property
    def notice(self) -> str:
        """What a person should know of it, in words; empty where all was understood."""
        parts = [f"“{word}” is read as “{other}”." for word, other in self.corrections.items()]
        if self.unknown:
            parts.append(f"Nothing is called {' or '.join(f'“{one}”' for one in self.unknown)}.")
        if self.nearest:
            parts.append(f"Nearest by meaning: {', '.join(dict.fromkeys(self.nearest.values()))}.")
        if not self.letters:
            parts.append(
                "Items are ordered by what the words mean."
                if self.meaning
                else "These words change nothing."
            )
        return " ".join(parts)


def understand(
    catalog: SearchableCatalog, model: Model, text: str
) -> tuple[str | None, tuple[float, ...], WordSearch | None]:
    """Return the view that reads a text, if one does, its vector there, and how it is searched for.

    Under a model that takes words as the paper does, they are not searched for (None): they are a
    direction in the view, or, where no view reads text, keywords of a prior.
    """
    if not text.strip():
        raise BadInput("There are no words to read.", "Say something in words.", code="no-words")
    if not catalog.reads_words:
        raise BadInput(
            "This catalog cannot read words: its items have neither titles nor texts.",
            "Say what comes close and what does not, or filter.",
            code="words-not-read",
        )
    shares = word_shares(model.words)
    words = () if shares is None else find_by_meaning(catalog, text, catalog.find_words(text))
    view, vector = None, np.empty(0)
    if catalog.reads_text:
        view, vector = catalog.embed_text(_corrected(text, words))
    search = None if shares is None else _search(catalog, words, view, vector, shares)
    return view, tuple(map(float, vector)), search


def find_by_meaning(
    catalog: SearchableCatalog, text: str, words: tuple[SearchWord, ...]
) -> tuple[SearchWord, ...]:
    """Return words, those that no item is called as values that mean the same: trousers as Pants.

    So are words that were found in another form or spelling, if a value is much nearer in meaning.
    A text of several such words is one word if as a whole it is nearer to a value than they are.
    """
    words = tuple(_without_lookalikes(catalog, word) for word in words)
    doubtful = [word for word in words if word.match not in ("exact", "filler")]
    values = catalog.values_in_words if doubtful else ()
    if not values:
        return words
    terms = [word.terms[0][0] if word.terms else word.text for word in doubtful]
    texts = [word.text for word in doubtful] + [text]
    cosines = catalog.compare_words(texts, [*values, *terms])
    if cosines is None:
        return words
    by_value = cosines[:, : len(values)]
    best = by_value.max(axis=1)
    if len(doubtful) > 1 and all(word.match != "exact" for word in words):
        whole = _nearest_values(text, values, by_value[-1])
        if whole is not None and best[-1] > best[:-1].mean():
            return (whole,)
    found = {}
    for place, word in enumerate(doubtful):
        letters = float(cosines[place, len(values) + place])
        if not word.terms or best[place] > max(letters + SURER_MEANING, SURE_MEANING):
            found[word.text] = _nearest_values(word.text, values, by_value[place]) or word
    return tuple(found.get(word.text, word) for word in words)


def _without_lookalikes(catalog: SearchableCatalog, word: SearchWord) -> SearchWord:
    """Return a word without terms that only look like it; what is a word is seldom a slip."""
    if word.match in ("exact", "filler", "none") or not catalog.knows_word(word.text.lower()):
        return word
    # What a word is compared with is kept: one text for each word, not all of its terms.
    cosines = catalog.compare_words([term for term, _ in word.terms], [word.text])
    if cosines is None:
        return word
    near = cosines[:, 0] >= SAME_MEANING
    terms = tuple(term for term, same in zip(word.terms, near, strict=True) if same)
    return SearchWord(word.text, word.match if terms else "none", terms)


def _nearest_values(text: str, values: Sequence[str], cosines: Doubles) -> SearchWord | None:
    """Return a text as the values that mean the same, the nearest first; None where none does."""
    best = float(cosines.max())
    if best < NEAR_MEANING:
        return None
    weights = np.round(min(best, 1.0) * np.exp((cosines - best) / _MEANING_STEP), 2)
    order = np.argsort(-cosines, kind="stable").tolist()
    near = [place for place in order if weights[place] >= _MIN_MEANING_SHARE]
    return SearchWord(
        text, "meaning", tuple((values[place], float(weights[place])) for place in near)
    )


def _corrected(text: str, words: Sequence[SearchWord]) -> str:
    """Return a text with its words spelled as in the catalog: a slip means nothing."""
    terms = {word.text: word.terms[0][0] for word in words if word.match == "spelling"}
    return " ".join(terms.get(word, word) for word in text.split()) if terms else text


def _search(
    catalog: SearchableCatalog,
    words: tuple[SearchWord, ...],
    view: str | None,
    vector: Doubles,
    shares: WordShares,
) -> WordSearch:
    """Return how words are searched for.

    What cannot be compared leaves its share to the others: the letters of words that no item has,
    and the meaning where no view reads text.
    """
    letters, meaning = shares.letters, shares.meaning
    if not any(word.terms for word in words):
        letters, meaning = 0.0, meaning / (1.0 - letters)
    if view is None:
        return WordSearch(words, letters / (1.0 - shares.meaning), 0.0)
    sharpness = 2.0 / (shares.noise * catalog.views[view].scale)
    called = catalog.match_words(words).rows if letters > 0.0 else np.empty(0, np.int64)
    level, limit = _level_and_limit(catalog.views[view], vector, sharpness, called)
    return WordSearch(words, letters, meaning, sharpness, level, limit)


def _level_and_limit(
    view: View, vector: Doubles, sharpness: float, called: Rows
) -> tuple[float, float | None]:
    """Return where an item matches as the average one does, and beyond which none matches more.

    The level is log mean e^(sharpness r·x). called: the rows of items that have the words. Few of
    them are found by their letters, and lie so near in meaning that beside them nothing else would:
    by their meaning they match as the nearest of all others, which fill the page.
    """
    count = len(view)
    rows = np.linspace(0, count - 1, min(count, SAMPLE_ITEMS)).astype(np.int64)
    near, limit = view.rows(rows) @ vector, None
    others = near[~np.isin(rows, called)]
    if len(called) < FEW_CALLED and 0 < len(others) < len(near):
        limit = float(others.max())
        near = np.minimum(near, limit)
    exponents = sharpness * near
    highest = float(exponents.max())
    return (highest + float(np.log(np.exp(exponents - highest).mean()))) / sharpness, limit


def said_of(
    catalog: SearchableCatalog, search: WordSearch, view: str | None, vector: Doubles, row: int
) -> tuple[float | None, float | None]:
    """Return how much more an item matches words by letters, and by meaning, than the average one.

    None where the words cannot be compared so.
    """
    letters = meaning = None
    if search.letters > 0.0:
        letters = float(catalog.match_words(search.words).at(np.array([row]))[0])
    placed = catalog.raw_views.get(view) if view is not None else None
    if search.meaning > 0.0 and placed is not None and placed.dimensions == len(vector):
        near = float((placed.rows(np.array([row])) @ vector)[0])
        near = near if search.limit is None else min(near, search.limit)
        meaning = math.exp(min(search.sharpness * (near - search.level), MAX_EXPONENT))
    return letters, meaning


def words_term(
    catalog: SearchableCatalog, search: WordSearch, view: int | None, vector: Sequence[float]
) -> WordsTerm:
    """Return what words say of every item; view, vector: where they lie, if they do."""
    matches = catalog.match_words(search.words)
    along, limit = None, 0.0
    if view is not None:
        along = DirectionProbe(view, tuple(vector), plain=True)
        limit = float(np.linalg.norm(vector)) * [*catalog.views.values()][view].longest
        limit = limit if search.limit is None else min(limit, search.limit)
    return WordsTerm(
        name=matches.name,
        letters=search.letters,
        meaning=search.meaning,
        peak=max(matches.rest, float(matches.values.max(initial=0.0))),
        along=along,
        sharpness=search.sharpness,
        level=search.level,
        limit=limit,
        matches=matches,
    )


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(map(float, values))


@dataclass(frozen=True)
class Say(Event):
    """Text feedback: words, with what was understood; or a direction in a view.

    vector: of the words in a view that reads text; None in the place of the view: there is none.
    search: how the words are searched for. Without it, a vector is a direction in its view, and
    words without one are keywords of a prior, as it was before words were searched for.
    """

    type = "say"
    path = "say"
    readers: ClassVar[Readers] = {
        "text": str,
        "view": text_or_none,
        "vector": _floats,
        "search": WordSearch.from_json,
    }
    text: str
    view: str | None = None
    vector: Sequence[float] = field(default=(), repr=False)
    search: WordSearch | None = field(default=None, repr=False)

    def fields(self) -> dict[str, Any]:
        fields = super().fields()
        del fields["search"]
        return fields if self.search is None else {**fields, "search": self.search.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return super().from_json({"search": None, **data})

    def request(self) -> dict[str, Any]:
        if len(self.vector):
            raise BadInput("A remote session hears words, not vectors.", "Say it in words.")
        return {"text": self.text}

    def check(self, session: EventContext) -> Event:
        if isinstance(self.text, str) and self.text:
            return self.understood(session.catalog, session.state.start.model)
        view, vector = check_say_vector(session.catalog, self.vector, self.view)
        return Say(self.text, view, vector)

    def understood(self, catalog: SearchableCatalog, model: models.Model) -> Say:
        """Return the words with what they are understood to say in a catalog."""
        return Say(self.text, *understand(catalog, model, self.text))

    def apply(self, state: State) -> State:
        return state.advance(self, texts=(*state.texts, self))

    def summary(self) -> dict[str, Any]:
        return {"type": self.type, "text": self.text}

    def describe(self) -> str:
        where = "as keywords" if self.view is None else f"in view '{self.view}'"
        return f"say {self.text!r}" if self.search else f"say {self.text!r}, {where}"


@dataclass(frozen=True)
class Unsay(Event):
    """Words no longer count: those of a text, or those that the session began with."""

    type = "unsay"
    path = "unsay"
    readers: ClassVar[Readers] = {"text": str}
    text: str

    def check(self, session: EventContext) -> Event:
        return Unsay(str(self.text))

    def apply(self, state: State) -> State:
        """Let the last text of these words go, or else the words that the session began with."""
        for place in reversed(range(len(state.texts))):
            if state.texts[place].text == self.text:
                texts = state.texts[:place] + state.texts[place + 1 :]
                return state.advance(self, texts=texts, query=state.query_among(texts))
        if self.text == state.query:
            return state.advance(self, query=None)
        raise Conflict(
            f"Nobody has said '{self.text}', so there is nothing to take back.",
            code="nothing-to-undo",
        )

    def describe(self) -> str:
        return f"no longer say {self.text!r}"
