"""What a click costs where it costs most, and what others' long work costs somebody who clicks.

    python -P benchmarks/worst_cases.py [--quick]       writes docs/benchmarks/worst_cases.{json,md}

(-P, because a neighbour of this file is called like a package that is needed.) One server with a
large catalog and a small one. One person after the other does the same in the large catalog; then
somebody clicks in the small one, alone and while others work in the large one without pause.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import seeker

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import pages
from benchmarks.load_generator import Connection
from benchmarks.server import running_server

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
LARGE, SMALL = 100_000, 1_500
DIMENSIONS = 512
CLICKS = 5
"""Clicks before what is timed."""
FAR_DOWN = 50_000
COLOURS = ("red", "green", "blue", "white")
THINGS = ("lamp", "chair", "table", "shelf", "carpet")
_POLL_SECONDS = 0.02
_BESIDE = 4
"""People who work in the large catalog without pause while somebody clicks in the small one."""

Times = dict[str, list[float]]


def build_catalog(folder: Path, items: int) -> str:
    """Build a catalog of clustered vectors with names and prices; return what is served."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, DIMENSIONS)).astype(np.float32)
    vectors = centres[rng.integers(200, size=items)]
    vectors += 0.7 * rng.standard_normal(size=vectors.shape, dtype=np.float32)
    colours = np.array(COLOURS)[rng.integers(len(COLOURS), size=items)]
    things = np.array(THINGS)[rng.integers(len(THINGS), size=items)]
    names = np.array([f"{colour} {thing}" for colour, thing in zip(colours, things, strict=True)])
    source, out = folder / f"{items}.npz", folder / f"items-{items}"
    np.savez(source, vectors=vectors, colour=colours, name=names)
    seeker.build(source, out)
    source.unlink()
    return f"{items}={out}"


class Search:
    """One search over HTTP, by somebody who clicks at random."""

    def __init__(self, url: str, items: int, seed: int) -> None:
        self._connection = Connection(url)
        self._chance = random.Random(seed)
        self._start = {"catalog": str(items), "seed": seed}
        self.session: dict[str, Any] = {}

    async def start(self) -> None:
        """Start it."""
        self.session = await self._ask("POST", "", self._start)

    async def click(self, verdict: str | None = None) -> None:
        """Like or dislike something on the page."""
        item = self._chance.choice(self.session["page"]["items"])["id"]
        verdict = verdict or self._chance.choice(["like", "dislike"])
        await self.act("clicks", {"item": item, "verdict": verdict})

    async def act(self, verb: str, body: dict[str, Any]) -> None:
        """Do something in it."""
        path = f"/{self.session['id']}/{verb}"
        self.session = await self._ask("POST", path, {**body, "step": self.session["step"]})

    async def more(self, offset: int) -> None:
        """Look further down the ranking."""
        await self._ask("GET", f"/{self.session['id']}/items?offset={offset}&limit=24")

    async def wait(self) -> None:
        """Wait until what is done between clicks is done: the belief is there then."""
        while self.session["belief"] is None:
            await asyncio.sleep(_POLL_SECONDS)
            self.session = await self._ask("GET", f"/{self.session['id']}")

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()

    async def _ask(self, method: str, path: str, body: object = None) -> Any:
        status, answer = await self._connection.ask(method, f"/v1/sessions{path}", body)
        if status >= 400:
            raise SystemExit(f"{status}: {answer}")
        return answer


Act = Callable[[Search], Awaitable[None]]


async def _dislike(search: Search) -> None:
    await search.click("dislike")


async def _explore(search: Search) -> None:
    await search.act("explore", {"level": 4.0})


async def _far_down(search: Search) -> None:
    await search.more(FAR_DOWN)


async def _filter(search: Search) -> None:
    await search.act("filter", {"filter": {"colour": "red"}})


async def _say(search: Search) -> None:
    await search.act("say", {"text": "a red lamp"})


CASES: dict[str, tuple[Act, Act, bool]] = {
    "a click": (Search.click, Search.click, True),
    "a click, never refreshed": (Search.click, Search.click, False),
    "a click, flat belief (only dislikes), never refreshed": (_dislike, _dislike, False),
    "explore more": (Search.click, _explore, False),
    f"{FAR_DOWN:,} items down the list": (Search.click, _far_down, False),
    "a filter": (Search.click, _filter, False),
    "words": (Search.click, _say, False),
}
"""What is done first, what is timed, and whether what is between clicks is waited for."""


async def one_by_one(url: str, rounds: int) -> Times:
    """Return how long each case takes one person at a time."""
    times: Times = {name: [] for name in CASES}
    for number in range(rounds):
        for name, (first, act, refreshed) in CASES.items():
            search = Search(url, LARGE, number)
            await search.start()
            for _ in range(CLICKS):
                await first(search)
                if refreshed:
                    await search.wait()
            began = time.perf_counter()
            await act(search)
            times[name].append(time.perf_counter() - began)
            await search.close()
    return times


async def beside(url: str, rounds: int) -> Times:
    """Return how long clicks in the small catalog take, alone and beside others' long work."""

    async def work(act: Act, number: int) -> None:
        while True:
            number += 1000
            search = Search(url, LARGE, number)
            await search.start()
            for _ in range(CLICKS):
                await search.click()
            await act(search)
            await search.close()

    times: Times = {}
    cases: dict[str, tuple[Act, int]] = {
        "nobody": (Search.click, 0),
        "clicks, never refreshed": (Search.click, _BESIDE),
        f"{FAR_DOWN:,} items down the list": (_far_down, _BESIDE),
        "filters": (_filter, _BESIDE),
        "words": (_say, _BESIDE),
    }
    for name, (act, people) in cases.items():
        others = [asyncio.create_task(work(act, one)) for one in range(people)]
        times[name] = []
        for number in range(rounds):
            search = Search(url, SMALL, number)
            await search.start()
            for _ in range(2 * CLICKS):
                began = time.perf_counter()
                await search.click()
                times[name].append(time.perf_counter() - began)
                await asyncio.sleep(_POLL_SECONDS)
            await search.close()
        for other in others:
            other.cancel()
            with suppress(asyncio.CancelledError):
                await other
    return times


def table(alone: Times, others: Times, load: float) -> str:
    """Return the page of results."""

    def lines(times: Times) -> list[str]:
        return [
            f"| {name} | {len(some)} | "
            + " | ".join(f"{one:.1f}" for one in np.percentile(some, [50, 95, 99]) * 1000)
            + " |"
            for name, some in times.items()
        ]

    return "\n".join(
        [
            "# What costs most, and what others' work costs",
            "",
            f"Measured by `python -P benchmarks/worst_cases.py` on {os.cpu_count()} cores "
            f"({platform.machine()}; load average before: {load:.1f}), one worker, SQLite, over "
            f"HTTP. {LARGE:,} items × {DIMENSIONS}, after {CLICKS} clicks that follow each other "
            "at once, so that nothing is refreshed in between except in the first row:",
            "",
            "| what | times | p50 ms | p95 ms | p99 ms |",
            "| --- " * 5 + "|",
            *lines(alone),
            "",
            f"A click in another catalog of {SMALL:,} items, while {_BESIDE} people do this in the "
            "large one without any pause:",
            "",
            "| beside | clicks | p50 ms | p95 ms | p99 ms |",
            "| --- " * 5 + "|",
            *lines(others),
            "",
        ]
    )


def main() -> None:
    """Build, serve, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few of each; writes nothing")
    options = parser.parse_args()
    rounds = 3 if options.quick else 40
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        served = [build_catalog(folder, items) for items in (LARGE, SMALL)]
        with running_server(served[0], served[1], "--store", str(folder / "s.sqlite")) as (url, _):
            alone = asyncio.run(one_by_one(url, rounds))
            others = asyncio.run(beside(url, max(1, rounds // 4)))
    text = table(alone, others, load)
    if not options.quick:
        pages.write(OUT, "worst_cases", text, {"alone": alone, "beside": others})
    print(text)


if __name__ == "__main__":
    main()
