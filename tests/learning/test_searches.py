"""Reading past searches: from stores and exports, replayed to what was chosen among what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, NotFound, Session
from seeker.catalog.build import update
from seeker.learning.searches import (
    OpenSearch,
    PastClick,
    PastSearch,
    observe,
    read_searches,
    search_weights,
)
from seeker.learning.theta import fit_words
from seeker.server.export import write_export
from seeker.session import Click, Found, Undo
from seeker.stores import open_store, pseudonym
from support.catalogs import random_catalog
from support.engines import engine
from support.readers import worded_catalog
from support.searches import line_of
from support.stores import DURABLE, NewStore


def a_search(catalog: Catalog, seed: int = 0) -> Session:
    """Two pages, a verdict that is taken back, one that is changed, and the end."""
    session = catalog.session(seed=seed)
    first = session.page().ids
    session.like(first[0], shown=first)
    session.dislike(first[1], shown=first)
    session.like(first[2], shown=first)
    session.undo()
    session.dislike(first[0], shown=first)
    second = session.page().ids
    session.like(second[3], shown=second)
    session.found(second[4])
    return session


def plainly(session: Session) -> list[PastClick]:
    """What was on screen and not judged yet, worked out from the events in the plainest way."""
    judged: dict[str, PastClick] = {}
    stack: list[dict[str, PastClick]] = []
    for event in session.events[1:]:
        if isinstance(event, Undo):
            judged = stack.pop()
            continue
        stack.append(dict(judged))
        if isinstance(event, Click):
            judged.pop(event.item, None)
            others = [one for one in event.on_screen if one != event.item and one not in judged]
            judged[event.item] = PastClick(
                event.item, event.verdict == "like", (event.item, *others)
            )
    return list(judged.values())


def test_a_search_is_its_clicks_in_effect_and_what_they_were_among() -> None:
    catalog = random_catalog(80)
    session = a_search(catalog)
    read = read_searches(catalog, "shop", [session])
    assert read.searches == [PastSearch(session.found_item or "", tuple(plainly(session)))]
    assert [click.liked for click in read.searches[0].clicks] == [False, False, True]
    assert read.sentence == "1 of 1 sessions are searches that were found."
    seen = observe(catalog, read.searches, np.ones(1))
    assert seen.targets.tolist() == [catalog.row(session.found_item or "")]
    assert seen.liked.tolist() == [False, False, True]
    first = seen.shown[: seen.offsets[1]].tolist()
    assert first == [catalog.row(item) for item in plainly(session)[0].among]


def test_a_search_without_an_end_is_kept_apart_with_its_clicks() -> None:
    catalog = random_catalog(80)
    session = a_search(catalog)
    ended, session = session, catalog.session(seed=0, user=None)
    for event in ended.events[1:-1]:
        if isinstance(event, Click):
            session.click(event.item, event.verdict, event.shown)
        elif isinstance(event, Undo):
            session.undo()
    line = line_of(session, owner="key", user="them", network=3)
    read = read_searches(catalog, "shop", [line, catalog.session().to_json()])
    assert read.searches == []
    assert read.open == [OpenSearch(tuple(plainly(ended)), "key", "them", 3)]
    assert read.open[0].person == ("user", "key", "them")
    assert read.sentence == "0 of 2 sessions are searches that were found (2 not found)."


def test_a_session_is_a_line_and_back() -> None:
    catalog = random_catalog(80)
    session = a_search(catalog)
    line = session.to_json()
    assert "\n" not in line
    for form in (line, line.encode(), json.loads(line)):
        again = Session.from_json(catalog, form)
        assert again.page() == session.page()
        assert again.events[-1] == session.events[-1]
        assert again.to_json() == line
    for wrong in ("{", "[]", '{"events": 3}', '{"events": [4]}', b"\xff"):
        with pytest.raises(BadInput):
            Session.from_json(catalog, wrong)


@pytest.mark.parametrize("kind", DURABLE)
def test_stores_and_exports_say_the_same(kind: str, new_store: NewStore, tmp_path: Path) -> None:
    catalog, address = random_catalog(80), new_store(kind)
    store = open_store(address)
    one = engine(catalog, store)
    expected = []
    for number in range(3):
        user = f"user {number}" if number else None
        shown = one.start(seed=number, owner="key", user=user, network=number)
        page = shown.page.ids
        one.act(shown.id, Click(page[0], "like", page))
        if number != 1:
            one.act(shown.id, Found(page[1]))
            click = PastClick(page[0], True, (*page,))
            expected.append(PastSearch(page[1], (click,), pseudonym(shown.id), "key", user, number))
    files = [tmp_path / f"sessions.{form}" for form in ("jsonl", "parquet")]
    for file in files:
        assert write_export(store, file, lambda _: None) == 3
    one.close()
    for source in (address, *files, str(files[0])):
        read = read_searches(catalog, "shop", source)
        assert read.searches == expected
        assert read.left_out == {"not found": 1}
        other = read_searches(catalog, "another", source)
        assert other.left_out == {"in other catalogs": 3}
        assert "3 in other catalogs" in other.sentence


def test_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    catalog = random_catalog(80)
    with pytest.raises(NotFound, match="no store"):
        read_searches(catalog, "shop", str(tmp_path / "other.sqlite"))
    with pytest.raises(NotFound, match="no file"):
        read_searches(catalog, "shop", str(tmp_path / "other.jsonl"))
    with pytest.raises(BadInput, match="nothing to learn from"):
        read_searches(catalog, "shop", 5)


def test_broken_lines_are_named_and_skipped(tmp_path: Path) -> None:
    catalog = random_catalog(80)
    good = a_search(catalog).to_json()
    cut = json.loads(good)
    del cut["events"][1]["item"]
    lines = [good, "{", json.dumps(cut), "", json.dumps({"events": []}), '{"a": 1}', good]
    file = tmp_path / "sessions.jsonl"
    file.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    read = read_searches(catalog, "shop", file)
    assert len(read.searches) == 2
    assert read.left_out == {"broken": 5}
    assert [note.split(":")[0] for note in read.notes] == [f"line {n}" for n in (2, 3, 5, 6, 8)]
    (tmp_path / "no.parquet").write_text("no table")
    with pytest.raises(BadInput, match="cannot be read"):
        read_searches(catalog, "shop", tmp_path / "no.parquet")


def test_what_has_left_the_catalog_is_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "v.npz", looks=rng.normal(size=(60, 4)))
    catalog = seeker.build(tmp_path / "v.npz", tmp_path / "shop")
    session = a_search(catalog)
    gone = session.page().ids[5]
    lines = [line_of(session, catalog="shop")]
    clicks = plainly(session)
    shown_only = next(item for item in clicks[0].among[1:] if item not in session.state.ratings)
    new = update.remove(tmp_path / "shop", ids=[gone, shown_only, clicks[-1].item]).catalog
    read = read_searches(new, "shop", lines)
    left = read.searches[0].clicks
    assert [click.item for click in left] == [click.item for click in clicks[:-1]]
    assert left[0].among == tuple(item for item in clicks[0].among if item in new)
    last = update.remove(tmp_path / "shop", ids=[session.found_item or ""]).catalog
    assert read_searches(last, "shop", lines).left_out == {"for items that have left": 1}


def weigh(*searches: tuple[int, dict[str, Any]]) -> Any:
    """Return what groups of searches count for together; each: how many, and whose."""
    every = [
        PastSearch(about.get("target") or f"t{group}-{n}", (), **_who(about, n))
        for group, (count, about) in enumerate(searches)
        for n in range(count)
    ]
    weights = search_weights(every)
    assert (weights > 0.0).all()
    assert (weights <= 1.0).all()
    ends = np.cumsum([count for count, _ in searches])[:-1]
    return [round(float(part.sum()), 6) for part in np.split(weights, ends)]


def _who(about: dict[str, Any], n: int) -> dict[str, Any]:
    who = {name: one for name, one in about.items() if name != "target"}
    return {name: f"{one[:-1]}{n}" if one == "each*" else one for name, one in who.items()}


EACH = {"user": "each*"}


def test_what_one_counts_for_is_capped() -> None:
    assert weigh((300, EACH)) == [300.0]
    assert weigh((100, EACH), (1000, {"user": "machine"})) == [100.0, 10.0]
    assert weigh((100, EACH), (1000, {"network": 7})) == [100.0, 10.0]
    assert weigh((400, EACH), (1000, {"user": "machine"})) == [400.0, pytest.approx(400 / 19)]
    assert weigh((100, {}), (9, {"user": "one"})) == [100.0, 9.0]


def test_a_name_is_a_persons_within_one_key_only() -> None:
    assert weigh((20, {"owner": "a", "user": "u"}), (20, {"owner": "b", "user": "u"})) == [10, 10]


def test_one_item_counts_for_little_however_often_it_was_found() -> None:
    """Many machines that push one item."""
    assert weigh((100, EACH), (1000, {"user": "each*", "target": "x"})) == [100.0, 10.0]


def test_one_key_counts_for_no_more_than_the_others() -> None:
    ours, theirs = {"owner": "a", "user": "each*"}, {"owner": "b", "user": "each*"}
    assert weigh((100, ours), (1000, theirs)) == [100.0, 100.0]
    third = {"owner": "c", "user": "each*"}
    assert weigh((100, ours), (100, third), (1000, theirs)) == [100.0, 100.0, 100.0]
    assert weigh((1000, ours)) == [1000.0]


def test_who_is_alone_is_not_protected_from_themselves() -> None:
    assert weigh((300, {"network": 7})) == [300.0]
    assert weigh((300, {"user": "me"})) == [300.0]


def test_what_nobody_was_shown_is_no_choice() -> None:
    """An item that a search began with was not chosen among what was on screen."""
    catalog = random_catalog(80)
    session = catalog.session(seed=1, like=[catalog.ids[3]])
    page = session.page().ids
    session.like(page[0], shown=page)
    session.found(page[1])
    (search,) = read_searches(catalog, "shop", [session]).searches
    assert [click.item for click in search.clicks] == [page[0]]


def test_how_much_words_count_is_learned_from_what_was_found() -> None:
    rng = np.random.default_rng(3)
    items, hits = 1000, 50
    usual = (0.4, 0.3, 0.3)
    for letters, meaning in ((0.8, 0.1), (0.1, 0.6)):
        said: list[tuple[float | None, float | None]] = []
        for way in rng.choice(3, p=[letters, meaning, 1 - letters - meaning], size=2000):
            called = way == 0 or rng.random() < hits / items
            near = way == 1 or rng.random() < hits / items
            said.append((items / hits if called else 1e-3, items / hits if near else 1e-3))
        weights, aside = np.ones(2000), np.arange(2000) % 5 == 0
        fitted = fit_words(said, weights, aside, usual)
        assert fitted == pytest.approx((letters, meaning, 1 - letters - meaning), abs=0.06)
        # Without a view that reads text, the meaning keeps its share.
        alone = fit_words([(one, None) for one, _ in said], weights, aside, usual)
        assert alone[1] == usual[1]
        assert (alone[0] > usual[0]) == (letters > usual[0])
        # Few words, and words whose like is no more probable, change nothing.
        assert fit_words(said[:30], weights[:30], aside[:30], usual) == usual
        assert fit_words([(1.0, 1.0)] * 200, np.ones(200), aside[:200], usual) == usual


@pytest.mark.parametrize(("title", "named"), [("red shoe", True), ("blue scarf", False)])
def test_words_of_a_search_are_read_as_how_well_they_match_what_was_found(
    title: str, named: bool
) -> None:
    catalog = worded_catalog()
    session = catalog.session(query="scarlet shoe")
    session.like(session.page().ids[0])
    session.say("zebra")
    session.found(next(id for id in catalog.ids if catalog.item(id).title == title))
    (search,) = read_searches(catalog, "shop", [line_of(session, catalog="shop")]).searches
    (letters, meaning), (unknown, _) = search.said
    assert letters is not None
    assert meaning is not None
    assert (letters > 1.0) == (meaning > 1.0) == named
    assert unknown is None
