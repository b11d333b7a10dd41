"""The item table: look-ups, filters, facets and keyword search over items.sqlite."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seeker.catalog import keywords
from seeker.catalog.attributes import KIND_NAMES, PlainValue, is_unicode, shorten
from seeker.catalog.filters import Attribute, Facet, SqlCondition, sql_condition
from seeker.catalog.item_writer import value_problem
from seeker.catalog.media import is_media_name
from seeker.catalog.sqlite_connections import Connections, unreadable
from seeker.session.words import SearchWord
from seeker.types import Doubles, Rows
from seeker.validation import check_whole

_MAX_CACHED_FACETS = 16
_MAX_CACHED_WORDS = 64
_WALK_ROWS = 4096


_NOTHING_REMOVED: Rows = np.empty(0, np.int64)


class ItemRecord(NamedTuple):
    """An item as it is kept. The digests are of the picture and the text that it was made of."""

    id: str
    title: str
    text: str
    media: str | None
    attributes: dict[str, PlainValue]
    picture_digest: bytes | None = None
    text_digest: bytes | None = None


class ItemTable:
    """Reads an item table; `count` is how many items it has."""

    def __init__(
        self, connections: Connections, count: int, removed: Rows = _NOTHING_REMOVED
    ) -> None:
        """Read a table of so many items; removed: places that are gone since it was made.

        Places are the numbers that items have in the file; rows are counted without those that are
        gone.
        """
        self._connections = connections
        self.count = count
        self._removed = removed
        self._shifts = removed - np.arange(len(removed))
        self._facets: dict[int, dict[str, Facet]] = {}
        self._word_hits: dict[SearchWord, tuple[Rows, Doubles]] = {}

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        # Names of columns are made of the numbers; a table from elsewhere was checked at opening.
        rows = self._all("SELECT name, kind, number FROM attributes ORDER BY number")
        return {name: Attribute(name, kind, number) for name, kind, number in rows}

    def id_at(self, row: int) -> str:
        """Return the id of the item at a place."""
        return _texts(self._all("SELECT id FROM items WHERE row = ?", self.place(row)), 1)[0]

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the ids of neighbouring items."""
        rows = self._all(
            "SELECT id FROM items WHERE row >= ? AND row < ? ORDER BY row",
            self.place(start),
            self.place(min(stop, self.count) - 1) + 1,
        )
        return _texts(rows, max(0, min(stop, self.count) - start))

    def row(self, id: str) -> int | None:
        """Return the place of an item, if there is one with this id."""
        rows = self._all("SELECT row FROM items WHERE id = ?", id)
        return int(self._check_rows(one[0] for one in rows)[0]) if rows else None

    def fetch(self, rows: Sequence[int]) -> list[ItemRecord]:
        """Return the items at some places, in order."""
        records = self._all(
            f"{self._select} WHERE items.row IN (SELECT value FROM json_each(?))",
            json.dumps([self.place(row) for row in rows]),
        )
        by_place = {one[0]: one for one in records}
        try:
            return [self._item(by_place[self.place(row)]) for row in rows]
        except KeyError as error:
            raise unreadable(f"it lacks row {error}") from None

    def by_ids(self, ids: Iterable[str]) -> dict[str, tuple[int, ItemRecord]]:
        """Return those items that are here by id, each with its row."""
        records = self._all(
            f"{self._select} WHERE items.id IN (SELECT value FROM json_each(?))",
            json.dumps([*ids]),
        )
        rows = self._check_rows(one[0] for one in records).tolist()
        return {one[1]: (row, self._item(one)) for row, one in zip(rows, records, strict=True)}

    def place(self, row: int) -> int:
        """Return the number that an item has in the file."""
        if not len(self._removed):
            return int(row)
        return int(row) + int(self._shifts.searchsorted(int(row), "right"))

    @cached_property
    def _select(self) -> str:
        """How items are asked for with all that is kept of them."""
        names = {name for (name,) in self._all("SELECT name FROM pragma_table_info('items')")}
        digests = [
            f"items.{name}" if name in names else "NULL"
            for name in ("picture_digest", "text_digest")
        ]
        columns = ["row", "id", "title", "text", "media"]
        return (
            f"SELECT {', '.join([*(f'items.{name}' for name in columns), *digests])}, known.* "
            "FROM items JOIN known USING (row)"
        )

    def walk(self, start: int = 0) -> Iterator[ItemRecord]:
        """Yield all items in their order, without holding them all."""
        for first in range(start, self.count, _WALK_ROWS):
            last = min(first + _WALK_ROWS, self.count)
            records = self._all(
                f"{self._select} WHERE items.row >= ? AND items.row < ? ORDER BY items.row",
                self.place(first),
                self.place(last - 1) + 1,
            )
            if len(records) != last - first:
                raise unreadable(f"it lacks rows from {first:,} on")
            yield from map(self._item, records)

    def matching(self, filter: Mapping[str, Any] | None) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,)."""
        condition = sql_condition(filter, self.attributes)
        passing = np.zeros(self.count, bool)
        with self._connections.use() as connection:
            numbers = connection.execute(
                f"SELECT known.row FROM known WHERE {condition.sql}", condition.values
            )
            passing[self._check_rows(row for (row,) in numbers)] = True
        return passing

    def scores(
        self, words: str, limit: int | None = None, filter: Mapping[str, Any] | None = None
    ) -> tuple[Rows, Doubles]:
        """Return the places and scores of the items that match, (hits,) each.

        With a limit the best come first; without one all come, in no order.
        """
        if limit is not None:
            limit = check_whole("limit", limit, 1)
        query = keywords.fts_query(words)
        condition = sql_condition(filter, self.attributes)
        if query is None:
            return np.empty(0, np.int64), np.empty(0)
        weights = ", ".join(map(str, keywords.WEIGHTS))
        restricted = (
            f"AND rowid IN (SELECT known.row FROM known WHERE {condition.sql})" if filter else ""
        )
        with self._connections.use() as connection:
            hits = connection.execute(
                f"SELECT rowid, -bm25(words, {weights}) AS score FROM words WHERE words MATCH ? "
                f"{restricted} {'' if limit is None else 'ORDER BY score DESC, rowid LIMIT ?'}",
                (
                    query,
                    *(condition.values if filter else ()),
                    *(() if limit is None else (int(limit),)),
                ),
            ).fetchall()
        if not hits:
            return np.empty(0, np.int64), np.empty(0)
        rows, scores = zip(*hits, strict=True)
        if not all(isinstance(one, float) and math.isfinite(one) for one in scores):
            raise unreadable("its keyword index gives scores that are no numbers")
        return self._check_rows(rows), np.array(scores, np.float64)

    @property
    def has_worded_attributes(self) -> bool:
        """Whether there are attributes that are texts or tags."""
        return any(one.kind in ("text", "tags") for one in self.attributes.values())

    @cached_property
    def has_texts(self) -> bool:
        """Whether an item has a text, or a title that is not merely its id."""
        return bool(self._all("SELECT 1 FROM items WHERE title != id OR text != '' LIMIT 1"))

    @cached_property
    def vocabulary(self) -> keywords.Vocabulary:
        """The terms that are in the items' fields."""
        return keywords.Vocabulary(self._connections.use)

    def word_hits(self, word: SearchWord) -> tuple[Rows, Doubles]:
        """Return who has a word, ascending, and how probably it is said of each, (hits,) each.

        A person takes one word of one field: the fewer there are, the more probably this one.
        """
        hits = self._word_hits.get(word)
        if hits is None:
            hits = self._find_word_hits(word)
            if len(self._word_hits) >= _MAX_CACHED_WORDS:
                self._word_hits.clear()
            self._word_hits[word] = hits
        return hits

    def _find_word_hits(self, word: SearchWord) -> tuple[Rows, Doubles]:
        rows, values = [], []
        for place, (field, share) in enumerate(keywords.FIELDS.items()):
            by_row: dict[int, tuple[float, bytes]] = {}
            for term, weight in sorted(word.terms, key=lambda one: one[1]):
                by_row.update((row, (weight, sizes)) for row, sizes in self._term_hits(term, field))
            sizes = keywords.read_sizes([sizes for _, sizes in by_row.values()])[:, place]
            weights = np.array([weight for weight, _ in by_row.values()])
            rows.append(self._check_rows(by_row))
            values.append(share * weights / sizes.clip(1, keywords.MAX_FIELD_WORDS))
        different, places = np.unique(np.concatenate(rows), return_inverse=True)
        total: Doubles = np.zeros(len(different))
        np.add.at(total, places, np.concatenate(values))
        return different, total

    def _term_hits(self, term: str, field: str) -> list[tuple[int, bytes]]:
        """Return the rows that have a term in a field, and the sizes of their fields."""
        hits = self._all(
            "SELECT words.rowid, sz FROM words JOIN words_docsize ON id = words.rowid "
            "WHERE words MATCH ?",
            keywords.field_query(term, field),
        )
        if not all(isinstance(sizes, bytes) for _, sizes in hits):
            raise unreadable("its keyword index has no sizes of fields")
        return hits

    def facets(self, filter: Mapping[str, Any] | None, limit: int) -> dict[str, Facet]:
        """Return how every attribute's values are spread over the items that pass."""
        if filter is None and limit in self._facets:
            return dict(self._facets[limit])
        condition = sql_condition(filter, self.attributes)
        facets = {
            name: self._facet(attribute, condition, limit)
            for name, attribute in self.attributes.items()
        }
        if filter is None and len(self._facets) < _MAX_CACHED_FACETS:
            # The table never changes, and everybody starts by looking at all of it.
            self._facets[limit] = facets
        return dict(facets)

    def tombstone(self, id: str) -> dict[str, NDArray[np.float32]] | None:
        """Return the vectors of an item that was removed, by view, if they are kept."""
        vectors = self._all("SELECT view, vector FROM departed WHERE id = ?", id)
        if not vectors:
            return None
        if not all(isinstance(one, bytes) and len(one) % 4 == 0 for _, one in vectors):
            raise unreadable("a removed item has left something that is no vector")
        return {view: np.frombuffer(vector, "<f4").astype(np.float32) for view, vector in vectors}

    def was_removed(self, id: object) -> bool:
        """Return whether an item is remembered that was removed."""
        if not isinstance(id, str) or not is_unicode(id):
            return False
        return bool(self._all("SELECT 1 FROM departed WHERE id = ? LIMIT 1", id))

    def walk_tombstones(self) -> Iterator[tuple[str, str, int, bytes]]:
        """Yield id, view, last version and vector of all items that were removed, oldest first."""
        last = -(2**63)
        while records := self._all(
            "SELECT rowid, id, view, version, vector FROM departed WHERE rowid > ? "
            "ORDER BY rowid LIMIT 1024",
            last,
        ):
            last = records[-1][0]
            for _, id, view, version, vector in records:
                if not isinstance(id, str) or not isinstance(version, int):
                    raise unreadable("a removed item has no id or no version")
                yield id, view, version, vector

    def _facet(self, attribute: Attribute, condition: SqlCondition, limit: int) -> Facet:
        column, name, kind = f"known.a{attribute.number}", attribute.name, attribute.kind
        if kind == "number":
            count, distinct, low, high = self._all(
                f"SELECT count({column}), count(DISTINCT {column}), min({column}), max({column}) "
                f"FROM known WHERE {condition.sql}",
                *condition.values,
            )[0]
            if count and (value_problem(kind, low) or value_problem(kind, high)):
                raise unreadable(f"attribute {shorten(name)} holds what is no number")
            return Facet(name, kind, count, distinct, (), low, high)
        if kind == "tags":
            source = (
                f"(SELECT tags.value AS value FROM tags JOIN known ON known.row = tags.row "
                f"WHERE tags.attribute = {attribute.number} AND ({condition.sql}))"
            )
            count = self._all(
                f"SELECT count({column}) FROM known WHERE {condition.sql}", *condition.values
            )[0][0]
        else:
            source = f"(SELECT {column} AS value FROM known WHERE {condition.sql})"
            count = None
        counted = self._all(
            f"SELECT value, count(*) AS many, count(*) OVER (), sum(count(*)) OVER () "
            f"FROM {source} WHERE value IS NOT NULL GROUP BY value "
            f"ORDER BY many DESC, value LIMIT {max(int(limit), 1)}",
            *condition.values,
        )
        if any(value_problem(kind, value) for value, *_ in counted):
            raise unreadable(
                f"attribute {shorten(name)} holds a value that is not {KIND_NAMES[kind]}"
            )
        distinct, total = counted[0][2:] if counted else (0, 0)
        frequent = tuple(
            (bool(value) if kind == "boolean" else value, many)
            for value, many, *_ in counted[:limit]
        )
        return Facet(name, kind, total if count is None else count, distinct, frequent)

    def _item(self, record: Sequence[Any]) -> ItemRecord:
        row, id, title, text, media, picture_digest, text_digest, *values = record
        if not (isinstance(id, str) and isinstance(title, str) and isinstance(text, str)):
            raise unreadable(f"row {row} has an id, title or text that is no text")
        if media is not None and not is_media_name(media):
            raise unreadable(f"row {row} names a picture outside the media folder")
        attributes: dict[str, PlainValue] = {}
        for name, attribute in self.attributes.items():
            value = values[1 + attribute.number]
            if value is None:
                continue
            if value_problem(attribute.kind, value):
                raise unreadable(
                    f"{shorten(name)} in row {row} is not {KIND_NAMES[attribute.kind]}"
                )
            if attribute.kind == "boolean":
                value = bool(value)
            elif attribute.kind == "tags":
                value = _tags(name, row, value)
            attributes[name] = value
        for digest in (picture_digest, text_digest):
            if digest is not None and not isinstance(digest, bytes):
                raise unreadable(f"row {row} has a digest that is none")
        return ItemRecord(id, title, text, media, attributes, picture_digest, text_digest)

    def _check_rows(self, numbers: Iterable[int]) -> Rows:
        """Return rows that the table gave, if they are rows of the views, too."""
        places = np.fromiter(numbers, np.int64)
        if places.size and not 0 <= places.min() <= places.max() < self.count + len(self._removed):
            raise unreadable("it has rows that the views have not")
        return places if not len(self._removed) else places - self._removed.searchsorted(places)

    def _all(self, sql: str, *values: object) -> list[Any]:
        with self._connections.use() as connection:
            return connection.execute(sql, values).fetchall()


def _texts(column: Sequence[tuple[object]], count: int) -> list[str]:
    """Return a column of so many texts."""
    texts = [one for (one,) in column if isinstance(one, str)]
    if len(texts) != count:
        raise unreadable("items are missing, or have ids that are no texts")
    return texts


def _tags(name: str, row: int, value: str) -> list[str]:
    try:
        tags = json.loads(value)
    except (ValueError, RecursionError):
        tags = None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise unreadable(f"{shorten(name)} in row {row} is no list of tags")
    return tags
