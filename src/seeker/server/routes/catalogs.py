"""The calls about catalogs, items and their pictures."""

from __future__ import annotations

import os
import stat
from pathlib import Path as FilePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from starlette.responses import FileResponse, Response

from seeker.catalog import Catalog
from seeker.errors import Conflict, NotFound
from seeker.server.dependencies import Authorization, ItemPath, ServiceDep
from seeker.server.errors import problem_statuses
from seeker.server.schemas import CatalogResponse, CatalogsResponse, ItemResponse
from seeker.server.serializers import (
    catalog_response,
    catalog_summary,
    item_response,
    json_response,
)

router = APIRouter(tags=["catalogs"])
changing = APIRouter(tags=["catalogs"])
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
    "/v1/items/{catalog}/{id:rest}", response_model=ItemResponse, responses=problem_statuses(404)
)
async def item(
    catalog: Name,
    id: ItemPath,
    service: ServiceDep,
) -> Response:
    """Return an item."""

    def work() -> ItemResponse:
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

    def work() -> None:
        from seeker.catalog.build import update

        name, served = service.engine.catalogs.get(catalog)
        if served.folder is None:
            raise Conflict("This catalog is not in a folder, so nothing can be taken out of it.")
        update.remove(served.folder, ids=[id])
        service.engine.catalogs.look_again(name)

    await service.change(catalog, work)
    return Response(status_code=204)


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
