"""A folder of pictures as a source, with or without a table that says more about them."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from seeker.catalog.attributes import PlainValue
from seeker.catalog.build.source import Record, RowProblem, SourceContents, SourceOptions
from seeker.catalog.build.sources.opener import open_table
from seeker.embedders.pictures import FORMAT_SUFFIXES
from seeker.errors import BadInput, NotFound

EXTENSIONS = tuple(sorted(FORMAT_SUFFIXES))
"""What the name of a picture ends with."""

_MAX_ENDINGS = 6
"""How many endings of other files are told."""


class SafeRoot:
    """Finds files in a folder by names that a table or a folder gives."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def find(self, name: str) -> Path:
        """Return the file a name means; the ending may be missing.

        NotFound if there is none; BadInput if it lies outside the folder or is not a plain file.
        """
        if not name or "\0" in name or len(name) > 4096:
            raise NotFound("no such file")
        if ".." in PurePosixPath(name).parts or ".." in PureWindowsPath(name).parts:
            raise BadInput("the path goes up with '..'")
        for ending in ("", *EXTENSIONS):
            file = self._plain_file(self.root / f"{name}{ending}")
            if file is not None:
                return file
        raise NotFound("no such file")

    def _plain_file(self, path: Path) -> Path | None:
        try:
            resolved = path.resolve(strict=True)
            mode = resolved.stat().st_mode
        except (OSError, RuntimeError, ValueError):
            return None
        if not resolved.is_relative_to(self.root):
            raise BadInput("it lies outside the folder of the source")
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise BadInput("it is not a plain file")
        return resolved


class FolderSource:
    """Every picture in a folder and its sub-folders is an item.

    Its id is its path in the folder, its title the name of the file, and the sub-folder it is in
    becomes the attribute `folder`. Links are followed only to files inside the folder.
    """

    loose = False
    offer = SourceContents(pictures=True)

    def __init__(self, root: Path) -> None:
        self._root = root
        self._safe_root = SafeRoot(root)
        if not self._files[0]:
            raise BadInput(
                f"There are no pictures in '{root}'.", f"Looked for {', '.join(EXTENSIONS)}."
            )

    @cached_property
    def _files(self) -> tuple[list[str], list[str], Counter[str]]:
        """The paths of pictures and of linked folders, and the endings of all other files."""
        pictures, links, others = [], [], Counter[str]()
        for at, folders, files in os.walk(self._safe_root.root):
            links += [
                os.path.relpath(os.path.join(at, name), self._safe_root.root)
                for name in folders
                if os.path.islink(os.path.join(at, name))
            ]
            folders.sort()
            for name in files:
                if name.lower().endswith(EXTENSIONS):
                    pictures.append(os.path.relpath(os.path.join(at, name), self._safe_root.root))
                else:
                    others[Path(name).suffix.lower() or "no ending"] += 1
        return sorted(pictures), sorted(links), others

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {"kind": "folder", "path": str(self._root)}

    def notes(self) -> list[str]:
        """Return what was found."""
        pictures, _, others = self._files
        notes = [f"Found {len(pictures):,} pictures in '{self._root}'."]
        if others:
            often = sorted(others.items(), key=lambda one: (-one[1], one[0]))
            kinds = ", ".join(f"{ending} ({count:,})" for ending, count in often[:_MAX_ENDINGS])
            more = ", …" if len(often) > _MAX_ENDINGS else ""
            notes.append(f"Not looked at: {others.total():,} other files, {kinds}{more}.")
        return notes

    def count(self) -> int:
        """Return how many pictures there are."""
        return len(self._files[0])

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield the pictures, sorted by their paths."""
        pictures, links, _ = self._files
        for link in links:
            yield RowProblem(link, "link to a folder", "such links are not followed")
        for path in pictures:
            yield self._record(path)

    def _record(self, path: str) -> Record | RowProblem:
        name = Path(path)
        try:
            name.as_posix().encode()
            picture = self._safe_root.find(path)
        except UnicodeEncodeError:
            return RowProblem(path, "name that is not UTF-8")
        except NotFound as error:
            return RowProblem(path, "no picture", error.message)
        except BadInput as error:
            return RowProblem(path, "picture outside the source", error.message)
        attributes: dict[str, PlainValue] = {}
        if name.parent != Path("."):
            attributes["folder"] = name.parent.as_posix()
        title = name.stem.replace("_", " ").replace("-", " ").strip() or name.stem
        return Record(
            path, name.as_posix(), picture=picture, attributes=attributes, default_title=title
        )


class LabelledFolderSource:
    """The rows of a table with their pictures first, then the pictures that no row names.

    Pictures without a row are items like the others, only that less is known of them.
    """

    def __init__(
        self, folder: FolderSource, root: Path, table: Path, options: SourceOptions
    ) -> None:
        self._folder = folder
        self._table = open_table(table, options, root)
        self.loose = self._table.loose
        if not self._table.offer.pictures:
            raise BadInput(
                f"No column of '{table}' names pictures in '{root}'.", "Name it with --picture."
            )
        offered = self._table.offer
        self.offer = SourceContents(pictures=True, text=offered.text, currencies=offered.currencies)

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {**self._folder.origin(), "table": self._table.origin()}

    def notes(self) -> list[str]:
        """Return what was found and guessed."""
        return [*self._folder.notes(), *self._table.notes()]

    def count(self) -> int:
        """Return about how many items there are."""
        return max(self._folder.count(), self._table.count())

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield the rows of the table, then the other pictures."""
        named: set[str] = set()
        for record in self._table.records():
            if isinstance(record, Record) and isinstance(record.picture, Path):
                named.add(str(record.picture))
            yield record
        for other in self._folder.records():
            if isinstance(other, RowProblem):
                yield other
            elif str(other.picture) not in named:
                yield self._like_the_table(other)

    def _like_the_table(self, record: Record) -> Record:
        """Return a record whose id is written as the table writes paths."""
        if self._table.names_have_endings:
            return record
        return replace(record, id=Path(record.id).with_suffix("").as_posix())
