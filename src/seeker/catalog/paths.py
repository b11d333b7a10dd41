"""Where catalogs and sources are: paths as people give them."""

from __future__ import annotations

import os
from pathlib import Path

from seeker.catalog.values import short
from seeker.errors import BadInput

PathLike = str | os.PathLike[str]


def path_of(given: object, what: str) -> Path:
    """Return a path that was given; what: said of it, as in 'the path of a catalog'."""
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(text, str) or not text or "\0" in text:
        raise BadInput(f"{short(given)} is not {what}.", "Give a text or a pathlib.Path.")
    return Path(text)


def work_folder(target: Path) -> Path:
    """Return where a catalog is built: beside its place, so that a rename puts it there."""
    absolute = Path(os.path.abspath(target))
    return absolute.with_name(f"{absolute.name}.building")
