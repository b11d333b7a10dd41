"""People with think time, as light as they can be made: the server shall be what is measured."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

ARRIVALS_PER_SECOND = 20
"""People who come in a second, at most: what is asked is how many searches go on at once."""


class Connection:
    """One person's connection: JSON there and back over HTTP/1.1, kept open between requests."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: object) -> tuple[int, Any]:
        """Send a body; return status and answer."""
        if self._reader is None or self._writer is None:
            streams = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
            self._reader, self._writer = streams
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
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


@dataclass
class Crowd:
    """People who come one by one, look, think and click until the time is up, and what they met.

    arrival_seconds: within which they come. count_from, end: from when to when clicks count as
    `clicks`; those before, while people still come, are in `early`.
    """

    url: str
    think: float
    arrival_seconds: float
    count_from: float
    end: float
    starts: list[float] = field(default_factory=list)
    early: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    async def person(self, seed: int) -> None:
        """Search once."""
        connection = Connection(self.url)
        try:
            await self._search(connection, random.Random(seed), seed)
        except (OSError, asyncio.IncompleteReadError):
            self.failed += 1
        finally:
            await connection.close()

    async def _search(self, connection: Connection, chance: random.Random, seed: int) -> None:
        await asyncio.sleep(chance.uniform(0.0, self.arrival_seconds))
        began = time.perf_counter()
        status, session = await connection.post("/v1/sessions", {"seed": seed})
        if status != 201:
            self.refused += 1
            return
        self.starts.append(time.perf_counter() - began)
        while True:
            pause = chance.uniform(0.5, 1.5) * self.think
            if time.monotonic() + pause > self.end:
                return
            await asyncio.sleep(pause)
            verdict = chance.choice(["like", "dislike"])
            item = chance.choice(session["page"]["items"])["id"]
            click = {"item": item, "verdict": verdict, "step": session["step"]}
            began = time.perf_counter()
            times = self.clicks if time.monotonic() >= self.count_from else self.early
            status, answer = await connection.post(f"/v1/sessions/{session['id']}/clicks", click)
            if status == 200:
                times.append(time.perf_counter() - began)
                session = answer
            else:
                self.refused += 1


async def run_crowd(url: str, people: int, think: float, seconds: float) -> tuple[Crowd, float]:
    """Let people come and search; return what they met, and for how many seconds it counted."""
    arrival_seconds = max(think, people / ARRIVALS_PER_SECOND)
    count_from = time.monotonic() + arrival_seconds
    crowd = Crowd(url, think, arrival_seconds, count_from, count_from + seconds)
    await asyncio.gather(*(crowd.person(seed) for seed in range(people)))
    return crowd, time.monotonic() - count_from
