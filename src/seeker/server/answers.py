"""What the engine shows, as the models that the HTTP interface promises.

The models are made of values that are right already, so nothing is checked on the way out; what
is not set is left out of an answer.
"""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import quote

from pydantic import BaseModel
from starlette.responses import Response

from seeker.engine import Shown
from seeker.server.schemas import (
    BeliefAnswer,
    ClickShare,
    ExplanationAnswer,
    ItemAnswer,
    PageAnswer,
    SessionAnswer,
    ThingDone,
)
from seeker.session import Explanation, Item, Page

MEDIA = "media/"


def answer(model: BaseModel, status: int = 200) -> Response:
    """Return a model as an answer."""
    content = model.model_dump_json(exclude_unset=True)
    return Response(content, status, media_type="application/json")


def item_answer(item: Item, catalog: str) -> ItemAnswer:
    """Return an item; its media is an address on this server."""
    return ItemAnswer.model_construct(
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


def page_answer(page: Page, catalog: str) -> PageAnswer:
    """Return a slice of a ranking; one that lacks a part of the catalog says so."""
    made = PageAnswer.model_construct(
        items=[item_answer(item, catalog) for item in page.items],
        offset=page.offset,
        limit=page.limit,
        total=page.total,
    )
    if page.partial:
        made.partial = True
    return made


def session_answer(shown: Shown) -> SessionAnswer:
    """Return the one shape that every session answer has."""
    belief = shown.belief
    return SessionAnswer.model_construct(
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
            ThingDone.model_construct(step=step, **event.summary()) for step, event in shown.history
        ],
        page=page_answer(shown.page, shown.catalog),
        belief=None if belief is None else BeliefAnswer.model_construct(**asdict(belief)),
    )


def explanation_answer(explanation: Explanation) -> ExplanationAnswer:
    """Return why an item stands where it stands; JSON has no infinity, so it is null there."""
    written = asdict(explanation)
    for name in ("score", "prior"):
        if written[name] == float("-inf"):
            written[name] = None
    clicks = [ClickShare.model_construct(**one) for one in written.pop("clicks")]
    return ExplanationAnswer.model_construct(**written, clicks=clicks)
