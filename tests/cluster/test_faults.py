"""A real Ray cluster of several nodes: the same pages, whatever dies or stalls."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.shards import answers, pid, stalled, step
from seeker import Catalog, Session
from seeker.cluster import ClusterCatalog, Fleet, FleetHealth, ShardsSilentError
from seeker.cluster.messages import NoReply, RefreshQuery, ShardReport, ShardRequest
from seeker.cluster.ray_actor import ShardActor
from seeker.cluster.ray_runtime import NAMESPACE, STORE_BYTES
from seeker.cluster.ray_transport import RayShards
from support.catalogs import random_catalog
from support.servers import TIMEOUT_SECONDS, until

pytest.importorskip("ray")
# One cluster for all of these, also where tests run in several processes.
pytestmark = pytest.mark.xdist_group("ray")


FOR_EVER = 10 * TIMEOUT_SECONDS
"""Seconds that nobody waits for a shard who need not."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(items=3_000, dims=(16, 8))


@pytest.fixture(scope="module")
def shards(
    nodes: Any, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RayShards]:
    """Three shards, which were sent copies of their parts, for there is no folder to see."""
    copies = str(tmp_path_factory.mktemp("copies"))
    transport = RayShards(catalog.views, secrets.token_hex(8), 3, None, copies=copies)
    ClusterCatalog.over(catalog, Fleet(transport)).wait_until_ready()
    assert [one.copied for one in transport.reports(60.0).values()] == [True] * 3  # type: ignore[union-attr]
    yield transport
    transport.end()


def sessions(
    catalog: Catalog, shards: RayShards, seconds: float = 60.0, partial_ok: bool = False
) -> tuple[Session, Session]:
    """Return two sessions that know a click, one on this machine and one over shards."""
    over = ClusterCatalog.over(catalog, Fleet(shards, seconds, partial_ok))
    both = catalog.session(seed=5), over.session(seed=5)
    step(both, 0)
    until(lambda: answers(both[1]))
    return both


def prepared(session: Session) -> Any:
    """Return the belief after work between clicks; None if a shard was taken for silent."""
    try:
        return session.prepare()
    except ShardsSilentError:
        return None


def clicked(catalog: Catalog) -> list[Any]:
    """Return the events of a session that knows a click."""
    session = catalog.session(seed=5)
    session.like(session.page().ids[0])
    return list(session.events)


def test_pages_are_those_of_one_machine(catalog: Catalog, shards: RayShards) -> None:
    alone, far = both = sessions(catalog, shards)
    for n in range(1, 15):
        step(both, n)
        assert alone.more(0, 40) == far.more(0, 40)
        if n % 4 == 1:
            far.prepare()
    assert far.belief.entropy == pytest.approx(alone.belief.entropy)
    assert far.belief.views == pytest.approx(alone.belief.views, abs=1e-6)


def test_a_shard_killed_in_the_middle_of_a_click(catalog: Catalog, shards: RayShards) -> None:
    alone, far = both = sessions(catalog, shards)
    for victim in (0, 2):
        before = pid(shards, victim)
        shot = threading.Timer(0.002, os.kill, (before, signal.SIGKILL))
        shot.start()
        n = 0
        while shot.is_alive() or n < 12:
            n += 1
            step(both, n)
            assert far.page() == alone.page()
        assert pid(shards, victim) != before
        step(both, 1)
        assert far.page() == alone.page()


def test_a_shard_that_stalls_is_a_refusal_that_can_be_retried(
    catalog: Catalog, shards: RayShards
) -> None:
    alone, far = both = sessions(catalog, shards, seconds=1.0)
    with stalled(pid(shards, 1)):
        step(both, 1)
        with pytest.raises(ShardsSilentError) as refused:
            far.page()
    assert refused.value.http_status == 503
    assert 1 in refused.value.shards
    until(lambda: answers(far))
    assert far.page() == alone.page()


def test_work_that_may_wait_is_left_as_soon_as_somebody_wants_something(
    catalog: Catalog, shards: RayShards
) -> None:
    _, far = sessions(catalog, shards, FOR_EVER)
    far.page()
    looks = iter([False] * 8)
    with stalled(pid(shards, 1)):
        began = time.monotonic()
        assert far.prepare(lambda: next(looks, True)) is None
        assert time.monotonic() - began < TIMEOUT_SECONDS
    until(lambda: answers(far))


def test_work_that_may_wait_takes_its_time(nodes: Any, catalog: Catalog, tmp_path: Path) -> None:
    """A shard that works for longer than people would wait is not taken for a silent one."""

    class Slow(ShardActor):
        def answer(self, request: ShardRequest) -> Any:
            if isinstance(request.query, RefreshQuery):
                time.sleep(2.5)
            return ShardActor.answer(self, request)

    name, copies = secrets.token_hex(8), str(tmp_path)
    slow = RayShards(catalog.views, name, 1, None, copies=copies, actor=Slow)
    try:
        ClusterCatalog.over(catalog, Fleet(slow)).wait_until_ready()
        alone, far = sessions(catalog, slow, seconds=1.0)
        belief = until(lambda: prepared(far))
        assert belief.entropy == pytest.approx(alone.belief.entropy)
        assert Fleet(slow).health() == FleetHealth(1, {})
    finally:
        slow.end()


def test_a_shard_that_cannot_keep_its_rows_is_not_sent_them_again_and_again(
    nodes: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("seeker"), "propagate", True)
    (tmp_path / "file").write_text("in the way of a folder")
    catalog = random_catalog(items=60)
    copies = str(tmp_path / "file" / "copies")
    shards = RayShards(catalog.views, secrets.token_hex(8), 1, None, copies=copies)
    try:
        over = ClusterCatalog.over(catalog, Fleet(shards, FOR_EVER))
        began = time.monotonic()
        for refused in (
            over.wait_until_ready,
            lambda: Session.replay(over, clicked(catalog)).page(),
        ):
            with pytest.raises(
                ShardsSilentError, match=r"could not keep its part.*Not a directory"
            ):
                refused()
        assert time.monotonic() - began < TIMEOUT_SECONDS, "there is nothing to wait for"
        assert "Not a directory" in over.fleet.health().silent[0]
        assert len(caplog.messages) <= 4
    finally:
        shards.end()


def test_a_cluster_that_is_lost_for_good_is_a_refusal_too(
    catalog: Catalog, shards: RayShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's client, once disconnected, raises what is nothing but an Exception."""

    class Disconnected:
        def __getattr__(self, name: str) -> Any:
            raise Exception("Ray Client is not connected.")

    _, far = sessions(catalog, shards)
    far.undo()
    with monkeypatch.context() as patch:
        patch.setattr(shards, "_actors", [Disconnected()] * 3)
        with pytest.raises(ShardsSilentError, match="the cluster cannot be reached") as refused:
            far.more(0, 30)
    assert refused.value.http_status == 503
    until(lambda: answers(far))


def test_silence_is_noted_by_whoever_asks(catalog: Catalog, shards: RayShards) -> None:
    fleet = Fleet(shards)
    shards.reports(60.0)
    assert fleet.health() == FleetHealth(3, {})
    with stalled(pid(shards, 2)):
        shards.reports(0.5)
        assert fleet.health().silent[2] == "no answer in 0.5 seconds"
    until(lambda: not any(isinstance(one, NoReply) for one in shards.reports(5.0).values()))
    assert fleet.health() == FleetHealth(3, {})


def test_partial_answers_say_so_and_end_with_the_silence(
    catalog: Catalog, shards: RayShards
) -> None:
    alone, far = both = sessions(catalog, shards, seconds=2.0, partial_ok=True)
    silent = shards.ranges[0]
    with stalled(pid(shards, 0)):
        step(both, 1)
        page = far.page()
        assert page.partial
        assert len(page) == 12
        assert not any(catalog.row(id) in silent for id in page.ids)
        assert far.belief.entropy > 0.0
    until(lambda: answers(far))
    assert far.page() == alone.page()
    assert far.belief.entropy == pytest.approx(alone.belief.entropy)


def test_a_node_removed(nodes: Any, tmp_path: Path) -> None:
    """Shards on a node that is gone start again on another, and are sent their rows again."""
    catalog = random_catalog(items=900)
    nodes.add_node(num_cpus=1, object_store_memory=STORE_BYTES, include_dashboard=False)
    copies = tmp_path / "copies"
    shards = RayShards(catalog.views, secrets.token_hex(8), 4, None, copies=str(copies))
    try:
        alone, far = both = sessions(catalog, shards)

        def places() -> list[str]:
            """Return where the shards are, once all of them say so."""
            reports = shards.reports(60.0).values()
            ids = [one.node for one in reports if isinstance(one, ShardReport)]
            return ids if len(ids) == 4 else []

        before = until(places)
        gone = next(node for node in nodes.worker_nodes if node.node_id in before)
        shutil.rmtree(copies)
        nodes.remove_node(gone, allow_graceful=False)
        for n in range(1, 4):
            step(both, n)
            # On a busy machine Ray takes longer than a page may, which is refused until then.
            until(lambda: answers(far), 4 * TIMEOUT_SECONDS)
            assert alone.page() == far.page()
        until(lambda: gone.node_id not in (places() or [gone.node_id]))
    finally:
        shards.end()


def test_shards_that_nobody_needs_end(nodes: Any, tmp_path: Path) -> None:
    import ray

    name = secrets.token_hex(8)
    catalog = random_catalog(items=100)
    transport = RayShards(catalog.views, name, 2, None, idle=2.0, copies=str(tmp_path))
    listed = ray.util.list_named_actors

    def there() -> int:
        names = [one["name"] for one in listed(True) if one["namespace"] == NAMESPACE]
        return sum(one.startswith(name) for one in names)

    ClusterCatalog.over(catalog, Fleet(transport)).wait_until_ready()
    assert there() == len(list(tmp_path.iterdir())) == 2
    transport.close()
    until(lambda: there() == 0)
    assert list(tmp_path.iterdir()) == [], "copies go with those who used them"
