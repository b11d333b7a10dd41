"""Reports as pages that need nothing else: their look, and items as little pictures."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from seeker.catalog import Catalog


def html_page(title: str, parts: Sequence[str]) -> str:
    """Return a page of some parts."""
    return _PAGE.format(title=html.escape(title), body="\n".join(parts))


def html_section(title: str, body: str, note: str = "") -> str:
    """Return a part with a heading, and words before it."""
    words = f"<p>{note}</p>" if note else ""
    return f"<section><h2>{html.escape(title)}</h2>{words}{body}</section>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ --ink:#1d2433; --soft:#5b6577; --line:#e3e7ee; --ours:#fdf3e4; --accent:#2a6f97; }}
* {{ box-sizing:border-box }}
body {{ margin:0 auto; padding:2.5rem 1.5rem 5rem; max-width:72rem; color:var(--ink);
  font:15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; background:#fff }}
h1 {{ font-size:2rem; letter-spacing:-.02em; margin:0 0 .6rem }}
h2 {{ font-size:1.2rem; margin:2.6rem 0 .5rem }} h3 {{ font-size:1rem; margin:1.4rem 0 .4rem }}
p {{ color:var(--soft); max-width:48rem; margin:.2rem 0 .8rem }}
.facts {{ list-style:none; padding:0; margin:0; color:var(--soft); display:flex; flex-wrap:wrap;
  gap:.2rem 1.4rem }}
.wide {{ overflow-x:auto }}
table {{ border-collapse:collapse; font-variant-numeric:tabular-nums; font-size:13.5px }}
th {{ text-align:left; color:var(--soft); font-weight:600; white-space:nowrap }}
th, td {{ padding:.32rem .7rem .32rem 0; border-bottom:1px solid var(--line) }}
td {{ white-space:nowrap }} td:first-child {{ font-weight:600; padding-right:1.2rem }}
small {{ color:var(--soft) }} .ours td {{ background:var(--ours) }}
.bar {{ display:inline-block; width:9rem; padding-left:.4rem; border-radius:3px;
  background:linear-gradient(90deg,#bcd7e6 calc(var(--share)*100%),#f1f4f8 0) }}
.heat {{ background:color-mix(in oklab,#17557a calc(var(--share)*100%),#eef3f7);
  padding-left:.7rem; border:2px solid #fff }} .heat small {{ color:inherit; opacity:.75 }}
.verdicts td {{ padding-left:.6rem; border:2px solid #fff }}
.better {{ background:#d8efdf }} .worse {{ background:#f8d7d7 }} .tie {{ background:#f3f4f7 }}
.holds {{ color:#23744a; font-weight:600 }} .does-not-hold {{ color:#b3303f; font-weight:600 }}
.not-decided {{ color:var(--soft) }}
svg {{ max-width:100%; height:auto }}
.pairs {{ display:grid; grid-template-columns:repeat(auto-fit,minmax(30rem,1fr)); gap:0 2rem }}
.pairs section {{ display:flex; flex-direction:column }} .pairs svg {{ margin-top:auto }}
pre {{ background:#f5f7fa; padding:1rem; border-radius:6px; overflow-x:auto }}
.strip {{ overflow-x:auto }} .page {{ display:flex; gap:4px; align-items:center; margin:3px 0 }}
.page:not(:has(b)) {{ flex-wrap:wrap }}
.page b {{ width:5.2rem; font-weight:500; color:var(--soft); flex:none }}
.page i {{ font-style:normal; color:var(--soft); padding-left:.6rem; white-space:nowrap }}
.tile {{ flex:none; width:62px; height:62px; padding:1px; border-radius:5px; background:#f1f4f8;
  overflow:hidden; display:grid; place-items:center; font-size:11px; color:var(--soft) }}
.tile img {{ display:block; width:100%; height:100%; border-radius:4px; object-fit:cover }}
.liked {{ background:#2f9e62; padding:3px }} .disliked {{ background:#d1495b; padding:3px }}
.target {{ background:#e0a526; padding:3px }} .tile[class$="d"] span, .target span {{ color:#fff }}
</style></head><body>
{body}
</body></html>
"""


ItemIds: TypeAlias = Sequence[str] | Mapping[int, str]
"""The ids of items by row: of all of them, or of those that were seen."""

THUMBNAIL_PIXELS = 60
"""The side of a little picture."""


class Album:
    """Little pictures of items, each embedded once per page by a style class.

    ids: the items' ids by row; pictures: a catalog's folder, or one with a picture for each id.
    Where either is missing, items are shown by number, or by titles if there are any.
    """

    def __init__(
        self,
        ids: ItemIds | None,
        pictures: Path | None,
        titles: Mapping[int, str] | None = None,
    ) -> None:
        self.ids = ids
        self._titles = titles or {}
        self._file = _picture_finder(pictures)
        self._data_urls: dict[int, str] = {}

    def tile(self, row: int, mark: str) -> str:
        """Return one item; mark: liked, disliked, target or nothing."""
        name = self._name(row)
        label = f"{mark}: {name}" if mark else name
        picture = self._picture(row, name)
        inside = (
            f'<img src="{picture}" alt="{html.escape(label)}" '
            f'width="{THUMBNAIL_PIXELS}" height="{THUMBNAIL_PIXELS}">'
            if picture
            else f"<span>{html.escape(self._titles.get(row, str(row)))}</span>"
        )
        return f'<div class="tile {mark}" title="{html.escape(label)}">{inside}</div>'

    def _name(self, row: int) -> str:
        unknown = f"item {row}"
        if isinstance(self.ids, Mapping):
            return self.ids.get(row, unknown)
        return self.ids[row] if self.ids is not None else unknown

    def _picture(self, row: int, name: str) -> str:
        if row not in self._data_urls:
            file = self._file(name)
            self._data_urls[row] = _data_url(file) if file else ""
        return self._data_urls[row]


def _picture_finder(pictures: Path | None) -> Callable[[str], Path | None]:
    """Return how the picture of an item is found."""
    if pictures is None:
        return lambda name: None
    if (pictures / "catalog.json").is_file():
        catalog = Catalog.open(pictures)
        return lambda name: catalog.media_file(catalog.item(name)) if name in catalog else None
    return {file.stem: file for file in pictures.iterdir()}.get


def _data_url(file: Path) -> str:
    """Return a picture as a small data address, or nothing where it cannot be read."""
    from PIL import ImageOps

    from seeker.embedders.pictures import open_picture
    from seeker.errors import SeekerError

    try:
        small = ImageOps.fit(open_picture(file), (THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
    except SeekerError:
        return ""
    data = io.BytesIO()
    small.save(data, "WEBP", quality=60)
    return "data:image/webp;base64," + base64.b64encode(data.getvalue()).decode("ascii")
