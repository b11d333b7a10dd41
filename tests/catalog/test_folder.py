"""A catalog in a folder: opened lazily, whole or refused."""

from __future__ import annotations

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, Conflict, NotFound, Session
from seeker.catalog.verify import find_problems
from support.builds import SHIRTS, Letters, jsonl


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    seeker.build(
        jsonl(folder / "shirts.jsonl", SHIRTS),
        folder / "catalog",
        views=["vector", "text"],
        embedders={"text": Letters()},
        about={"licence": "CC0"},
    )
    return folder / "catalog"


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "copy"))


def test_the_folder_looks_as_designed(built: Path) -> None:
    found = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    views = {f"views/{name}{end}.npy" for name in ("vector", "text") for end in ("", ".moments")}
    assert found == {"catalog.json", "items.sqlite", *views}
    manifest = json.loads((built / "catalog.json").read_text())
    assert manifest["schema"] == 5
    assert manifest["count"] == 4
    assert manifest["about"] == {"licence": "CC0"}
    assert manifest["views"]["text"]["embedder"]["reads"] == ["text"]


def test_it_is_the_catalog_that_arrays_would_make(built: Path) -> None:
    stored = Catalog.open(built)
    arrays = Catalog.from_arrays(
        [one["id"] for one in SHIRTS],
        {
            "vector": np.array([one["vector"] for one in SHIRTS]),
            "text": Letters().embed(
                ["\n".join(filter(None, (one["title"], one.get("description")))) for one in SHIRTS]
            ),
        },
        metric={"text": "cosine"},
    )
    for name, view in arrays.views.items():
        other = stored.views[name]
        np.testing.assert_array_equal(other.vectors, view.vectors)
        assert other.metric == view.metric
        assert other.scale == view.scale
        assert other.radius == view.radius
        np.testing.assert_array_equal(other.mean, view.mean)
        np.testing.assert_array_equal(other.variance, view.variance)
    one, other_session = arrays.session(seed=3), stored.session(seed=3)
    for session in (one, other_session):
        session.like("a")
        session.dislike("c")
    assert one.page().ids == other_session.page().ids
    np.testing.assert_array_equal(one.belief.log_posterior, other_session.belief.log_posterior)
    again = Session.replay(Catalog.open(built), other_session.events)
    assert again.page().ids == one.page().ids


def test_items_come_in_the_order_asked_for(built: Path) -> None:
    catalog = Catalog.open(built)
    assert [item.id for item in catalog.items([3, 0, 3, 1])] == ["d", "a", "d", "b"]
    assert catalog.item("a").attributes == {"price": 20, "new": True, "tags": ["cotton", "summer"]}
    assert catalog.item("d").title == "Hat"


def test_an_item_is_its_readers_own(built: Path) -> None:
    catalog = Catalog.open(built)
    before = catalog.item("a")
    assert isinstance(before.attributes, dict)
    before.attributes["price"] = -1
    assert catalog.item("a").attributes["price"] == 20


def test_a_folder_that_was_moved_away_is_read_on_by_any_thread(copy: Path) -> None:
    catalog = Catalog.open(copy)
    first = catalog.item("a")
    copy.rename(copy.with_name("elsewhere"))
    with ThreadPoolExecutor(4) as pool:
        for read in [pool.submit(catalog.item, id) for id in ["a", "b", "c", "d"] * 4]:
            assert read.result().title
    assert catalog.item("a") == first


def test_ids_are_a_lazy_sequence(built: Path) -> None:
    ids = Catalog.open(built).ids
    assert list(ids) == ["a", "b", "c", "d"]
    assert (ids[0], ids[-1], ids[1:3], ids[::-2]) == ("a", "d", ["b", "c"], ["d", "b"])
    assert "c" in ids
    assert "z" not in ids
    assert 3 not in ids  # type: ignore[comparison-overlap]
    with pytest.raises(IndexError):
        ids[4]


def test_what_is_not_there_is_not_found(built: Path) -> None:
    catalog = Catalog.open(built)
    for id in ("z", "a\ud800", "", 3, None, ["a"]):
        assert id not in catalog
        with pytest.raises(NotFound, match="no item"):
            catalog.row(id)  # type: ignore[arg-type]


def test_words_are_read_by_the_recorded_embedder_only_if_it_is_trusted(built: Path) -> None:
    with pytest.raises(Conflict, match="trust=True"):
        Catalog.open(built).embed_text("hat")
    assert Catalog.open(built).reads_text


def test_nothing_of_the_vectors_is_read_at_opening(copy: Path) -> None:
    """The vectors are replaced by others of the same size: opening does not notice, verify does."""
    file = copy / "views" / "vector.npy"
    contents = bytearray(file.read_bytes())
    contents[-1] ^= 1
    file.write_bytes(contents)
    assert len(Catalog.open(copy)) == 4
    assert find_problems(copy) == [
        "'views/vector.npy' is not what was written: its checksum is another."
    ]


def test_a_whole_catalog_verifies(built: Path) -> None:
    assert find_problems(built) == []


def test_a_damaged_item_table_is_found(copy: Path) -> None:
    file = copy / "items.sqlite"
    contents = bytearray(file.read_bytes())
    contents[4096:8192] = b"\xff" * 4096
    file.write_bytes(contents)
    assert any("items.sqlite" in problem for problem in find_problems(copy))


@pytest.mark.parametrize("name", ["items.sqlite", "views/text.npy", "views/vector.moments.npy"])
def test_missing_and_cut_files_are_refused_at_opening(copy: Path, name: str) -> None:
    file = copy / name
    contents = file.read_bytes()
    file.write_bytes(contents[:-1])
    with pytest.raises(BadInput, match=rf"damaged: '{name}' has .* instead of"):
        Catalog.open(copy)
    file.unlink()
    with pytest.raises(BadInput, match=f"damaged: '{name}' is missing"):
        Catalog.open(copy)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 99}, "schema 99.*newer Seeker"),
        ({"schema": "one"}, "which schema"),
        ({"count": 5}, "instead of float32"),
        ({"views": {}}, "no views"),
        ({"items": None}, "None as 'items'"),
        ({"items": {"file": "../items.sqlite", "bytes": 1, "sha256": ""}}, "'items.file'.*inside"),
        ({"version": 2}, "identity"),
    ],
)
def test_heads_that_cannot_be_trusted_are_refused(
    copy: Path, change: dict[str, object], says: str
) -> None:
    manifest = json.loads((copy / "catalog.json").read_text())
    (copy / "catalog.json").write_text(json.dumps({**manifest, **change}))
    with pytest.raises(BadInput, match=says):
        Catalog.open(copy)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "\xff"])
def test_a_head_that_is_not_json_is_refused(copy: Path, text: str) -> None:
    (copy / "catalog.json").write_text(text, encoding="latin-1")
    with pytest.raises(BadInput, match="damaged"):
        Catalog.open(copy)


def test_pickles_are_never_read(copy: Path) -> None:
    file = copy / "views" / "vector.npy"
    size = file.stat().st_size
    array = np.empty((4, 3), object)
    np.save(file, array, allow_pickle=True)
    contents = file.read_bytes()
    file.write_bytes(contents[:size] + b"\0" * max(size - len(contents), 0))
    with pytest.raises(BadInput, match="not an array of numbers"):
        Catalog.open(copy)


def test_importing_and_opening_load_nothing_heavy(built: Path) -> None:
    import subprocess

    code = (
        "import sys, seeker; seeker.Catalog.open(sys.argv[1]).search('shirt');"
        "heavy = {'PIL', 'onnxruntime', 'pyarrow', 'psycopg', 'tqdm', 'click'} & set(sys.modules);"
        "print(heavy or 'none')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(built)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "none"
