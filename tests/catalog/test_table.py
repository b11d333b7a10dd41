"""Filters, facets and keyword search: the same for catalogs in memory and in a folder."""

from __future__ import annotations

import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seeker
from seeker import BadInput, Catalog, NotFound
from support.builds import SHIRTS, Letters, jsonl

IDS = [str(one["id"]) for one in SHIRTS]


def in_memory() -> Catalog:
    names = ("price", "new", "tags", "brand", "description")
    return Catalog.from_arrays(
        IDS,
        {"vector": np.array([one["vector"] for one in SHIRTS])},
        titles=[str(one["title"]) for one in SHIRTS],
        attributes={name: [one.get(name) for one in SHIRTS] for name in names},
    )


@pytest.fixture(scope="module", params=["memory", "folder"])
def shirts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    if request.param == "memory":
        return in_memory()
    folder = tmp_path_factory.mktemp("shirts")
    return seeker.build(jsonl(folder / "shirts.jsonl", SHIRTS), folder / "catalog")


def passing(catalog: Catalog, filter: dict[str, Any]) -> str:
    return "".join(np.array(list(catalog.ids))[catalog.matching(filter)])


@pytest.mark.parametrize(
    ("filter", "ids"),
    [
        ({"price": 20}, "a"),
        ({"price": [20, 80]}, "ac"),
        ({"price": {"lt": 35.5}}, "a"),
        ({"price": {"le": 35.5}}, "ab"),
        ({"price": {"gt": 20, "ge": 35.5, "lt": 80}}, "b"),
        ({"price": {"lt": 10**30}}, "abc"),
        ({"price": None}, "d"),
        ({"price": [None, 20]}, "ad"),
        ({"price": []}, ""),
        ({"new": True}, "a"),
        ({"new": [True, False]}, "abc"),
        ({"brand": "striped"}, "d"),
        ({"brand": {"ge": "t"}}, "c"),
        ({"tags": "linen"}, "b"),
        ({"tags": ["summer", "linen"]}, "ab"),
        ({"tags": None}, "cd"),
        ({"new": False, "price": {"lt": 50}}, "b"),
        ({"price": np.float32(20.0)}, "a"),
        ({}, "abcd"),
    ],
)
def test_filters_pass_what_they_say(shirts: Catalog, filter: dict[str, Any], ids: str) -> None:
    assert passing(shirts, filter) == ids


@pytest.mark.parametrize(
    ("filter", "kind", "says"),
    [
        ({"cost": 3}, NotFound, "'cost'.*brand.*price"),
        ({"price": "cheap"}, BadInput, "holds a number"),
        ({"price": True}, BadInput, "holds a number"),
        ({"price": math.nan}, BadInput, "holds a number"),
        ({"price": {"about": 3}}, BadInput, "bounds"),
        ({"price": {}}, BadInput, "bounds"),
        ({"price": {"lt": None}}, BadInput, "empty"),
        ({"brand": 3}, BadInput, "holds a text"),
        ({"new": "yes"}, BadInput, "true or false"),
        ({"new": {"lt": 1}}, BadInput, "no order"),
        ({"tags": {"lt": "x"}}, BadInput, "no order"),
        ([("price", 3)], BadInput, "not a mapping"),
    ],
)
def test_filters_that_mean_nothing_are_refused(
    shirts: Catalog, filter: Any, kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        shirts.matching(filter)


def test_an_attribute_named_like_sql_is_only_a_name() -> None:
    name = 'x"; DROP TABLE items; --'
    catalog = Catalog.from_arrays(["a", "b"], {"x": [[1.0], [2.0]]}, attributes={name: [1, 2]})
    assert passing(catalog, {name: 2}) == "b"
    with pytest.raises(NotFound):
        catalog.matching({"a0": 2})


def test_facets_count_under_the_filter(shirts: Catalog) -> None:
    facets = shirts.facets()
    assert facets["new"].values == ((False, 2), (True, 1))
    assert (facets["price"].low, facets["price"].high, facets["price"].known) == (20, 80, 3)
    assert facets["tags"].values == (("cotton", 1), ("linen", 1), ("summer", 1))
    assert (facets["tags"].known, facets["tags"].distinct) == (2, 3)
    few = shirts.facets({"price": {"gt": 30}}, limit=1)
    assert few["tags"].values == (("linen", 1),)
    assert few["new"].values == ((False, 2),)
    assert few["price"].low == 35.5
    assert shirts.facets({"price": 20})["brand"].known == 0
    assert facets["brand"].to_json()["values"][0] == {"value": "striped", "count": 1}
    with pytest.raises(BadInput, match="limit"):
        shirts.facets(limit=-1)


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("shirt", "ab"),
        ("SHIRT", "ab"),
        ("stri", "abd"),
        ("cafe", "a"),
        ("orsted", "c"),  # Ø is a letter of its own, not an accented O: a slip
        ("sön", "c"),  # but accents fall away
        ("linen", "b"),
        ("stri shirt", "abd"),
        ("", ""),
        ("…", ""),
        ("nothing like it", ""),
    ],
)
def test_search_finds_words_and_beginnings(shirts: Catalog, words: str, ids: str) -> None:
    assert "".join(sorted(hit.item.id for hit in shirts.search(words))) == ids


def test_a_hit_in_the_title_counts_more_than_elsewhere(shirts: Catalog) -> None:
    hits = shirts.search("striped")
    assert hits[0].item.id == "a"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.item.id for hit in shirts.search("striped", filter={"price": {"gt": 30}})] == ["b"]
    assert len(shirts.search("striped", limit=1)) == 1
    with pytest.raises(BadInput, match="limit"):
        shirts.search("striped", limit=0)
    with pytest.raises(NotFound, match="cost"):
        shirts.search("striped", filter={"cost": 1})
    with pytest.raises(BadInput, match="text to search"):
        shirts.search(3)  # type: ignore[arg-type]


def test_a_beginning_counts_where_there_is_no_whole_word() -> None:
    catalog = Catalog.from_arrays(
        ["a", "b", "c"], {"x": [[1.0], [2.0], [3.0]]}, titles=["carpet", "car", "tree"]
    )
    assert [hit.item.id for hit in catalog.search("car")] == ["b"]
    assert [hit.item.id for hit in catalog.search("carp")] == ["a"]


@pytest.mark.parametrize(
    "words", ['"', "a OR", "NEAR(a b)", "title:shirt", "shirt*", "-shirt", "(", "a\0b", "^shirt"]
)
def test_what_people_type_is_never_syntax(shirts: Catalog, words: str) -> None:
    shirts.search(words)
    assert "a" in [hit.item.id for hit in shirts.search(f"{words} shirt")]


@given(st.text())
def test_no_text_breaks_the_search(words: str) -> None:
    catalog = in_memory()
    prior = catalog.keyword_prior(words)
    assert np.exp(prior).sum() == pytest.approx(1.0)


def test_a_very_long_text_can_be_searched_for(shirts: Catalog) -> None:
    assert shirts.search("shirt " * 100_000)


def test_the_keyword_prior_is_a_mixture_with_a_floor(shirts: Catalog) -> None:
    prior = np.exp(shirts.keyword_prior("shirt"))
    assert prior.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(prior[2:], 0.25 / 4)
    assert (prior[:2] > 0.25 / 4 + 0.3).all()
    np.testing.assert_allclose(np.exp(shirts.keyword_prior("nothing")), 0.25)


@pytest.mark.parametrize("model", ["choice", "pairwise", "bipartite"])
@pytest.mark.parametrize("strategy", ["boltzmann", "greedy", "epsilon", "random", "diverse"])
def test_filter_and_prior_combine_with_everything(
    shirts: Catalog, model: str, strategy: str
) -> None:
    session = shirts.session(
        model, strategy, page_size=2, query="striped shirt", filter={"price": {"lt": 50}}
    )
    session.like("a")
    assert sorted(session.more(0, 10).ids) == ["a", "b"]
    assert session.more(0, 10).total == 2


def test_kinds_are_told_apart(shirts: Catalog) -> None:
    kinds = {"price": "number", "new": "boolean", "tags": "tags", "brand": "text"}
    assert {name: shirts.attributes[name] for name in kinds} == kinds


def test_many_threads_search_at_once(shirts: Catalog) -> None:
    def look(n: int) -> tuple[list[str], int, int]:
        hits = [hit.item.id for hit in shirts.search("shirt")]
        return hits, int(shirts.matching({"new": False}).sum()), shirts.row(IDS[n % 4])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(look, range(200)))
    assert answers == [
        (["b", "a"] if answers[0][0][0] == "b" else ["a", "b"], 2, n % 4) for n in range(200)
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_can_search(shirts: Catalog) -> None:
    shirts.search("shirt")
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = [hit.item.id for hit in shirts.search("linen")], shirts.item("c").title
            os.write(writable, pickle.dumps(answer))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    with open(readable, "rb") as handle:
        assert pickle.loads(handle.read()) == (["b"], "Skirt")
    assert [hit.item.id for hit in shirts.search("linen")] == ["b"]


def test_words_become_a_vector_where_a_view_reads_text() -> None:
    vectors = Letters().embed([str(one["title"]) for one in SHIRTS])
    catalog = Catalog.from_arrays(
        IDS,
        {"size": [[1.0], [2.0], [3.0], [4.0]], "text": vectors},
        metric={"text": "cosine"},
        embedders={"text": Letters()},
    )
    view, vector = catalog.embed_text("abba")
    assert view == "text"
    assert vector[:3] == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), 0.0])
    assert catalog.reads_text
    with pytest.raises(BadInput, match="no words"):
        catalog.embed_text("  ")
    with pytest.raises(BadInput, match="'smell'"):
        Catalog.from_arrays(IDS, {"text": vectors}, embedders={"smell": Letters()})


def test_without_such_a_view_the_error_says_so(shirts: Catalog) -> None:
    assert not shirts.reads_text
    with pytest.raises(BadInput, match="No view"):
        shirts.embed_text("red")


def test_ids_and_texts_that_are_not_unicode_break_nothing(tmp_path: Path) -> None:
    catalog = Catalog.from_arrays(
        ["a\ud800", "b\ud800"], {"x": [[1.0], [2.0]]}, attributes={"n": ["x\ud800", "y"]}
    )
    assert passing(catalog, {"n": "y"}) == "b\ud800"
    assert catalog.tombstones.get("a") is None
