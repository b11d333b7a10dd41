"""A folder of pictures with a table that says more about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from seeker.catalog.building.record import Offer, Problem, Record
from seeker.catalog.building.sources.choose import Options, open_table
from seeker.catalog.building.sources.folder import Folder
from seeker.errors import BadInput


class LabelledFolder:
    """The rows of a table with their pictures first, then the pictures that no row names.

    Pictures without a row are items like the others, only that less is known of them.
    """

    def __init__(self, folder: Folder, root: Path, table: Path, options: Options) -> None:
        self._folder = folder
        self._table = open_table(table, options, root)
        self.loose = self._table.loose
        if not self._table.offer.pictures:
            raise BadInput(
                f"No column of '{table}' names pictures in '{root}'.", "Name it with --picture."
            )
        self.offer = Offer(pictures=True, text=self._table.offer.text)

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return {**self._folder.origin(), "table": self._table.origin()}

    def notes(self) -> list[str]:
        """Return what was found and guessed."""
        return [*self._folder.notes(), *self._table.notes()]

    def count(self) -> int:
        """Return about how many items there are."""
        return max(self._folder.count(), self._table.count())

    def records(self) -> Iterator[Record | Problem]:
        """Yield the rows of the table, then the other pictures."""
        named: set[str] = set()
        for record in self._table.records():
            if isinstance(record, Record) and isinstance(record.picture, Path):
                named.add(str(record.picture))
            yield record
        for other in self._folder.records():
            if isinstance(other, Problem):
                yield other
            elif str(other.picture) not in named:
                yield self._like_the_table(other)

    def _like_the_table(self, record: Record) -> Record:
        """Return a record whose id is written as the table writes paths."""
        if self._table.names_have_endings:
            return record
        return replace(record, id=Path(record.id).with_suffix("").as_posix())
