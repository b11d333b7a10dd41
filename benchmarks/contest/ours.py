"""Seeker itself: a click, and the page after it; in a program, and over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import seeker
from benchmarks.contest.base import Click, Contestant, Round, Way
from benchmarks.datasets import Vectors
from benchmarks.server import running_server
from benchmarks.simulated_person import SimulatedPerson
from seeker import Catalog, Session
from seeker.models import Choice, Model, Pairwise

CLICKS = 16
_POLL_SECONDS = 0.02
MODELS: dict[str, Model] = {"choice": Choice(), "pairwise": Pairwise(alpha=10.0)}


def catalog_of(vectors: Vectors) -> Catalog:
    """Make a catalog of one view."""
    return Catalog.from_arrays([str(row) for row in range(len(vectors))], {"view": vectors})


def play_rounds(vectors: Vectors, count: int) -> Iterator[Round]:
    """Yield rounds, each of a person with a target of their own."""
    catalog = catalog_of(vectors)
    rng = np.random.default_rng(len(vectors))
    for number in range(count):
        target = int(rng.integers(len(vectors)))
        session = catalog.session(seed=number)
        person = SimulatedPerson(catalog, target)
        clicks = []
        for _ in range(CLICKS):
            page = session.page().ids
            item, verdict = person.judge(page)
            session.click(item, verdict, page)
            clicks.append(Click(int(item), verdict == "like", [int(one) for one in page]))
            session.refresh()
        yield Round(number, clicks)


def _click(session: Session, click: Click) -> None:
    verb = session.like if click.liked else session.dislike
    verb(str(click.item), shown=[str(row) for row in click.shown])


class Seeker(Contestant):
    """The last click and the page after it: exact, with noise, over the whole catalog."""

    name = "Seeker"
    packages = ("seeker-search",)

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Make the catalog; ask after a refresh, for a page it foresaw or did not, and without."""
        catalog = catalog_of(vectors)
        yield (
            "catalog",
            [
                self._way(catalog, name, when)
                for name in MODELS
                for when in ("after refresh", "after refresh, not foreseen", "never refreshed")
            ],
        )

    def _way(self, catalog: Catalog, model: str, when: str) -> Way:
        def last(round: Round) -> Click:
            click = round.clicks[-1]
            if "not foreseen" not in when:
                return click
            others = [row for row in click.shown if row != click.item]
            return replace(click, shown=[click.item, *others[1:]])

        def prepare(round: Round) -> Any:
            session = catalog.session(model=MODELS[model], seed=round.seed)
            for click in round.clicks[:-1]:
                _click(session, click)
                session.page()
                if when.startswith("after refresh"):
                    session.refresh()
            return session, last(round)

        def ask(prepared: Any) -> list[int]:
            session, click = prepared
            _click(session, click)
            return [int(item) for item in session.page().ids]

        def truth(round: Round) -> list[int]:
            session, click = prepare(round)
            _click(session, click)
            session.belief.rank(str(click.item))  # scores every item
            return [int(item) for item in session.page().ids]

        return Way(f"{model}, {when}", True, ask, prepare, truth)


class Service(Contestant):
    """The same click as a browser makes it: over HTTP, and on disk before it is answered."""

    name = "Seeker's service"
    packages = ("seeker-search",)
    copies = True

    def __init__(self) -> None:
        self._server: int | None = None

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Build a catalog's folder and serve it; a click comes when the belief is there."""
        np.savez(folder / "vectors.npz", vectors=vectors)
        seeker.build(folder / "vectors.npz", folder / "catalog")
        store = str(folder / "sessions.sqlite")
        with running_server(folder / "catalog", "--store", store) as (url, self._server):
            connection = HTTPConnection(urlsplit(url).netloc)
            yield "catalog", [self._way(connection)]
            connection.close()

    def _way(self, connection: HTTPConnection) -> Way:
        def call(method: str, path: str, body: object = None) -> Any:
            content = None if body is None else json.dumps(body)
            head = {"Content-Type": "application/json"}
            connection.request(method, f"/v1/sessions{path}", content, head)
            answer = connection.getresponse()
            told = json.load(answer)
            if answer.status >= 400:
                raise RuntimeError(f"{answer.status}: {told}")
            return told

        def act(session: str, click: Click) -> Any:
            verdict = "like" if click.liked else "dislike"
            shown = [str(row) for row in click.shown]
            body = {"item": str(click.item), "verdict": verdict, "shown": shown}
            return call("POST", f"/{session}/clicks", body)

        def prepare(round: Round) -> tuple[str, Click]:
            session = call("POST", "", {"seed": round.seed})["id"]
            for click in round.clicks[:-1]:
                told = act(session, click)
                while told["belief"] is None:
                    time.sleep(_POLL_SECONDS)
                    told = call("GET", f"/{session}")
            return session, round.clicks[-1]

        def ask(prepared: tuple[str, Click]) -> list[int]:
            return [int(item["id"]) for item in act(*prepared)["page"]["items"]]

        return Way("choice, over HTTP", True, ask, prepare)

    def processes(self) -> list[int]:
        """Return the server's."""
        return [] if self._server is None else [self._server]
