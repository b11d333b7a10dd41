"""Something that is in no catalog, liked: it counts like a like, and is undone like one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import seeker
from seeker import BadInput, Catalog, NotFound, Session, models
from seeker.session import Example
from seeker.types import Doubles
from support.builds import Letters, MeanColour, jsonl
from support.catalogs import random_catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(items=400, dims=(24, 9), seed=5)


def near(catalog: Catalog, item: str, *views: str) -> dict[str, Doubles]:
    """Vectors of something that is nearly an item."""
    row = np.array([catalog.row(item)])
    return {name: catalog.views[name].rows(row)[0] + 0.01 for name in views}


def replayed(session: Session) -> Session:
    events = json.loads(json.dumps([event.to_json() for event in session.events]))
    return Session.replay(session.catalog, events)


def assert_same(one: Session, other: Session) -> None:
    assert one.page() == other.page()
    assert (one.belief.log_posterior == other.belief.log_posterior).all()


def by_formula(session: Session) -> Doubles:
    """What one example says of every item, straight from the formula, but for a constant."""
    (example,) = session.state.examples
    catalog, model = session.catalog, session.state.start.model
    assert isinstance(model, models.Choice)
    columns = []
    for name, view in catalog.views.items():
        items = view.rows(slice(None))
        middle = items.mean(axis=0)
        if name in example.vectors:
            start = example.vectors[name].astype(np.float64)
            others = [
                start + example.comparison.distance * (items[catalog.row(one)] - start)
                for one in example.sample
            ]
        else:
            start, others = middle, [middle] * len(example.sample)
        unit = 2.0 * items.var(axis=0).sum()
        among = np.array([start, *others])
        columns.append(((among[:, None] - items[None]) ** 2).sum(axis=2) / unit)
    grid, times = model.grid(list(catalog.views)), example.comparison.times
    doubt = example.comparison.doubt if session.state.texts else 0.0
    logs = []
    for mixture in grid.mixtures:
        distances = np.tensordot(mixture, columns, 1)
        for sigma in grid.sigmas:
            shares = np.exp(-distances / sigma)
            chosen = (1.0 - model.slip) * shares[0] / shares.sum(axis=0)
            chosen += model.slip / len(distances)
            logs.append(np.log((1.0 - doubt) * chosen**times + doubt * chosen))
    return np.asarray(np.logaddexp.reduce(np.array(logs) + grid.log_weights[:, None], axis=0))


def normalised(logs: Doubles) -> Doubles:
    return np.asarray(logs - np.logaddexp.reduce(logs))


@pytest.mark.parametrize("views", [("image", "colour"), ("image",), ("colour",)], ids="+".join)
def test_an_example_counts_by_the_formula(catalog: Catalog, views: tuple[str, ...]) -> None:
    session = catalog.session(seed=3)
    session.like_example(near(catalog, "item 7", *views))
    expected = normalised(by_formula(session))
    np.testing.assert_allclose(session.belief.log_posterior, expected, atol=1e-4)
    assert session.belief.rank("item 7") <= 3
    assert session.likes[0].startswith("example:")
    assert session.step == 1


def test_words_beside_an_example_say_what_it_lacks(catalog: Catalog) -> None:
    """Then it may count once only, by the formula; without the words, as it did before them."""
    words, session = (catalog.session(seed=3) for _ in range(2))
    vectors = near(catalog, "item 7", "image", "colour")
    session.like_example(vectors)
    before = session.belief.log_posterior
    for one in (words, session):
        one.say("kind 3")
    expected = normalised(words.belief.log_posterior + by_formula(session))
    np.testing.assert_allclose(session.belief.log_posterior, expected, atol=1e-4)
    assert_same(session, replayed(session))
    other = catalog.session(seed=3, query="kind 3")
    other.like_example(vectors)
    assert (other.belief.log_posterior == session.belief.log_posterior).all()
    session.unsay("kind 3")
    assert (session.belief.log_posterior == before).all()


@pytest.mark.parametrize("how", ["more like this", "vectors"])
def test_a_word_after_an_example_leads_away_from_it(catalog: Catalog, how: str) -> None:
    hits = []
    for number in range(0, 60, 6):
        item = f"item {number}"
        session = catalog.session(seed=number, like=[item] if how == "more like this" else [])
        if how == "vectors":
            session.like_example(near(catalog, item, "image", "colour"))
        wanted = f"kind {(number + 1) % 5}"
        session.say(wanted)
        hits.append(sum(one.attributes["kind"] == wanted for one in session.page()))
    assert np.mean(hits) >= 9


def test_an_example_of_before_is_not_doubted(catalog: Catalog) -> None:
    session = catalog.session(seed=3)
    session.like_example(near(catalog, "item 7", "image", "colour"))
    session.say("kind 3")
    events = [event.to_json() for event in session.events]
    assert events[1].pop("doubt") > 0
    old = Session.replay(catalog, events)
    assert [event.to_json() for event in old.events] == events
    assert old.belief.rank("item 7") <= 3
    assert old.belief.candidates < session.belief.candidates / 10
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(BadInput, match="not complete"):
            Session.replay(catalog, [events[0], {**events[1], "doubt": wrong}])


def test_views_that_an_example_has_not_say_nothing(catalog: Catalog) -> None:
    """What it lacks is not the average of something: all items are as likely in that view."""
    alone = catalog.session(model=models.Choice(weights=(0,) * 5 + (1,) * 5 + (0,) * 5))
    before = alone.belief.log_posterior
    alone.like_example(near(catalog, "item 7", "image"))
    assert alone.belief.views["colour"] > 0.999
    np.testing.assert_allclose(alone.belief.log_posterior, before, atol=1e-5)


def test_what_nobody_saw_may_still_be_shown(catalog: Catalog) -> None:
    session = catalog.session(seed=1)
    session.like_example(near(catalog, "item 9", "image", "colour"))
    (example,) = session.state.examples
    assert {*example.sample} <= {*session.more(0, 400).ids}
    assert session.page().total == 400
    # Behind all others come only what was seen or judged, and an example is no item.
    assert {*session.more(0, 400).ids} == {*catalog.ids}


def test_it_is_undone_cleared_redone_and_replayed_to_the_bit(catalog: Catalog) -> None:
    plain, session = catalog.session(seed=2), catalog.session(seed=2)
    for one in (plain, session):
        one.like(one.page().ids[0])
    session.like_example(near(catalog, "item 30", "image"))
    assert_same(session, replayed(session))
    liked = session.page()
    session.undo()
    assert_same(session, plain)
    session.redo()
    assert session.page() == liked
    session.like_example(near(catalog, "item 31", "colour"))
    session.dislike(session.page().ids[3])
    assert_same(session, replayed(session))
    for item in session.likes[1:]:
        session.clear(item)
    for one in (plain,):
        one.dislike(session.dislikes[0], shown=session.events[-3].on_screen)
    assert (session.belief.log_posterior == plain.belief.log_posterior).all()
    assert_same(session, replayed(session))


def test_examples_and_clicks_may_come_in_any_order(catalog: Catalog) -> None:
    screen = list(catalog.ids)[50:62]
    acts: list[Any] = [
        lambda session: session.like_example(near(catalog, "item 5", "image")),
        lambda session: session.like_example(near(catalog, "item 6", "image", "colour")),
        lambda session: session.like("item 55", shown=screen),
    ]
    orders = [(0, 1, 2), (2, 1, 0), (1, 2, 0)]
    beliefs = []
    for order in orders:
        session = catalog.session(seed=4)
        for place in order:
            acts[place](session)
        beliefs.append(session.belief.log_posterior)
    assert all((one == beliefs[0]).all() for one in beliefs)


def test_a_session_begins_with_items_that_are_liked(catalog: Catalog) -> None:
    session = catalog.session(like=["item 12", "item 13", "item 12"], seed=6)
    assert session.likes == ["item 12", "item 13"]
    assert session.step == 2
    assert not {*session.likes} & {*session.page().ids}
    assert session.state.examples == []
    assert_same(session, replayed(session))
    distances = sum(
        ((view.rows(slice(None)) - view.rows(np.array([12]))) ** 2).sum(axis=1) / view.scale
        for view in catalog.views.values()
    )
    one = catalog.session(like=["item 12"], seed=6)
    nearest = np.argsort(distances)[1:40]
    assert len({*one.page().ids} & {f"item {row}" for row in nearest}) >= 8
    session.undo()
    assert session.likes == ["item 12"]


@pytest.mark.parametrize("model", ["pairwise", "bipartite", "relative", "choice"])
def test_every_model_hears_an_example(catalog: Catalog, model: str) -> None:
    session = catalog.session(model=model, strategy="greedy")
    session.like_example(near(catalog, "item 77", "image", "colour"))
    assert session.belief.rank("item 77") <= 3
    explained = session.explain("item 77")
    assert [share.item for share in explained.clicks] == session.likes
    assert explained.clicks[0].pull > 0


def test_the_same_example_twice_is_one(catalog: Catalog) -> None:
    session = catalog.session()
    vectors = near(catalog, "item 8", "image")
    session.like_example(vectors)
    before = session.belief.log_posterior
    session.like_example({name: vector.tolist() for name, vector in vectors.items()})
    assert len(session.likes) == 1
    assert (session.belief.log_posterior == before).all()


def test_what_lies_far_outside_counts_as_at_the_rim(catalog: Catalog) -> None:
    session = catalog.session(model=models.Choice(slip=0.0))
    session.like_example({"image": np.full(24, 1e90)})
    view = catalog.views["image"]
    (example,) = session.state.examples
    away = ((example.vectors["image"] - view.mean) ** 2).sum()
    assert away == pytest.approx(view.radius, rel=1e-5)
    assert np.isfinite(session.belief.log_posterior).all()


def test_a_small_catalog_has_a_small_sample() -> None:
    for count in (1, 2, 3, 10):
        small = Catalog.from_arrays(
            [str(n) for n in range(count)], {"looks": np.eye(count, 4) + 1.0}
        )
        session = small.session()
        session.like_example(np.ones(4))
        assert len(session.page()) == count
        begun = small.session(like=["0"])
        assert_same(begun, replayed(begun))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "no vectors"),
        ({"sound": [1.0]}, "no view 'sound'"),
        ({"image": [1.0, 2.0]}, "2 entries"),
        ({"image": [float("nan")] * 24}, "finite"),
        ({"image": ["a"] * 24}, "numbers"),
        ([1.0] * 24, "several views"),
        (np.zeros((4, 4, 3), np.uint8), "can read pictures"),
        (b"GIF89a", "can read pictures"),
        (None, "no vectors"),
    ],
)
def test_what_is_no_example_is_refused(catalog: Catalog, wrong: Any, words: str) -> None:
    session = catalog.session()
    page = session.page()
    with pytest.raises(BadInput, match=words):
        session.like_example(wrong)
    assert (session.step, session.page(), session.likes) == (0, page, [])


@pytest.mark.parametrize("wrong", ["item 1", 7, [7], [""], [None]])
def test_items_to_begin_with_are_a_list_of_ids(catalog: Catalog, wrong: Any) -> None:
    with pytest.raises(BadInput, match="like"):
        catalog.session(like=wrong)
    with pytest.raises(NotFound, match="nobody"):
        catalog.session(like=["nobody"])


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures of many colours."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(1)
    for n in range(80):
        colour = tuple(int(one) for one in rng.integers(0, 256, 3))
        Image.new("RGB", (40, 30), colour).save(folder / f"{n}.png")
    return folder


@pytest.fixture(scope="module")
def gallery(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """A catalog of them with a view of colours, and one of words."""
    place = tmp_path_factory.mktemp("gallery")
    rows = [{"id": str(n), "title": f"thing {n:b}x", "picture": f"{n}.png"} for n in range(80)]
    return seeker.build(
        jsonl(place / "rows.jsonl", rows),
        place / "gallery",
        picture="picture",
        images=pictures,
        views=["colour", "words"],
        embedders={"words": Letters()},
    )


def test_a_picture_of_ones_own_is_read_in_every_form(gallery: Catalog, pictures: Path) -> None:
    file = pictures / "17.png"
    opened = Image.open(file)
    with_alpha = opened.convert("RGBA")
    forms: list[Any] = [file, str(file), file.read_bytes(), opened, with_alpha, np.asarray(opened)]
    names = set()
    for form in forms:
        session = gallery.session(seed=1, strategy="greedy")
        session.like_example(form)
        assert session.page().ids[0] == "17"
        names.update(session.likes)
        (example,) = session.state.examples
        assert [*example.vectors] == ["colour"]
        thumbnail = Image.open(io.BytesIO(example.thumbnail or b""))
        assert (thumbnail.format, thumbnail.size) == ("WEBP", (40, 30))
        assert_same(session, replayed(session))
    assert len(names) == 1
    assert opened.size == (40, 30)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (b"", BadInput),
        (b"no picture", BadInput),
        ("no such file.png", NotFound),
        ("https://example.org/picture.png", NotFound),
        (np.zeros((2, 2, 7)), BadInput),
        (object(), BadInput),
        (7, BadInput),
    ],
)
def test_what_is_no_picture_is_refused(gallery: Catalog, wrong: Any, kind: type[Exception]) -> None:
    session = gallery.session()
    with pytest.raises(kind):
        session.like_example(wrong)
    assert session.step == 0


def test_catalogs_of_arrays_read_pictures_with_their_embedders() -> None:
    colours = np.random.default_rng(3).random((90, 3))
    catalog = Catalog.from_arrays(
        [str(n) for n in range(90)], {"mean": colours}, embedders={"mean": MeanColour()}
    )
    assert catalog.reads_pictures
    assert not catalog.reads_text
    session = catalog.session(strategy="greedy")
    session.like_example(Image.new("RGB", (9, 9), tuple(int(256 * c) for c in colours[5])))
    assert session.page().ids[0] == "5"


def test_nothing_of_a_picture_is_kept_but_its_vectors_and_a_thumbnail(gallery: Catalog) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (400, 300, 3)).astype(np.uint8)
    session = gallery.session()
    session.like_example(noise)
    event = session.events[-1]
    assert isinstance(event, Example)
    assert event.picture is None
    written = event.to_json()
    assert {*written} == {
        "schema",
        "type",
        "item",
        "vectors",
        "sample",
        "distance",
        "times",
        "doubt",
        "thumbnail",
    }
    assert len(written["thumbnail"]) < 60_000
