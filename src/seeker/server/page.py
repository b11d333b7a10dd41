"""The web page: plain files of the package, served as they are."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

router = APIRouter(include_in_schema=False)

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@router.api_route("/", methods=["GET", "HEAD"])
def front(request: Request) -> Response:
    """Return the page."""
    return page_file("index.html", request)


@router.api_route("/web/{name}", methods=["GET", "HEAD"])
def part(name: str, request: Request) -> Response:
    """Return a file that the page is made of."""
    return page_file(name, request)


def page_file(name: str, request: Request) -> Response:
    """Return a file of the page, or that it has not changed since."""
    known = {entry.name: entry for entry in files("seeker.web").iterdir()}
    kind = _TYPES.get(name.rpartition(".")[2])
    if name not in known or kind is None:
        raise HTTPException(404)
    content = known[name].read_bytes()
    # Browsers ask each time, so that a new version is never mixed with an old one, and are told
    # in a word that nothing has changed.
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
