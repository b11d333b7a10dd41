"""A service that learns by itself: in a process of its own, while people go on searching."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from seeker import BadInput, Catalog
from seeker.engine import Catalogs, Engine
from seeker.server.runner import serve
from seeker.server.settings import Settings, read_settings
from seeker.stores import StoredSession, open_store
from support.searches import found_searches, seen_catalog
from support.servers import serving, until


def fill(address: str, folder: Path, lines: list[str]) -> None:
    """Put searches into a store as if people had made them."""
    store = open_store(address)
    for number, line in enumerate(lines):
        events = json.loads(line)["events"]
        about = ("shop", None, f"user {number}", 1.0 + number, 1.0 + number)
        store.create(StoredSession(f"session-{number}", *about, len(events), events))
    Engine(Catalogs({"shop": Catalog.open(folder)}), store).close()


def test_a_service_learns_by_itself(tmp_path: Path) -> None:
    folder, eyes = seen_catalog(tmp_path / "shop")
    address = str(tmp_path / "sessions.sqlite")
    fill(address, folder, list(found_searches(Catalog.open(folder), eyes, range(200))))
    flags = ("--store", address, "--learn", "daily", "--open-metrics", "--session-days", "1e6")
    with serving(folder, tmp_path / "log", *flags) as http:
        began = http.post("/v1/sessions", json={"seed": 5}).json()
        done = until(lambda: http.get("/healthz").json()["learning"].get("shop"))
        assert (done["taken"], done["failures"]) == (True, 0), (tmp_path / "log").read_text()

        def new_views() -> list[str]:
            answer = http.post("/v1/sessions", json={"seed": 5}).json()
            return [view for view in answer["belief"]["views"] if view.startswith("learned")]

        assert until(new_views) == ["learned-2"]
        again = http.get(f"/v1/sessions/{began['id']}").json()
        if "learned-2" not in began["belief"]["views"]:
            assert again["page"] == began["page"]
            assert set(again["belief"]["views"]) == {"looks", "words"}
        figures = _figures(http)
        assert figures['seeker_learned_searches{catalog="shop"}'] > 100
        assert figures['seeker_learning_failures{catalog="shop"}'] == 0
        assert figures['seeker_learning_last_seconds{catalog="shop"}'] == pytest.approx(done["at"])
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    (ended,) = [line for line in log if line.get("message") == "learning ended"]
    assert "held aside" in ended["reason"]


def _figures(http: httpx.Client) -> dict[str, float]:
    lines = http.get("/metrics").text.splitlines()
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    }


def test_it_is_off_unless_asked_for(folder: Path, tmp_path: Path) -> None:
    assert Settings().learn == ""
    with pytest.raises(BadInput, match="hourly, daily, weekly"):
        read_settings({"learn": "often"}, environment={})
    settings = read_settings(
        {"catalogs": (str(folder),), "learn": "daily", "store": "memory:", "port": 0},
        environment={},
    )
    with pytest.raises(BadInput, match="store in memory"):
        serve(settings, lambda address: None)
