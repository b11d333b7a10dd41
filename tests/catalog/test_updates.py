"""Updates: a new version beside the old one, switched at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, Conflict, NotFound, Session
from seeker.catalog.build import versions
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.file_lock import file_lock
from seeker.catalog.verify import find_problems
from support.builds import SHIRTS, MeanColour, jsonl, picture
from support.servers import TIMEOUT_SECONDS


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return seeker.build(jsonl(tmp_path / "shirts.jsonl", SHIRTS), tmp_path / "catalog")


def build_folder(catalog: Catalog) -> Path:
    assert catalog.folder is not None
    return catalog.folder


def test_removing_makes_a_new_version_and_keeps_the_old_one_open(catalog: Catalog) -> None:
    old, path = catalog, build_folder(catalog)
    assert not old.changed()
    new = seeker.remove(path, ids=["b"]).catalog
    assert list(new.ids) == ["a", "c", "d"]
    assert (new.version, new.changed(), old.changed()) == (2, False, True)
    assert old.item("b").title == "Plain shirt"
    assert [hit.item.id for hit in old.search("linen")] == ["b"]
    assert new.search("linen") == []
    assert [new.row(id) for id in new.ids] == [0, 1, 2]
    np.testing.assert_array_equal(
        new.views["vector"].vectors, old.views["vector"].vectors[[0, 2, 3]]
    )
    assert new.item("a") == old.item("a")
    assert new.attributes == old.attributes
    assert find_problems(path) == []


def test_statistics_are_those_of_the_new_version(catalog: Catalog) -> None:
    new = seeker.remove(build_folder(catalog), where={"price": {"gt": 30}}).catalog
    fresh = Catalog.from_arrays(["a", "d"], {"vector": [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]})
    assert list(new.ids) == ["a", "d"]
    assert new.views["vector"].scale == fresh.views["vector"].scale
    np.testing.assert_array_equal(new.views["vector"].mean, fresh.views["vector"].mean)


def test_a_removed_item_leaves_its_vectors(catalog: Catalog) -> None:
    path = build_folder(catalog)
    assert catalog.tombstones.get("b") is None
    seeker.remove(path, ids=["b"])
    new = seeker.remove(path, ids=["c"]).catalog
    for id, vector in (("b", [0.0, 1.0, 0.0]), ("c", [1.0, 0.0, 0.0])):
        kept = new.tombstones.get(id)
        assert kept is not None
        assert kept["vector"].dtype == np.float32
        assert kept["vector"].tolist() == vector
    assert new.tombstones.get("a") is None
    assert new.tombstones.get("\ud800") is None
    assert new.manifest is not None
    assert new.manifest.tombstones == 2
    back = seeker.update(path, jsonl(path.parent / "back.jsonl", [SHIRTS[1]])).catalog
    assert back.tombstones.get("b") is None
    assert back.tombstones.get("c") is not None


def test_tombstones_are_kept_however_many_versions_come(catalog: Catalog, tmp_path: Path) -> None:
    """A session in which an item was liked goes on, whatever else is removed."""
    path = build_folder(catalog)
    rows: list[dict[str, Any]] = [
        {"id": f"new {n}", "vector": [1.0, 2.0, float(n)]} for n in range(13)
    ]
    session = seeker.update(path, jsonl(tmp_path / "more.jsonl", rows)).catalog.session(seed=1)
    session.like("b", shown=["a", "b", "c"])
    session.dislike("c", shown=["a", "c", "d"])
    seeker.remove(path, ids=["b"])
    for row in rows:
        new = seeker.remove(path, ids=[row["id"]]).catalog
    kept = new.tombstones.get("b")
    assert kept is not None
    assert kept["vector"].tolist() == [0.0, 1.0, 0.0]
    assert new.manifest is not None
    assert new.manifest.tombstones == 14
    again = Session.replay(new, session.events)
    assert again.likes == ["b"]
    assert "b" not in again.more(0, 100).ids


def test_tombstones_are_forgotten_when_somebody_says_so(catalog: Catalog) -> None:
    path = build_folder(catalog)
    seeker.remove(path, ids=["b"])
    seeker.remove(path, ids=["c"])
    # The first removal was long ago, as far as the catalog knows.
    written = json.loads((path / "catalog.json").read_text())
    written["source"]["updates"][0]["at"] = "2020-01-01T00:00:00Z"
    (path / "catalog.json").write_text(json.dumps(written))
    assert versions.forget_removed(path, 10_000) == 0
    assert Catalog.open(path).version == 3, "nothing to forget makes no new version"
    assert versions.forget_removed(path, 100) == 1
    new = Catalog.open(path)
    assert new.tombstones.get("b") is None
    assert new.tombstones.get("c") is not None
    assert versions.forget_removed(path) == 1
    assert Catalog.open(path).tombstones.get("c") is None
    assert Catalog.open(path).version == 5
    tidy_catalog(path)
    assert find_problems(path) == []
    for wrong in (-1, 1.5, "3"):
        with pytest.raises(BadInput, match="days"):
            versions.forget_removed(path, wrong)  # type: ignore[arg-type]


def test_tombstones_of_a_view_that_is_made_anew_are_not_half_known(
    catalog: Catalog, tmp_path: Path
) -> None:
    """An item of which one view's vectors are lost cannot be compared in all views."""
    path = build_folder(catalog)
    rows = [{**row, "other": [1.0, 2.0, float(n)]} for n, row in enumerate(SHIRTS[:2])]
    new = seeker.build(jsonl(tmp_path / "more.jsonl", rows), path, replace=True)
    assert set(new.views) == {"vector", "other"}
    assert new.tombstones.get("c") is None
    session = catalog.session()
    session.like("c")
    with pytest.raises(NotFound, match="nothing is known"):
        Session.replay(new, session.events)


def test_only_the_last_updates_are_told(catalog: Catalog) -> None:
    file = build_folder(catalog) / "catalog.json"
    written = json.loads(file.read_text())
    written["source"]["updates"] = [{"version": -number} for number in range(999)]
    file.write_text(json.dumps(written))
    for id in "abc":
        new = seeker.remove(build_folder(catalog), ids=[id]).catalog
    assert new.manifest is not None
    updates = [one["version"] for one in new.manifest.source["updates"]]
    assert len(updates) == versions.MAX_UPDATES
    assert updates[0] == -2
    assert updates[-3:] == [2, 3, 4]


def test_updating_adds_changes_and_refuses_what_does_not_fit(
    catalog: Catalog, tmp_path: Path
) -> None:
    rows = [
        {"id": "e", "title": "Scarf", "price": 7, "size": "L", "vector": [3.0, 0.0, 0.0]},
        {"id": "a", "title": "Again", "price": None},
        {"id": "b", "title": "Plain shirt", "price": 35.5},
        {"id": "c", "vector": [2.0, 0.0, 0.0], "size": "S"},
        {"id": "f", "title": "Dear", "price": "dear", "vector": [3.0, 0.0, 0.0]},
        {"id": "e", "title": "Twice", "vector": [3.0, 0.0, 0.0]},
        {"id": "g", "title": "Nowhere"},
    ]
    told: list[str] = []
    source = jsonl(tmp_path / "more.jsonl", rows)
    report = seeker.update(build_folder(catalog), source, tell=told.append)
    new = report.catalog
    assert (report.new, report.changed, report.unchanged, report.refused) == (1, 2, 1, 3)
    assert report.sentence == "1 new, 2 changed, 1 unchanged, 3 refused."
    assert list(new.ids) == ["a", "b", "c", "d", "e"]
    assert new.item("a").title == "Again"
    assert new.item("a").attributes == {"new": True, "tags": ["cotton", "summer"]}
    assert new.item("e").attributes == {"price": 7, "size": "L"}
    assert new.item("c").attributes == {**catalog.item("c").attributes, "size": "S"}
    assert new.items([1, 3]) == catalog.items([1, 3])
    assert new.matching({"price": {"lt": 40}}).tolist() == [False, True, False, False, True]
    assert [hit.item.id for hit in new.search("scarf")] == ["e"]
    assert [hit.item.id for hit in new.search("again")] == ["a"]
    assert [hit.item.id for hit in new.search("café")] == ["a"], "its text is as it was"
    vectors = new.views["vector"].vectors
    assert vectors[2].tolist() == [2.0, 0.0, 0.0]
    np.testing.assert_array_equal(vectors[[0, 1, 3]], catalog.views["vector"].vectors[[0, 1, 3]])
    said = "\n".join(told)
    assert "1 × attribute of another kind: line 5" in said
    assert "1 × duplicate id: line 6 ('e')" in said
    assert "1 × no vector: line 7 (vector)" in said
    assert find_problems(build_folder(catalog)) == []
    with pytest.raises(BadInput, match="of another kind"):
        seeker.update(build_folder(catalog), tmp_path / "more.jsonl", strict=True)


def test_an_update_that_changes_nothing_makes_no_version(catalog: Catalog, tmp_path: Path) -> None:
    report = seeker.update(catalog, tmp_path / "shirts.jsonl")
    assert (report.unchanged, report.catalog.version) == (4, 1)
    assert not catalog.changed()
    assert not build_folder(catalog).with_name("catalog.building").exists()
    prices = tmp_path / "prices.csv"
    prices.write_text("id,price,tags\nb,35.5,linen\nc,80,\n")
    report = seeker.update(catalog, prices)
    assert (report.unchanged, report.catalog.version) == (2, 1)


def test_columns_that_a_source_lacks_stay_and_empty_cells_empty(
    catalog: Catalog, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("id,price,new\nb,12,\nc,,true\n")
    report = seeker.update(catalog, prices)
    assert (report.new, report.changed, report.unchanged, report.refused) == (0, 2, 0, 0)
    before = catalog.item("b").attributes
    assert report.catalog.item("b").attributes == {"price": 12, "tags": before["tags"]}
    brand = catalog.item("c").attributes["brand"]
    assert report.catalog.item("c").attributes == {"new": True, "brand": brand}
    assert report.catalog.attributes == catalog.attributes
    views = report.catalog.views["vector"], catalog.views["vector"]
    np.testing.assert_array_equal(views[0].vectors, views[1].vectors)


def test_columns_are_taken_for_what_they_were_when_it_was_built(tmp_path: Path) -> None:
    first = tmp_path / "first.csv"
    first.write_text("code,headline,note,vector\nx,One,first,[1 2]\ny,Two,second,[3 4]\n")
    options: dict[str, Any] = {"id": "code", "title": "headline", "text": ["note"]}
    seeker.build(first, tmp_path / "catalog", **options)
    more = tmp_path / "more.csv"
    more.write_text("id,code,note\n1,y,changed\n2,x,first\n")
    report = seeker.update(tmp_path / "catalog", more)
    assert (report.changed, report.refused) == (2, 0)
    assert report.catalog.item("y").title == "Two"
    assert [hit.item.id for hit in report.catalog.search("changed")] == ["y"]


def test_what_cannot_be_added_changes_nothing(catalog: Catalog, tmp_path: Path) -> None:
    path = build_folder(catalog)
    rows = [{"id": "e", "title": "no vector"}]
    assert seeker.update(path, jsonl(tmp_path / "more.jsonl", rows)).refused == 1
    with pytest.raises(BadInput, match="3 dimensions"):
        seeker.update(path, jsonl(tmp_path / "more.jsonl", [{"id": "e", "vector": [1.0, 2.0]}]))
    with pytest.raises(BadInput, match="in memory"):
        seeker.update(Catalog.from_arrays(["a"], {"v": [[1.0]]}), tmp_path / "more.jsonl")
    assert not catalog.changed()
    assert not path.with_name("catalog.building").exists()


@pytest.mark.parametrize(
    ("asked", "kind", "says"),
    [
        ({}, BadInput, "Nothing says"),
        ({"ids": ["z", "a"]}, NotFound, "'z'"),
        ({"where": {"cost": 3}}, NotFound, "cost"),
        ({"where": {"price": 3}}, NotFound, "No item"),
        ({"ids": ["a", "b", "c", "d"]}, BadInput, "Nothing would be left"),
    ],
)
def test_removals_that_mean_nothing_change_nothing(
    catalog: Catalog, asked: dict[str, object], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        seeker.remove(build_folder(catalog), **asked)  # type: ignore[arg-type]
    assert not catalog.changed()
    assert not build_folder(catalog).with_name("catalog.building").exists()


def test_old_files_stay_for_one_more_version_and_can_be_tidied(catalog: Catalog) -> None:
    path = build_folder(catalog)
    second = seeker.remove(path, ids=["b"]).catalog
    assert (path / "items.sqlite").exists()
    third = seeker.remove(path, ids=["c"]).catalog
    assert not (path / "items.sqlite").exists()
    assert second.item("c").title == "Skirt"
    assert tidy_catalog(path) > 0
    assert tidy_catalog(path) == 0
    assert third.item("d").title == "Hat"
    assert find_problems(path) == []
    assert len(list(path.rglob("*.sqlite"))) == 1


def test_who_has_opened_a_version_reads_it_after_it_was_tidied_away(catalog: Catalog) -> None:
    path = build_folder(catalog)
    changed = seeker.update(path, [{"id": "a", "title": "Vest"}]).catalog
    seeker.remove(path, ids=["b"])
    tidy_catalog(path)
    assert catalog.item("b").title == "Plain shirt"
    assert changed.item("a").title == "Vest"
    assert changed.session(query="vest").page().ids[0] == "a"


def test_many_versions_in_a_row_end_no_search(catalog: Catalog) -> None:
    path = build_folder(catalog)
    seeker.update(path, [{"id": "a", "price": 1}])
    opened = Catalog.open(path)
    for price in range(2, 20):
        seeker.update(path, [{"id": "a", "price": price}])
    session = opened.session(page_size=2)
    session.like(session.page().ids[0])
    assert len(session.page()) == 2
    assert opened.item("a").attributes["price"] == 1


def test_one_update_at_a_time(catalog: Catalog) -> None:
    path = build_folder(catalog)
    work = path.with_name("catalog.building")
    with file_lock(work / "lock", "it is held"):
        for change in (
            lambda: seeker.remove(path, ids=["a"], wait=0.0),
            lambda: seeker.update(path, path.parent / "shirts.jsonl", wait=0.0),
            lambda: versions.forget_removed(path, wait=0.0),
            lambda: tidy_catalog(path, wait=0.0),
        ):
            with pytest.raises(Conflict, match="another process"):
                change()
    assert len(seeker.remove(path, ids=["a"]).catalog) == 3


def test_updates_wait_for_each_other(catalog: Catalog, tmp_path: Path) -> None:
    """Ten at once, each with a lock file that goes with its work: none is lost or refused."""
    path = build_folder(catalog)
    rows = [{"id": f"new {n}", "vector": [1.0, 2.0, float(n)]} for n in range(10)]
    seeker.update(path, jsonl(tmp_path / "more.jsonl", rows))

    def remove(row: dict[str, Any]) -> None:
        seeker.remove(path, ids=[row["id"]], wait=TIMEOUT_SECONDS)

    with ThreadPoolExecutor(10) as threads:
        for done in [threads.submit(remove, row) for row in rows]:
            done.result()
    new = Catalog.open(path)
    assert (list(new.ids), new.version) == (["a", "b", "c", "d"], 12)
    assert find_problems(path) == []
    assert not path.with_name("catalog.building").exists()


def test_thumbnails_are_shared_and_swept(tmp_path: Path) -> None:
    for name, colour in (("red", (255, 0, 0)), ("green", (0, 255, 0))):
        picture(tmp_path / "pictures" / f"{name}.png", colour)
    picture(tmp_path / "more" / "blue.png", (0, 0, 255))
    embedders = {"colour": MeanColour()}
    path = tmp_path / "catalog"
    catalog = seeker.build(tmp_path / "pictures", path, views=["colour"], embedders=embedders)
    added = seeker.update(path, tmp_path / "more", embedders=embedders).catalog
    files = [added.media_file(item) for item in added.items([0, 1, 2])]
    assert all(file is not None and file.is_file() for file in files)
    assert len(set(files)) == 3
    assert added.items([0, 1]) == catalog.items([0, 1])
    fewer = seeker.remove(path, ids=["green.png"]).catalog
    tidy_catalog(path)
    assert len(list((path / "media").rglob("*.webp"))) == 2
    assert [item.id for item in fewer.items([0, 1])] == ["red.png", "blue.png"]
    assert find_problems(path) == []
    (path / str(fewer.item("red.png").media)).write_bytes(b"other")
    (path / str(fewer.item("blue.png").media)).unlink()
    assert find_problems(path) == [
        "1 thumbnails are missing.",
        "1 thumbnails are not what was written.",
    ]


def test_building_again_replaces_only_when_asked(catalog: Catalog, tmp_path: Path) -> None:
    path = build_folder(catalog)
    rows = jsonl(tmp_path / "other.jsonl", [SHIRTS[0], {"id": "z", "vector": [9.0, 9.0, 9.0]}])
    with pytest.raises(Conflict, match="--replace"):
        seeker.build(rows, path)
    assert not catalog.changed()
    new = seeker.build(rows, path, replace=True)
    assert (list(new.ids), new.version) == (["a", "z"], 2)
    assert catalog.changed()
    assert catalog.item("b").title == "Plain shirt"
    kept = new.tombstones.get("b")
    assert kept is not None
    assert kept["vector"].tolist() == [0.0, 1.0, 0.0]


def test_nothing_is_built_over_what_is_no_catalog(tmp_path: Path) -> None:
    rows = jsonl(tmp_path / "rows.jsonl", SHIRTS)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for place in (tmp_path / "mine", tmp_path / "mine" / "letter.txt"):
        with pytest.raises(Conflict, match="no catalog"):
            seeker.build(rows, place, replace=True)
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    (tmp_path / "empty").mkdir()
    assert len(seeker.build(rows, tmp_path / "empty")) == 4
