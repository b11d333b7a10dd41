"""The web page: plain files of the package, served as they are."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

router = APIRouter(include_in_schema=False)

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@router.get("/")
def front() -> Response:
    """Return the page."""
    return _file("index.html")


@router.get("/web/{name}")
def part(name: str) -> Response:
    """Return a file that the page is made of."""
    return _file(name)


def _file(name: str) -> Response:
    known = {entry.name: entry for entry in files("seeker.web").iterdir()}
    kind = _TYPES.get(name.rpartition(".")[2])
    if name not in known or kind is None:
        raise HTTPException(404)
    return Response(
        known[name].read_bytes(),
        media_type=kind,
        headers={"Cache-Control": "no-cache"},
    )
