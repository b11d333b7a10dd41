"""The owner's view: what the report says people did, against sessions whose story is known."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seeker import Catalog, Session
from seeker.cli import main
from seeker.engine import Catalogs, Engine
from seeker.errors import BadInput
from seeker.session import Click, Event, Found, Say, Undo
from seeker.stores import open_store

DAY = 86_400.0
FIRST = 1_750_000_000.0


class Clock:
    """Time as somebody sets it."""

    def __init__(self) -> None:
        self.now = FIRST

    def __call__(self) -> float:
        return self.now


def test_a_site_tells_success_without_changing_the_search(small: Catalog) -> None:
    session = small.session(seed=3)
    session.like(session.page().ids[0])
    page, item, other = session.page(), *session.page().ids[:2]
    session.found(item, "opened")
    assert (session.page(), session.step, session.found_item) == (page, 1, None)
    assert session.state.target == item
    session.found(other, "bought")
    session.found(item, "basket")  # less certain than what is known
    assert session.state.target == other
    session.undo()
    assert (session.step, session.state.target) == (0, other)
    session.redo()
    assert (session.page(), session.state.target) == (page, other)
    again = Session.replay(small, session.events)
    assert (again.page(), again.state.target) == (page, other)
    session.found(item)
    assert (session.found_item, session.state.target) == (item, other)
    with pytest.raises(BadInput, match="no reason"):
        session.found(item, "liked it")


def _stories(engine: Engine, clock: Clock) -> None:
    """Let five people search on two days: found, bought, given up twice, under way."""

    def search(*acts: Event, words: str | None = None) -> None:
        begun = engine.start(seed=1, page_size=4, query=words)
        for act in acts:
            clock.now += 10.0
            engine.act(begun.id, act)

    def like(item: int, *shown: int) -> Click:
        return Click(f"item-{item}", "like", [f"item-{one}" for one in shown])

    search(like(1, 1, 2, 3), Click("item-2", "dislike", ["item-2", "item-3"]), Found("item-5"))
    search(like(4, 3, 4, 6), Found("item-7", "opened"), Found("item-7", "bought"))
    clock.now += DAY
    search(like(4, 3, 4, 6), Say("red zzyzx"), words="zzyzx")
    search(Click("item-3", "dislike", ["item-3", "item-6"]), Undo(1))
    clock.now += 2 * DAY
    search(like(9, 8, 9))
    clock.now += 60.0


@pytest.fixture
def told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    clock, store = Clock(), str(tmp_path / "sessions.sqlite")
    catalogs = Catalogs({"shop": Catalog.open(folder)})
    with closing(Engine(catalogs, open_store(store), clock=clock)) as engine:
        _stories(engine, clock)
    monkeypatch.setattr("time.time", clock)
    for kind in ("json", "html"):
        out = str(tmp_path / f"report.{kind}")
        assert main(["sessions", "report", out, f"shop={folder}", "--store", store]) == 0
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    recent = str(tmp_path / "recent.json")
    assert main(["sessions", "report", recent, "--store", store, "--days", "2.5"]) == 0
    report["recent"] = json.loads(Path(recent).read_text())
    report["page"] = (tmp_path / "report.html").read_text()
    return report


def test_the_report_tells_what_people_did(told: dict[str, Any]) -> None:
    assert told["searches"] == 5
    assert told["ends"] == {"found": 1, "success": 1, "given up": 2, "under way": 1}
    assert told["successes"] == {"opened": 1, "basket": 0, "bought": 1}
    assert told["found"]["median_clicks"] == 2
    assert told["found"]["median_seconds"] == 30.0
    assert {bin for bin, count in told["found"]["by_clicks"].items() if count} == {"2"}
    assert told["given_up"]["by_clicks"]["1"] == 2
    assert told["given_up"]["after"] == {"say": 1, "undo": 1}
    assert told["words"] == {"searches": 1, "unknown": [["zzyzx", 1]]}
    assert [(one["item"], one["count"]) for one in told["items"]["found"]] == [
        ("item-5", 1),
        ("item-7", 1),
    ]
    assert told["items"]["found"][0]["title"]
    assert [one["item"] for one in told["items"]["bought"]] == ["item-7"]
    # On screen at so many clicks, and never liked; once alone says nothing.
    assert [(one["item"], one["count"]) for one in told["items"]["shown_in_vain"]] == [
        ("item-3", 5),
        ("item-6", 3),
        ("item-2", 2),
    ]
    assert told["catalogs"] == {
        "shop": {"items": 120, "never_on_screen": 120 - 7, "never_found": 118}
    }
    assert [sum(day[end] for end in told["ends"]) for day in told["days"]] == [2, 2, 0, 1]
    assert told["recent"]["searches"] == 3


def test_the_report_is_a_page_that_needs_nothing_else(told: dict[str, Any]) -> None:
    page = told["page"]
    assert page.count("<svg") == 3
    assert "“zzyzx”" in page
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)


def test_a_report_goes_to_a_page_or_to_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "s.sqlite")
    open_store(store).close()
    assert main(["sessions", "report", str(tmp_path / "r.txt"), "--store", store]) == 2
    assert "neither .html nor .json" in capsys.readouterr().err
    assert main(["sessions", "report", str(tmp_path / "r.html"), "--store", store]) == 0
    # Where there is nothing to draw, nothing is drawn.
    assert "<svg" not in (tmp_path / "r.html").read_text()
    assert main(["sessions", "report", str(tmp_path / "r.html"), "--store", store + "x"]) == 3
