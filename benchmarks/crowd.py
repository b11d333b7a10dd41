"""People with think time, as light as they can be made: the server shall be what is measured."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

ARRIVALS = 20
"""People who come in a second, at most: what is asked is how many searches go on at once."""


class Line:
    """One person's connection: JSON there and back over HTTP/1.1, kept open between requests."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: object) -> tuple[int, Any]:
        """Send a body; return status and answer."""
        if self._reader is None or self._writer is None:
            opened = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
            self._reader, self._writer = opened
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

    arriving: seconds within which they come. counted, end: from when to when clicks count as
    `clicks`; those before, while people still come, are in `early`.
    """

    url: str
    think: float
    arriving: float
    counted: float
    end: float
    starts: list[float] = field(default_factory=list)
    early: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    async def person(self, seed: int) -> None:
        """Search once."""
        line = Line(self.url)
        try:
            await self._search(line, random.Random(seed), seed)
        except (OSError, asyncio.IncompleteReadError):
            self.failed += 1
        finally:
            await line.close()

    async def _search(self, line: Line, chance: random.Random, seed: int) -> None:
        await asyncio.sleep(chance.uniform(0.0, self.arriving))
        began = time.perf_counter()
        status, shown = await line.post("/v1/sessions", {"seed": seed})
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
            item = chance.choice(shown["page"]["items"])["id"]
            click = {"item": item, "verdict": verdict, "step": shown["step"]}
            began = time.perf_counter()
            times = self.clicks if time.monotonic() >= self.counted else self.early
            status, answer = await line.post(f"/v1/sessions/{shown['id']}/clicks", click)
            if status == 200:
                times.append(time.perf_counter() - began)
                shown = answer
            else:
                self.refused += 1


async def gather(url: str, people: int, think: float, seconds: float) -> tuple[Crowd, float]:
    """Let people come and search; return what they met, and for how many seconds it counted."""
    arriving = max(think, people / ARRIVALS)
    counted = time.monotonic() + arriving
    crowd = Crowd(url, think, arriving, counted, counted + seconds)
    await asyncio.gather(*(crowd.person(seed) for seed in range(people)))
    return crowd, time.monotonic() - counted
