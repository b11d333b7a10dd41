"""Keyword search: what people type, as a query of FTS5, and its scores as a prior."""

from __future__ import annotations

import numpy as np

from seeker.catalog.attributes import clean_text
from seeker.errors import BadInput
from seeker.types import Doubles, Rows

WEIGHTS = (4.0, 2.0, 1.0)
"""How much a hit in the title, the text and the attributes counts."""

HIT_SHARE = 0.75
"""How much of a keyword prior the hits share; the rest is spread evenly over all items.

It is the chance that the thing looked for carries the words that were typed."""

MAX_WORDS = 64


def fts_query(words: object) -> str | None:
    """Return words as a query of FTS5, or None where there is nothing to look for.

    Every word is quoted, so that nothing a person types is read as syntax. Items with any of the
    words are found (those with more of them come first); the last word may be the beginning of
    one, but counts more as a whole. Words beyond the first 64 are not looked at.
    """
    if not isinstance(words, str):
        raise BadInput(f"{words!r} is not a text to search for.")
    clean = clean_text(words.replace("\0", " "))
    parts = [f'"{part.replace(chr(34), " ")}"' for part in clean.split()[:MAX_WORDS]]
    parts = [part for part in parts if any(letter.isalnum() for letter in part)]
    if not parts:
        return None
    return " OR ".join([*parts, f"{parts[-1]} *"])


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
