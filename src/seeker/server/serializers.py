"""What the engine shows, as the models that the HTTP interface promises.

The models are made of values that are right already, so nothing is checked on the way out; what
is not set is left out of an answer.
"""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import quote

from pydantic import BaseModel
from starlette.responses import Response

from seeker.engine import SessionSnapshot
from seeker.server.schemas import (
    BeliefResponse,
    ClickShareResponse,
    ExplanationResponse,
    HistoryEntry,
    ItemResponse,
    PageResponse,
    SessionResponse,
)
from seeker.session import Explanation, Item, Page

MEDIA = "media/"


def json_response(model: BaseModel, status: int = 200) -> Response:
    """Return a model as an answer."""
    content = model.model_dump_json(exclude_unset=True)
    return Response(content, status, media_type="application/json")


def item_response(item: Item, catalog: str) -> ItemResponse:
    """Return an item; its media is an address on this server."""
    return ItemResponse.model_construct(
        id=item.id,
        title=item.title,
        media=media_address(item.media, catalog),
        attributes=dict(item.attributes),
    )


def media_address(media: str | None, catalog: str) -> str | None:
    """Return where a browser finds an item's picture."""
    if media is None:
        return None
    return f"/media/{quote(catalog)}/{quote(media.removeprefix(MEDIA))}"


def page_response(page: Page, catalog: str) -> PageResponse:
    """Return a slice of a ranking; one that lacks a part of the catalog says so."""
    made = PageResponse.model_construct(
        items=[item_response(item, catalog) for item in page.items],
        offset=page.offset,
        limit=page.limit,
        total=page.total,
    )
    if page.partial:
        made.partial = True
    return made


def session_response(shown: SessionSnapshot) -> SessionResponse:
    """Return the one shape that every session answer has."""
    belief = shown.belief
    return SessionResponse.model_construct(
        id=shown.id,
        catalog=shown.catalog,
        step=shown.step,
        query=shown.query,
        filter=None if shown.filter is None else dict(shown.filter),
        said=shown.said,
        exploration=shown.exploration,
        found=shown.found,
        likes=shown.likes,
        dislikes=shown.dislikes,
        undone=shown.undone,
        history=[
            HistoryEntry.model_construct(step=step, **event.summary())
            for step, event in shown.history
        ],
        page=page_response(shown.page, shown.catalog),
        belief=None if belief is None else BeliefResponse.model_construct(**asdict(belief)),
    )


def explanation_response(explanation: Explanation) -> ExplanationResponse:
    """Return why an item stands where it stands; JSON has no infinity, so it is null there."""
    written = asdict(explanation)
    for name in ("score", "prior"):
        if written[name] == float("-inf"):
            written[name] = None
    clicks = [ClickShareResponse.model_construct(**one) for one in written.pop("clicks")]
    return ExplanationResponse.model_construct(**written, clicks=clicks)
