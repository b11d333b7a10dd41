"""The built-in catalog: which emoji are in it, and that a few of them can be built and searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from seeker import build
from seeker.catalog.build.source import Record
from seeker.demo import demo_catalog
from seeker.demo.catalog import folder, sample_search
from seeker.demo.emoji import Emoji

FEW = [
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
    assert isinstance(fox.picture, bytes)
    assert "CC BY-SA" in source.about()["licence"]
    assert "OpenMoji" in source.about()["attribution"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo") / "few"
    source = Emoji(only=FEW)
    build(source, place, views=["image", "colour", "text"], about=source.about())
    return place


def test_a_few_emoji_can_be_built_and_searched(place: Path) -> None:
    from seeker import Catalog

    catalog = Catalog.open(place)
    assert set(catalog.views) == {"image", "colour", "text"}
    assert set(catalog.ids) <= set(FEW)
    assert len(catalog) >= 28
    assert [hit.item.id for hit in catalog.search("fox")] == ["1F98A"]
    session = catalog.session(page_size=4)
    before = session.belief.rank("1F34C")
    session.say("a yellow fruit")
    assert session.belief.rank("1F34C") < before
    session.undo()
    assert session.belief.rank("1F34C") == before
    item = session.page().items[0]
    assert catalog.media_file(item) is not None
    lines = list(sample_search(catalog))
    assert "🦊" in lines[0]
    assert "found it" in lines[-1]


def test_the_readme_shows_the_sample_search_as_it_is() -> None:
    if not (folder() / "catalog.json").exists():
        pytest.skip("the built-in catalog has not been built on this machine")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert "\n".join(sample_search(demo_catalog())) in readme
