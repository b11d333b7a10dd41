"""People with think time, as light as they can be made: the server shall be what is measured."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit

CROWD_PROCESSES = 2
"""Processes that the people are in: one alone would make them wait for each other."""

ARRIVALS_PER_SECOND = 40
"""People who come in a second, at most: what is asked is how many searches go on at once."""


class Connection:
    """One person's connection: JSON there and back over HTTP/1.1, kept open between requests."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Make a request; return status and answer."""
        if self._reader is None or self._writer is None:
            streams = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
            self._reader, self._writer = streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        await self._writer.drain()
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(one.split(":")[1]) for one in lines if one.startswith("content-length"))
        answer = json.loads(await self._reader.readexactly(length))
        return int(lines[0].split()[1]), answer

    async def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
            await asyncio.gather(self._writer.wait_closed(), return_exceptions=True)


@dataclass(frozen=True)
class Timetable:
    """When a crowd does what, by the monotonic clock, which is the same for all processes.

    People come between `begin` and `come`, click until `clicked`, and look once until `end`. Clicks
    count from `settled` on, when as many wait for an answer as at any later moment.
    """

    begin: float
    come: float
    settled: float
    clicked: float
    end: float

    @classmethod
    def soon(cls, people: int, think: float, seconds: float) -> Timetable:
        """Return a timetable that begins in a moment, and in which clicks count for some time."""
        begin = time.monotonic() + 2.0
        come = begin + max(2.0, people / ARRIVALS_PER_SECOND)
        settled = come + 1.5 * think
        return cls(begin, come, settled, settled + seconds, settled + seconds + think)


@dataclass
class Crowd:
    """What some people met: seconds until answers, and how many were refused or broke off."""

    starts: list[float] = field(default_factory=list)
    early: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    def add(self, other: Crowd) -> None:
        """Take in what others met."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Person:
    """Starts a session, thinks, clicks, thinks, …, and looks once at the end."""

    def __init__(self, url: str, crowd: Crowd, seed: int, think: float, times: Timetable) -> None:
        self._connection = Connection(url)
        self._crowd = crowd
        self._seed = seed
        self._chance = random.Random(seed)
        self._think = think
        self._times = times

    async def search(self) -> None:
        """Search once."""
        try:
            await self._search()
        except (OSError, asyncio.IncompleteReadError):
            self._crowd.failed += 1
        finally:
            await self._connection.close()

    async def _search(self) -> None:
        times, chance = self._times, self._chance
        await _until(chance.uniform(times.begin, times.come))
        session = await self._ask(self._crowd.starts, "POST", "", {"seed": self._seed})
        if session is None:
            return
        await _until(times.come + chance.uniform(0.0, self._think))
        while time.monotonic() < times.clicked:
            item = chance.choice(session["page"]["items"])["id"]
            verdict = chance.choice(["like", "dislike"])
            click = {"item": item, "verdict": verdict, "step": session["step"]}
            counted = self._crowd.clicks if time.monotonic() >= times.settled else self._crowd.early
            session = await self._ask(counted, "POST", f"/{session['id']}/clicks", click) or session
            await asyncio.sleep(chance.uniform(0.5, 1.5) * self._think)
        await _until(chance.uniform(times.clicked, times.end))
        await self._ask(self._crowd.looks, "GET", f"/{session['id']}")

    async def _ask(self, times: list[float], method: str, path: str, body: object = None) -> Any:
        """Return an answer and note how long it took; None if it was a refusal."""
        began = time.perf_counter()
        status, answer = await self._connection.ask(method, f"/v1/sessions{path}", body)
        if status >= 400:
            self._crowd.refused += 1
            return None
        times.append(time.perf_counter() - began)
        return answer


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))


async def _search_all(url: str, seeds: range, think: float, times: Timetable) -> Crowd:
    crowd = Crowd()
    await asyncio.gather(
        *(Person(url, crowd, seed, think, times).search() for seed in seeds),
    )
    return crowd


def _run(url: str, seeds: range, think: float, times: Timetable) -> Crowd:
    return asyncio.run(_search_all(url, seeds, think, times))


@contextmanager
def crowd_of(
    url: str, people: int, think: float, seconds: float
) -> Iterator[tuple[Timetable, Future[Crowd]]]:
    """Let people search, in processes of their own; give when they do what they do, and what of it.

    seconds: for which clicks count.
    """
    processes = min(CROWD_PROCESSES, people)
    parts = [range(number, people, processes) for number in range(processes)]
    met: Future[Crowd] = Future()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        # Processes take a while to begin, on a busy machine longer than people do to come.
        for begun in [pool.submit(time.sleep, 0.5) for _ in parts]:
            begun.result()
        times = Timetable.soon(people, think, seconds)
        running = [pool.submit(_run, url, seeds, think, times) for seeds in parts]
        yield times, met
        crowd = Crowd()
        for part in running:
            crowd.add(part.result())
        met.set_result(crowd)
