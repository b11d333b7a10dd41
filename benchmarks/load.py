"""People with think time against a real server on this machine; bounded in count and time.

    python -P benchmarks/load.py --items 100000 --dimensions 512 --people 50,200 --seconds 20

(-P, because a neighbour of this file is called like a package that is needed.) For each number of
people: clicks per second, latency, refusals, and the server's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

import seeker

MOST_PEOPLE = 2000
MOST_SECONDS = 120.0


def catalog_of(folder: Path, items: int, dimensions: int) -> Path:
    """Build a catalog of clustered vectors."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, dimensions)).astype(np.float32)
    vectors = centres[rng.integers(200, size=items)]
    vectors += 0.7 * rng.normal(size=vectors.shape).astype(np.float32)
    source = folder / "vectors.npy"
    np.save(source, vectors)
    seeker.build(source, folder / "catalog")
    return folder / "catalog"


class Crowd:
    """People who look, think and click until the time is up."""

    def __init__(self, http: httpx.AsyncClient, think: float, end: float) -> None:
        self._http, self._think, self._end = http, think, end
        self.latencies: list[float] = []
        self.refused = 0
        self.failed = 0
        self.started = 0

    async def person(self, seed: int) -> None:
        """Search once."""
        chance = random.Random(seed)
        await asyncio.sleep(chance.uniform(0.0, self._think))
        try:
            answer = await self._http.post("/v1/sessions", json={"seed": seed})
        except httpx.TransportError:
            self.failed += 1
            return
        if answer.status_code != 201:
            self.refused += 1
            return
        self.started += 1
        shown = answer.json()
        while True:
            pause = chance.uniform(0.5, 1.5) * self._think
            if time.monotonic() + pause > self._end:
                return
            await asyncio.sleep(pause)
            item = chance.choice(shown["page"]["items"])["id"]
            click = {
                "item": item,
                "verdict": chance.choice(["like", "dislike"]),
                "step": shown["step"],
            }
            began = time.perf_counter()
            try:
                answer = await self._http.post(f"/v1/sessions/{shown['id']}/clicks", json=click)
            except httpx.TransportError:
                self.failed += 1
                continue
            if answer.status_code == 200:
                self.latencies.append(time.perf_counter() - began)
                shown = answer.json()
            else:
                self.refused += 1


async def crowd(url: str, people: int, think: float, seconds: float) -> tuple[Crowd, float]:
    """Let people search for some seconds; return what they saw, and for how long."""
    began = time.monotonic()
    limits = httpx.Limits(max_connections=people)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as http:
        one = Crowd(http, think, began + seconds)
        await asyncio.gather(*(one.person(seed) for seed in range(people)))
    return one, time.monotonic() - began


def memory(pid: int) -> float:
    """Return how many MB a process holds that are its own."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1000
    return 0.0


def main() -> None:
    """Build, serve, measure, print one line per number of people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--people", default="50,200")
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds between clicks")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--flags", default="", help="further flags of `seeker serve`")
    given = parser.parse_args()
    numbers = [min(int(one), MOST_PEOPLE) for one in given.people.split(",")]
    seconds = min(given.seconds, MOST_SECONDS)
    with tempfile.TemporaryDirectory() as place:
        folder = catalog_of(Path(place), given.items, given.dimensions)
        store = str(Path(place) / "sessions.sqlite")
        command = [sys.executable, "-m", "seeker", "serve", str(folder), "--port", "0"]
        command += ["--store", store, "--rate", "0", "--log-level", "warning"]
        command += ["--queue", str(MOST_PEOPLE), *given.flags.split()]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[3]
            end = time.monotonic() + 120
            while time.monotonic() < end:
                if httpx.get(f"{url}/healthz/ready", timeout=60).status_code == 200:
                    break
                time.sleep(0.2)
            print(
                f"{given.items:,} × {given.dimensions}, think {given.think} s, {seconds:g} s each"
            )
            print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            for people in numbers:
                one, took = asyncio.run(crowd(url, people, given.think, seconds))
                p50, p95, p99 = np.percentile(one.latencies or [0.0], [50, 95, 99]) * 1000
                print(
                    f"{people:5} people: {one.started} sessions, "
                    f"{len(one.latencies) / took:6.1f} clicks/s, "
                    f"p50 {p50:6.1f} ms, p95 {p95:6.1f} ms, p99 {p99:6.1f} ms, "
                    f"refused {one.refused}, failed {one.failed}, "
                    f"server {memory(server.pid):,.0f} MB",
                    flush=True,
                )
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


if __name__ == "__main__":
    main()
