"""The calls for those who look after the service, and the files of the page."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import RedirectResponse, Response, StreamingResponse

from seeker import web
from seeker.server.compaction import compaction_status
from seeker.server.dependencies import Authorization, ServiceDep
from seeker.server.direct import directly
from seeker.server.errors import RequestRefused, problem_statuses
from seeker.server.export import export_lines
from seeker.server.learning import learning_status
from seeker.server.logging import log_error
from seeker.server.requests import UserName
from seeker.server.responses import HealthResponse
from seeker.server.serializers import json_response
from seeker.server.service import Service

router = APIRouter(tags=["operations"])


async def _live(service: Service) -> Response:
    return json_response(await service.readiness.health())


@router.get("/healthz", response_model=HealthResponse, responses=problem_statuses())
@directly(lambda request: _live(request.service))
async def live(service: ServiceDep) -> Response:
    """Say whether the service lives; it is alive if this answers, ready or not.

    Nobody waits for the store here, nor for a thread: what is known of them is told.
    """
    return await _live(service)


@router.get("/healthz/ready", response_model=HealthResponse, responses=problem_statuses())
async def ready(service: ServiceDep) -> Response:
    """Answer 200 only if the service can serve: kernels are loaded, store and shards answer."""
    health = await service.readiness.health()
    if not health.ready:
        reasons = " ".join(health.reasons)
        raise RequestRefused(503, f"The service is not ready. {reasons}", "Try again.")
    return json_response(health)


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problem_statuses(401, 403), 200: {"content": {"text/plain": {}}}},
)
async def metrics(service: ServiceDep, authorization: Authorization = None) -> Response:
    """Return figures for Prometheus; needs an admin key unless the service opens them."""
    if not service.settings.open_metrics:
        service.keys.check_admin(authorization)
    sessions = await service.readiness.sessions()
    service.metrics.note(service.engine, service.pool, service.worker)
    service.metrics.note_shards(await service.readiness.shards())
    service.metrics.note_learning(service.engine.catalogs, learning_status())
    service.metrics.note_compaction(service.engine.catalogs, compaction_status())
    return Response(service.metrics.text(sessions), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/v1/export",
    response_class=StreamingResponse,
    responses={**problem_statuses(401, 403), 200: {"content": {"application/x-ndjson": {}}}},
)
async def export(
    service: ServiceDep,
    user: Annotated[UserName | None, Query()] = None,
    owner: Annotated[UserName | None, Query(max_length=64)] = None,
    authorization: Authorization = None,
) -> Response:
    """Return all sessions, or those of one user, as JSON Lines; needs an admin key."""
    service.keys.check_admin(authorization)

    def written() -> Iterator[str]:
        for line in export_lines(service.engine.store, log_error, user, owner):
            yield json.dumps(line) + "\n"

    return StreamingResponse(written(), media_type="application/x-ndjson")


pages = APIRouter(include_in_schema=False)

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_SCRIPT = re.compile(r'^( *)<script type="module" src="/web/([^"]+)">', re.MULTILINE)
_LINKED = re.compile(r'<link rel="stylesheet" href="/web/([^"]+)">')
_ADDRESS = re.compile(r'\b(href|src)="/web/')
_TEXT = re.compile(r"\{\{(\w+)\}\}")
_TEXT_ENTRY = re.compile(r'^  "?(?:document\.)?(\w+)"?:\s+("(?:[^"\\]|\\.)*"),$', re.MULTILINE)
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_FOR_EVER = "public, max-age=31536000, immutable"
_PAGE = "index.html"
_ENGLISH = "en"


@pages.api_route("/", methods=["GET", "HEAD"])
def front(request: Request) -> Response:
    """Return the page."""
    return page_file(_PAGE, request)


@pages.api_route("/web/{name}", methods=["GET", "HEAD"])
@pages.api_route("/web-{version}/{name}", methods=["GET", "HEAD"])
def part(name: str, request: Request, version: str | None = None) -> Response:
    """Return a file that the page is made of."""
    return page_file(name, request, version)


@pages.api_route("/web/{folder}/{name}", methods=["GET", "HEAD"])
@pages.api_route("/web-{version}/{folder}/{name}", methods=["GET", "HEAD"])
def nested_part(folder: str, name: str, request: Request, version: str | None = None) -> Response:
    """Return a file that the page is made of, from one of its folders."""
    return page_file(f"{folder}/{name}", request, version)


def page_file(name: str, request: Request, version: str | None = None) -> Response:
    """Return a file of the page, or that it has not changed since.

    version: of which files it is asked for; such an answer never changes, and is kept for a year.
    """
    if name not in web.file_names():
        raise HTTPException(404)
    kind = name.rpartition(".")[2]
    if version is not None and (version != web.version() or kind == "html"):
        # A document from before an update asks: all of a page must be of one version.
        return RedirectResponse(f"{'../' * (name.count('/') + 1)}web/{name}")
    root = request.scope.get("root_path", "")
    language = read_language(request.headers.get("accept-language", ""))
    content = _document(name, root, language) if kind == "html" else _part(name)
    # Else browsers ask each time, so that a new version is never mixed with an old one, and are
    # told in a word that nothing has changed.
    headers = {"Cache-Control": "no-cache" if version is None else _FOR_EVER}
    headers["Vary"] = "Accept-Language, Accept-Encoding" if name == _PAGE else "Accept-Encoding"
    if _GZIP.search(request.headers.get("accept-encoding", "")):
        content, headers["Content-Encoding"] = _compressed(content), "gzip"
    headers["ETag"] = tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[kind], headers=headers)


@cache
def _part(name: str) -> bytes:
    return (web.bundle(name) if name in web.ENTRIES else web.read_file(name)).encode()


@lru_cache(maxsize=1024)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def read_language(accepted: str) -> str:
    """Return the language to speak to a reader: the first that they accept and we know."""
    wanted = list[tuple[float, str]]()
    for one in accepted.split(","):
        tag, _, quality = one.partition(";")
        match = re.fullmatch(r"\s*q=([01](?:\.\d{1,3})?)\s*", quality or "q=1")
        if match and float(match[1]) > 0:
            wanted.append((-float(match[1]), tag.strip().lower().split("-")[0]))
    known = _known_languages()
    return next(
        (tag for _, tag in sorted(wanted, key=lambda one: one[0]) if tag in known), _ENGLISH
    )


@cache
def _known_languages() -> frozenset[str]:
    return frozenset(web.languages())


@cache
def _document(name: str, root: str, language: str) -> bytes:
    """Return a document with its texts and its preload links.

    root: the path below which the service lives. Only the page itself speaks several languages.
    """
    table = f"languages/{language}.js"
    if name != _PAGE:
        table, language = posixpath.join(posixpath.dirname(name), "strings.js"), _ENGLISH
    found = _TEXT_ENTRY.findall(web.read_file(table))
    texts = {"language": language, **{key: json.loads(value) for key, value in found}}
    document = _TEXT.sub(
        lambda match: html.escape(texts[match[1]], quote=True), web.read_file(name)
    )
    linked = set(_LINKED.findall(document))
    document = _SCRIPT.sub(
        lambda match: _preload_links(match[2], match[1], language, linked) + match[0], document
    )
    return _ADDRESS.sub(rf'\1="{root}/web-{web.version()}/', document).encode()


def _preload_links(entry: str, indent: str, language: str, linked: set[str]) -> str:
    """Return links to what a module asks for when it runs: styles, and what it says.

    linked: what the document asks for anyway. Asked for twice at once, it would not be kept.
    """
    links = [
        f'<link rel="preload" as="fetch" href="/web/{sheet}" crossorigin>'
        for module in web.modules(entry)
        for sheet in web.stylesheets(module)
        if sheet not in linked
    ]
    if language != _ENGLISH:
        links.append(f'<link rel="modulepreload" href="/web/languages/{language}.js">')
    return "".join(f"{indent}{link}\n" for link in links)
