"""The web page: HTML, CSS and JavaScript modules, read once and served from memory."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

ENTRIES = ("seeker.js", "study/study.js")
"""The modules that documents ask for; each is served as a bundle of all that it imports."""

_IMPORT = re.compile(
    r"^import\s(?:(?P<names>[^\"]*)\sfrom\s)?\"(?P<module>\.[^\"]+)\";", re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (?P<name>\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_OWN_ADDRESS = "import.meta.url"
_STYLESHEET = re.compile(r'"(\./[a-z]+\.css)"')
_KINDS = (".html", ".js", ".css", ".svg")


@cache
def read_file(name: str) -> str:
    """Return a file of the page, by its place in the folder; as it was when first asked for."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def file_names() -> frozenset[str]:
    """Return the places of all files of the page."""
    return frozenset(_walk(""))


def _walk(folder: str) -> Iterator[str]:
    for one in files(__name__).joinpath(folder).iterdir():
        place = posixpath.join(folder, one.name)
        if one.is_dir():
            yield from _walk(place)
        elif one.name.endswith(_KINDS):
            yield place


@cache
def version() -> str:
    """Return a name for exactly these files: files of another release have another one."""
    digest = hashlib.sha256()
    for name in sorted(file_names()):
        digest.update(f"{name}\0{read_file(name)}\0".encode())
    return digest.hexdigest()[:16]


def languages() -> list[str]:
    """Return the languages that the page speaks, by their tags."""
    return sorted(
        posixpath.basename(name).removesuffix(".js")
        for name in file_names()
        if posixpath.dirname(name) == "languages"
    )


def imports(module: str) -> dict[str, str]:
    """Return the modules that one imports: their places, by what they are called there."""
    names = [match["module"] for match in _IMPORT.finditer(read_file(module))]
    return {name: _place(module, name) for name in names}


def _place(module: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), name))


def stylesheets(module: str) -> list[str]:
    """Return the places of the stylesheets that a module asks for."""
    return [_place(module, name) for name in _STYLESHEET.findall(read_file(module))]


def modules(entry: str) -> list[str]:
    """Return a module and all that it imports, each after those that it imports: it comes last."""
    order: list[str] = []

    def visit(module: str) -> None:
        for other in imports(module).values():
            if other not in order:
                visit(other)
        if module not in order:
            order.append(module)

    visit(entry)
    return order


@cache
def bundle(entry: str) -> str:
    """Return one module that does what a module does, with all that it imports inside.

    Every module is a function that returns what it exports. What a module asks for beside itself
    is asked for in the folder of this version, `web-VERSION`, wherever the bundle comes from.
    """
    parts = [f"// {entry}, and all that it imports, each as it stands at its own address.\n"]
    for module in modules(entry):
        exported, body = _as_function(module, entry)
        # Only what the entry exports is for others.
        name = f"{{ {', '.join(exported)} }}" if module == entry else _variable(module)
        keyword = "export const" if module == entry else "const"
        start = f"{keyword} {name} = " if module != entry or exported else ""
        parts.append(
            f"// {module}\n{start}await (async () => {{\n{body}\n"
            f"return {{ {', '.join(exported)} }};\n}})();\n"
        )
    return "\n".join(parts)


def _as_function(module: str, entry: str) -> tuple[list[str], str]:
    """Return what a module exports, and the body of a function that does what it does."""
    text = read_file(module)
    exported = [match["name"] for match in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", text).replace("\nexport {};\n", "\n")
    if _DEFAULT.search(body):
        body = _DEFAULT.sub("const $default = ", body)
        exported.append("default: $default")
    body = _IMPORT.sub(lambda match: _bound(match["names"], _place(module, match["module"])), body)
    up = "../" * (entry.count("/") + 1)
    address = f'new URL("{up}web-{version()}/{module}", {_OWN_ADDRESS}).href'
    return exported, body.replace(_OWN_ADDRESS, address)


def _bound(names: str | None, module: str) -> str:
    """Return what takes the place of an import: names for what another module has returned."""
    if names is None:
        return ""
    if names.startswith("* as "):
        return f"const {names.removeprefix('* as ')} = {_variable(module)};"
    if names.startswith("{"):
        return f"const {names.replace(' as ', ': ')} = {_variable(module)};"
    return f"const {{ default: {names} }} = {_variable(module)};"


def _variable(module: str) -> str:
    return "$" + re.sub(r"\W", "_", module.removesuffix(".js"))
