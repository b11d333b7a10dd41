"""What the engine shows, in the shapes that the HTTP interface promises (`responses`).

What every click is answered with is made of plain values: objects of its shape take longer to make
than the answer takes to write. Values are right already, so nothing is checked on the way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.responses import Response

from seeker.catalog import Catalog
from seeker.catalog.media import media_sizes
from seeker.engine import SessionSnapshot
from seeker.server.responses import (
    CatalogResponse,
    CatalogSummary,
    ClickShareResponse,
    EventsResponse,
    ExplanationResponse,
)
from seeker.session import Example, Explanation, Item, Page
from seeker.stores import StoredSession

MEDIA = "media/"
_MAX_ADDRESSES = 8_192
"""Addresses of pictures that are not made again: the same items come up again and again."""


def json_response(content: BaseModel | Mapping[str, Any], status: int = 200) -> Response:
    """Return a model, without what is not set in it, or plain values as an answer."""
    if isinstance(content, BaseModel):
        body = content.model_dump_json(exclude_unset=True).encode()
    else:
        body = to_json(content, inf_nan_mode="null")
    return Response(body, status, media_type="application/json")


def item_response(item: Item, catalog: str) -> dict[str, Any]:
    """Return an item, as an `ItemResponse`; its media is an address on this server."""
    address = None if item.media is None else media_address(item.media, catalog)
    sizes = None if address is None else media_sizes(address)
    return {
        "id": item.id,
        "title": item.title,
        "media": address,
        "attributes": item.visible,
        **({"pictures": sizes} if sizes else {}),
    }


@lru_cache(_MAX_ADDRESSES)
def media_address(media: str, catalog: str) -> str:
    """Return where a browser finds an item's picture."""
    return f"/media/{quote(catalog)}/{quote(media.removeprefix(MEDIA))}"


def page_response(page: Page, catalog: str) -> dict[str, Any]:
    """Return a slice of a ranking, as a `PageResponse`; one that lacks a part says so."""
    return {
        "items": [item_response(item, catalog) for item in page.items],
        "offset": page.offset,
        "limit": page.limit,
        "total": page.total,
        **({"partial": True} if page.partial else {}),
    }


def session_response(snapshot: SessionSnapshot, shared: bool = False) -> dict[str, Any]:
    """Return a `SessionResponse`, which every session answer is; shared: its id lets one look."""
    belief = snapshot.belief
    return {
        "id": snapshot.id,
        "catalog": snapshot.catalog,
        "step": snapshot.step,
        "query": snapshot.query,
        "filter": None if snapshot.filter is None else dict(snapshot.filter),
        "said": snapshot.said,
        "words": [vars(one) for one in snapshot.words],
        "exploration": snapshot.exploration,
        "focus": snapshot.focus,
        "found": snapshot.found,
        "likes": snapshot.likes,
        "dislikes": snapshot.dislikes,
        "examples": [example_response(one, snapshot.id, shared) for one in snapshot.examples],
        "undone": snapshot.undone,
        "history": [{"step": step, **event.summary()} for step, event in snapshot.history],
        "page": page_response(snapshot.page, snapshot.catalog),
        "belief": None if belief is None else vars(belief),
    }


def example_response(example: Example, id: str, shared: bool) -> dict[str, Any]:
    """Return an example of a session as an item of no catalog."""
    place = "shared" if shared else "sessions"
    media = f"/v1/{place}/{id}/examples/{quote(example.item)}"
    return {
        "id": example.item,
        "title": "",
        "media": media if example.thumbnail else None,
        "attributes": {},
    }


def example_picture(thumbnail: bytes) -> Response:
    """Return the thumbnail of an example; it goes with the session, so nobody may keep it."""
    headers = {"Content-Security-Policy": "default-src 'none'; sandbox"}
    return Response(thumbnail, media_type="image/webp", headers=headers)


def explanation_response(explanation: Explanation) -> ExplanationResponse:
    """Return why an item stands where it stands; JSON has no infinity, so it is null there."""
    fields = asdict(explanation)
    for name in ("score", "prior"):
        if fields[name] == float("-inf"):
            fields[name] = None
    clicks = [ClickShareResponse.model_construct(**one) for one in fields.pop("clicks")]
    return ExplanationResponse.model_construct(**fields, clicks=clicks)


def events_response(stored: StoredSession) -> EventsResponse:
    """Return all that is stored of a session."""
    return EventsResponse.model_construct(
        id=stored.id,
        catalog=stored.catalog,
        user=stored.person,
        network=stored.network,
        began=stored.began,
        active=stored.active,
        events=list(stored.events),
        times=list(stored.event_times),
    )


def catalog_summary(name: str, catalog: Catalog) -> CatalogSummary:
    """Return a catalog as it stands in a list."""
    return CatalogSummary.model_construct(
        name=name,
        items=len(catalog),
        views=list(catalog.views),
        reads_text=catalog.reads_text,
        reads_pictures=catalog.reads_pictures,
        reads_words=catalog.reads_words,
    )


def catalog_response(name: str, catalog: Catalog, facets: list[dict[str, Any]]) -> CatalogResponse:
    """Return a catalog, and how its attributes are spread."""
    return CatalogResponse.model_construct(
        **dict(catalog_summary(name, catalog)),
        version=catalog.version,
        about=dict(catalog.manifest.about) if catalog.manifest else {},
        attributes={
            name: one.to_json()
            for name, one in catalog.presentation.attributes.items()
            if not one.hidden
        },
        facets=facets,
    )
