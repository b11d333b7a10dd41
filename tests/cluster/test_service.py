"""Services over a real Ray cluster: any of them answers any session."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import seeker
from cluster.shards import pid, stalled
from seeker import Catalog
from seeker.cluster.cluster import Cluster
from seeker.cluster.ray_transport import RayShards
from seeker.engine import Catalogs
from seeker.server.cli import serve
from support.catalogs import build_folder
from support.documents import ROOT, blocks
from support.servers import TIMEOUT_SECONDS, Server, until
from support.stores import NewStore

pytest.importorskip("ray")
# One cluster for all of these, also where tests run in several processes.
pytestmark = pytest.mark.xdist_group("ray")


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
            stack.enter_context(httpx.Client(base_url=one.ready().url, timeout=TIMEOUT_SECONDS))
            for one in servers
        ]
        response = calls[0].post("/v1/sessions", json={"seed": 11}).json()
        address = f"/v1/sessions/{response['id']}"
        for n in range(6):
            assert [item["id"] for item in response["page"]["items"]] == alone.page().ids
            item = alone.page().ids[n]
            alone.click(item, "dislike" if n % 3 == 1 else "like")
            click = {"item": item, "verdict": "dislike" if n % 3 == 1 else "like", "step": n}
            response = insisted(calls[n % 2], f"{address}/clicks", click)
        seen = [call.get(address).json() for call in calls]
        assert seen[0] == seen[1]
        assert seen[0]["belief"]["entropy"] == pytest.approx(alone.belief.entropy)
        assert "partial" not in response["page"]

        # A click that meets a stalled shard is refused for now, kept once, and answered later.
        shards = Cluster(nodes.address, shards=2).open(folder).fleet.transport
        assert isinstance(shards, RayShards)
        item, key = alone.page().ids[0], {"Idempotency-Key": secrets.token_hex(16)}
        alone.like(item)
        click = {"item": item, "verdict": "like", "step": 6}
        with stalled(pid(shards, 0)):
            refused = calls[0].post(f"{address}/clicks", json=click, headers=key)

            def told() -> bool:
                health = calls[0].get("/healthz").json()
                assert health["live"]
                shards = health["shards"].get("shop", {"count": 2, "silent": []})
                assert shards["count"] == 2
                return 0 in shards["silent"]

            until(told)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        response = insisted(calls[1], f"{address}/clicks", click, key)
        assert [item["id"] for item in response["page"]["items"]] == alone.page().ids
        assert len(calls[0].get(f"{address}/events").json()["events"]) == 8


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_a_ray_of_its_own_that_ends_ends_the_service(folder: Path, tmp_path: Path) -> None:
    """Nobody else would start it again; whoever watches over the service is told to."""
    log = tmp_path / "log"
    server = Server(folder, "--cluster", "local", "--store", str(tmp_path / "store")).start(log)
    assert server.process is not None
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    raylets = [
        int(child)
        for child in children
        if Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/raylet")
    ]
    assert len(raylets) == 1
    os.kill(raylets[0], signal.SIGKILL)
    assert server.process.wait(TIMEOUT_SECONDS) == 6
    assert server.stop() == 6
    last_line = log.read_text().splitlines()[-1]
    assert last_line.startswith(
        "seeker: Ray, which was started on this machine, has ended (raylet)."
    )


def test_a_cluster_from_the_settings(nodes: Any, folder: Path) -> None:
    """Shards see the catalog's folder here, so they map it and nothing is copied."""
    cluster = Cluster(nodes.address, shards=3)
    catalog = cluster.open(folder)
    catalog.wait_until_ready()
    transport = catalog.fleet.transport
    assert isinstance(transport, RayShards)
    try:
        assert [one.copied for one in transport.reports(60.0).values()] == [False] * 3  # type: ignore[union-attr]
        assert catalog.session(seed=4).page() == Catalog.open(folder).session(seed=4).page()
    finally:
        transport.end()


def test_a_new_version_is_served_when_its_shards_are_ready(nodes: Any, tmp_path: Path) -> None:
    """Nobody waits for shards to start; those of the old version go on meanwhile."""
    import ray

    # A catalog that no other test has: shards are found by what they hold.
    folder = build_folder(tmp_path / "shop", 77)
    cluster = Cluster(nodes.address, shards=2, seconds=60.0, idle=8.0)
    catalogs = Catalogs.open([str(folder)], cluster.open, cluster.renew)
    old = catalogs.get()[1]
    transports = [old.fleet.transport]  # type: ignore[attr-defined]
    try:
        old.wait_until_ready()  # type: ignore[attr-defined]
        session = old.session(seed=4)
        session.like(session.page().ids[0])
        seeker.remove(folder, ids=[session.page().ids[0]])
        assert cluster.renew(folder) is None
        assert len(session.page().ids) == 12
        new = until(lambda: cluster.renew(folder))
        transports.append(new.fleet.transport)
        reports = new.fleet.transport.reports(60.0).values()
        assert all(one.ready for one in reports)
        alone = Catalog.open(folder).replay(session.events)
        assert new.replay(session.events).page() == alone.page() != session.page()

        def there(catalog: Catalog) -> int:
            assert catalog.manifest is not None
            names = [one["name"] for one in ray.util.list_named_actors(True)]
            return sum(one.startswith(catalog.manifest.identity) for one in names)

        until(lambda: there(old) == 0)
        assert there(new) == 2, "shards of the old version end, though somebody holds it"
    finally:
        for transport in transports:
            transport.end()


def test_ray_is_not_started_by_whoever_asks_for_a_shard() -> None:
    script = (
        "from seeker.cluster.ray_runtime import import_ray\n"
        "ray = import_ray()\n"
        "try:\n    ray.get_actor('shard')\n"
        "except Exception:\n    print(ray.is_initialized())\n"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    assert run.stdout == "False\n", run.stderr


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
