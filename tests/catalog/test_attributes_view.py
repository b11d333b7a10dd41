"""The view `attributes`: which columns it takes, what it says of it, and that it lasts."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog
from seeker.catalog.verify import find_problems
from seeker.cli import main
from seeker.embedders.attributes import MAX_AXES, AttributeEncoding

ROWS = 120


def shop_row(n: int) -> dict[str, Any]:
    return {
        "sku": f"A-{n:03}",
        "name": f"thing {n}",
        "material": ["wood", "glass", "wool", "paper"][n % 4],
        "price": 5 + n % 60,
        "label": n % 5,
        "category_id": n % 3,
        "vegan": n % 7 == 0,
        "made": f"20{10 + n % 12}-0{1 + n % 9}-11",
        "supplier_id": n % 6,
        "stock": n % 13,
        "ratings_count": n * n,
        "running": 1000 + n,
        "photo_url": f"https://shop.example/{n % 9}.jpg",
        "path": f"/photos/{n % 9}",
        "note": f"It was found in the old house near the river in {n % 10}",
        "signature": f"signed {n}",
        "updated_at": f"2024-05-{1 + n % 28:02}T12:00:00Z",
        "shop": "main",
        "rare": "yes" if n == 5 else None,
    }


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    place = tmp_path_factory.mktemp("attributes")
    source = table(place / "shop.csv", [shop_row(n) for n in range(ROWS)])
    told: list[str] = []
    seeker.build(source, place / "shop", views=["attributes"], tell=told.append)
    return place / "shop", told


def encoding_of(path: Path) -> AttributeEncoding:
    manifest = Catalog.open(path).manifest
    assert manifest is not None
    entry = manifest.views["attributes"].embedder
    assert entry is not None
    return AttributeEncoding.from_json(entry.settings)


def apart(catalog: Catalog, one: str, other: str) -> float:
    rows = catalog.views["attributes"].rows(np.array([catalog.row(one), catalog.row(other)]))
    return float(((rows[0].astype(float) - rows[1]) ** 2).sum())


def test_columns_that_say_what_a_thing_is_are_taken(shop: tuple[Path, list[str]]) -> None:
    path, told = shop
    assert {one.name: one.kind for one in encoding_of(path).columns} == {
        "material": "category",
        "price": "number",
        "label": "category",
        "category_id": "category",
        "vegan": "category",
        "made": "date",
    }
    text = "\n".join(told)
    assert "material (4 values), price (numbers)" in text
    for left_out in (
        "supplier_id (ids)",
        "stock, ratings_count (stock or a counter)",
        "running (a running number)",
        "photo_url, path (addresses)",
        "note (free text)",
        "signature (nearly every item has its own)",
        "updated_at (about the record)",
        "shop (one value only)",
        "rare (hardly any item has it)",
    ):
        assert left_out in text
    assert find_problems(path) == []


def test_distances_are_those_of_the_columns(shop: tuple[Path, list[str]]) -> None:
    catalog = Catalog.open(shop[0])
    one, same, other = "A-000", "A-060", "A-001"
    for name in ("material", "price", "label", "category_id"):
        assert shop_row(0)[name] == shop_row(60)[name]
    vegan, made = 1.0, apart(catalog, one, same) - 1.0
    assert vegan + made == pytest.approx(apart(catalog, one, same))
    assert 0.0 <= made < 1.0
    assert apart(catalog, one, other) > 3.9


def test_a_search_goes_by_what_is_alike(shop: tuple[Path, list[str]]) -> None:
    """The page after a like holds more of its material than a page does without."""
    catalog = Catalog.open(shop[0])
    wooden = {f"A-{n:03}" for n in range(0, ROWS, 4)}
    session = catalog.session(page_size=12, seed=3)
    liked = next(item for item in session.page().ids if item in wooden)
    before = len(wooden & {*session.page().ids})
    session.like(liked)
    assert len(wooden & {*session.page().ids}) > max(before, 5)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "npz"])
def test_every_kind_of_table_has_the_view(tmp_path: Path, kind: str) -> None:
    rows = [
        {"id": str(n), "genres": [f"g{n % 4}", f"g{n % 3}"], "size": n % 10, "kind": f"k{n % 5}"}
        for n in range(60)
    ]
    source = tmp_path / f"rows.{kind}"
    if kind == "jsonl":
        source.write_text("\n".join(map(json.dumps, rows)))
    elif kind == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), source)
    else:
        arrays: dict[str, Any] = {
            name: np.array([row[name] for row in rows]) for name in ("size", "kind")
        }
        np.savez(source, vectors=np.random.default_rng(0).normal(size=(60, 3)), **arrays)
    catalog = seeker.build(source, tmp_path / "catalog")
    columns = {one.name: one.kind for one in encoding_of(tmp_path / "catalog").columns}
    tags = {} if kind == "npz" else {"genres": "tags"}
    assert columns == {**tags, "size": "number", "kind": "category"}
    assert set(catalog.views) == ({"vectors", "attributes"} if kind == "npz" else {"attributes"})


def test_columns_and_weights_can_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = table(tmp_path / "shop.csv", [shop_row(n) for n in range(ROWS)])
    options = ["--views", "attributes", "--attributes-view", "stock,material=4"]
    assert main(["build", str(source), "--out", str(tmp_path / "shop"), *options]) == 0
    columns = encoding_of(tmp_path / "shop").columns
    assert {one.name: one.weight for one in columns} == {"material": 4.0, "stock": 1.0}
    capsys.readouterr()
    assert main(["info", str(tmp_path / "shop")]) == 0
    assert "by attributes (columns/1) of material, stock" in capsys.readouterr().out
    catalog = Catalog.open(tmp_path / "shop")
    assert apart(catalog, "A-000", "A-013") == pytest.approx(4.0, abs=1e-5)
    again = seeker.build(
        source,
        tmp_path / "again",
        text=[],
        title="sku",
        attributes_view={"stock": 1, "material": 4},
    )
    np.testing.assert_array_equal(
        again.views["attributes"].vectors, catalog.views["attributes"].vectors
    )


@pytest.mark.parametrize("views", [None, ["text"]])
def test_it_can_be_left_out(tmp_path: Path, views: list[str] | None) -> None:
    source = table(tmp_path / "shop.csv", [shop_row(n) for n in range(8)])
    attributes = False if views is None else None
    catalog = seeker.build(
        source, tmp_path / "shop", title="name", views=views, attributes_view=attributes
    )
    assert set(catalog.views) == {"text"}


def test_one_column_can_be_a_view_of_its_own(tmp_path: Path) -> None:
    source = table(tmp_path / "shop.csv", [shop_row(n) for n in range(ROWS)])
    views = ["attributes", "kind=attributes:material"]
    catalog = seeker.build(source, tmp_path / "shop", views=views)
    assert set(catalog.views) == {"attributes", "kind"}
    assert catalog.views["kind"].dimensions == 4 + 64


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["colr"], "made of the attribute 'colr', which none of the first 1,000 items has"),
        ({"price": 0}, "The weight of the attribute 'price' is 0"),
        ({"price": float("nan")}, "The weight of the attribute 'price' is nan"),
        ("price", "attributes_view is a single text"),
        ([], "has no columns"),
    ],
)
def test_columns_that_cannot_be_are_refused_before_any_work(
    tmp_path: Path, wanted: Any, message: str
) -> None:
    source = table(tmp_path / "shop.csv", [shop_row(n) for n in range(8)])
    with pytest.raises(BadInput, match=message):
        seeker.build(source, tmp_path / "shop", attributes_view=wanted)
    assert not (tmp_path / "shop").exists()


def test_the_two_options_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = table(tmp_path / "shop.csv", [shop_row(0)])
    options = ["--attributes-view", "price", "--no-attributes-view"]
    assert main(["build", str(source), "--out", str(tmp_path / "shop"), *options]) == 2
    assert "exclude each other" in capsys.readouterr().err
    assert (
        main(["build", str(source), "--out", str(tmp_path / "s"), "--attributes-view", "a=b"]) == 2
    )
    assert "'b' is not a number" in capsys.readouterr().err


def test_items_that_come_later_are_encoded_by_the_same_rule(tmp_path: Path) -> None:
    """Also with prices no one had before, new materials and no value at all."""
    source = table(tmp_path / "shop.csv", [shop_row(n) for n in range(ROWS)])
    path = tmp_path / "shop"
    seeker.build(source, path, views=["attributes"])
    before, encoding = Catalog.open(path), encoding_of(path)
    twin = {**shop_row(17), "sku": "twin"}
    dear = {**shop_row(17), "sku": "dear", "price": 1e9}
    steel = [{**shop_row(17), "sku": f"steel {n}", "material": "steel"} for n in range(2)]
    bare = [{"sku": f"bare {n}"} for n in range(2)]
    seeker.update(path, table(tmp_path / "more.csv", [twin, dear, *steel, *bare]))
    after = Catalog.open(path)
    assert encoding_of(path) == encoding
    old = slice(0, ROWS)
    np.testing.assert_array_equal(
        after.views["attributes"].rows(old), before.views["attributes"].rows(old)
    )
    assert apart(after, "A-017", "twin") == 0.0
    price = next(one for one in encoding.columns if one.name == "price")
    expected = (price.place(1e9) - price.place(shop_row(17)["price"])) ** 2
    assert apart(after, "A-017", "dear") == pytest.approx(expected, abs=1e-5)
    assert apart(after, "steel 0", "steel 1") == 0.0
    assert apart(after, "A-017", "steel 0") == pytest.approx(1.0, abs=1e-5)
    assert apart(after, "bare 0", "bare 1") > 2.0
    assert find_problems(path) == []


def test_a_rebuild_keeps_the_encoding_while_it_fits(tmp_path: Path) -> None:
    """So that changed prices leave all other vectors as they were, and removed items known."""
    rows = [shop_row(n) for n in range(ROWS)]
    path = tmp_path / "shop"
    seeker.build(table(tmp_path / "a.csv", rows), path, views=["attributes"])
    before, encoding = Catalog.open(path), encoding_of(path)
    changed = [{**row, "price": 64} if n < 6 else row for n, row in enumerate(rows)][:-1]
    seeker.build(table(tmp_path / "b.csv", changed), path, views=["attributes"], replace=True)
    after = Catalog.open(path)
    assert encoding_of(path) == encoding
    np.testing.assert_array_equal(
        after.views["attributes"].rows(slice(6, ROWS - 1)),
        before.views["attributes"].rows(slice(6, ROWS - 1)),
    )
    last = f"A-{ROWS - 1:03}"
    np.testing.assert_array_equal(
        after.tombstones.get(last)["attributes"],  # type: ignore[index]
        before.views["attributes"].rows(np.array([ROWS - 1]))[0],
    )
    other = [{**row, "material": f"{row['material']} {n % 2}"} for n, row in enumerate(rows)]
    seeker.build(table(tmp_path / "c.csv", other), path, views=["attributes"], replace=True)
    assert encoding_of(path) != encoding


def test_a_table_of_very_many_values_stays_within_bounds(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), **{f"c{k}": f"v{n // 2 % 300}" for k in range(30)}, "x": n % 50}
        for n in range(700)
    ]
    catalog = seeker.build(table(tmp_path / "t.csv", rows), tmp_path / "catalog")
    encoding = encoding_of(tmp_path / "catalog")
    assert len(encoding.columns) == 31
    assert encoding.dimensions == catalog.views["attributes"].dimensions == MAX_AXES + 64
    same, other = apart(catalog, "0", "1"), apart(catalog, "0", "101")
    assert same < 0.01
    assert other == pytest.approx(30.0, rel=0.3)


def test_a_table_that_says_nothing_is_no_catalog(tmp_path: Path) -> None:
    rows = [{"id": str(n), "own": f"own {n}"} for n in range(30)]
    with pytest.raises(BadInput, match="neither pictures nor texts nor vectors"):
        seeker.build(table(tmp_path / "t.csv", rows), tmp_path / "catalog")
    assert not (tmp_path / "catalog").exists()
