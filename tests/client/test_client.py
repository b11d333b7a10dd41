"""One scenario, two sessions: in this process, and on a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, Client, Conflict, NotFound, SeekerError, Session
from seeker.client import RemoteSession, SharedSession
from seeker.client.transport import DeniedError
from seeker.server.auth import make_key
from support.servers import TIMEOUT_SECONDS, Server
from support.stores import DURABLE, NewStore


@pytest.fixture(scope="module")
def servers(
    folder: Path, new_store: NewStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """Gives the address of a real server whose sessions are in a store of some kind."""
    with ExitStack() as stack:

        @cache
        def address(kind: str) -> str:
            log = tmp_path_factory.mktemp("log") / kind
            server = Server(folder, "--store", new_store(kind), "--rate", "0")
            return stack.enter_context(server.running(log)).url

        yield address


@pytest.fixture(params=DURABLE)
def url(request: pytest.FixtureRequest, servers: Callable[[str], str]) -> str:
    return servers(request.param)


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as one:
        yield one


@pytest.fixture(params=["in process", *DURABLE])
def place(
    request: pytest.FixtureRequest, folder: Path, servers: Callable[[str], str]
) -> Iterator[Catalog | Client]:
    if request.param == "in process":
        yield Catalog.open(folder)
    else:
        with Client(servers(request.param)) as one:
            yield one


def _plain(page: seeker.Page) -> seeker.Page:
    """Return a page without the addresses of its pictures, which are not the same."""
    return replace(page, items=tuple(replace(item, media=None) for item in page.items))


def _scenario(session: Session | RemoteSession) -> list[Any]:
    """Use every verb, and note all that can be seen."""
    seen: list[Any] = []

    def look() -> None:
        seen.append((session.step, session.likes, session.dislikes, session.found_item))
        seen.append(session.words)
        seen.append(_plain(session.page()))
        belief = session.belief
        seen.append((belief.entropy, belief.candidates, belief.on_page, belief.views, belief.noise))

    look()
    session.like(session.page().ids[2])
    look()
    session.refresh()
    session.dislike(session.page().ids[0], shown=session.page().ids[:5])
    further = session.more(offset=20, limit=5)
    session.like(further[0].id, shown=further)
    seen.append([item.id for item in further])
    look()
    seen.append(_plain(session.more(offset=6, limit=9)))
    seen.append(_plain(session.more(offset=115)))
    session.clear(session.likes[0])
    look()
    session.undo(2)
    look()
    session.redo()
    session.redo()
    look()
    session.undo()
    session.undo()
    look()
    session.say("a blue thing")
    look()
    session.say("a red thing")
    session.unsay("a blue thing")
    look()
    session.filter({"price": {"gt": 3, "lt": 14}})
    look()
    session.explore(5)
    look()
    session.focus({})
    look()
    session.like_example({"vector": [0.25] * 12})
    look()
    session.explore(0.0)
    session.filter(None)
    look()
    session.found(session.page().ids[1])
    look()
    session.undo()
    look()
    seen.append(session.explain(session.page().ids[3]))
    seen.append([event.to_json() for event in session.events])
    for wrong in (
        lambda: session.like("nobody has this"),
        lambda: session.like(session.page().ids[0], shown=["nor this"]),
        lambda: session.clear(session.page().ids[0]),
        lambda: session.more(offset=-1),
        lambda: session.more(limit=0),
        lambda: session.click(session.page().ids[0], "perhaps"),  # type: ignore[arg-type]
        lambda: session.say("  "),
        lambda: session.explain("nobody has this"),
        lambda: session.like(session.page().ids[0], shown="text"),
        lambda: session.undo(99),
        lambda: session.undo(0),
        lambda: session.redo(2),
        lambda: session.redo(-1),
        lambda: session.unsay("what nobody has said"),
        lambda: session.filter({"no such attribute": 1}),
        lambda: session.filter({"price": {"lt": -1}}),
        lambda: session.filter("cheap"),  # type: ignore[arg-type]
        lambda: session.explore(-1),
        lambda: session.explore(101),
        lambda: session.explore("far"),  # type: ignore[arg-type]
        lambda: session.found("nobody has this"),
        lambda: session.like_example({"vector": [1.0]}),
        lambda: session.like_example({"no such view": [1.0]}),
        lambda: session.like_example(b"no picture"),
        lambda: session.focus({"vector": 2.0}),
        lambda: session.focus({"no such view": 2.0}),
    ):
        with pytest.raises(SeekerError) as refused:
            wrong()
        kinds = (BadInput, NotFound, Conflict)
        seen.append(next(kind for kind in kinds if isinstance(refused.value, kind)))
    look()
    return seen


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"model": "pairwise", "strategy": "greedy", "page_size": 5},
        {"filter": {"price": {"lt": 12}}, "query": "red", "user": "ann"},
        {"model": seeker.models.Choice(slip=0.1), "strategy": seeker.display.EpsilonGreedy(0.3)},
        {"user": np.linspace(0, 2, 12), "repeat": "unrated"},
        {"like": ["folder/item 10", "item-3"]},
        {**seeker.PAPER},
    ],
    ids=["usual", "names", "query", "objects", "vector", "like", "paper"],
)
def test_a_program_does_not_notice_where_its_session_is(
    given: dict[str, Any], folder: Path, place: Catalog | Client
) -> None:
    expected = _scenario(Catalog.open(folder).session(seed=7, **given))
    assert _scenario(place.session(seed=7, **given)) == expected


def test_a_catalog_and_a_client_give_items(place: Catalog | Client) -> None:
    assert len(place) == 120
    item = place.item("folder/item 10")
    assert (item.id, item.title, item.attributes) == (
        "folder/item 10",
        "green thing",
        {"price": 10},
    )
    assert item.media is not None
    with pytest.raises(NotFound):
        place.item("nobody has this")
    with pytest.raises(NotFound):
        place.session(filter={"no such attribute": 1})
    with pytest.raises(BadInput):
        place.session(page_size=0)
    with pytest.raises(BadInput):
        place.session(model="no such model")


def test_two_programs_in_one_session(client: Client, url: str) -> None:
    one = client.session()
    with Client(url) as elsewhere:
        two = elsewhere.open(one.id)
        two.like(two.page().ids[0])
        with pytest.raises(Conflict, match="step 1"):
            one.dislike(one.page().ids[1])
        assert (one.step, one.likes, one.page()) == (1, two.likes, two.page())
        one.dislike(one.page().ids[1])
        one.delete()
        with pytest.raises(NotFound):
            two.undo()


def test_others_look_at_a_shared_session_and_go_on_by_themselves(client: Client, url: str) -> None:
    mine = client.session(seed=3, user="ann")
    mine.like(mine.page().ids[1])
    token = mine.share()
    assert token == mine.share() != mine.id
    with Client(url) as elsewhere:
        seen = elsewhere.shared(token)
        assert isinstance(seen, SharedSession)
        assert seen.id == token
        assert (seen.step, seen.likes, seen.page()) == (1, mine.likes, mine.page())
        assert seen.more(12, 5) == mine.more(12, 5)
        assert seen.explain(mine.likes[0]) == mine.explain(mine.likes[0])
        mine.dislike(mine.page().ids[0])
        seen.look()
        assert (seen.page(), seen.belief) == (mine.page(), mine.belief)
        theirs = seen.fork()
        assert theirs.page() == mine.page()
        theirs.undo()
        assert (theirs.step, mine.step) == (1, 2)
        start = theirs.events[0].to_json()
        assert start["user"] is None, "a person's name is not handed on"
        own = mine.fork()
        assert own.events[0].to_json()["user"] == "ann"
        assert own.id not in (mine.id, theirs.id)
        assert own.page() == mine.page()
        with pytest.raises(NotFound):
            elsewhere.open(token)
        with pytest.raises(NotFound):
            elsewhere.shared(mine.id)
        mine.unshare()
        with pytest.raises(NotFound):
            seen.look()
        with pytest.raises(NotFound):
            mine.unshare()
        assert theirs.events


def test_what_cannot_be_asked_of_a_server(client: Client) -> None:
    with pytest.raises(BadInput, match="words"):
        client.session().say([1.0, 2.0])
    with pytest.raises(BadInput, match="JSON"):
        client.session(filter={"price": object()})
    with pytest.raises(BadInput, match="address"):
        Client("localhost")
    with pytest.raises(NotFound):
        client.open("aaaaaaaaaaaaaaaaaaaaaa")
    assert client.catalogs() == ["shop"]


class _Flaky(BaseHTTPRequestHandler):
    """A server in front of the server: it passes a click on, but loses the first two answers."""

    target = ""
    lost = 0
    keys: tuple[str, ...] = ()

    def do_POST(self) -> None:
        import httpx

        body = self.rfile.read(int(self.headers["Content-Length"]))
        kept = ("Idempotency-Key", "Content-Type")
        headers = {name: self.headers[name] for name in kept}
        answer = httpx.post(
            f"{self.target}{self.path}", content=body, headers=headers, timeout=TIMEOUT_SECONDS
        )
        if self.path.endswith("/clicks"):
            _Flaky.keys += (self.headers["Idempotency-Key"],)
            if _Flaky.lost < 2:
                _Flaky.lost += 1
                self.connection.close()
                return
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        pass


def test_a_lost_answer_is_asked_for_again_and_the_click_counts_once(url: str) -> None:
    _Flaky.target, _Flaky.lost, _Flaky.keys = url, 0, ()
    front = ThreadingHTTPServer(("127.0.0.1", 0), _Flaky)
    front.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=front.serve_forever)
    thread.start()
    try:
        with Client(f"http://127.0.0.1:{front.server_port}") as client:
            session = client.session(seed=1)
            item = session.page().ids[0]
            session.like(item)
            assert (session.step, session.likes) == (1, [item])
        assert len(_Flaky.keys) == 3
        assert len(set(_Flaky.keys)) == 1
    finally:
        front.shutdown()
        thread.join()
        front.server_close()


def test_a_server_that_asks_for_keys(folder: Path, tmp_path: Path) -> None:
    keys = str(tmp_path / "keys")
    key = make_key("shop", "start", keys)
    flags = ("--store", "memory:", "--keys", keys, "--sessions-per-key", "1")
    server = Server(folder, *flags).start(tmp_path / "log").ready()
    try:
        with Client(server.url) as stranger, pytest.raises(DeniedError, match="key"):
            stranger.session()
        with Client(server.url, key=key) as known:
            session = known.session()
            with pytest.raises(DeniedError, match="no more"):
                session.fork()
        with Client(server.url) as elsewhere, pytest.raises(DeniedError, match="key"):
            elsewhere.open(session.id).fork()
    finally:
        server.stop()


def test_nobody_there() -> None:
    with Client("http://127.0.0.1:1", timeout=0.2) as client, pytest.raises(SeekerError) as failed:
        client.session()
    assert "does not answer" in str(failed.value)
