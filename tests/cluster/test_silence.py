"""Shards that do not answer: what is shown says so, nothing else is kept of it, and it is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from seeker import Catalog, Session, display
from seeker.cluster import ClusterCatalog, Fleet, FleetHealth, InProcessShards, ShardsSilentError
from seeker.cluster.messages import NoReply, Reply, ShardRequest
from seeker.engine import Catalogs, Engine
from seeker.kernels.parallel import Stop
from seeker.server.app import create_app
from seeker.server.settings import Settings
from seeker.session import Click
from seeker.stores import MemoryStore
from support.catalogs import random_catalog
from support.servers import until


class Sleepy(InProcessShards):
    """Shards in this process, some of which may be asleep."""

    asleep: frozenset[int] = frozenset()
    waited: float = 0.0
    """Seconds that somebody would have waited for those asleep."""

    def ask(
        self, requests: Mapping[int, ShardRequest], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        awake = {shard: one for shard, one in requests.items() if shard not in self.asleep}
        silent = {shard: NoReply("it sleeps") for shard in requests.keys() - awake.keys()}
        self.waited += seconds if silent else 0.0
        return {**super().ask(awake, seconds, stop), **silent}

    @property
    def silent(self) -> Mapping[int, str]:
        return dict.fromkeys(self.asleep, "it sleeps")


@pytest.fixture
def catalog() -> Catalog:
    return random_catalog(items=400)


@pytest.fixture
def shards(catalog: Catalog) -> Sleepy:
    return Sleepy(catalog.views, 4)


def both(catalog: Catalog, shards: Sleepy, **start: Any) -> tuple[Session, Session]:
    """Return two sessions that know a click, on one machine and over shards; parts will do."""
    over = ClusterCatalog.over(catalog, Fleet(shards, partial_ok=True))
    alone, far = catalog.session(**start), over.session(**start)
    page = alone.page().ids
    for session in (alone, far):
        session.like(page[0], shown=page)
    return alone, far


STRATEGIES = [
    display.Boltzmann(),
    display.Boltzmann(score="probability"),
    display.Diverse(),
    display.Informative(),
    display.Greedy(),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_what_is_found_without_a_shard_is_not_kept(
    catalog: Catalog, shards: Sleepy, strategy: display.Strategy
) -> None:
    alone, far = both(catalog, shards, seed=3, strategy=strategy)
    shards.asleep = frozenset([1])
    page = far.page()
    assert page.partial
    assert len(page) == 12
    assert not any(catalog.row(item) in shards.ranges[1] for item in page.ids)
    shards.asleep = frozenset()
    assert far.page() == alone.page()
    assert far.belief.entropy == pytest.approx(alone.belief.entropy)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_a_look_at_the_belief_without_a_shard_spoils_no_page(
    catalog: Catalog, shards: Sleepy, strategy: display.Strategy
) -> None:
    alone, far = both(catalog, shards, seed=3, strategy=strategy)
    shards.asleep = frozenset([1, 2])
    assert far.belief.entropy < alone.belief.entropy
    shards.asleep = frozenset()
    assert far.more(0, 400) == alone.more(0, 400)


def test_what_must_be_whole_is_refused(catalog: Catalog, shards: Sleepy) -> None:
    _, far = both(catalog, shards)
    shards.asleep = frozenset([0, 2])
    for whole in (lambda: far.belief.rank("item 3"), lambda: far.belief.log_posterior):
        with pytest.raises(ShardsSilentError, match="2 of 4 shards") as refused:
            whole()
        assert refused.value.shards == (0, 2)
    shards.asleep = frozenset(range(4))
    with pytest.raises(ShardsSilentError, match="it sleeps"):
        far.page()


def test_there_is_no_belief_where_all_that_is_possible_is_silent() -> None:
    catalog = random_catalog(items=60, attributes={"third": [n // 20 for n in range(60)]})
    shards = Sleepy(catalog.views, 3)
    alone, far = both(catalog, shards, filter={"third": 1})
    shards.asleep = frozenset([1])
    with pytest.raises(ShardsSilentError):
        _ = far.belief.entropy
    shards.asleep = frozenset()
    assert far.belief.entropy == pytest.approx(alone.belief.entropy)
    assert far.page() == alone.page()


def test_without_leave_to_be_partial_silence_is_refused(catalog: Catalog, shards: Sleepy) -> None:
    alone, far = (
        one.session(seed=1) for one in (catalog, ClusterCatalog.over(catalog, Fleet(shards)))
    )
    page = far.page().ids
    shards.asleep = frozenset([3])
    for session in (alone, far):
        session.like(page[0], shown=page)
    with pytest.raises(ShardsSilentError):
        far.page()
    shards.asleep = frozenset()
    assert far.page() == alone.page()


def test_the_service_says_which_shards_are_silent(catalog: Catalog, shards: Sleepy) -> None:
    fleet = Fleet(shards, partial_ok=True)
    settings = Settings(store="memory:", cluster="here", open_metrics=True)
    catalogs = Catalogs({"shop": ClusterCatalog.over(catalog, fleet), "small": random_catalog(20)})
    with TestClient(create_app(settings, catalogs), base_url="http://localhost") as http:

        def health() -> object:
            return http.get("/healthz").json()["shards"]

        assert health() == {"shop": {"count": 4, "silent": []}}
        shards.asleep = frozenset([2, 0])
        assert fleet.health() == FleetHealth(4, {0: "it sleeps", 2: "it sleeps"})
        assert health() == {"shop": {"count": 4, "silent": [0, 2]}}
        figures = http.get("/metrics").text
        assert 'seeker_shards{catalog="shop"} 4.0' in figures
        assert 'seeker_shards_silent{catalog="shop"} 2.0' in figures
        response = http.post("/v1/sessions", json={}).json()
        assert "partial" not in response["page"], "the covering page is made at the front"
        click = {"item": response["page"]["items"][0]["id"], "verdict": "like"}
        response = http.post(f"/v1/sessions/{response['id']}/clicks", json=click).json()
        assert response["page"]["partial"] is True
        assert http.get("/healthz/ready").status_code == 200, "there is something to show"
        shards.asleep = frozenset(range(4))
        assert http.get("/healthz").json()["ready"] is False, "where nobody answers there is not"
        assert http.get("/healthz/ready").status_code == 503
        shards.asleep = frozenset()
        assert http.get("/healthz/ready").status_code == 200


@pytest.mark.parametrize("at_once", [1000, 0])
def test_a_summary_without_a_shard_is_made_anew(
    catalog: Catalog, shards: Sleepy, at_once: int
) -> None:
    """Also one that was made in the background."""
    over = ClusterCatalog.over(catalog, Fleet(shards, partial_ok=True))
    alone = catalog.session(seed=3)
    engine = Engine(Catalogs({"shop": over}), MemoryStore(), max_belief_items=at_once)
    try:
        id = engine.start(seed=3).id
        item = alone.page().ids[0]
        alone.like(item)
        shards.asleep = frozenset([1])
        engine.act(id, Click(item, "like"))
        less = until(lambda: engine.show(id).belief)
        assert less.entropy < alone.belief.entropy - 0.1
        shards.asleep = frozenset()

        def whole() -> bool:
            belief = engine.show(id).belief
            return belief is not None and belief.entropy == pytest.approx(alone.belief.entropy)

        assert whole() if at_once else until(whole)
    finally:
        engine.close()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_one_click_waits_for_the_silent_once(
    catalog: Catalog, shards: Sleepy, strategy: display.Strategy
) -> None:
    """However many questions its page and its belief need; who is back is heard at once."""
    fleet = Fleet(shards, seconds=600.0, partial_ok=True)
    engine = Engine(Catalogs({"shop": ClusterCatalog.over(catalog, fleet)}), MemoryStore())
    try:
        snapshot = engine.start(seed=3, strategy=strategy)
        shards.asleep = frozenset([1])
        snapshot = engine.act(snapshot.id, Click(snapshot.page.ids[0], "like"))
        assert snapshot.page.partial
        assert 600.0 <= shards.waited < 602.0
        shards.asleep = frozenset()
        assert not engine.show(snapshot.id).page.partial
    finally:
        engine.close()


def test_who_is_refused_once_is_refused_sooner_until_the_shard_is_back(
    catalog: Catalog, shards: Sleepy
) -> None:
    """A shard that stands still does not keep every thread of the service waiting."""
    over = ClusterCatalog.over(catalog, Fleet(shards, seconds=600.0))
    session = over.session(seed=3)
    session.like(session.page().ids[0])
    shards.asleep = frozenset([2])
    for _ in range(4):
        with pytest.raises(ShardsSilentError):
            session.page()
    assert 600.0 <= shards.waited < 604.0
    shards.asleep = frozenset()
    assert session.page() == catalog.replay(session.events).page()
