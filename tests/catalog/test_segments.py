"""Updates cost what they change, and searches over what they leave are those of one build."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from cluster.walks import spread
from seeker import BadInput, Catalog, Session, models
from seeker.catalog.build import segments, update, versions
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.verify import find_problems
from support.builds import jsonl

ITEMS, SEGMENTS = 240, 20
KINDS = ("wool", "silk", "linen", "felt")
MODELS: tuple[Any, ...] = (
    "choice",
    "pairwise",
    "bipartite",
    models.Pairwise(alpha=1.0, scale="raw"),
    models.Relative(),
)


def thing(n: int, turn: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng([n, turn])
    return {
        "id": f"thing {n}",
        "title": f"{KINDS[n % 4]} thing of turn {turn}",
        "text": f"made {n // 7} of {KINDS[(n + turn) % 4]}",
        "price": n % 17 + turn,
        "kind": KINDS[n % 4],
        "tags": [f"t{n % 5}", f"t{turn}"],
        "looks": rng.normal(size=12).astype(np.float32).tolist(),
        "colour": (rng.normal(size=3) + n % 3).astype(np.float32).tolist(),
    }


def build(folder: Path, rows: list[dict[str, Any]], name: str, **options: Any) -> Catalog:
    source = jsonl(folder / f"{name}.jsonl", rows)
    return seeker.build(source, folder / name, views=["looks", "colour"], **options)


class Shop:
    """A catalog that is changed again and again, and what should be in it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.path = folder, folder / "shop"
        self.rows = {row["id"]: row for row in map(thing, range(ITEMS))}
        self.old = build(folder, [*self.rows.values()], "shop", **options)
        self.titles = {item.id: item.title for item in self.old.items(range(ITEMS))}

    def turn(self, turn: int) -> None:
        """Change some prices, some vectors and texts, remove some, add some."""
        ids = [*self.rows]
        puts = []
        for n in range(3):
            puts.append({"id": ids[(7 * turn + n) % len(ids)], "price": 100 + turn})
        changed = thing(int(ids[(11 * turn) % len(ids)].split()[1]), turn)
        puts += [changed, thing(1000 + turn, turn)]
        puts = [*{row["id"]: row for row in puts}.values()]
        seeker.update(self.path, jsonl(self.folder / "turn.jsonl", puts))
        for row in puts:
            self.rows[row["id"]] = {**self.rows.get(row["id"], {}), **row}
        gone = [ids[(13 * turn + 5) % len(ids)]]
        seeker.remove(self.path, ids=gone)
        for id in gone:
            del self.rows[id]

    @property
    def catalog(self) -> Catalog:
        return Catalog.open(self.path)

    def fresh(self, **options: Any) -> Catalog:
        return build(self.folder, [*self.rows.values()], "fresh", **options)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("segments"))
    for turn in range(1, SEGMENTS // 2 + 1):
        shop.turn(turn)
    return shop


@pytest.fixture(scope="module")
def fresh(shop: Shop) -> Catalog:
    return shop.fresh()


def looks(session: Session) -> list[Any]:
    """Return what a session shows on its way, to the bit."""
    seen: list[Any] = []
    for step in range(4):
        page = session.page()
        seen.append((page.items, page.total, session.more(12, 30).ids))
        (session.dislike if step == 1 else session.like)(page.ids[step])
    session.undo()
    seen.append((session.page().ids, session.belief.log_posterior.tobytes()))
    return seen


def test_it_is_made_of_segments(shop: Shop) -> None:
    manifest = shop.catalog.manifest
    assert manifest is not None
    assert manifest.version == 1 + SEGMENTS
    assert manifest.log is not None
    assert manifest.removed is not None
    assert manifest.views["looks"].added is not None
    assert manifest.views["looks"].slots is not None
    assert find_problems(shop.path) == []


def test_items_are_those_of_one_build(shop: Shop, fresh: Catalog) -> None:
    catalog = shop.catalog
    assert list(catalog.ids) == list(fresh.ids) == [*shop.rows]
    rows = range(len(fresh))
    assert catalog.items(rows) == fresh.items(rows)
    assert [catalog.row(id) for id in catalog.ids] == [*rows]
    assert [*catalog.walk()] == [*fresh.walk()]
    assert catalog.facets() == fresh.facets()
    for filter in ({"kind": "wool"}, {"price": {"ge": 100}}, {"tags": ["t3", "t7"]}):
        np.testing.assert_array_equal(catalog.matching(filter), fresh.matching(filter))
        assert catalog.facets(filter) == fresh.facets(filter)
    for words in ("silk", "made wool", "turn", "felt thing of turn 7"):
        assert catalog.search(words) == fresh.search(words)
    for name, view in fresh.views.items():
        mine = catalog.views[name]
        np.testing.assert_array_equal(mine.vectors, view.vectors)
        np.testing.assert_array_equal(mine.mean, view.mean)
        assert (mine.scale, mine.radius) == (view.scale, view.radius)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_searches_are_those_of_one_build(shop: Shop, fresh: Catalog, model: Any) -> None:
    for options in ({}, {"filter": {"price": {"lt": 12}}}, {"query": "silk"}):
        asked: dict[str, Any] = {"model": model, "seed": 5, **options}
        assert looks(shop.catalog.session(**asked)) == looks(fresh.session(**asked))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_shards_show_the_same(shop: Shop, fresh: Catalog, model: Any) -> None:
    mine, theirs = (
        catalog.session(model=model, seed=5) for catalog in (spread(shop.catalog, 3), fresh)
    )
    for _ in range(4):
        assert mine.page() == theirs.page()
        for session in (mine, theirs):
            session.like(session.page().ids[2])


def test_older_versions_stay_as_they_were_while_they_are_open(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.turn(1)
    before = shop.catalog
    session = before.session(seed=2)
    session.like(session.page().ids[0])
    page, search = session.page(), before.search("silk")
    vectors = before.views["looks"].vectors.copy()
    shop.turn(2)
    assert (session.page(), before.search("silk")) == (page, search)
    np.testing.assert_array_equal(before.views["looks"].vectors, vectors)
    assert shop.catalog.replay(session.events).likes == session.likes


def test_compacting_and_tidying_change_nothing_that_is_shown(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for turn in (1, 2, 3):
        shop.turn(turn)
    segmented = looks(shop.catalog.session(seed=4))
    tidy_catalog(shop.path)
    assert looks(shop.catalog.session(seed=4)) == segmented
    assert find_problems(shop.path) == []
    compacted = versions.compact(shop.path)
    assert compacted.manifest is not None
    assert compacted.manifest.log is None
    assert looks(compacted.session(seed=4)) == segmented
    tidy_catalog(shop.path)
    assert find_problems(shop.path) == []
    assert versions.compact(shop.path).version == compacted.version, "there was nothing to do"
    shop.turn(4)
    assert looks(shop.catalog.session(seed=4)) == looks(shop.fresh().session(seed=4))


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_compact_vectors_are_added_in_their_form(tmp_path: Path, dtype: str) -> None:
    shop = Shop(tmp_path, dtype=dtype)
    before = shop.old.views["looks"].rows(slice(None))
    for turn in (1, 2):
        shop.turn(turn)
    catalog = shop.catalog
    assert catalog.views["looks"].dtype == dtype
    assert find_problems(shop.path) == []
    wanted = np.array([row["looks"] for row in shop.rows.values()])
    np.testing.assert_allclose(catalog.views["looks"].rows(slice(None)), wanted, atol=0.03)
    ids = [*shop.titles]
    same = [id for id in shop.rows if shop.rows[id]["title"] == shop.titles.get(id)]
    np.testing.assert_array_equal(
        catalog.views["looks"].rows(np.array([catalog.row(id) for id in same])),
        before[[ids.index(id) for id in same]],
    )


def test_what_a_crash_has_left_behind_is_written_over(tmp_path: Path) -> None:
    """Bytes that no version names are nobody's: the next update takes their place."""
    shop = Shop(tmp_path)
    shop.turn(1)
    manifest = shop.catalog.manifest
    assert manifest is not None
    with (shop.path / manifest.views["looks"].vectors.file).open("ab") as file:
        file.write(b"left behind by a crash")
    assert find_problems(shop.path) == []
    shop.turn(2)
    assert find_problems(shop.path) == []
    assert looks(shop.catalog.session(seed=4)) == looks(shop.fresh().session(seed=4))


def test_few_changes_write_few_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    count = 20_000
    arrays: dict[str, Any] = {"ids": np.arange(count).astype(str), "price": np.arange(count) % 99}
    np.savez(tmp_path / "many.npz", looks=rng.normal(size=(count, 64)).astype(np.float32), **arrays)
    seeker.build(tmp_path / "many.npz", tmp_path / "many")
    folder, before = tmp_path / "many", {}
    for path in folder.rglob("*"):
        before[path] = path.stat().st_size if path.is_file() else 0
    changes = [ItemChange(str(n), "patch", attributes={"price": 1000}) for n in range(100)]
    _, results = update.apply_changes(folder, changes)
    assert {one.result for one in results} == {"changed"}
    after = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    written = sum(
        about.st_size - before.get(path, 0) for path, about in after.items() if about.st_nlink == 1
    )
    assert written < 1_000_000 < sum(before.values())
    assert find_problems(folder) == []


def test_a_long_log_is_taken_into_the_items(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    count, turns = 2_000, 9
    arrays: dict[str, Any] = {"ids": np.arange(count).astype(str), "price": np.zeros(count)}
    np.savez(tmp_path / "many.npz", looks=rng.normal(size=(count, 8)).astype(np.float32), **arrays)
    catalog = seeker.build(tmp_path / "many.npz", tmp_path / "many")
    first = catalog.manifest
    assert first is not None
    prices, logs = np.zeros(count), []
    for turn in range(1, turns + 1):
        some = rng.permutation(count)[:300]
        prices[some] = turn
        changes = [ItemChange(str(n), "patch", attributes={"price": turn}) for n in some]
        update.apply_changes(tmp_path / "many", changes)
        catalog = catalog.reopen()
        manifest = catalog.manifest
        assert manifest is not None
        assert manifest.log is not None
        assert manifest.views == first.views
        logs.append(manifest.log.bytes)
        assert [item.attributes["price"] for item in catalog.items(range(count))] == [*prices]
    assert catalog.manifest is not None
    assert catalog.manifest.items.sha256 != first.items.sha256
    assert any(later < log for log, later in itertools.pairwise(logs))
    assert max(logs) < 2 * segments.MIN_LOG_BYTES
    assert find_problems(tmp_path / "many") == []
    assert catalog.facets() == Catalog.open(tmp_path / "many").facets()


def test_segments_that_are_damaged_are_found(shop: Shop, tmp_path: Path) -> None:
    manifest = shop.catalog.manifest
    assert manifest is not None
    assert manifest.log is not None
    assert manifest.removed is not None
    view = manifest.views["looks"]
    assert view.slots is not None
    for number, (file, at) in enumerate(
        [
            (manifest.log.file, -100),
            (manifest.removed.file, -4),
            (view.slots.file, -4),
            (view.vectors.file, -4),
        ]
    ):
        copy = Path(shutil.copytree(shop.path, tmp_path / str(number)))
        contents = bytearray((copy / file).read_bytes())
        contents[at] ^= 0xFF
        (copy / file).write_bytes(contents)
        assert find_problems(copy), file
        (copy / file).write_bytes(contents[:-9])
        with pytest.raises(BadInput, match="bytes instead of"):
            Catalog.open(copy)
