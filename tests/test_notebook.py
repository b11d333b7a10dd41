"""The search of a notebook, without one: what the page would ask is answered in the kernel."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import seeker
from seeker import notebook, web
from seeker.notebook import SearchWidget


class Ends:
    """Both ends of a notebook's channel."""

    def __init__(self, search: SearchWidget) -> None:
        self.search = search
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        search.widget.send = self._keep

    def _keep(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.sent.append((content, buffers or []))

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask as the page does, and return the answer's content."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        message = {"id": 7, "method": method, "path": path, "headers": headers}
        self.search._receive(None, message, [content])
        answer, buffers = self.sent.pop()
        assert answer["id"] == 7
        return answer["status"], json.loads(buffers[0])


@pytest.fixture(scope="module")
def ends(folder: Path) -> Iterator[Ends]:
    pytest.importorskip("anywidget")
    with seeker.widget(seeker.Catalog.open(folder), seed=3, page_size=4) as search:
        yield Ends(search)


def test_clicks_of_the_page_are_done_in_the_kernel_and_back(ends: Ends) -> None:
    session = ends.search.session
    path = f"/v1/sessions/{ends.search.widget.session_id}"
    status, shown = ends.ask("GET", path)
    items = shown["page"]["items"]
    assert (status, [one["id"] for one in items]) == (200, session.page().ids)
    pictures = [one["media"] for one in items if one["media"]]
    assert pictures
    assert all(len(one) > 100 and one.startswith("data:image/") for one in pictures)
    click = {"item": items[0]["id"], "verdict": "like", "step": 0}
    assert ends.ask("POST", f"{path}/clicks", click)[0] == 200
    assert (session.likes, session.step) == ([items[0]["id"]], 1)
    assert ends.ask("POST", f"{path}/clicks", click)[0] == 409
    session.undo()
    assert ends.sent.pop()[0] == {"changed": ends.search.widget.session_id}
    assert ends.ask("GET", path)[1]["step"] == 0
    assert seeker.Session.replay(ends.search.catalog, session.events).page() == session.page()


def test_a_new_search_is_like_the_first_and_takes_its_place(ends: Ends) -> None:
    before = ends.search.session
    status, shown = ends.ask("POST", "/v1/sessions", {})
    assert (status, len(shown["page"]["items"])) == (201, 4)
    assert ends.search.widget.session_id == shown["id"]
    ends.search.session.like(shown["page"]["items"][0]["id"])
    assert ends.sent.pop()[0] == {"changed": shown["id"]}
    assert (len(ends.search.session.likes), before.likes) == (1, [])


def test_one_module_holds_the_page() -> None:
    text = notebook.module_text()
    # In a browser without a server, nothing has a place beside something else.
    assert not re.search(r'^import\b|^[^/*]*\bfrom "\.', text, re.MULTILINE)
    assert re.findall(r"^// (\S+\.js)$", text, re.MULTILINE) == web.modules("widget.js")
    assert text.count("export default") == 1


def test_without_its_package_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    before = threading.active_count()
    with pytest.raises(seeker.SeekerError, match=r"pip install 'seeker-search\[notebook\]'"):
        seeker.widget(seeker.Catalog.open(folder))
    assert threading.active_count() == before
