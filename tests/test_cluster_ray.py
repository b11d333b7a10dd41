"""A real Ray cluster of several nodes: the same pages, whatever dies, stalls or is asked where."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import made
from documents import ROOT, blocks
from seeker import Catalog, Session
from seeker.cluster import ClusterCatalog, Fleet, Health, ShardsSilent
from seeker.cluster.connecting import NAMESPACE, STORE_BYTES, connect
from seeker.cluster.messages import Report
from seeker.cluster.opening import Cluster, wait
from seeker.cluster.raytransport import RayShards
from seeker.cluster.transport import Silent
from seeker.server.commands import serve
from stores import NewStore
from test_server_parts import Server, folder_of, until

pytest.importorskip("ray")
# One cluster for all of these, also where tests run in several processes.
pytestmark = pytest.mark.xdist_group("ray")

QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
LATE = 10.0
"""Seconds within which a shard that was killed and started again must answer."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Run Ray as three machines would, with nothing of it in anybody's home."""
    home = Path.home() / ".ray"
    before = home.exists()
    folder = tempfile.mkdtemp(prefix="sr-")
    set_here = {"RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_TMPDIR": folder}
    os.environ |= {**set_here, "RAY_USAGE_STATS_ENABLED": "0"}
    from ray.cluster_utils import Cluster as Nodes

    each = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    head = {"_system_config": QUICK, "include_dashboard": False, **each}
    cluster = Nodes(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(**each, include_dashboard=False)
        connect(cluster.address)
        yield cluster
    finally:
        import ray

        ray.shutdown()
        cluster.shutdown()
        for name in set_here:
            del os.environ[name]
        shutil.rmtree(folder, ignore_errors=True)
    assert home.exists() == before


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("cluster") / "shop", items=500)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return made(items=3_000, dims=(16, 8))


@pytest.fixture(scope="module")
def shards(
    nodes: Any, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RayShards]:
    """Three shards, which were sent copies of their parts, for there is no folder to see."""
    copies = str(tmp_path_factory.mktemp("copies"))
    transport = RayShards(catalog.views, secrets.token_hex(8), 3, None, copies=copies)
    wait(ClusterCatalog.over(catalog, Fleet(transport)))
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


def step(both: tuple[Session, Session], n: int) -> None:
    """Do the next of a row of things in two sessions."""
    item = both[0].page().ids[n % 12]
    shown = both[0].page().ids
    for session in both:
        match n % 5:
            case 3:
                session.undo()
            case 4:
                session.narrow({"price": {"lt": 15.0 - n / 5}})
            case _:
                session.click(item, "dislike" if n % 2 else "like", shown)


def answers(session: Session) -> bool:
    """Whether all shards answer."""
    try:
        return not session.page().partial
    except ShardsSilent:
        return False


def pid(shards: RayShards, number: int) -> int:
    """Return the process of a shard."""
    report = shards.reports(60.0)[number]
    assert isinstance(report, Report)
    return report.pid


@contextmanager
def stalled(pid: int) -> Iterator[None]:
    """Let a process stand still."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


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
        began = time.monotonic()
        assert pid(shards, victim) != before
        step(both, 1)
        assert far.page() == alone.page()
        assert time.monotonic() - began < LATE


def test_a_shard_that_stalls_is_a_refusal_that_can_be_retried(
    catalog: Catalog, shards: RayShards
) -> None:
    alone, far = both = sessions(catalog, shards, seconds=1.0)
    with stalled(pid(shards, 1)):
        step(both, 1)
        with pytest.raises(ShardsSilent) as refused:
            far.page()
    assert refused.value.http_status == 503
    assert 1 in refused.value.shards
    until(lambda: answers(far))
    assert far.page() == alone.page()


def test_silence_is_noted_by_whoever_asks(catalog: Catalog, shards: RayShards) -> None:
    fleet = Fleet(shards)
    shards.reports(60.0)
    assert fleet.health() == Health(3, {})
    with stalled(pid(shards, 2)):
        shards.reports(0.5)
        assert fleet.health().silent[2] == "no answer in 0.5 seconds"
    until(lambda: not any(isinstance(one, Silent) for one in shards.reports(5.0).values()))
    assert fleet.health() == Health(3, {})


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
    catalog = made(items=900)
    nodes.add_node(num_cpus=1, object_store_memory=STORE_BYTES, include_dashboard=False)
    copies = tmp_path / "copies"
    shards = RayShards(catalog.views, secrets.token_hex(8), 4, None, copies=str(copies))
    try:
        alone, far = both = sessions(catalog, shards)
        places = [one.node for one in shards.reports(60.0).values() if isinstance(one, Report)]
        gone = next(node for node in nodes.worker_nodes if node.node_id in places)
        shutil.rmtree(copies)
        nodes.remove_node(gone, allow_graceful=False)
        for n in range(1, 4):
            step(both, n)
            assert alone.page() == far.page()

        def elsewhere() -> bool:
            told = [one.node for one in shards.reports(60.0).values() if isinstance(one, Report)]
            return len(told) == 4 and gone.node_id not in told

        until(elsewhere)
    finally:
        shards.end()


def test_shards_that_nobody_needs_end(nodes: Any, tmp_path: Path) -> None:
    import ray

    name = secrets.token_hex(8)
    catalog = made(items=100)
    transport = RayShards(catalog.views, name, 2, None, idle=2.0, copies=str(tmp_path))
    transport.reports(60.0)
    listed = ray.util.list_named_actors

    def there() -> int:
        names = [one["name"] for one in listed(True) if one["namespace"] == NAMESPACE]
        return sum(one.startswith(name) for one in names)

    assert there() == 2
    transport.close()
    until(lambda: there() == 0)


def insisted(
    call: httpx.Client, address: str, body: dict[str, Any], headers: dict[str, str] | None = None
) -> Any:
    """Return the answer to a request, made again as often as it is refused for now."""
    headers = headers or {"Idempotency-Key": secrets.token_hex(16)}

    def answered() -> Any:
        answer = call.post(address, json=body, headers=headers)
        assert answer.status_code in (200, 503), answer.text
        return answer.json() if answer.status_code == 200 else None

    return until(answered)


def test_any_process_answers_any_session(
    nodes: Any, folder: Path, new_store: NewStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two API processes share a cluster and a store in PostgreSQL."""
    tmp = tmp_path_factory.mktemp("apis")
    alone = Catalog.open(folder).session(seed=11)
    with ExitStack() as stack:
        store = new_store("postgres")
        flags = ["--cluster", nodes.address, "--shards", "2", "--store", store, "--rate", "0"]
        servers = [Server(folder, *flags, "--shard-timeout", "2") for _ in range(2)]
        starting = [
            threading.Thread(target=one.start, args=(tmp / f"log {n}",))
            for n, one in enumerate(servers)
        ]
        for thread in starting:
            thread.start()
        for thread, server in zip(starting, servers, strict=True):
            thread.join()
            stack.callback(server.stop)
        calls = [
            stack.enter_context(httpx.Client(base_url=one.ready().url, timeout=60))
            for one in servers
        ]
        shown = calls[0].post("/v1/sessions", json={"seed": 11}).json()
        address = f"/v1/sessions/{shown['id']}"
        for n in range(6):
            assert [item["id"] for item in shown["page"]["items"]] == alone.page().ids
            item = alone.page().ids[n]
            alone.click(item, "dislike" if n % 3 == 1 else "like")
            click = {"item": item, "verdict": "dislike" if n % 3 == 1 else "like", "step": n}
            shown = insisted(calls[n % 2], f"{address}/clicks", click)
        seen = [call.get(address).json() for call in calls]
        assert seen[0] == seen[1]
        assert seen[0]["belief"]["entropy"] == pytest.approx(alone.belief.entropy)
        assert "partial" not in shown["page"]

        # A click that meets a stalled shard is refused for now, kept once, and answered later.
        shards = Cluster(nodes.address, shards=2).open(folder).fleet.transport
        assert isinstance(shards, RayShards)
        item, key = alone.page().ids[0], {"Idempotency-Key": secrets.token_hex(16)}
        alone.like(item)
        click = {"item": item, "verdict": "like", "step": 6}
        with stalled(pid(shards, 0)):
            refused = calls[0].post(f"{address}/clicks", json=click, headers=key)
            health = calls[0].get("/healthz").json()
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert health["live"]
        assert health["shards"]["shop"]["count"] == 2
        assert 0 in health["shards"]["shop"]["silent"]
        shown = insisted(calls[1], f"{address}/clicks", click, key)
        assert [item["id"] for item in shown["page"]["items"]] == alone.page().ids
        assert len(calls[0].get(f"{address}/events").json()["events"]) == 8


def test_a_cluster_from_the_settings(nodes: Any, folder: Path) -> None:
    """Shards see the catalog's folder here, so they map it and nothing is copied."""
    cluster = Cluster(nodes.address, shards=3)
    catalog = cluster.open(folder)
    wait(catalog)
    transport = catalog.fleet.transport
    assert isinstance(transport, RayShards)
    try:
        assert [one.copied for one in transport.reports(60.0).values()] == [False] * 3  # type: ignore[union-attr]
        assert catalog.session(seed=4).page() == Catalog.open(folder).session(seed=4).page()
    finally:
        transport.end()


def test_the_guide_says_what_works(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guide's Python runs, here on the cluster there is; its commands are understood."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    served = 0
    for block in blocks(ROOT / "docs/how-to/shards-on-ray.md"):
        if block.language == "python":
            exec(block.code, names)
        for line in block.code.splitlines():
            if line.startswith("seeker serve "):
                words = shlex.split(line, comments=True)[2:]
                serve.make_context("serve", words)
                served += 1
    transport = names["catalog"].fleet.transport
    assert isinstance(transport, RayShards)
    transport.end()
    assert served == 4
