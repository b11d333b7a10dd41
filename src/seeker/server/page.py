"""The web page: files of the package, served as they are.

Only documents are completed, once per process: with their texts, which stand in the page's table of
strings, and with links to every module that theirs needs, so that a browser asks for all of them at
once and not for one level of imports after the other.
"""

from __future__ import annotations

import hashlib
import html
import json
import posixpath
import re
from functools import cache
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
# Nothing that matches leads out of the folder.
_NAME = re.compile(rf"(?:[a-z]+/)?[a-z]+\.(?P<kind>{'|'.join(_TYPES)})")
_SCRIPT = re.compile(r'^( *)<script type="module" src="/web/([^"]+)">', re.MULTILINE)
_TEXT = re.compile(r"\{\{(\w+)\}\}")
_TEXT_TABLE = re.compile(r"^export const documentStrings = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_TEXT_ENTRY = re.compile(r'^  (\w+):\s+("(?:[^"\\]|\\.)*"),$', re.MULTILINE)
_IMPORT = re.compile(r'^import\s(?:[^"]*\sfrom\s)?"(\.[^"]+)";', re.MULTILINE)
_STYLESHEET = re.compile(r'"(\./[a-z]+\.css)"')


@router.api_route("/", methods=["GET", "HEAD"])
def front(request: Request) -> Response:
    """Return the page."""
    return page_file("index.html", request)


@router.api_route("/web/{name}", methods=["GET", "HEAD"])
def part(name: str, request: Request) -> Response:
    """Return a file that the page is made of."""
    return page_file(name, request)


@router.api_route("/web/{folder}/{name}", methods=["GET", "HEAD"])
def nested_part(folder: str, name: str, request: Request) -> Response:
    """Return a file that the page is made of, from one of its folders."""
    return page_file(f"{folder}/{name}", request)


def page_file(name: str, request: Request) -> Response:
    """Return a file of the page, or that it has not changed since."""
    match = _NAME.fullmatch(name)
    if match is None or not files("seeker.web").joinpath(name).is_file():
        raise HTTPException(404)
    content = _document(name) if match["kind"] == "html" else _read(name).encode()
    # Browsers ask each time, so that a new version is never mixed with an old one, and are told
    # in a word that nothing has changed.
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[match["kind"]], headers=headers)


def _read(name: str) -> str:
    return files("seeker.web").joinpath(name).read_text(encoding="utf-8")


@cache
def _document(name: str) -> bytes:
    """Return a document with its texts, from the table beside it, and its preload links."""
    table = _TEXT_TABLE.search(_read(posixpath.join(posixpath.dirname(name), "strings.js")))
    texts = {
        key: json.loads(value) for key, value in _TEXT_ENTRY.findall(table[1] if table else "")
    }
    document = _TEXT.sub(lambda match: html.escape(texts[match[1]], quote=True), _read(name))
    return _SCRIPT.sub(
        lambda match: _preload_links(match[2], match[1]) + match[0], document
    ).encode()


def _preload_links(entry: str, indent: str) -> str:
    """Return links to the modules that one imports, through others, too, and to their styles."""
    modules, links = [entry], list[str]()
    for module in modules:  # grows while it is walked through
        source, folder = _read(module), posixpath.dirname(module)
        for path in _STYLESHEET.findall(source):
            href = "/web/" + posixpath.normpath(posixpath.join(folder, path))
            links.append(f'<link rel="preload" as="fetch" href="{href}" crossorigin>')
        for path in _IMPORT.findall(source):
            imported = posixpath.normpath(posixpath.join(folder, path))
            if imported not in modules:
                modules.append(imported)
                links.append(f'<link rel="modulepreload" href="/web/{imported}">')
    return "".join(f"{indent}{link}\n" for link in links)
