"""The web page: HTML, CSS and JavaScript modules, served as they are."""

from __future__ import annotations

import posixpath
import re
from importlib.resources import files

_IMPORT = re.compile(r'^import\s(?:[^"]*\sfrom\s)?"(\.[^"]+)";', re.MULTILINE)
_STYLESHEET = re.compile(r'"(\./[a-z]+\.css)"')


def read_file(name: str) -> str:
    """Return a file of the page, by its place in the folder."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def languages() -> list[str]:
    """Return the languages that the page speaks, by their tags."""
    return sorted(
        name.removesuffix(".js")
        for name in (one.name for one in files(__name__).joinpath("languages").iterdir())
        if name.endswith(".js")
    )


def imports(module: str) -> dict[str, str]:
    """Return the modules that one imports: their places, by what they are called there."""
    folder = posixpath.dirname(module)
    names = _IMPORT.findall(read_file(module))
    return {name: posixpath.normpath(posixpath.join(folder, name)) for name in names}


def stylesheets(module: str) -> list[str]:
    """Return the places of the stylesheets that a module asks for."""
    folder = posixpath.dirname(module)
    names = _STYLESHEET.findall(read_file(module))
    return [posixpath.normpath(posixpath.join(folder, name)) for name in names]


def modules(entry: str) -> list[str]:
    """Return a module and all that it imports, through others, too, the entry first."""
    found = [entry]
    for module in found:  # grows while it is walked through
        found += [one for one in imports(module).values() if one not in found]
    return found
