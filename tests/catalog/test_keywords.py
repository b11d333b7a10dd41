"""What people type, found in the items' fields: forms, beginnings, parts, slips of the keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeker import Catalog
from seeker.catalog.keywords import edit_distance, read_sizes, tokenise
from seeker.embedders.text import MultilingualEmbedder
from seeker.session.words import SearchWord

TITLES = (
    "T-Shirt, striped",
    "Shirt",
    "Undershirt",
    "Longsleeve",
    "Dress",
    "Party dresses",
    "Shoes",
    "Cape",
    "Cap",
    "Sommerkleid rot",
    "Rote Hose",
    "赤いドレス",
    "ドレス",
    "Красные туфли",
    "Body for babies",
    "Crème brûlée",
    "Not sure",
)


def catalog_of(*titles: str) -> Catalog:
    ids = [str(n) for n in range(len(titles))]
    return Catalog.from_arrays(ids, {"x": np.eye(len(titles))}, titles=titles)


CATALOG = catalog_of(*TITLES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dress", {"Dress", "Party dresses"}),
        ("dresses", {"Dress", "Party dresses"}),
        ("shoe", {"Shoes"}),
        ("bodies", {"Body for babies"}),
        ("baby", {"Body for babies"}),
        ("tshirt", {"T-Shirt, striped"}),
        ("t-shirts", {"T-Shirt, striped"}),
        ("stripes", {"T-Shirt, striped"}),
        ("long sleeve", {"Longsleeve"}),
        ("long sleeves", {"Longsleeve"}),
        ("shrit", {"Shirt", "T-Shirt, striped"}),
        ("t-shrit", {"T-Shirt, striped"}),
        ("undershrit", {"Undershirt"}),
        ("drss", {"Dress"}),
        ("undesrhirts", {"Undershirt"}),
        ("sohe", {"Shoes"}),
        ("acps", {"Cap"}),
        ("zaps", set()),
        ("shose", {"Shoes"}),
        ("unders", {"Undershirt"}),
        ("cap", {"Cap"}),
        ("kleid", {"Sommerkleid rot"}),
        ("roter", {"Sommerkleid rot", "Rote Hose"}),
        ("ドレス", {"赤いドレス", "ドレス"}),
        ("赤いドレス", {"赤いドレス"}),
        ("青いドレス", {"赤いドレス", "ドレス"}),
        ("туфля", {"Красные туфли"}),
        ("creme brulee", {"Crème brûlée"}),
        ("not sure", {"Not sure"}),
        ("for", {"Body for babies"}),
        ("something for dresses", {"Dress", "Party dresses"}),
        ("zebra", set()),
        ("the", set()),
        ("?!", set()),
    ],
)
def test_words_are_found_in_the_titles(words: str, expected: set[str]) -> None:
    assert {hit.item.title for hit in CATALOG.search(words)} == expected


def test_the_fewer_words_a_field_has_the_more_each_counts() -> None:
    hits = CATALOG.search("shirt")
    assert [hit.item.title for hit in hits] == ["Shirt", "T-Shirt, striped"]
    assert hits[0].score == pytest.approx(3 * hits[1].score, rel=0.2)


def test_items_with_all_words_come_first() -> None:
    catalog = catalog_of("red hat", "red dress", "blue dress", "red dresses", "green shoe")
    assert [hit.item.title for hit in catalog.search("red dress")][:2] == [
        "red dress",
        "red dresses",
    ]


def test_it_is_said_how_each_word_was_found() -> None:
    found = {word.text: word.match for word in CATALOG.find_words("the red shrit and dresses unde")}
    assert found == {
        "the": "filler",
        "red": "none",
        "shrit": "spelling",
        "and": "filler",
        "dresses": "exact",
        "unde": "beginning",
    }
    word = CATALOG.find_words("shrit")[0]
    assert word == SearchWord("shrit", "spelling", (("shirt", 0.7),))
    assert SearchWord.from_json(word.to_json()) == word


def test_words_of_a_catalog_in_another_language_have_its_forms() -> None:
    titles = ("Rotes Kleid", "Roter Rock", "Kleider in Rot", "Blaue Hose")
    embedder = MultilingualEmbedder()
    catalog = Catalog.from_arrays(
        [str(n) for n in range(4)],
        {"text": embedder.embed(titles)},
        titles=titles,
        metric="cosine",
        embedders={"text": embedder},
    )
    assert {hit.item.title for hit in catalog.search("rote kleid")} == set(titles[:3])
    assert {hit.item.title for hit in catalog.search("hosen")} == {"Blaue Hose"}
    session = catalog.session(query="trousers", strategy="greedy")
    assert session.page().items[0].title == "Blaue Hose"
    assert session.words[0].unknown == ("trousers",)


def test_a_long_field_counts_little_but_counts() -> None:
    long = " ".join(f"word{n}" for n in range(300))
    catalog = Catalog.from_arrays(
        ["a", "b", "c"],
        {"x": np.eye(3)},
        titles=["hat", "b", "c"],
        attributes={"about": [None, f"a hat {long}", long]},
    )
    first, second = catalog.search("hat")
    assert (first.item.id, second.item.id) == ("a", "b")
    assert 0.0 < second.score < first.score / 10


@given(st.text(max_size=30))
@settings(deadline=None)
def test_nothing_that_is_typed_breaks_the_search(text: str) -> None:
    matches = CATALOG.match_words(CATALOG.find_words(text))
    assert matches.at(np.arange(len(CATALOG))).mean() == pytest.approx(1.0)
    CATALOG.search(text)


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_slips_are_counted_as_by_trying_all_of_them(one: str, other: str) -> None:
    reached, near = {one}, 0
    while other not in reached and near < 2:
        reached |= {near for word in reached for near in _one_slip(word)}
        near += 1
    expected = near if other in reached else 3
    # A pair that was swapped is not touched again; trying all slips may do that.
    assert edit_distance(one, other, 2) in (expected, min(expected + 1, 3))
    assert (edit_distance(one, other, 1) <= 1) == (other in {one} | _one_slip(one))


def _one_slip(word: str) -> set[str]:
    halves = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(a + b[1:] for a, b in halves if b),
        *(a + letter + b for a, b in halves for letter in "abc"),
        *(a + letter + b[1:] for a, b in halves for letter in "abc" if b),
        *(a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1),
    }


def test_sizes_of_fields_are_read_as_the_index_writes_them() -> None:
    blobs = [bytes([3, 0, 5]), bytes([0x82, 0x2C, 0, 1]), bytes([1, 0x81, 0x00, 2])]
    assert read_sizes(blobs).tolist() == [[3, 0, 5], [300, 0, 1], [1, 128, 2]]
    assert read_sizes(blobs[:1]).tolist() == [[3, 0, 5]]


def test_words_are_folded_as_the_index_folds_them() -> None:
    assert tokenise("Crème-Brûlée") == ["creme", "brulee"]
    assert tokenise("ДОМ мой") == ["дом", "мой"]
    assert tokenise("ドレス") == ["ドレス"]
