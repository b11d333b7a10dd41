"""The `category` embedder: what items say about themselves becomes a view."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import seeker
from seeker.catalog.build import update
from seeker.embedders import named
from seeker.errors import BadInput, NotFound


def test_a_vector_is_the_bits_of_the_names_sha256() -> None:
    number = int.from_bytes(hashlib.sha256(b"dress").digest())
    expected = [1.0 if number >> (255 - place) & 1 else -1.0 for place in range(256)]
    assert named("category:kind").embed(["Dress "]).tolist() == [expected]


def test_the_same_category_is_the_same_and_others_are_about_at_right_angles() -> None:
    names = [f"category {n}" for n in range(100)]
    vectors = named("category:kind").embed(names).astype(float) / 16.0
    products = vectors @ vectors.T
    np.testing.assert_allclose(np.diag(products), 1.0)
    assert np.abs(products - np.eye(100)).max() < 0.35


def test_several_categories_lie_between_them() -> None:
    both, one, other, third = named("category:genre").embed(
        [["jazz", "rock"], "jazz", "rock", "folk"]
    )
    np.testing.assert_array_equal(both, one + other)
    assert both @ one > 100 > both @ third


def test_items_without_the_attribute_are_a_category() -> None:
    nothing, empty, blank = named("category:kind").embed([None, [], ""])
    np.testing.assert_array_equal(nothing, empty)
    np.testing.assert_array_equal(nothing, blank)


def test_a_category_must_have_a_name() -> None:
    with pytest.raises(NotFound, match="There is no embedder 'category:'"):
        named("category:")


def table(path: Path, rows: int = 60) -> Path:
    kinds = ["coat", "shoe", "hat"]
    lines = [f"{n},thing {n},{kinds[n % 3]},{n % 7}" for n in range(rows)]
    path.write_text("\n".join(["id,title,kind,size", *lines]) + "\n")
    return path


def test_a_search_over_a_catalog_with_categories(tmp_path: Path) -> None:
    source, out = table(tmp_path / "t.csv"), tmp_path / "catalog"
    catalog = seeker.build(source, out, views=["kind=category:kind"])
    assert catalog.views["kind"].dimensions == 256
    session = catalog.session(page_size=12, seed=3)
    hats = {str(n) for n in range(60) if n % 3 == 2}
    liked = next(item for item in session.page().ids if item in hats)
    session.like(liked)
    assert set(session.page().ids) <= hats


def test_added_items_get_the_same_vectors(tmp_path: Path) -> None:
    source, out = table(tmp_path / "t.csv"), tmp_path / "catalog"
    seeker.build(source, out, views=["category:kind"])
    more = tmp_path / "more.csv"
    more.write_text("id,title,kind\nnew,another hat,HAT\nbare,of no kind,\n")
    update.add(out, more)
    catalog = seeker.Catalog.open(out)
    vectors = catalog.views["category_kind"].rows(slice(None))
    rows = {item: catalog.row(item) for item in ("2", "new", "bare")}
    np.testing.assert_array_equal(vectors[rows["new"]], vectors[rows["2"]])
    assert abs(float(vectors[rows["bare"]] @ vectors[rows["2"]])) < 0.5


def test_an_attribute_that_nothing_has_is_refused_before_any_work(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv")
    with pytest.raises(BadInput, match="'colr', which none of the first 1,000 items has") as caught:
        seeker.build(source, tmp_path / "catalog", views=["category:colr"])
    assert "['kind', 'size']" in str(caught.value)
    assert not (tmp_path / "catalog").exists()
