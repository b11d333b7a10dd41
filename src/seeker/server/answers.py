"""What the engine shows, as the JSON that the HTTP interface promises."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from seeker.engine import Shown
from seeker.session import Click, Event, Explanation, Explore, Found, Item, Narrow, Page, Say, Unsay

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
    """Return a slice of a ranking; one that lacks a part of the catalog says so."""
    return {
        "items": [item_json(item, catalog) for item in page.items],
        "offset": page.offset,
        "limit": page.limit,
        "total": page.total,
        **({"partial": True} if page.partial else {}),
    }


def session_json(shown: Shown) -> dict[str, Any]:
    """Return the one shape that every session answer has."""
    return {
        "id": shown.id,
        "catalog": shown.catalog,
        "step": shown.step,
        "query": shown.query,
        "filter": None if shown.filter is None else dict(shown.filter),
        "said": shown.said,
        "exploration": shown.exploration,
        "found": shown.found,
        "likes": shown.likes,
        "dislikes": shown.dislikes,
        "undone": shown.undone,
        "history": [{"step": step, **_told(event)} for step, event in shown.history],
        "page": page_json(shown.page, shown.catalog),
        "belief": None if shown.belief is None else asdict(shown.belief),
    }


def _told(event: Event) -> dict[str, Any]:
    """Return one thing in effect: its type, and what belongs to it."""
    match event:
        case Click(item, verdict):
            return {"type": "click", "item": item, "verdict": verdict}
        case Say(text):
            return {"type": "say", "text": text}
        case Unsay(text):
            return {"type": "unsay", "text": text}
        case Narrow(filter):
            return {"type": "filter", "filter": None if filter is None else dict(filter)}
        case Explore(level):
            return {"type": "exploration", "level": level}
        case Found(item):
            return {"type": "found", "item": item}
    raise TypeError(f"{type(event).__name__} is never in effect by itself.")


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Return why an item stands where it stands; JSON has no infinity, so it is null there."""
    written = asdict(explanation)
    written["clicks"] = [dict(one) for one in written["clicks"]]
    for name in ("score", "prior"):
        if written[name] == float("-inf"):
            written[name] = None
    return written
