"""The calls about catalogs, items and their pictures."""

from __future__ import annotations

import os
import stat
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from pydantic import ValidationError
from starlette.responses import FileResponse, JSONResponse, Response

from seeker.catalog import Catalog
from seeker.catalog.attributes import shorten
from seeker.catalog.build.item_changes import ItemChange
from seeker.errors import BadInput, NotFound
from seeker.server.dependencies import (
    PICTURE_FORM,
    Authorization,
    ItemPath,
    ServiceDep,
    StrictRoute,
    parse_json,
    picture_of,
    takes_picture,
)
from seeker.server.direct import Direct, DirectRequest, directly
from seeker.server.errors import RequestRefused, problem_statuses
from seeker.server.middleware import LINES_TYPE
from seeker.server.requests import ItemLine, ItemRequest
from seeker.server.responses import (
    CatalogResponse,
    CatalogsResponse,
    ItemChangeResponse,
    ItemResponse,
    LineResponse,
    LinesResponse,
)
from seeker.server.serializers import (
    catalog_response,
    catalog_summary,
    item_response,
    json_response,
)
from seeker.server.service import Service

router = APIRouter(tags=["catalogs"])
changing = APIRouter(tags=["catalogs"], route_class=StrictRoute)
"""The calls that change a catalog, for services in which one may change."""

Name = Annotated[str, Path(min_length=1, max_length=64, description="The name of a catalog.")]
TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""What is served as media; a browser runs none of it."""

MAX_LINES = 10_000
"""Items that may be changed by one request."""

_MEDIA_HEADERS = {
    # Names are made from what is in the file, so a file never changes under its name.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Content-Disposition": "inline",
}


@router.get("/v1/catalogs", response_model=CatalogsResponse, responses=problem_statuses())
async def catalogs(service: ServiceDep) -> Response:
    """List the catalogs; sessions are in the first unless they name another."""
    served = service.engine.catalogs

    def work() -> CatalogsResponse:
        catalogs = [catalog_summary(*served.get(name)) for name in served.names]
        return CatalogsResponse.model_construct(catalogs=catalogs)

    return json_response(await service.run(work))


@router.get("/v1/catalogs/{name}", response_model=CatalogResponse, responses=problem_statuses(404))
async def catalog(name: Name, service: ServiceDep) -> Response:
    """Describe a catalog: its views, and how the values of its attributes are spread."""

    def work() -> CatalogResponse:
        _, catalog = service.engine.catalogs.get(name)
        return catalog_response(name, catalog, service.facets(name, catalog))

    return json_response(await service.run(work))


@router.get(
    "/v1/items/{catalog}/{id:rest}",
    response_model=ItemResponse,
    responses=problem_statuses(404, 410),
)
async def item(
    catalog: Name,
    id: ItemPath,
    service: ServiceDep,
) -> Response:
    """Return an item."""

    def work() -> dict[str, Any]:
        name, served = service.engine.catalogs.get(catalog)
        return item_response(served.item(id), name)

    return json_response(await service.run(work))


@changing.delete(
    "/v1/items/{catalog}/{id:rest}", status_code=204, responses=problem_statuses(401, 403, 404, 409)
)
async def remove(
    catalog: Name, id: ItemPath, service: ServiceDep, authorization: Authorization = None
) -> Response:
    """Take an item out of a catalog, for all and for good; needs an admin key.

    The catalog gets a new version, as with `seeker remove`: sessions go on, without the item.
    Several such calls take turns. The item's id and vectors are kept for sessions in which it was
    judged, until `seeker tidy --forget-removed`.
    """
    service.keys.check_admin(authorization)
    _, (result,) = await service.change(catalog, [ItemChange(id, "remove")])
    if result.result == "not found":
        raise no_item(id)
    service.engine.catalogs.look_again(catalog)
    return Response(status_code=204)


def _directly_changed(what: Literal["put", "patch"]) -> Direct:
    """Return how a plain request to change an item is answered; a shop makes many of them."""

    async def answer(request: DirectRequest) -> Response:
        change = request.body(ItemRequest).change(request.id, what)
        request.service.keys.check_admin(request.authorization)
        return await _changed(request.service, request.catalog, change)

    return answer


@changing.put(
    "/v1/items/{catalog}/{id:rest}",
    response_model=ItemChangeResponse,
    responses={
        **problem_statuses(401, 403, 404, 409),
        201: {"model": ItemChangeResponse, "description": "The item is new."},
    },
    openapi_extra=PICTURE_FORM,
)
@directly(_directly_changed("put"))
@takes_picture
async def put(
    catalog: Name,
    id: ItemPath,
    body: ItemRequest,
    request: Request,
    service: ServiceDep,
    authorization: Authorization = None,
) -> Response:
    """Make an item just this, new or in the place of the one that is there; needs an admin key.

    A picture is sent as the part `picture` of a form, all else as JSON in its part `request`. A
    picture, and vectors that are not given, stay. Answered when it is on disk; running services
    show it within about a second.
    """
    service.keys.check_admin(authorization)
    body.attach(picture_of(request))
    return await _changed(service, catalog, body.change(id, "put"))


@changing.patch(
    "/v1/items/{catalog}/{id:rest}",
    response_model=ItemChangeResponse,
    responses=problem_statuses(401, 403, 404, 409),
    openapi_extra=PICTURE_FORM,
)
@directly(_directly_changed("patch"))
@takes_picture
async def patch(
    catalog: Name,
    id: ItemPath,
    body: ItemRequest,
    request: Request,
    service: ServiceDep,
    authorization: Authorization = None,
) -> Response:
    """Change what is said of an item; all else of it stays. Needs an admin key.

    A picture is sent as with PUT.
    """
    service.keys.check_admin(authorization)
    body.attach(picture_of(request))
    return await _changed(service, catalog, body.change(id, "patch"))


async def _changed(service: Service, catalog: str, change: ItemChange) -> Response:
    version, (result,) = await service.change(catalog, [change])
    if result.result == "not found":
        raise no_item(change.id)
    if result.result == "refused":
        raise BadInput(
            result.problem,
            "Send all that the views of the catalog are made of; a picture goes into a form.",
        )
    answer = {"id": change.id, "result": result.result, "version": version}
    return JSONResponse(answer, 201 if result.result == "new" else 200)


@changing.post(
    "/v1/items/{catalog}",
    response_model=LinesResponse,
    responses=problem_statuses(401, 403, 404, 409),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {LINES_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def change_many(
    catalog: Name, request: Request, service: ServiceDep, authorization: Authorization = None
) -> Response:
    """Change many items, one JSON object per line, with a verdict for each; needs an admin key.

    A line has an `id` and what is said of the item, or `"remove": true`. Known items are changed,
    others are made. All lines that can be taken are in one version of the catalog.
    """
    service.keys.check_admin(authorization)
    lines = [line for line in (await request.body()).split(b"\n") if line.strip()]
    if len(lines) > MAX_LINES:
        raise BadInput(f"There are {len(lines):,} lines, but at most {MAX_LINES:,} are taken.")
    verdicts: list[LineResponse | None] = []
    changes: dict[str, ItemChange] = {}
    for number, line in enumerate(lines, 1):
        parsed = _line(line)
        if isinstance(parsed, ItemLine) and parsed.id not in changes:
            remove = ItemChange(parsed.id, "remove")
            changes[parsed.id] = remove if parsed.remove else parsed.change(parsed.id, "merge")
            verdicts.append(None)
            continue
        id = parsed.id if isinstance(parsed, ItemLine) else None
        problem = parsed if isinstance(parsed, str) else "The id was in a line before."
        verdicts.append(LineResponse(line=number, id=id, result="refused", problem=problem))
    version, results = await service.change(catalog, [*changes.values()])
    outcomes = iter(results)
    for place, verdict in enumerate(verdicts):
        if verdict is None:
            one = next(outcomes)
            verdicts[place] = LineResponse(
                line=place + 1, id=one.id, result=one.result, problem=one.problem or None
            )
    responses = [one.model_dump() for one in verdicts if one is not None]
    return JSONResponse({"version": version, "lines": responses})


def _line(line: bytes) -> ItemLine | str:
    """Return what a line asks for, or what is wrong with it."""
    try:
        return ItemLine.model_validate(parse_json(line))
    except RequestRefused as error:
        return error.message
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."


def no_item(id: str) -> NotFound:
    """Return the error for an item that is not there."""
    return NotFound(f"There is no item {shorten(id)} in this catalog.")


@router.get(
    "/media/{catalog}/{path:rest}",
    response_class=FileResponse,
    responses={
        **problem_statuses(404),
        200: {"content": {kind: {} for kind in sorted(set(TYPES.values()))}},
        304: {"description": "The picture has not changed."},
    },
)
async def media(
    catalog: Name,
    path: Annotated[str, Path(min_length=1, max_length=1000)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Return a picture of an item."""
    file, about = await service.run(
        lambda: _media_file(service.engine.catalogs.get(catalog)[1], path)
    )
    tag = f'"{quote(file.stem)}-{about.st_size}"'
    headers = {**_MEDIA_HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    kind = TYPES[file.suffix.lower()]
    return FileResponse(file, media_type=kind, headers=headers, stat_result=about)


def _media_file(catalog: Catalog, path: str) -> tuple[FilePath, os.stat_result]:
    """Return a file of a catalog's media folder; whatever leads out of it is not there."""
    missing = NotFound("There is no such picture.")
    if catalog.folder is None or "\0" in path:
        raise missing
    root = (catalog.folder / "media").resolve()
    try:
        file = (root / path).resolve()
        about = file.stat()
    except (OSError, ValueError, RuntimeError):
        raise missing from None
    if not file.is_relative_to(root) or not stat.S_ISREG(about.st_mode):
        raise missing
    if file.suffix.lower() not in TYPES:
        raise missing
    return file, about
