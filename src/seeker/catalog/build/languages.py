"""Notices texts that Seeker's own embedder cannot make sense of: it was taught English."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from seeker.catalog.build.chunks import embedded_text
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import Source, first_records

_LOOKED_AT = 200
_READS_ENGLISH = "text"

NOTICE = (
    "Many texts are in letters that the view '{view}' does not read: it knows English. Words are "
    "found all the same; for their meaning, choose another embedder with --views."
)


def language_notice(source: Source, makings: Sequence[ViewSpec]) -> str | None:
    """Return what to say where half of the letters of the first texts are not Latin ones."""
    views = [one.name for one in makings if one.made_by and one.made_by.name == _READS_ENGLISH]
    if not views:
        return None
    texts = map(embedded_text, first_records(source, _LOOKED_AT))
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    strange = sum(not _is_latin(letter) for letter in letters)
    return NOTICE.format(view=views[0]) if strange * 2 > len(letters) else None


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
