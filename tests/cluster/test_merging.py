"""Shards merged: whatever a person does, the pages are those of a single machine, to the item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cluster.walks import spread, walk
from seeker import Catalog, Session, display, models
from support.catalogs import random_catalog
from support.limits import limited

SHARDS = (1, 2, 3, 7)
MODELS = (
    models.Choice(),
    models.Choice(sigmas=(0.05, 0.3), slip=0.0),
    models.Pairwise(),
    models.Pairwise(alpha=5.0, scale="raw"),
    models.Bipartite(),
    models.Relative(),
)
STRATEGIES = (
    display.Boltzmann(),
    display.Boltzmann(c=2.0, first="ranked"),
    display.Boltzmann(score="probability"),
    display.Boltzmann(schedule=(0.0, 1.0, float("inf"))),
    display.Greedy(),
    display.Greedy(first="ranked"),
    display.EpsilonGreedy(epsilon=0.4),
    display.Random(),
    display.CorrelatedBoltzmann(),
    display.CorrelatedBoltzmann(c=2.0, correlation=1.0, reach=0.01),
    display.Diverse(),
    display.Informative(pool=40, targets=100),
    display.Diverse(criterion="determinantal", base=display.EpsilonGreedy(epsilon=0.5)),
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(items=700, dims=(24, 9), seed=3)


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_model_shows_the_pages_of_one_machine(
    catalog: Catalog, model: models.Model, shards: int
) -> None:
    walk(catalog, shards, 17 + shards, 8, model=model)


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_every_strategy_shows_the_pages_of_one_machine(
    catalog: Catalog, strategy: display.Strategy, shards: int
) -> None:
    walk(catalog, shards, 5 + shards, 8, strategy=strategy, page_size=7)


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_compact_views_in_shards(dtype: Any, shards: int) -> None:
    walk(random_catalog(items=300, dims=(24,), dtype=dtype), shards, 2, 5)


@pytest.mark.parametrize("shards", [2, 7])
@pytest.mark.parametrize("model", ["choice", "pairwise", "bipartite"])
def test_metrics_without_a_formula(model: str, shards: int) -> None:
    catalog = random_catalog(items=90, dims=(6, 4), metric={"image": "manhattan"})
    person = {"image": np.linspace(0.5, 2.0, 6)}
    walk(catalog, shards, 8, 5, model=model, user=person, strategy=display.Diverse())


@pytest.mark.parametrize("start", ["prior", "words", "example", "filter", "person", "always"])
def test_however_a_session_begins(catalog: Catalog, start: str) -> None:
    prior = np.log(np.random.default_rng(5).random(len(catalog)))
    prior[::3] = -np.inf
    ways: dict[str, dict[str, Any]] = {
        "prior": {"prior": prior},
        "words": {"query": "item 33"},
        "example": {"query": "kind 2", "like": ["item 33"]},
        "filter": {"filter": {"kind": "kind 2"}, "strategy": display.EpsilonGreedy(epsilon=0.3)},
        "person": {"user": {"colour": np.linspace(0.1, 3.0, 9)}},
        "always": {"repeat": "always"},
    }
    walk(catalog, 3, 4, 6, **ways[start])


def test_a_filter_that_leaves_a_shard_with_nothing() -> None:
    catalog = random_catalog(items=60, attributes={"half": [n // 20 for n in range(60)]})
    walk(catalog, 3, 1, 6, filter={"half": 1}, page_size=12)


def test_down_to_the_last_item(catalog: Catalog) -> None:
    alone, over = catalog.session(seed=2), spread(catalog, 7).session(seed=2)
    for session in (alone, over):
        session.like(session.page().ids[1])
        session.dislike(session.page().ids[0])
    assert alone.more(0, len(catalog)).ids == over.more(0, len(catalog)).ids
    assert over.more(len(catalog), 5).ids == []


@pytest.mark.parametrize("memory", [64_000_000, 50_000])
@pytest.mark.parametrize("model", ["choice", "pairwise"])
def test_large_shards_look_closely_only_where_they_must(model: str, memory: int) -> None:
    """Shards with exact sums, and shards too large for that, which keep bounds."""
    catalog = random_catalog(items=9_000, dims=(16,), seed=9)
    walk(limited(catalog, sorted_items=100, session_bytes=memory), 3, 6, 8, model=model)


@pytest.mark.parametrize("strategy", STRATEGIES[-4:] + STRATEGIES[:1], ids=repr)
def test_candidates_are_picked_without_a_list_of_them(
    catalog: Catalog, strategy: display.Strategy
) -> None:
    walk(catalog, 3, 12, 6, strategy=strategy)
    walk(catalog, 2, 13, 4, strategy=strategy, filter={"price": {"lt": 8}})


def test_all_models_and_strategies_there_are_were_tried() -> None:
    assert {type(one) for one in MODELS} == set(models.MODELS.classes.values())
    assert {type(one) for one in STRATEGIES} == set(display.STRATEGIES.classes.values())


def test_shards_that_forget_everything_at_once(catalog: Catalog) -> None:
    forgetful = spread(catalog, 3, memory=0)
    alone, over, another = catalog.session(), forgetful.session(), forgetful.session(seed=9)
    for n in range(5):
        item = alone.page().ids[n]
        another.like(another.page().ids[0])  # takes the place of the first in every shard
        another.page()
        for session in (alone, over):
            session.like(item)
            session.filter({"price": {"lt": 15 - n}})
        assert alone.page() == over.page()


def test_a_belief_stays_that_of_its_moment(catalog: Catalog) -> None:
    alone, over = catalog.session(), spread(catalog, 2).session()
    alone.like(alone.page().ids[2])
    over.like(over.page().ids[2])
    before, belief = alone.belief, over.belief
    over.dislike(over.page().ids[0])
    over.page()
    assert belief.entropy == pytest.approx(before.entropy)
    assert belief.on_page == pytest.approx(before.on_page)
    assert over.belief.entropy != pytest.approx(before.entropy)


def test_a_replay_over_shards_asks_shards(catalog: Catalog) -> None:
    alone, over = catalog.session(seed=6), spread(catalog, 3)
    alone.like(alone.page().ids[4])
    again = Session.replay(over, alone.events)
    assert again.more(0, 60) == alone.more(0, 60)
    assert again.belief.entropy == pytest.approx(alone.belief.entropy)
    assert again.nbytes == again.ranking_bytes == 0, "the front holds nothing of all items"


def test_clicks_on_items_that_have_left(small: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions go on over shards after items were removed from the catalog."""
    gone = {"item 5", "item 200"}
    left = [row for row, id in enumerate(small.ids) if id not in gone]
    view = small.views["image"]
    later = Catalog.from_arrays([small.ids[row] for row in left], {"image": view.vectors[left]})
    session = small.session(seed=3)
    session.like("item 5", shown=["item 5", "item 200", "item 7"])
    session.dislike("item 9", shown=["item 9", "item 200", "item 8"])
    remembered = {item: {"image": view.vectors[small.row(item)]} for item in gone}
    monkeypatch.setattr(Catalog, "tombstones", remembered)
    alone, over = later.replay(session.events), spread(later, 3).replay(session.events)
    for again in (alone, over):
        again.like("item 30")
    assert alone.more(0, 100).ids == over.more(0, 100).ids
