"""What has not changed is not embedded again, neither by an update nor by a build anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog
from seeker.catalog.build.update import UpdateReport
from seeker.catalog.manifest import FileEntry
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.verify import find_problems
from seeker.types import Floats
from support.builds import Letters, MeanColour, jsonl, picture


class CountingColour(MeanColour):
    """Counts the pictures that it embeds."""

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, batch: Any) -> Floats:
        self.embedded += len(batch)
        return super().embed(batch)


class CountingLetters(Letters):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, batch: Any) -> Floats:
        self.embedded += len(batch)
        return super().embed(batch)


class Shop:
    """Twelve things with pictures and texts, and how often these were embedded."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.catalog = folder, folder / "catalog"
        self.rows: list[dict[str, Any]] = []
        for n in range(12):
            picture(folder / "pictures" / f"{n}.png", (20 * n, 10, 200 - n))
            row = {"id": f"i{n}", "name": f"thing {n}", "text": "of a kind", "price": n}
            self.rows.append({**row, "picture": f"{n}.png"})
        self.colour, self.letters = CountingColour(), CountingLetters()
        self.build()

    @property
    def embedders(self) -> dict[str, Any]:
        return {"colour": self.colour, "letters": self.letters}

    @property
    def source(self) -> Path:
        return jsonl(self.folder / "rows.jsonl", self.rows)

    def build(self, **options: Any) -> Catalog:
        return seeker.build(
            self.source,
            self.catalog,
            views=["colour", "letters"],
            images=self.folder / "pictures",
            embedders=self.embedders,
            **options,
        )

    def update(self, source: Path | None = None) -> UpdateReport:
        images = self.folder / "pictures"
        return seeker.update(
            self.catalog, source or self.source, images=images, embedders=self.embedders, trust=True
        )

    def counts(self) -> tuple[int, int]:
        """Return how many pictures and texts were embedded since the last call."""
        counts = self.colour.embedded, self.letters.embedded
        self.colour.embedded = self.letters.embedded = 0
        return counts


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    assert shop.counts() == (12, 12)
    return shop


def same_as_new(shop: Shop) -> None:
    """Check that the catalog is what one that was built at once would be."""
    changed = Catalog.open(shop.catalog)
    fresh = Shop.__new__(Shop)
    fresh.__dict__ = {**shop.__dict__, "catalog": shop.folder / "fresh"}
    built = fresh.build()
    assert list(changed.ids) == list(built.ids)
    assert changed.items(range(len(built))) == built.items(range(len(built)))
    for name, view in built.views.items():
        np.testing.assert_array_equal(changed.views[name].vectors, view.vectors)
    assert find_problems(shop.catalog) == []


def test_building_anew_embeds_only_what_has_changed(shop: Shop) -> None:
    for n in (1, 5):
        shop.rows[n]["price"] = 100
    shop.rows[3]["name"] = "other"
    picture(shop.folder / "pictures" / "7.png", (1, 2, 3))
    picture(shop.folder / "pictures" / "new.png", (9, 9, 9))
    shop.rows.append({"id": "new", "name": "newest", "picture": "new.png"})
    shop.rows.reverse()
    shop.build(replace=True)
    assert shop.counts() == (2, 2)
    same_as_new(shop)


def test_an_update_embeds_only_what_has_changed(shop: Shop) -> None:
    shop.rows[2]["price"] = 100
    shop.rows[3]["text"] = "of another kind"
    shop.rows[4]["picture"] = "5.png"
    # The same contents in another file are the same picture.
    shutil.copy(shop.folder / "pictures" / "6.png", shop.folder / "pictures" / "again.png")
    shop.rows[6]["picture"] = "again.png"
    report = shop.update()
    assert (report.new, report.changed, report.unchanged, report.refused) == (0, 3, 9, 0)
    assert shop.counts() == (1, 1)
    same_as_new(shop)


def test_a_table_of_prices_embeds_nothing(shop: Shop) -> None:
    prices = [{"id": row["id"], "price": 7} for row in shop.rows]
    report = shop.update(jsonl(shop.folder / "prices.jsonl", prices))
    assert (report.new, report.changed, report.unchanged, report.refused) == (0, 11, 1, 0)
    assert shop.counts() == (0, 0)
    for row in shop.rows:
        row["price"] = 7
    same_as_new(shop)
    new = jsonl(shop.folder / "new.jsonl", [{"id": "z", "price": 1}])
    assert shop.update(new).refused == 1, "a new item needs its picture"


def test_a_thumbnail_that_is_lost_is_made_again(shop: Shop) -> None:
    lost = shop.catalog / str(Catalog.open(shop.catalog).item("i3").media)
    lost.unlink()
    shop.build(replace=True)
    assert lost.is_file()
    assert find_problems(shop.catalog) == []


def test_another_version_of_an_embedder_embeds_all(shop: Shop) -> None:
    shop.colour.version = "2"
    shop.build(replace=True)
    assert shop.counts() == (12, 0)


def test_titles_that_are_ids_are_embedded_as_they_were(tmp_path: Path) -> None:
    """A missing title shows the id, but the id is not what was embedded."""
    rows = [{"id": "abc", "text": "x"}, {"id": "def", "title": "def", "text": "x"}]
    letters, out = CountingLetters(), tmp_path / "catalog"
    options: dict[str, Any] = {"embedders": {"letters": letters}}
    seeker.build(jsonl(tmp_path / "1.jsonl", rows), out, views=["letters"], **options)
    changes = [{"id": "abc", "text": "y"}, {"id": "def", "text": "y"}]
    seeker.update(out, jsonl(tmp_path / "2.jsonl", changes), trust=True, **options)
    for row in rows:
        row["text"] = "y"
    fresh = seeker.build(
        jsonl(tmp_path / "3.jsonl", rows), tmp_path / "f", views=["letters"], **options
    )
    vectors = Catalog.open(out).views["letters"].vectors
    np.testing.assert_array_equal(vectors, fresh.views["letters"].vectors)


def test_a_catalog_from_before_digests_is_read_and_upgraded(shop: Shop) -> None:
    """Its pictures are embedded once more; from then on, only what changes."""
    before_digests(shop.catalog)
    assert Catalog.open(shop.catalog).item("i3").title == "thing 3"
    assert find_problems(shop.catalog) == []
    prices = [{"id": row["id"], "price": row["price"] + 1} for row in shop.rows]
    assert shop.update(jsonl(shop.folder / "prices.jsonl", prices)).changed == 12
    assert shop.counts() == (0, 0)
    shop.update()
    assert shop.counts() == (12, 12)
    shop.update()
    assert shop.counts() == (0, 0)
    same_as_new(shop)


def before_digests(folder: Path) -> None:
    """Make a catalog what it would have been before the digests of its items were kept."""
    file = folder / "items.sqlite"
    connection = sqlite3.connect(file)
    for name in ("picture_digest", "text_digest"):
        connection.execute(f"ALTER TABLE items DROP COLUMN {name}")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute(
        "UPDATE sqlite_schema SET sql = ? WHERE name = 'items'",
        (
            "CREATE TABLE items (\n    row INTEGER PRIMARY KEY,\n    id TEXT NOT NULL UNIQUE,\n"
            "    title TEXT NOT NULL,\n    text TEXT NOT NULL,\n    media TEXT\n)",
        ),
    )
    connection.commit()
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    refresh_manifest(folder, schema=2)


def refresh_manifest(folder: Path, **fields: Any) -> None:
    """Write the checksums of a catalog anew, and some fields."""
    manifest = read_manifest(folder)
    entry = FileEntry.of(folder, manifest.items.file)
    written = replace(manifest, items=entry).to_json()
    (folder / "catalog.json").write_text(json.dumps({**written, **fields}))
