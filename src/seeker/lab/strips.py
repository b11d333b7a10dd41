"""Searches as strips of pages, so that one sees a search."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from seeker.catalog import Catalog

Names: TypeAlias = Sequence[str] | Mapping[int, str]
"""The ids of items by row: of all of them, or of those that were seen."""

SIDE = 60
"""The pixels of a little picture."""


class Album:
    """Little pictures of items, each embedded once per page by a style class.

    ids: the items' ids by row; pictures: a catalog's folder, or one with a picture for each id.
    Where either is missing, items are shown by number.
    """

    def __init__(self, ids: Names | None, pictures: Path | None) -> None:
        self.ids = ids
        self._file = _finder(pictures)
        self._known: dict[int, str] = {}

    def tile(self, row: int, mark: str) -> str:
        """Return one item; mark: liked, disliked, target or nothing."""
        name = self._name(row)
        label = f"{mark}: {name}" if mark else name
        picture = self._picture(row, name)
        inside = (
            f'<img src="{picture}" alt="{html.escape(label)}" width="{SIDE}" height="{SIDE}">'
            if picture
            else f"<span>{row}</span>"
        )
        return f'<div class="tile {mark}" title="{html.escape(label)}">{inside}</div>'

    def _name(self, row: int) -> str:
        unknown = f"item {row}"
        if isinstance(self.ids, Mapping):
            return self.ids.get(row, unknown)
        return self.ids[row] if self.ids is not None else unknown

    def _picture(self, row: int, name: str) -> str:
        if row not in self._known:
            file = self._file(name)
            self._known[row] = _embedded(file) if file else ""
        return self._known[row]


def _finder(pictures: Path | None) -> Callable[[str], Path | None]:
    """Return how the picture of an item is found."""
    if pictures is None:
        return lambda name: None
    if (pictures / "catalog.json").is_file():
        catalog = Catalog.open(pictures)
        return lambda name: catalog.media_file(catalog.item(name)) if name in catalog else None
    return {file.stem: file for file in pictures.iterdir()}.get


def strip(steps: Sequence[dict[str, Any]], album: Album, pages: int = 8) -> str:
    """Return one search: the target first, then page under page with what was clicked."""
    target = int(steps[0]["target"])
    lines = [
        '<div class="strip"><div class="page"><b>looked for</b>'
        f"{album.tile(target, 'target')}</div>"
    ]
    shown = [step for step in steps if len(step["page"])]
    for step in shown if len(shown) <= pages else [*shown[: pages - 1], shown[-1]]:
        tiles = []
        for row in step["page"]:
            mark = "target" if row == target else ""
            mark = "liked" if row in step["liked"] else mark
            mark = "disliked" if row in step["disliked"] else mark
            tiles.append(album.tile(int(row), mark))
        rank = f"{step['rank']:,.0f}" if step["step"] else "–"
        lines.append(
            f'<div class="page"><b>page {step["step"] + 1}</b>{"".join(tiles)}'
            f"<i>rank {rank}</i></div>"
        )
    return "\n".join([*lines, "</div>"])


def _embedded(file: Path) -> str:
    """Return a picture as a small data address, or nothing where it cannot be read."""
    from PIL import ImageOps

    from seeker.embedders.pictures import open_picture
    from seeker.errors import SeekerError

    try:
        small = ImageOps.fit(open_picture(file), (SIDE, SIDE))
    except SeekerError:
        return ""
    data = io.BytesIO()
    small.save(data, "WEBP", quality=60)
    return "data:image/webp;base64," + base64.b64encode(data.getvalue()).decode("ascii")
