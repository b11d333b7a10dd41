"""The OpenAPI document as a plain page: no scripts, nothing from elsewhere, readable offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { padding: 0.75rem; overflow-x: auto; border: 1px solid #8886; border-radius: 4px; }
section { border-top: 1px solid #8886; padding: 0.5rem 0 1rem; }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0; }
.method { font-weight: bold; }
"""


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Show the OpenAPI document."""
    document = request.app.openapi()
    page = _page(f"{document['info']['title']}: HTTP interface", _body(document))
    root = request.scope.get("root_path", "")
    return HTMLResponse(page.replace('href="/', f'href="{root}/'))


@router.get("/docs/style.css")
async def style() -> Response:
    """Return the look of the page; styles inside pages are not allowed."""
    return Response(STYLE, media_type="text/css")


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        '<link rel="icon" href="/web/icon.svg">'
        '<link rel="stylesheet" href="/docs/style.css"></head>'
        f"<body>{body}</body></html>"
    )


def _body(document: Mapping[str, Any]) -> str:
    parts = [f"<h1>{escape(document['info']['title'])}: HTTP interface</h1>"]
    parts.append(f"<p>{escape(document['info'].get('description', ''))}</p>")
    parts.append('<p>For programs: <a href="/openapi.json">openapi.json</a></p>')
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            parts += _call(method.upper(), path, call)
    parts.append("<h2>Shapes</h2>")
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        text = escape(json.dumps(schema, indent=2, ensure_ascii=False))
        parts.append(f'<section id="{escape(name)}"><h3>{escape(name)}</h3><pre>{text}</pre>')
        parts.append("</section>")
    return "".join(parts)


def _call(method: str, path: str, call: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section><h2><span class="method">{method}</span> <code>{escape(path)}</code></h2>'
    yield f"<p>{escape(call.get('description', call.get('summary', '')))}</p>"
    parameters = call.get("parameters", [])
    if parameters:
        yield "<table><tr><th>parameter</th><th>in</th><th></th></tr>"
        for one in parameters:
            yield (
                f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
                f"<td>{escape(one.get('description', ''))}</td></tr>"
            )
        yield "</table>"
    if "requestBody" in call:
        yield f"<p>Body: {_links(call['requestBody'].get('content', {}))}</p>"
    yield "<table><tr><th>status</th><th></th><th>body</th></tr>"
    for status, answer in sorted(call.get("responses", {}).items()):
        yield (
            f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td>"
            f"<td>{_links(answer.get('content', {}))}</td></tr>"
        )
    yield "</table></section>"


def _links(content: Mapping[str, Any]) -> str:
    """Return links to the shapes that a body may have."""
    links = list[str]()
    for kind, about in content.items():
        schema = about.get("schema", {})
        names = [
            one["$ref"].rsplit("/", 1)[-1]
            for one in (schema, *schema.get("anyOf", ()))
            if "$ref" in one
        ]
        links += [f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names] or [
            escape(kind)
        ]
    return ", ".join(links)
