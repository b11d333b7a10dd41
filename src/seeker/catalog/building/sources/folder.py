"""A folder of pictures as a source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from seeker.catalog.building.inside import EXTENSIONS, Inside
from seeker.catalog.building.record import Offer, Problem, Record
from seeker.catalog.values import Plain
from seeker.errors import BadInput, NotFound

_ENDINGS = 6
"""How many endings of other files are told."""


class Folder:
    """Every picture in a folder and its sub-folders is an item.

    Its id is its path in the folder, its title the name of the file, and the sub-folder it is in
    becomes the attribute `folder`. Links are followed only to files inside the folder.
    """

    loose = False
    offer = Offer(pictures=True)

    def __init__(self, root: Path) -> None:
        self._root = root
        self._inside = Inside(root)
        if not self._found[0]:
            raise BadInput(
                f"There are no pictures in '{root}'.", f"Looked for {', '.join(EXTENSIONS)}."
            )

    @cached_property
    def _found(self) -> tuple[list[str], list[str], Counter[str]]:
        """The paths of pictures and of linked folders, and the endings of all other files."""
        pictures, links, others = [], [], Counter[str]()
        for at, folders, files in os.walk(self._inside.root):
            links += [
                os.path.relpath(os.path.join(at, name), self._inside.root)
                for name in folders
                if os.path.islink(os.path.join(at, name))
            ]
            folders.sort()
            for name in files:
                if name.lower().endswith(EXTENSIONS):
                    pictures.append(os.path.relpath(os.path.join(at, name), self._inside.root))
                else:
                    others[Path(name).suffix.lower() or "no ending"] += 1
        return sorted(pictures), sorted(links), others

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {"kind": "folder", "path": str(self._root)}

    def notes(self) -> list[str]:
        """Return what was found."""
        pictures, _, others = self._found
        notes = [f"Found {len(pictures):,} pictures in '{self._root}'."]
        if others:
            often = sorted(others.items(), key=lambda one: (-one[1], one[0]))
            kinds = ", ".join(f"{ending} ({count:,})" for ending, count in often[:_ENDINGS])
            more = ", …" if len(often) > _ENDINGS else ""
            notes.append(f"Not looked at: {others.total():,} other files, {kinds}{more}.")
        return notes

    def count(self) -> int:
        """Return how many pictures there are."""
        return len(self._found[0])

    def records(self) -> Iterator[Record | Problem]:
        """Yield the pictures, sorted by their paths."""
        pictures, links, _ = self._found
        for link in links:
            yield Problem(link, "link to a folder", "such links are not followed")
        for path in pictures:
            yield self._record(path)

    def _record(self, path: str) -> Record | Problem:
        name = Path(path)
        try:
            name.as_posix().encode()
            picture = self._inside.find(path)
        except UnicodeEncodeError:
            return Problem(path, "name that is not UTF-8")
        except NotFound as error:
            return Problem(path, "no picture", error.message)
        except BadInput as error:
            return Problem(path, "picture outside the source", error.message)
        attributes: dict[str, Plain] = {}
        if name.parent != Path("."):
            attributes["folder"] = name.parent.as_posix()
        title = name.stem.replace("_", " ").replace("-", " ").strip() or name.stem
        return Record(path, name.as_posix(), title, "", picture, attributes)
