"""Keyword search: what people type, as terms of the index of the items' fields, and who has them.

The index (FTS5) holds words as they stand. What stands for a word that somebody types is looked up
in its vocabulary: the word itself and its other forms; else longer words that begin with it or
contain it; else words that are spelled nearly so.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from seeker.catalog.attributes import clean_text
from seeker.errors import BadInput
from seeker.session.words import Match, SearchWord
from seeker.types import Array, Doubles, Rows

WEIGHTS = (4.0, 2.0, 1.0)
"""How much a hit in the title, the text and the attributes counts where BM25 ranks."""

HIT_SHARE = 0.75
"""How much of a keyword prior the hits share; the rest is spread evenly over all items.

It is the chance that the thing looked for carries the words that were typed."""

MAX_WORDS = 64
MAX_TERMS = 32
"""So many words of a text are looked for, and so many terms for each of them."""

FIELDS = {"title": 0.65, "text": 0.15, "attributes": 0.2}
"""The columns of the index, with how often people take a word from each of them."""

MAX_FIELD_WORDS = 50
"""In a field of more words than so many, none is less probable to be said."""

_TRUST: dict[Match, float] = {
    "exact": 1.0, "form": 0.9, "beginning": 0.8, "part": 0.7, "spelling": 0.7,
}  # fmt: skip
"""How sure it is that a word stands for a term that was found in this way."""

_FILLERS = """
a about all also an and any anything are as at be but by can could do find for from get give has
have i if in into is it its kind like look looking me my need of off on one or please s search show
some something sort that the their them there these thing things this those to want was were what
which with without would you your
aber als am an auch auf aus bei das dem den der des die ein eine einem einen einer eines etwas für
hätte ich im in ist mein meine mit möchte oder ohne sich sie sind so suche und vom von war zu zum
au aux avec ce ces cette chose comme d dans de des du elle en est et il je l la le les leur lui mais
mon ne nous ou par pas pour qu que quelque qui sans se ses son sur te un une veux
al algo como con cosa de del el ella en es esta este la las lo los mi muy no o para pero por que
quiero se sin su sus un una unas uno unos y
alla anche che con da dal dei del della di e gli ha il in io la le lo ma mi nel non per più qualcosa
sono su un una uno
ao as com da das do dos e em na nas nos o os ou para pelo por que se sem seu sua um uma zur
aan de een en het ik in is met naar of om op te van voor wat zonder
"""
"""Words that hold sentences together; they are looked for only where there are no others."""

_LATIN_LANGUAGES = (
    "english", "german", "french", "spanish", "italian", "portuguese", "dutch", "swedish",
    "norwegian", "danish", "finnish", "hungarian", "romanian", "turkish", "polish", "czech",
)  # fmt: skip
_SCRIPT_LANGUAGES = {
    "CYRILLIC": "russian", "GREEK": "greek", "ARABIC": "arabic", "DEVANAGARI": "hindi",
    "ARMENIAN": "armenian", "TAMIL": "tamil",
}  # fmt: skip
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""Writing in which words are not set apart, so that a term is often a whole phrase."""


def fts_query(words: object) -> str | None:
    """Return words as a query of FTS5, or None where there is nothing to look for.

    Every word is quoted, so that nothing a person types is read as syntax. Items with any of the
    words are found (those with more of them come first); the last word may be the beginning of
    one, but counts more as a whole. Words beyond the first 64 are not looked at.
    """
    parts = [_quoted(word) for word in split_words(words)]
    return " OR ".join([*parts, f"{parts[-1]} *"]) if parts else None


def split_words(text: object) -> list[str]:
    """Return the words of a text as they were typed, the first 64."""
    if not isinstance(text, str):
        raise BadInput(f"{text!r} is not a text to search for.")
    words = clean_text(text.replace("\0", " ")).split()[:MAX_WORDS]
    return [word for word in words if any(letter.isalnum() for letter in word)]


def field_query(term: str, field: str) -> str:
    """Return the query of FTS5 for one term in one field."""
    return f"{{{field}}} : {_quoted(term)}"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', " ") + '"'


def keyword_prior(rows: Rows, scores: Doubles, count: int) -> Doubles:
    """Return log-probabilities of `count` items from the scores of the hits, (hits,) each.

    p(t) = 0.75 · score(t) / Σ scores + 0.25 / items; without hits, all items are equal.
    """
    total = float(scores.sum())
    if total <= 0.0:
        return np.full(count, -np.log(count))
    floor = (1.0 - HIT_SHARE) / count
    logs = np.full(count, np.log(floor))
    logs[rows] = np.log(floor + HIT_SHARE * scores / total)
    return logs


Lender = Callable[[], AbstractContextManager[sqlite3.Connection]]


class Vocabulary:
    """The terms of a keyword index, each with how many items have it; use: lends a connection."""

    def __init__(self, use: Lender) -> None:
        self._use = use

    def find(self, text: object, every_language: bool = False) -> tuple[SearchWord, ...]:
        """Return the words of a text, each with the terms that it stands for.

        every_language: the texts may be in any; else English forms of words come before others.
        """
        words = self._joined(list(dict.fromkeys(split_words(text))))
        if all(fold(word) in _FOLDED_FILLERS for word in words):
            return tuple(self._word(word, False, every_language) for word in words)
        return tuple(
            SearchWord(word, "filler")
            if fold(word) in _FOLDED_FILLERS
            else self._word(word, place == len(words) - 1, every_language)
            for place, word in enumerate(words)
        )

    def _joined(self, words: Sequence[str]) -> list[str]:
        """Return the words, two of them as one where the index has them so: long sleeve."""
        out: list[str] = []
        for word in words:
            both = fold(out[-1]) + fold(word) if out else ""
            known = both.isalnum() and not {fold(out[-1]), fold(word)} & _FOLDED_FILLERS
            if known and (self._count(both) or self._forms([both])):
                out[-1] += f" {word}"
            else:
                out.append(word)
        return out

    def _word(self, word: str, last: bool, every_language: bool) -> SearchWord:
        """Return what a word stands for; last: it may be the beginning of one."""
        tokens = tokenise(word)
        spellings = [word] if self._has(word) else []
        forms = self._forms(tokens, every_language)
        if " " in word:
            joined = "".join(tokens)
            spellings += [joined] if self._count(joined) else []
            forms += self._forms([joined], every_language)
        matches: list[tuple[Match, str]] = [("exact", one) for one in spellings]
        matches += [("form", term) for term in forms if term not in (*spellings, " ".join(tokens))]
        if is_unspaced(word):
            matches += [("part", term) for term in self._containing(tokens) if term not in tokens]
        if not matches:
            matches = self._likely(tokens, last)
        if not matches:
            return SearchWord(word, "none")
        weights = {term: _TRUST[match] for match, term in matches[:MAX_TERMS]}
        return SearchWord(word, matches[0][0], tuple(weights.items()))

    def _likely(self, tokens: list[str], last: bool) -> list[tuple[Match, str]]:
        """Return terms for a word that the index has in no form that is known."""
        ways: list[tuple[Match, Callable[[], list[str]]]] = [
            ("form", lambda: self._forms(tokens, every_language=True)),
            ("form", lambda: self._split(tokens)),
            ("beginning", lambda: self._beginning(tokens) if last else []),
            ("part", lambda: self._pieces(tokens) if is_unspaced(tokens[0]) else []),
            ("part", lambda: self._containing(tokens)),
            ("spelling", lambda: self._spelled_alike(tokens)),
        ]
        for match, terms in ways:
            candidates = terms()
            if candidates:
                return [(match, term) for term in candidates]
        return []

    def _forms(self, tokens: list[str], every_language: bool = False) -> list[str]:
        """Return the forms that a word has in the index, shoe for shoes; of several, the last."""
        *first, last = tokens
        if len(last) < 3:
            return []
        terms: dict[str, int] = {}
        for language in languages_of(last, every_language):
            stem = stemmed(language, last)
            for term, count in self._starting(stem[: max(2, len(stem) - 1)]):
                if len(term) <= len(last) + 5 and stemmed(language, term) == stem:
                    terms[term] = count
        phrases = [" ".join([*first, term]) for term in sorted(terms, key=lambda one: -terms[one])]
        return [phrase for phrase in phrases if not first or self._has(phrase)]

    def _split(self, tokens: list[str]) -> list[str]:
        """Return two words that the index has side by side for one: t shirt for tshirt."""
        if len(tokens) > 1:
            return []
        word, pairs = tokens[0], []
        for place in range(1, len(word)):
            head, tail = word[:place], word[place:]
            if self._count(head) and (len(head) > 2 or len(tail) > 3):
                tails = [tail] if self._count(tail) else self._forms([tail])
                pairs += [f"{head} {one}" for one in tails if self._has(f"{head} {one}")]
        return pairs

    def _beginning(self, tokens: list[str]) -> list[str]:
        if len(tokens) > 1 or len(tokens[0]) < 2:
            return []
        terms = sorted(self._starting(tokens[0]), key=lambda one: (-one[1], one[0]))
        return [term for term, _ in terms[:MAX_TERMS]]

    def _containing(self, tokens: list[str]) -> list[str]:
        """Return terms that contain a word, those that end with it first: sommerkleid for kleid."""
        word = tokens[0]
        if len(tokens) > 1 or len(word) < (1 if is_unspaced(word) else 4):
            return []
        containing = re.findall(f".*{re.escape(word)}.*", self._all_as_lines)
        containing.sort(key=lambda term: (not term.endswith(word), -self._counts[term], term))
        return containing[:MAX_TERMS]

    def _pieces(self, tokens: list[str]) -> list[str]:
        """Return terms that contain parts of a phrase that is written without blanks."""
        runs = re.findall(r"[\u30a0-\u30ff]+|[^\u30a0-\u30ff]+", tokens[0])
        pieces = runs if len(runs) > 1 else [a + b for a, b in pairwise(tokens[0])]
        return list(dict.fromkeys(term for one in pieces for term in self._containing([one])))

    def _spelled_alike(self, tokens: list[str]) -> list[str]:
        """Return the nearest terms of one or two slips of the keyboard; all words must be known."""
        choices = [[token] if self._count(token) else self._near_forms(token) for token in tokens]
        phrases: list[list[str]] = [[]] if all(choices) else []
        for terms in choices:
            phrases = [[*phrase, term] for phrase in phrases for term in terms[:4]]
        texts = [" ".join(phrase) for phrase in phrases]
        return texts if len(tokens) == 1 else [phrase for phrase in texts if self._has(phrase)]

    def _near_forms(self, word: str) -> list[str]:
        """Return the terms near to a word, or to its other number as English makes it."""
        endings = [end for end in ("s", "es") if word.endswith(end) and len(word) > len(end) + 2]
        others = [word.removesuffix(end) for end in endings] or [f"{word}s"]
        spellings = [self._near(word)]
        for one in others:  # three letters are near to much, so they must be the same
            near = self._near(one)
            spellings.append([t for t in near if len(one) > 3 or sorted(t) == sorted(one)])
        return next(filter(None, spellings), [])

    def _near(self, word: str) -> list[str]:
        """Return the terms that are the fewest slips away, the most frequent first."""
        slips = 0 if len(word) < 3 else 1 if len(word) < 8 else 2
        masks, lengths = self._signatures
        other_letters = _BIT_COUNTS[(masks ^ _signature(word)).view(np.uint8)]
        likely = other_letters.reshape(-1, 8).sum(axis=1) <= 2 * slips
        places = np.flatnonzero(likely & (np.abs(lengths - len(word)) <= slips))
        neighbours = []
        for place in places.tolist():
            term = self._terms[place]
            distance = edit_distance(word, term, slips)
            if distance <= slips:
                neighbours.append((distance, term[0] != word[0], -self._counts[term], term))
        neighbours.sort()
        return [term for distance, *_, term in neighbours if distance == neighbours[0][0]]

    def _has(self, phrase: str) -> bool:
        """Return whether some item has words that follow each other."""
        with self._use() as connection:
            hits = connection.execute(
                "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (_quoted(phrase),)
            )
            return hits.fetchone() is not None

    def _count(self, term: str) -> int:
        """Return how many items have a term."""
        rows = self._rows("WHERE term = ?", term)
        return rows[0][1] if rows else 0

    def _starting(self, prefix: str) -> list[tuple[str, int]]:
        """Return the terms that begin so, with how many items have them."""
        return self._rows("WHERE term >= ? AND term < ?", prefix, prefix + "\U0010ffff")

    def _rows(self, condition: str, *values: str) -> list[tuple[str, int]]:
        with self._use() as connection:
            connection.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, words, row)"
            ).close()
            return connection.execute(
                f"SELECT term, doc FROM temp.terms {condition}", values
            ).fetchall()

    @cached_property
    def _counts(self) -> dict[str, int]:
        """How many items have each term; of a million items it takes a second to read, once."""
        return dict(self._rows(""))

    @cached_property
    def _terms(self) -> list[str]:
        return list(self._counts)

    @cached_property
    def _all_as_lines(self) -> str:
        return "\n".join(self._terms)

    @cached_property
    def _signatures(self) -> tuple[NDArray[np.uint64], Array]:
        """Which letters each term has, one bit each, and how many: (terms,) each."""
        masks = np.fromiter(map(_signature, self._terms), np.uint64, len(self._terms))
        return masks, np.fromiter(map(len, self._terms), np.int64, len(self._terms))


_BIT_COUNTS = np.array([number.bit_count() for number in range(256)])
"""How many bits of a byte are set, (256,)."""


def tokenise(text: str) -> list[str]:
    """Return a text's words as the index holds them: small letters without accents."""
    return re.findall(r"[^\W_]+", fold(text)) or [fold(text)]


def fold(text: str) -> str:
    """Return a text in small letters, those of ASCII without accents, as the index has them."""
    small = unicodedata.normalize("NFC", text.lower())
    if small.isascii():
        return small
    bases = (unicodedata.normalize("NFD", letter)[0] for letter in small)
    return "".join(b if b.isascii() else letter for letter, b in zip(small, bases, strict=True))


_FOLDED_FILLERS = frozenset(map(fold, _FILLERS.split()))


def is_unspaced(word: str) -> bool:
    """Return whether a word is in a writing that sets no blanks between words."""
    return any(unicodedata.name(letter, "").startswith(_UNSPACED) for letter in word[:4])


def languages_of(word: str, every_language: bool) -> Iterable[str]:
    """Return the languages a word may be of, by its letters; of Latin ones, English or all."""
    script = unicodedata.name(word[0], "").split(" ")[0]
    if script == "LATIN":
        return _LATIN_LANGUAGES if every_language else _LATIN_LANGUAGES[:1]
    return (_SCRIPT_LANGUAGES[script],) if script in _SCRIPT_LANGUAGES else ()


@lru_cache(16_384)
def stemmed(language: str, word: str) -> str:
    """Return what is left of a word without the endings of a language."""
    import snowballstemmer

    return str(snowballstemmer.stemmer(language).stemWord(word))


def _signature(word: str) -> np.uint64:
    """Return which letters a word has, one bit for each letter or a few rare ones."""
    mask = 0
    for letter in word:
        mask |= 1 << (ord(letter) % 64)
    return np.uint64(mask)


def edit_distance(one: str, other: str, most: int) -> int:
    """Return how many slips lead from one word to another; most + 1 stands for more than most.

    A slip is a letter too many, too few, another one, or two neighbours swapped.
    """
    before, last = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        line = [i]
        for j, another in enumerate(other, 1):
            cost = min(last[j] + 1, line[j - 1] + 1, last[j - 1] + (letter != another))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == another:
                cost = min(cost, before[j - 2] + 1)
            line.append(cost)
        if min(line) > most and min(last) > most:
            return most + 1
        before, last = last, line
    return min(last[-1], most + 1)


def read_sizes(blobs: Sequence[bytes]) -> Array:
    """Return how many words are in the fields of items, (items, fields), from the index's own form.

    Each is a row of whole numbers, seven bits in a byte, the highest bit set in all but the last.
    """
    fields = len(FIELDS)
    joined = b"".join(blobs)
    if len(joined) == fields * len(blobs) and joined.isascii():
        return np.frombuffer(joined, np.uint8).reshape(-1, fields).astype(np.int64)
    sizes = np.zeros((len(blobs), fields), np.int64)
    for row, blob in enumerate(blobs):
        place = value = 0
        for byte in blob:
            value = value << 7 | byte & 127
            if byte < 128:
                sizes[row, place], place, value = value, place + 1, 0
                if place == fields:
                    break
    return sizes
