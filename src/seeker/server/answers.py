"""What the engine shows, as the JSON that the HTTP interface promises."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from seeker.engine import Shown
from seeker.session import Explanation, Item, Page

MEDIA = "media/"


def item_json(item: Item, catalog: str) -> dict[str, Any]:
    """Return an item; its media is an address on this server."""
    return {
        "id": item.id,
        "title": item.title,
        "media": media_address(item.media, catalog),
        "attributes": dict(item.attributes),
    }


def media_address(media: str | None, catalog: str) -> str | None:
    """Return where a browser finds an item's picture."""
    if media is None:
        return None
    return f"/media/{quote(catalog)}/{quote(media.removeprefix(MEDIA))}"


def page_json(page: Page, catalog: str) -> dict[str, Any]:
    """Return a slice of a ranking."""
    return {
        "items": [item_json(item, catalog) for item in page.items],
        "offset": page.offset,
        "limit": page.limit,
        "total": page.total,
    }


def session_json(shown: Shown) -> dict[str, Any]:
    """Return the one shape that every session answer has."""
    return {
        "id": shown.id,
        "catalog": shown.catalog,
        "step": shown.step,
        "likes": shown.likes,
        "dislikes": shown.dislikes,
        "page": page_json(shown.page, shown.catalog),
        "belief": None if shown.belief is None else asdict(shown.belief),
    }


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Return why an item stands where it stands; JSON has no infinity, so it is null there."""
    written = asdict(explanation)
    written["clicks"] = [dict(one) for one in written["clicks"]]
    for name in ("score", "prior"):
        if written[name] == float("-inf"):
            written[name] = None
    return written
