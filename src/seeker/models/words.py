"""What words say of every item: a mixture of letters, meaning and chance.

Somebody who looks for an item t describes it by a word that stands in its fields, or by one that
means something near to them, or says something that has nothing to do with it. So

    P(words | t) ∝ chance + letters · K(t) + meaning · e^(sharpness · (r·x_t − level)),

where K and the exponential are 1 on average over the catalog, and the three shares add up to 1.
Where few items have the words, they count by their meaning as the nearest of those that have not:
they are found by their letters. The logarithm of this, divided by the most that it can be, is a
term like that of a click: never positive, never −∞, and the same wherever it is computed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from seeker.errors import BadInput, short_repr
from seeker.space.columns import DirectionProbe
from seeker.types import Doubles, Rows
from seeker.validation import check_few_numbers, check_number

MAX_EXPONENT = 60.0
"""No item is nearer in meaning than e^60 times the average one."""

SAMPLE_ITEMS = 16_384
"""Items, evenly spread over the catalog, by which it is seen how near words lie to most of it."""


@dataclass(frozen=True, eq=False)
class KeywordMatches:
    """How much more items match by their letters than the average one, (items,), mostly the same.

    rows: of the items that match, ascending, (hits,); values: theirs, (hits,); rest: of all others.
    """

    rows: Rows
    values: Doubles
    rest: float

    @cached_property
    def name(self) -> str:
        """A name for exactly these numbers."""
        digest = hashlib.sha256(repr(self.rest).encode())
        for array in (self.rows, self.values):
            digest.update(array.tobytes())
        return digest.hexdigest()[:32]

    @property
    def nbytes(self) -> int:
        """How many bytes this takes."""
        return self.rows.nbytes + self.values.nbytes

    def at(self, rows: Rows) -> Doubles:
        """Return the numbers of some items, (rows,)."""
        out = np.full(len(rows), self.rest)
        if len(self.rows):
            nearest = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            hits = self.rows[nearest] == rows
            out[hits] = self.values[nearest[hits]]
        return out

    def part(self, first: int, last: int) -> KeywordMatches:
        """Return those of the rows from first to before last, counted from first."""
        start, stop = np.searchsorted(self.rows, (first, last))
        return KeywordMatches(
            self.rows[start:stop] - first, self.values[start:stop].copy(), self.rest
        )


NO_MATCHES = KeywordMatches(np.empty(0, np.int64), np.empty(0), 1.0)
"""Letters that tell nothing: all items match alike."""


def combine_matches(words: Sequence[tuple[Rows, Doubles, float]], count: int) -> KeywordMatches:
    """Return what several words say together of so many items.

    words: for each, the rows that have it, ascending, and how probable it is that a person who
    looks for such an item says it, (hits,) each; and how sure it is that the word is this one. A
    word that an item lacks is a slip.
    """
    words = [(rows, values, trust) for rows, values, trust in words if len(rows)]
    if not words:
        return NO_MATCHES
    rows = np.unique(np.concatenate([rows for rows, _, _ in words]))
    product, rest = np.ones(len(rows)), 1.0
    for hits, values, trust in words:
        density = np.zeros(len(rows))
        density[np.searchsorted(rows, hits)] = values * (count / float(values.sum()))
        # No logarithms: products are the same on every processor. Divided, they stay in range.
        meant = (1.0 - WORD_SLIP) * trust
        product *= 1.0 - meant + meant * density
        top = float(product.max())
        product, rest = product / top, rest * (1.0 - meant) / top
    mean = (float(product.sum()) + (count - len(rows)) * rest) / count
    return KeywordMatches(rows, product / mean, rest / mean)


WORD_SLIP = 0.1
"""How often one of several words that are said together is not among those of the item."""


@dataclass(frozen=True)
class WordsTerm:
    """Words that were said, as a term: log of what is at the top of this module.

    name: of the matches by letters, so that terms can be compared without these. letters, meaning:
    their shares. peak: the most that any item matches by letters. along: where the words lie in a
    view, None where they have no meaning here. limit: no item is nearer than r·x = limit.
    """

    name: str
    letters: float
    meaning: float
    peak: float
    along: DirectionProbe | None = None
    sharpness: float = 0.0
    level: float = 0.0
    limit: float = 0.0
    matches: KeywordMatches = field(default=NO_MATCHES, compare=False, repr=False)

    @property
    def chance(self) -> float:
        """The share of words that have nothing to do with the item."""
        return 1.0 - self.letters - self.meaning

    @property
    def highest_exponent(self) -> float:
        """The exponent of the nearest item that there can be."""
        return min(self.sharpness * (self.limit - self.level), MAX_EXPONENT)

    @property
    def log_top(self) -> float:
        """The logarithm of the most that the mixture can be, or a little more.

        Rounded, so that it does not depend on whose logarithm it is.
        """
        nearest = 0.0 if self.along is None else math.exp(self.highest_exponent)
        top = self.chance + self.letters * self.peak + self.meaning * nearest
        return math.ceil(math.log(top) * 1024.0 + 0.5) / 1024.0

    @property
    def depth(self) -> float:
        """How far below zero the term can be, in nats."""
        return self.log_top - math.log(self.chance) + 1.0

    def with_matches(self, matches: KeywordMatches) -> WordsTerm:
        """Return the same with other matches at hand: those of some items, or none."""
        return replace(self, matches=matches)


@dataclass(frozen=True)
class WordShares:
    """How much words count: what a model says of them in its `words`.

    letters, meaning: of hundred words that people say, how many stand in the item's own fields, and
    how many mean something near to these; what is left has nothing to do with it. noise: how far a
    word lies from what it is said of, in the units of the view: half as much is twice as sharp.
    """

    letters: float
    meaning: float
    noise: float


PAPER = "paper"
"""In place of shares: words are a direction in a view, as in the paper."""

DEFAULT_WORDS = (0.4, 0.3, 0.05)
"""The shares that were measured with the lab's people; see docs/decisions/words.md."""


def check_words(words: object) -> tuple[float, ...] | str:
    """Return a model's setting of words if it is one."""
    if isinstance(words, str):
        if words != PAPER:
            raise BadInput(f"words is {short_repr(words)}, but the only word for it is 'paper'.")
        return words
    numbers = check_few_numbers("words", words, 3)
    if len(numbers) != 3:
        raise BadInput(
            f"words has {len(numbers)} numbers.",
            "Give the shares of letters and meaning, and the noise.",
        )
    letters, meaning, noise = numbers
    check_number("the share of letters", letters, 0.0, below=1.0)
    check_number("the share of meaning", meaning, 0.0, below=1.0)
    check_number("the noise of words", noise, 1e-6)
    if letters + meaning >= 1.0:
        raise BadInput(
            f"Letters and meaning share {letters + meaning:g} of all words.",
            "Leave something to chance: together they must be below 1.",
        )
    return tuple(numbers)


def word_shares(words: tuple[float, ...] | str) -> WordShares | None:
    """Return the shares of a model's setting, or None where words are the paper's."""
    return None if isinstance(words, str) else WordShares(*words)
