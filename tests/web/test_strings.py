"""All texts that people read or hear stand in the tables of languages, and nowhere else.

What is looked for are literals that look like words of a sentence, and any word where text goes:
labels, titles, the children of elements. `tests/browser/test_strings.py` looks at the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

WEB = Path(str(files("seeker.web")))
TABLES = {WEB / "study" / "strings.js", *(WEB / "languages").iterdir()}
MODULES = sorted(path for path in WEB.rglob("*.js") if path not in TABLES)
DOCUMENTS = sorted(WEB.rglob("*.html"))

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|(?<=[=(,:!&|?{};\n])\s*/(?![/*])(?:\\.|\[[^]]*\]|[^/\\\n])+/[a-z]*)
    |(?P<quoted>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<template>`)""",
    re.DOTALL | re.VERBOSE,
)
# Names of the platform that begin with a capital letter, as words do.
PLATFORM = {"AbortError", "Content-Type", "Idempotency-Key", "Retry-After"}
# Outcomes of a study's searches, as the HTTP interface names them.
OUTCOMES = {"steps used up", "gave up"}
# Where a literal is never read by people: classes, selectors, styles, drawings.
CODE = re.compile(
    r"""(?:\b(?:className|class|rel|d|transform|easing|viewBox|gridTemplateColumns)\s*[:=]\s*
    |\b(?:querySelector(?:All)?|closest|matches|matchMedia|createTray|import|from)\s*\(?\s*
    |\b(?:className|class)\s*[:=]\s*[^,;\n]*[?:]\s*)$""",
    re.VERBOSE,
)
# Where a literal is always read or heard.
TEXT = re.compile(
    r"""(?:(?:\b(?:text|title|alt|label|hint|placeholder|textContent)|"(?:aria-label|title)")\s*[:=]\s*
    |"(?:aria-label|title|placeholder|alt)",\s*
    |\b(?:textButton|button)\(\s*
    |\belement\(\s*"\w+",\s*\{[^{}]*\},\s*)$""",
    re.VERBOSE,
)
WORDS = re.compile(r"[A-Za-z]{2,}[,.:;!?]?\s+[A-Za-z]|[…“”‘’·–—]|^[^A-Za-z]*[A-Z][a-z]")


def literals(source: str) -> Iterator[tuple[str, str]]:
    """Yield every literal with what stands before it; an expression in a template counts as ¤."""
    position = 0
    while match := TOKEN.search(source, position):
        position = match.end()
        if match["quoted"]:
            yield source[: match.start()], match["quoted"][1:-1]
        elif match["template"]:
            text, position, inner = _template(source, position)
            yield source[: match.start()], text
            for expression in inner:
                yield from literals(expression)


def _template(source: str, start: int) -> tuple[str, int, list[str]]:
    """Read a template to its end; return its text, where it ends, and its expressions."""
    text, inner, position = "", list[str](), start
    while source[position] != "`":
        if source.startswith("${", position):
            depth, begin = 1, position + 2
            position = begin
            while depth:
                depth += {"{": 1, "}": -1}.get(source[position], 0)
                position += 1
            inner.append(source[begin : position - 1])
            text += "¤"
        else:
            text += source[position]
            position += 1
    return text, position + 1, inner


def sentences(source: str) -> list[str]:
    """Return the literals of a module that people would read or hear."""
    return [
        text
        for before, text in literals(source)
        if text not in PLATFORM | OUTCOMES
        and re.search("[A-Za-z…“”·]", text)
        and (TEXT.search(before[-200:]) or (WORDS.search(text) and not CODE.search(before[-120:])))
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(WEB).as_posix())
def test_no_text_stands_in_a_module(path: Path) -> None:
    assert sentences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(WEB).as_posix())
def test_no_text_stands_in_a_document(path: Path) -> None:
    document = path.read_text(encoding="utf-8")
    visible = re.sub(r"\{\{\w+\}\}", "", document)
    described = re.findall(r'<meta name="description" content="([^"]*)"', visible)
    between = re.findall(r">([^<]*[A-Za-z][^<]*)<", visible)
    assert [*between, *filter(None, described), *re.findall(r'lang="(\w+)"', visible)] == []


@pytest.mark.parametrize(
    "code",
    [
        'notices.showAlert("The service is away.");',
        "const hint = `About ${count} left`;",
        'const PARTIAL = "Part of the catalog cannot be asked";',
        'textButton("Help", open)',
        'button("undo", undo, { icon: "undo" })',
        'element("small", {}, "from")',
        'element("p", { className: "soft" }, `step ${number}`)',
        'element("section", { "aria-label": "filters" })',
        'node.setAttribute("aria-label", "steps")',
        'input.placeholder = "words";',
        'told.textContent = done ? "Copied." : "";',
        "entry.append(`“${text}”`);",
        'const standIn = { id, title: "…" };',
        "show(`${`${title} is found`}`);",
        'x = y.replace(/"/g, \'\') + "Some words";',
    ],
)
def test_a_text_is_found(code: str) -> None:
    assert len(sentences(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        '// Like "what comes close", or `not`.',
        '/** A "text in a comment". */',
        'element("li", { className: "card skeleton", "aria-hidden": "true" })',
        'root.querySelector("dialog[open] button")',
        'const made = { className: target.media ? "sought" : "sought worded" };',
        'headers["Content-Type"] = "application/json";',
        "const path = `/v1/sessions/${id}/items?offset=${offset}`;",
        "list.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;",
        'import { element } from "../dom.js";',
        "value.replace(/^Like \"this one\"/, '')",
    ],
)
def test_what_nobody_reads_is_left_alone(code: str) -> None:
    assert sentences(code) == []
