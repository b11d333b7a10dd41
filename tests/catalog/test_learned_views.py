"""What was learned is a version of the catalog like any other: switched at once, and taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from cluster.walks import assert_alike, spread
from seeker import BadInput, Catalog, Conflict, Session
from seeker.catalog.build.learned import forget_learned, publish_learned
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.verify import find_problems
from seeker.catalog.view_map import LinearMap, MapInput
from seeker.models import Choice
from support.builds import jsonl

ITEMS = 60
SIZES = {"looks": 6, "words": 4}


def rows(first: int, count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng([seed, first])
    return [
        {
            "id": f"i{n}",
            "title": f"thing {n}",
            **{name: rng.normal(size=d).round(3).tolist() for name, d in SIZES.items()},
        }
        for n in range(first, first + count)
    ]


def build(place: Path, dtype: str = "float32") -> Path:
    source = jsonl(place / "rows.jsonl", rows(0, ITEMS))
    seeker.build(source, place / "shop", vectors=list(SIZES), metric="cosine", dtype=dtype)
    return place / "shop"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return build(tmp_path)


def a_map(seed: int = 1, name: str = "learned", dimensions: int = 5) -> LinearMap:
    rng = np.random.default_rng(seed)
    return LinearMap(
        name,
        tuple(
            MapInput(
                view,
                rng.normal(size=d).astype(np.float32),
                rng.normal(size=(d, dimensions)).astype(np.float32),
            )
            for view, d in SIZES.items()
        ),
    )


def mapped(one: LinearMap, vectors: dict[str, Any]) -> Any:
    """z = Σ (x − centre) · matrix, in the plainest way."""
    return np.array(
        [
            [
                sum(
                    float((x[k] - part.centre[k]) * part.matrix[k, j])
                    for part in one.inputs
                    for x in [vectors[part.view][row]]
                    for k in range(len(part.centre))
                )
                for j in range(one.dimensions)
            ]
            for row in range(len(next(iter(vectors.values()))))
        ]
    )


MODEL = Choice(sigmas=(0.4, 0.1), slip=0.1, weights=(0.05,) * 6 + (0.3, 0.2) + (0.0,) * 6)


def learn(shop: Path, seed: int = 1, searches: int = 40) -> Catalog:
    return publish_learned(shop, [a_map(seed)], list(SIZES), MODEL, searches, {"seed": seed})


def clicks(session: Session, steps: int = 3) -> Session:
    for n in range(steps):
        page = session.page().ids
        session.like(page[n], shown=page)
        session.dislike(page[-1 - n], shown=page)
    return session


def looks(session: Session) -> Any:
    return session.page().ids, session.belief.log_posterior.tolist(), session.belief.views


def test_a_learned_view_is_its_map_of_the_others(shop: Path) -> None:
    before = Catalog.open(shop)
    new = learn(shop)
    assert (new.version, list(new.views)) == (2, ["looks", "words", "learned-2"])
    assert before.changed()
    vectors = {name: before.views[name].rows(slice(None)) for name in SIZES}
    learned = new.views["learned-2"]
    np.testing.assert_allclose(learned.vectors, mapped(a_map(), vectors), rtol=1e-5, atol=1e-5)
    assert learned.scale == pytest.approx(2.0 * learned.vectors.astype(float).var(axis=0).sum())
    assert find_problems(shop) == []
    for name in SIZES:  # they are the very files that were there
        assert new.manifest is not None
        assert before.manifest is not None
        assert new.manifest.views[name] == before.manifest.views[name]


def test_new_sessions_begin_with_what_was_learned_unless_they_say_otherwise(shop: Path) -> None:
    before = Catalog.open(shop)
    usual = looks(clicks(before.session(seed=3)))
    paper = looks(clicks(before.session(seed=3, **seeker.PAPER)))
    new = learn(shop)
    session = clicks(new.session(seed=3))
    assert session.state.start.model == MODEL
    assert set(session.belief.views) == {"looks", "words", "learned-2"}
    assert looks(session) != usual
    assert looks(clicks(new.session("choice", seed=3))) == usual
    assert looks(clicks(new.session(seed=3, **seeker.PAPER))) == paper
    alone = new.session(views=["learned-2"], seed=3)
    assert set(alone.belief.views) == {"learned-2"}
    with pytest.raises(BadInput, match="no view 'other'"):
        new.session(views=["other"])


def test_searches_under_way_go_on_as_they_began(shop: Path) -> None:
    first = Catalog.open(shop)
    began = clicks(first.session(seed=5))
    kept = [event.to_json() for event in began.events]
    assert "views" not in kept[0]
    second = learn(shop)
    assert looks(second.replay(kept)) == looks(began)
    learned = clicks(second.session(seed=5))
    events = json.loads(json.dumps([event.to_json() for event in learned.events]))
    third = learn(shop, seed=2)
    assert list(third.views) == ["looks", "words", "learned-2", "learned-3"]
    assert looks(third.replay(kept)) == looks(began)
    assert looks(third.replay(events)) == looks(learned)
    assert third.session().state.start.views == ("looks", "words", "learned-3")
    # Once more, and the view is gone: it goes on with the one in its place.
    fourth = learn(shop, seed=3)
    assert list(fourth.views) == ["looks", "words", "learned-3", "learned-4"]
    assert list(fourth.replay(events).belief.views) == ["looks", "words", "learned-4"]
    assert find_problems(shop) == []


def test_what_was_learned_is_taken_back(shop: Path) -> None:
    first = Catalog.open(shop)
    usual = looks(clicks(first.session(seed=5)))
    learned = clicks(learn(shop).session(seed=5))
    assert forget_learned(shop) == 40
    after = Catalog.open(shop)
    assert (after.version, after.learned) == (3, None)
    assert looks(clicks(after.session(seed=5))) == usual
    assert looks(after.replay(learned.events)) == looks(learned)
    assert forget_learned(shop) == 0
    last = Catalog.open(shop)
    assert list(last.views) == ["looks", "words"]
    assert last.maps == {}
    assert forget_learned(shop) == 0
    assert Catalog.open(shop).version == last.version
    tidy_catalog(shop)
    assert find_problems(shop) == []


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_items_come_and_go_with_their_learned_vectors(tmp_path: Path, dtype: str) -> None:
    shop = build(tmp_path, dtype)
    learned = learn(shop)
    assert learned.views["learned-2"].dtype == dtype
    gone = learned.session(seed=1)
    page = gone.page().ids
    gone.like(page[0], shown=page)
    one = learned.row(page[0])
    was = learned.views["learned-2"].rows(np.array([one]))[0]
    removed = seeker.remove(shop, ids=[page[0]]).catalog
    assert removed.learned == learned.learned
    tombstone = removed.tombstones.get(page[0])
    assert tombstone is not None
    np.testing.assert_allclose(tombstone["learned-2"], was, atol=0.05 if dtype == "int8" else 0.01)
    assert removed.replay(gone.events).likes == [page[0]]
    changed = {**rows(ITEMS + 50, 1)[0], "id": page[1]}
    more = seeker.update(shop, jsonl(tmp_path / "more.jsonl", [changed, *rows(ITEMS, 7)])).catalog
    assert len(more) == ITEMS + 6
    old, now = (one.views["looks"].rows(np.array([one.row(page[1])])) for one in (removed, more))
    assert np.abs(old - now).max() > 0.1
    vectors = {name: more.views[name].rows(slice(None)) for name in SIZES}
    stored = more.views["learned-2"].rows(slice(None))
    close = {"float32": 1e-4, "float16": 0.02, "int8": 0.3}[dtype]
    np.testing.assert_allclose(stored, mapped(a_map(), vectors), atol=close)
    assert more.session().state.start.model == MODEL
    assert find_problems(shop) == []
    tidy_catalog(shop)
    assert find_problems(shop) == []


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_shards_show_the_same(tmp_path: Path, dtype: str) -> None:
    build(tmp_path, dtype)
    shop = tmp_path / "shop"
    began = clicks(Catalog.open(shop).session(seed=2))
    learned = learn(shop)
    assert_alike(clicks(learned.session(seed=2)), clicks(spread(learned, 3).session(seed=2)))
    assert_alike(began, spread(learned, 3).replay(began.events))


def test_what_was_learned_of_other_views_is_refused(shop: Path) -> None:
    with pytest.raises(Conflict, match="no view 'other' any more"):
        publish_learned(shop, [], ["other"], MODEL, 1, {})
    wrong = LinearMap("learned", (MapInput("looks", np.zeros(3, "f4"), np.ones((3, 2), "f4")),))
    with pytest.raises(Conflict, match="other dimensions"):
        publish_learned(shop, [wrong], ["looks"], MODEL, 1, {})
    with pytest.raises(BadInput, match="weights"):
        publish_learned(shop, [], list(SIZES), MODEL, 1, {})
    assert Catalog.open(shop).version == 1
    assert [one.name for one in shop.parent.iterdir() if "building" in one.name] == []


def test_a_prior_can_be_learned_without_a_view(shop: Path) -> None:
    model = Choice(weights=(1.0,) * 15)
    new = publish_learned(shop, [], list(SIZES), model, 12, {})
    assert new.session().state.start.model == model
    assert list(new.views) == list(SIZES)
    assert find_problems(shop) == []


WRONG: list[tuple[str, Any]] = [
    ("learned.views", []),
    ("learned.views", ["looks", "looks"]),
    ("learned.views", ["other"]),
    ("learned.views", ["looks"]),
    ("learned.model", {"name": "os:system"}),
    ("learned.model", {"name": "choice", "weights": [1.0]}),
    ("learned.model", []),
    ("learned.searches", -1),
    ("learned.at", 5),
    ("learned.summary", None),
    ("views.learned-2.learned", None),
    ("views.learned-2.learned.sources", ["looks"]),
    ("views.learned-2.learned.sources", ["looks", "learned-2"]),
    ("views.learned-2.learned.sources", ["looks", "other"]),
    ("views.learned-2.learned.map.file", "../letter.txt"),
    ("views.learned-2.learned.map.bytes", 3),
    ("views.learned-2.dimensions", 4),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_nothing_that_was_learned_is_trusted(shop: Path, field: str, value: Any) -> None:
    """Whoever opens it is told in a sentence, or it is as if nothing had been learned."""
    learn(shop)
    file = shop / "catalog.json"
    manifest = json.loads(file.read_text())
    inner = manifest
    *way, key = field.split(".")
    for part in way:
        inner = inner[part]
    inner[key] = value
    file.write_text(json.dumps(manifest))
    if field == "views.learned-2.learned":  # a view like any other, then
        assert Catalog.open(shop).with_views(None).views.keys() == {*SIZES, "learned-2"}
        return
    with pytest.raises(BadInput, match="damaged"):
        Catalog.open(shop)


def test_a_map_of_numbers_that_are_not_finite_is_refused(shop: Path) -> None:
    new = learn(shop)
    assert new.manifest is not None
    entry = new.manifest.views["learned-2"].learned
    assert entry is not None
    array = np.load(shop / entry.map.file)
    array[0, 0] = np.nan
    np.save(shop / entry.map.file, array)
    with pytest.raises(BadInput, match="not finite"):
        Catalog.open(shop)
    assert find_problems(shop)


def test_an_example_is_mapped_as_items_are(shop: Path) -> None:
    """Given in the views that the map is made of, of which one may be missing."""
    new = learn(shop)
    row = np.array([7])
    vectors = {name: new.views[name].rows(row)[0] for name in SIZES}
    session = new.session(seed=1, views=["learned-2"], model=Choice(), strategy="greedy")
    with pytest.raises(BadInput, match="no view 'learned-2'"):
        session.like_example({"learned-2": [0.0] * 5})
    session.like_example(vectors)
    alone = session.catalog.complete_vectors(vectors)
    np.testing.assert_allclose(alone["learned-2"], new.views["learned-2"].vectors[7], atol=1e-4)
    assert session.page().ids[0] == "i7"
    assert looks(new.replay([event.to_json() for event in session.events])) == looks(session)
    session.undo()
    session.like_example({"looks": vectors["looks"]})
    centres = {part.view: part.centre for part in a_map().inputs}
    expected = mapped(a_map(), {"looks": [vectors["looks"]], "words": [centres["words"]]})[0]
    (partial,) = [session.catalog.complete_vectors(one.vectors) for one in session.state.examples]
    middle = new.views["learned-2"].mean
    away = expected - middle
    rim = min(1.0, np.sqrt(new.views["learned-2"].radius / (away @ away)))
    np.testing.assert_allclose(partial["learned-2"], middle + rim * away, atol=1e-4)
    over = spread(new, 3).session(seed=1, views=["learned-2"], model=Choice(), strategy="greedy")
    over.like_example(vectors)
    over.undo()
    over.like_example({"looks": vectors["looks"]})
    assert_alike(session, over)
