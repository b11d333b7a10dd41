"""Catalogs made of arrays: what is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seeker import BadInput, Catalog, NotFound
from seeker.kernels import reference

X = np.random.default_rng(0).normal(size=(5, 3))
IDS = ["a", "b", "c", "d", "e"]


def test_what_is_given_is_kept_as_float32_and_read_only() -> None:
    given = X.copy()
    catalog = Catalog.from_arrays(
        IDS, {"image": given, "size": [[1], [2], [3], [4], [5]]}, titles=list("ABCDE")
    )
    assert len(catalog) == 5
    assert list(catalog.ids) == IDS
    assert "a" in catalog
    assert "z" not in catalog
    vectors = catalog.views["image"].vectors
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, X.astype(np.float32))
    given[:] = 0
    np.testing.assert_array_equal(vectors, X.astype(np.float32))
    with pytest.raises(ValueError, match="read-only"):
        vectors[0] = 0
    assert catalog.item("b").title == "B"
    assert catalog.views["image"].scale == pytest.approx(
        reference.mean_squared_distance(X.astype(np.float32)), rel=1e-9
    )


def test_read_only_float32_is_not_copied_and_nothing_is_changed_in_place() -> None:
    given = X.astype(np.float32)
    given.setflags(write=False)
    assert Catalog.from_arrays(IDS, {"x": given}).views["x"].vectors is given
    Catalog.from_arrays(IDS, {"x": given}, metric="cosine")
    np.testing.assert_array_equal(given, X.astype(np.float32))


def test_raw_keeps_distances_as_they_are() -> None:
    assert Catalog.from_arrays(IDS, {"x": X}, scale="raw").views["x"].scale == 1.0


def test_one_item_and_identical_items_can_be_searched() -> None:
    session = Catalog.from_arrays(["only"], {"x": [[1.0, 2.0]]}).session()
    assert session.page().ids == ["only"]
    session.like("only")
    assert session.belief.log_posterior.tolist() == [0.0]
    same = Catalog.from_arrays(IDS, {"x": np.ones((5, 3))}).session()
    same.like("a")
    assert same.belief.entropy == pytest.approx(np.log(5))


def test_attributes_come_by_item_or_by_column() -> None:
    by_item = Catalog.from_arrays(
        IDS, {"x": X}, attributes=[{"n": n, "even": n % 2 == 0} for n in range(5)]
    )
    by_column = Catalog.from_arrays(
        IDS, {"x": X}, attributes={"n": range(5), "even": [n % 2 == 0 for n in range(5)]}
    )
    for catalog in (by_item, by_column):
        assert catalog.item("c").attributes["n"] == 2
        assert catalog.session(filter={"n": {"ge": 1, "lt": 3}}).more(0, 9).total == 2
        assert catalog.session(filter={"n": [0, 4], "even": True}).more(0, 9).total == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ids": []}, "empty"),
        ({"ids": ["a", "b"]}, "5 rows"),
        ({"ids": ["a", "b", "a", "d", "e"]}, "more than once"),
        ({"ids": [1.5, 2, 3, 4, 5]}, "place 0"),
        ({"ids": ["a", "", "c", "d", "e"]}, "place 1"),
        ({"ids": "abcde"}, "ids is 'abcde'"),
        ({"ids": None}, "ids is None"),
        ({"views": {}}, "no views"),
        ({"views": X}, "no views"),
        ({"views": {"": X}}, "name for a view"),
        ({"views": {"x": X[0]}}, "shape"),
        ({"views": {"x": X[:, :0]}}, "shape"),
        ({"views": {"x": X[:, :, None]}}, "shape"),
        ({"views": {"x": [["a"]] * 5}}, "not an array of numbers"),
        ({"views": {"x": [[1.0], [1.0, 2.0]]}}, "not an array of numbers"),
        ({"views": {"x": X.astype(complex)}}, "not an array of numbers"),
        ({"views": {"x": np.where(np.eye(5, 3) > 0, np.nan, X)}}, "NaN"),
        ({"views": {"x": np.where(np.eye(5, 3) > 0, -np.inf, X)}}, "NaN"),
        ({"views": {"x": X * 1e200}}, "too large"),
        ({"views": {"x": X, "y": X[:4]}}, "'y' has 4 rows"),
        ({"titles": ["A"]}, "titles"),
        ({"titles": [1, 2, 3, 4, 5]}, "title"),
        ({"titles": "ABCDE"}, "titles is 'ABCDE'"),
        ({"titles": 5}, "titles is 5"),
        ({"attributes": [{}]}, "attributes"),
        ({"attributes": {"n": [1]}}, "'n'"),
        ({"attributes": 3}, "attributes"),
        ({"attributes": {"n": 3}}, "'n' is 3"),
        ({"attributes": {"n": "12345"}}, "'n' is '12345'"),
        ({"embedders": {"x": 3}}, "no 'version'"),
        ({"metric": "chebyshev"}, "not a metric"),
        ({"metric": {"y": "cosine"}}, "'y', which the catalog has not"),
        ({"metric": "cosine", "views": {"x": X * 0}}, "zeros"),
        ({"metric": lambda q, v: [1.0]}, "metric returned shape"),
        ({"metric": lambda q, v: v[:, 0] * np.nan}, "finite"),
        ({"scale": "large"}, "scale"),
    ],
)
def test_wrong_input_is_named(wrong: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"ids": IDS, "views": {"x": X}, **wrong}
    with pytest.raises(BadInput) as caught:
        Catalog.from_arrays(**given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_items_are_named() -> None:
    with pytest.raises(NotFound, match="'z'"):
        Catalog.from_arrays(IDS, {"x": X}).item("z")


def test_who_gives_something_else_than_an_id_is_told_the_id() -> None:
    numbered = Catalog.from_arrays([str(n) for n in range(5)], {"x": X})
    session = numbered.session()
    with pytest.raises(NotFound, match=r"no item 3 in this catalog\. Give its id, .*: '3'"):
        session.like(3)  # type: ignore[arg-type]
    shown = session.page().items[0]
    with pytest.raises(NotFound, match=f"Give its id, which is a text: '{shown.id}'") as caught:
        session.like(shown)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


class Frame:
    """As much of a data frame as `dict` knows of: names, and a column for each."""

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns

    def keys(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


class Missing:
    """Like the mark that data frames put into empty cells: no comparison with it is true."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("it is not known whether this is true")

    __hash__ = None  # type: ignore[assignment]


def test_attributes_may_be_a_data_frame_with_empty_cells() -> None:
    frame = Frame(
        year=[1999, 2004, float("nan"), 2011, 2020], label=["a", Missing(), "b", "a", "a"]
    )
    catalog = Catalog.from_arrays(IDS, {"x": X}, attributes=frame)  # type: ignore[arg-type]
    assert catalog.matching({"year": {"ge": 2004}}).tolist() == [False, True, False, True, True]
    assert catalog.facets()["label"].values == (("a", 3), ("b", 1))


def test_an_embedder_needs_no_base_class() -> None:
    class Vowels:
        version, dimensions, reads, metric = "1", 3, frozenset({"text"}), "euclidean"

        def embed(self, batch: list[str]) -> list[list[int]]:
            return [[text.count(letter) for letter in "aeo"] for text in batch]

    catalog = Catalog.from_arrays(IDS, {"x": X}, embedders={"x": Vowels()})  # type: ignore[dict-item]
    view, vector = catalog.embed_text("area")
    assert (view, vector.tolist()) == ("x", [2.0, 1.0, 0.0])


def test_a_column_of_vectors_is_a_view() -> None:
    column = np.empty(5, object)
    column[:] = [list(row) for row in X]
    stored = Catalog.from_arrays(IDS, {"x": column}).views["x"].vectors
    np.testing.assert_array_equal(stored, X.astype(np.float32))
    column[3] = [1.0]
    with pytest.raises(BadInput, match="all rows of the same length"):
        Catalog.from_arrays(IDS, {"x": column})


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_a_saved_catalog_shows_the_same(tmp_path: Path, metric: Any) -> None:
    attributes = {"kind": [f"kind {n % 3}" for n in range(60)], "price": [*range(60)]}
    vectors = np.random.default_rng(4).normal(size=(60, 5)).astype(np.float32)
    catalog = Catalog.from_arrays(
        range(60), {"x": vectors}, [f"thing {n}" for n in range(60)], attributes, metric
    )
    saved = catalog.save(tmp_path / "saved")
    assert saved.items(range(60)) == catalog.items(range(60))
    pages = []
    for one in (catalog, saved):
        session = one.session(seed=3)
        session.like(session.page().ids[1])
        pages.append(session.page())
    assert pages[0] == pages[1]
    with pytest.raises(BadInput, match="already"):
        saved.save(tmp_path / "again")
    with pytest.raises(BadInput, match="raw"):
        Catalog.from_arrays(["a", "b"], {"x": np.eye(2)}, scale="raw").save(tmp_path / "raw")
