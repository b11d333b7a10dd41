"""The built-in catalog: which emoji are in it, and that a few of them can be built and searched."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from seeker import Catalog, build
from seeker.catalog.build.source import Record
from seeker.demo import GROUPS, Emoji, demo_catalog, demo_folder, sample_search

DRINK = "Food & Drink"
FOOD = [
    "1F34D", "1F955", "1F965", "1F96D", "1F345", "1F346", "1F951", "1F966", "1F952", "1F33D",
    "1F35E", "1F950", "1F956", "1F354", "1F35F", "1F355", "1F32D", "1F96A", "1F363", "1F364",
    "1F366", "1F369", "1F36A", "1F382", "1F370", "1F36B", "1F36C", "1F36D", "2615", "1F377",
]  # fmt: skip
STRANGERS = [
    "1F44D", "1F44E", "1F44B", "1F590", "1F44C", "1F482", "1F46E", "1F477", "1F575", "1F470",
    "1F61A", "1F618", "1F600", "1F602", "1F62D", "1F621", "1F4A1", "1F50B", "1F4BB", "1F4F1",
    "1F528", "1F527", "2702", "1F58A", "1F4D5", "1F3E0", "1F3E5", "26EA", "1F5FC", "1F682",
    "2708", "26F5", "26BD", "1F3C0", "1F3BE", "1F3B1", "2764", "1F499", "2B50", "1F534",
]  # fmt: skip
COMMON = [
    "1F98A", "1F43A", "1F431", "1F436", "1F981", "1F42F", "1F434", "1F984", "1F404", "1F437",
    "1F34E", "1F34F", "1F34A", "1F34B", "1F34C", "1F349", "1F347", "1F353", "1F352", "1F351",
    "1F697", "1F695", "1F68C", "1F691", "1F692", "1F693", "1F69C", "1F3CE", "1F6B2", "1F6F4",
]  # fmt: skip


def test_no_copies_in_other_skin_tones_and_few_flags() -> None:
    source = Emoji()
    records = [record for record in source.records() if isinstance(record, Record)]
    assert len(records) == source.count() > 1500
    tones = {chr(code) for code in range(0x1F3FB, 0x1F400)}
    characters = [str(record.attributes["character"]) for record in records]
    assert not any(tones & {*character} for character in characters)
    countries = [one for one in characters if 0x1F1E6 <= ord(one[0]) <= 0x1F1FF]
    assert 4 <= len(countries) <= 12
    assert len({record.id for record in records}) == len(records)
    fox = next(record for record in records if record.id == "1F98A")
    assert fox.title == "fox"
    assert "fox face" in (fox.text or "")
    assert fox.attributes["category"] == "Animals & Nature"
    assert fox.attributes["subcategory"] == "animal mammal"
    categories = [record.attributes["category"] for record in records]
    assert len({*categories} - {None}) == 9
    assert categories.count(None) < 20
    assert isinstance(fox.picture, bytes)
    assert "CC BY-SA" in source.about()["licence"]
    assert "OpenMoji" in source.about()["attribution"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo") / "few"
    source = Emoji(only=[*COMMON, *FOOD, *STRANGERS])
    views = ["image", "colour", "text", "attributes"]
    build(source, place, views=views, attributes_view=GROUPS, about=source.about())
    return place


def test_a_few_emoji_can_be_built_and_searched(place: Path) -> None:
    catalog = Catalog.open(place)
    assert set(catalog.views) == {"image", "colour", "text", "attributes"}
    assert set(catalog.ids) <= {*COMMON, *FOOD, *STRANGERS}
    assert len(catalog) >= 98
    assert [hit.item.id for hit in catalog.search("fox")] == ["1F98A"]
    session = catalog.session(page_size=4)
    before = session.belief.rank("1F34C")
    session.say("a yellow fruit")
    assert session.belief.rank("1F34C") < before
    session.undo()
    assert session.belief.rank("1F34C") == before
    item = session.page().items[0]
    assert catalog.media_file(item) is not None
    assert {value for value, _ in catalog.facets()["subcategory"].values} >= {"food fruit", "sport"}
    lines = list(sample_search(catalog))
    assert "🦊" in lines[0]
    assert "found it" in lines[-1]


def test_who_likes_a_carrot_a_coconut_and_a_mango_sees_food(place: Path) -> None:
    """From the first like on; without the groups three of twelve are then something else."""
    catalog = Catalog.open(place)
    strangers = [id for id in catalog.ids if catalog.item(id).attributes["category"] != DRINK]
    food: list[list[int]] = [[], [], []]
    for seed in range(10):
        draw, session = random.Random(seed), catalog.session(seed=seed)
        for likes, liked in enumerate(("1F955", "1F965", "1F96D")):
            session.like(liked, shown=[liked, *draw.sample(strangers, 11)])
            page = session.page()
            food[likes].append(sum(item.attributes["category"] == DRINK for item in page))
    assert sum(food[0]) >= 110
    assert min(food[1] + food[2]) >= 11
    assert sum(food[2]) == 120


def test_the_docs_show_the_sample_search_as_it_is() -> None:
    if not (demo_folder() / "catalog.json").exists():
        pytest.skip("the built-in catalog has not been built on this machine")
    page = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
    assert "\n".join(sample_search(demo_catalog())) in page
