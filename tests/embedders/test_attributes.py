"""The `attributes` embedder: distances between items by what is said of them."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeker.embedders.attributes import (
    HASHED_AXES,
    AttributeEncoding,
    AttributesEmbedder,
    EncodedColumn,
)

KIND = EncodedColumn("kind", "category", values=("coat", "hat", "shoe"))
TAGS = EncodedColumn("tags", "tags", weight=2.0, values=("old", "warm", "red"))
PRICE = EncodedColumn(
    "price", "number", weight=0.5, knots=(1.0, 10.0, 100.0), places=(0.0, 0.5, 1.0)
)
MADE = EncodedColumn("made", "date", knots=(0.0, 365.0), places=(0.1, 0.9))
ENCODING = AttributeEncoding((KIND, TAGS, PRICE, MADE))


def distance(
    one: Mapping[str, Any], other: Mapping[str, Any], encoding: AttributeEncoding = ENCODING
) -> float:
    """Return the squared distance of two items with different ids."""
    a, b = AttributesEmbedder(encoding).embed([("1", one), ("2", other)]).astype(float)
    return float(((a - b) ** 2).sum())


def only(column: EncodedColumn) -> AttributeEncoding:
    return AttributeEncoding((column,))


def test_the_same_kind_is_at_the_same_place_and_any_other_is_1_away() -> None:
    assert distance({"kind": "hat"}, {"kind": " HAT"}, only(KIND)) == 0.0
    assert distance({"kind": "hat"}, {"kind": "shoe"}, only(KIND)) == pytest.approx(1.0)


def test_values_without_an_axis_have_a_place_of_their_own_for_ever() -> None:
    assert distance({"kind": "glove"}, {"kind": "Glove"}, only(KIND)) == 0.0
    assert distance({"kind": "glove"}, {"kind": "hat"}, only(KIND)) == pytest.approx(1.0)
    assert distance({"kind": "glove"}, {"kind": "scarf"}, only(KIND)) == pytest.approx(1.0, abs=0.4)
    digest = hashlib.sha256(b"value\0kind\0glove").digest()[:8]
    number = int.from_bytes(digest)
    signs = [1.0 if number >> (63 - place) & 1 else -1.0 for place in range(64)]
    vector = AttributesEmbedder(only(KIND)).embed([("1", {"kind": "glove"})])[0]
    expected = np.array([0.0] * 3 + [sign * math.sqrt(0.5 / 64) for sign in signs], np.float32)
    np.testing.assert_allclose(vector, expected, rtol=1e-6)


def test_numbers_are_the_same_value_however_they_are_written() -> None:
    coded = only(EncodedColumn("size", "category", values=("42", "0.5")))
    for one, other in ((42, "42.0"), ("42", 42.0), (0.5, "0.50"), (True, "true")):
        assert distance({"size": one}, {"size": other}, coded) == 0.0


def test_what_is_missing_is_like_no_other_and_not_like_itself() -> None:
    embedder = AttributesEmbedder(only(KIND))
    empty = [None, "", "unknown", "n/a"]
    items = [(str(n), {"kind": empty[n % 4]}) for n in range(200)] + [("hat", {"kind": "hat"})]
    x = embedder.embed(items).astype(float)
    products = x @ x.T
    apart = np.diag(products)[:, None] + np.diag(products) - 2 * products
    np.testing.assert_allclose(apart[-1, :-1], 1.0, atol=1e-6)
    others = apart[:-1, :-1][~np.eye(200, dtype=bool)]
    assert others.mean() == pytest.approx(1.0, abs=0.01)
    assert others.min() > 0.4
    again = embedder.embed([("7", {})])
    np.testing.assert_array_equal(again[0], x[7].astype(np.float32))


def test_a_missing_number_is_as_far_away_as_numbers_are_on_average() -> None:
    scale = EncodedColumn("price", "number", knots=(0.0, 1.0), places=(0.0, 1.0))
    known = [(f"k{n}", {"price": (n + 0.5) / 500}) for n in range(500)]
    missing: list[tuple[str, dict[str, float]]] = [(f"m{n}", {}) for n in range(500)]
    x = AttributesEmbedder(only(scale)).embed([*known, *missing]).astype(float)
    a, b = x[:500], x[500:]

    def apart(one: Any, other: Any) -> float:
        return float(((one[:, None] - other) ** 2).sum(axis=2).mean())

    average = apart(a, a)
    assert average == pytest.approx(1 / 6, rel=0.01)
    assert apart(a, b) == pytest.approx(average, rel=0.05)
    assert apart(b, b) == pytest.approx(average, rel=0.05)


def test_tags_are_apart_by_what_they_do_not_share() -> None:
    encoding = only(EncodedColumn("tags", "tags", values=("old", "warm", "red")))
    assert distance({"tags": ["old", "red"]}, {"tags": ["red", "old", "Old"]}, encoding) < 1e-12
    assert distance({"tags": ["old", "red"]}, {"tags": ["old", "warm"]}, encoding) == pytest.approx(
        0.5
    )
    assert distance({"tags": ["old"]}, {"tags": ["warm"]}, encoding) == pytest.approx(1.0)
    assert distance({"tags": []}, {"tags": []}, encoding) > 0.4


def test_numbers_and_dates_are_apart_by_the_items_between_them() -> None:
    assert distance({"price": 1}, {"price": 100}, only(PRICE)) == pytest.approx(0.5)
    assert distance({"price": -5}, {"price": 1}, only(PRICE)) == 0.0
    assert distance({"price": 55}, {"price": 1e12}, only(PRICE)) == pytest.approx(0.5 * 0.25**2)
    assert distance(
        {"made": "1970-01-01"}, {"made": "1971-01-01T00:00:00Z"}, only(MADE)
    ) == pytest.approx(0.64)
    same_moment = {"made": "1970-07-02T14:00:00+02:00"}
    assert distance({"made": "1970-07-02 12:00:00"}, same_moment, only(MADE)) == 0.0


cells = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["coat", "hat", "shoe"]),
        "tags": st.lists(st.sampled_from(["old", "warm", "red"]), min_size=1, unique=True),
        "price": st.floats(-10, 200),
    },
)


@settings(max_examples=60, deadline=None)
@given(cells, cells)
def test_a_distance_is_the_weighted_sum_over_the_columns(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Against the definition; columns that one of the two lacks are left out of both."""
    both = {*one} & {*other}
    columns = tuple(column for column in (KIND, TAGS, PRICE) if column.name in both)
    if not columns:
        return
    expected = 0.0
    if "kind" in both:
        expected += one["kind"] != other["kind"]
    if "tags" in both:
        shared = len({*one["tags"]} & {*other["tags"]})
        expected += 2.0 * (1.0 - shared / math.sqrt(len(one["tags"]) * len(other["tags"])))
    if "price" in both:
        places = [
            float(np.interp(cell["price"], [1, 10, 100], [0, 0.5, 1])) for cell in (one, other)
        ]
        expected += 0.5 * (places[0] - places[1]) ** 2
    assert distance(one, other, AttributeEncoding(columns)) == pytest.approx(expected, abs=1e-5)


def test_a_vector_depends_on_its_item_alone() -> None:
    embedder = AttributesEmbedder(ENCODING)
    items = [
        (str(n), {"kind": "hat" if n % 2 else "boot", "price": n, "tags": ["new"]})
        for n in range(40)
    ]
    whole = embedder.embed(items)
    assert whole.shape == (40, 3 + 3 + 1 + 1 + HASHED_AXES)
    assert whole.dtype == np.float32
    for n in (0, 7, 39):
        np.testing.assert_array_equal(embedder.embed([items[n]])[0], whole[n])
    np.testing.assert_array_equal(embedder.embed(items[::-1])[::-1], whole)


def test_an_encoding_comes_back_from_json() -> None:
    assert AttributeEncoding.from_json(ENCODING.to_json()) == ENCODING


BAD: dict[str, Any] = {
    "no object": [],
    "no columns": {"columns": []},
    "more than columns": {**ENCODING.to_json(), "more": 1},
    **{
        f"{key} {value!r}"[:40]: (number, key, value)
        for number, key, value in [
            (0, "kind", "colour"),
            (0, "name", 3),
            (1, "name", "kind"),
            (0, "weight", 0),
            (0, "weight", True),
            (0, "weight", 10**400),
            (0, "values", "hat"),
            (0, "values", ["hat", "hat"]),
            (0, "values", [1]),
            (0, "values", [str(n) for n in range(1000)]),
            (2, "knots", [3, 2, 1]),
            (2, "knots", [1, 2]),
            (2, "knots", [1, 2, 10**400]),
            (2, "places", [0.0, 0.5, 1.5]),
            (2, "places", [None, 0.5, 1.0]),
        ]
    },
}


@pytest.mark.parametrize("name", BAD)
def test_an_encoding_from_elsewhere_is_checked(name: str) -> None:
    value: Any = BAD[name]
    if isinstance(value, tuple):
        number, key, wrong = value
        value = copy.deepcopy(ENCODING.to_json())
        value["columns"][number][key] = wrong
    with pytest.raises(ValueError, match=r"column|encoding"):
        AttributeEncoding.from_json(value)
