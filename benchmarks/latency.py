"""What the service adds to HTTP: a click beside a bare route that answers as many bytes.

    python -P benchmarks/latency.py [--searches 30] [--catalog FOLDER] [--out docs/benchmarks]

(-P, because a neighbour of this file is called like a package that is needed.) One client asks over
kept connections: a search on the built-in catalog (or another), the same number of answers of the
same lengths from a bare FastAPI route that the same web server serves in another process, and some
looks at /healthz, in turn and in the same run: times on a shared machine mean little by themselves,
their ratio does. What the servers' cores worked for it is told, too (on Linux): it hardly depends
on what else is going on. Writes latency.json and latency.md. Takes well under a minute.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI, Response

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks import pages
from benchmarks.processes import cpu_seconds
from benchmarks.server import demo_server
from benchmarks.timing import latencies, machine_facts, ratio_rows

SEARCH_CLICKS = 10
"""Clicks in a search."""
HEALTH_CHECKS = 20
"""Looks at /healthz after each search."""
WARM_UP_SEARCHES = 3
"""Searches at the beginning that are not counted."""
MAX_MEDIAN_RATIO = 5.0
"""How many times as long as the bare route a click may take, at the median."""

LINES = {
    "bare": "a bare FastAPI route that reads JSON and answers as many bytes as the click",
    "healthz": "`GET /healthz`, which asks the store",
    "start": "a new search with its first page",
    "click": "a click: kept, and answered with the next page and the belief",
}


def run_bare(listening: socket.socket) -> None:
    """Serve nothing but a route that answers as many bytes as it is asked for."""
    app = FastAPI()

    @app.post("/bare")
    async def bare(body: dict[str, Any], size: int) -> Response:
        return Response(b" " * size, media_type="application/json")

    uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none")).run([listening])


@contextmanager
def bare_server() -> Iterator[tuple[str, int]]:
    """Run the bare route in a process of its own; give its address and number."""
    # With the number of TCP, for then the event loop sends small pieces without delay.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        host, port = listening.getsockname()
        process = multiprocessing.get_context("spawn").Process(target=run_bare, args=(listening,))
        process.start()
        try:
            yield f"http://{host}:{port}", process.pid or 0
        finally:
            process.terminate()
            process.join()


class TimedConnection:
    """One kept connection; http.client, for its own work is the least of all clients at hand."""

    def __init__(self, url: str, pid: int) -> None:
        self._pid = pid
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.times: dict[str, list[float]] = {name: [] for name in LINES}
        self.core_ms: dict[str, float] = dict.fromkeys(LINES, 0.0)

    @contextmanager
    def core_time_of(self, what: str) -> Iterator[None]:
        """Note the milliseconds that the server's cores work meanwhile."""
        before = cpu_seconds(self._pid)
        yield
        self.core_ms[what] += 1000 * (cpu_seconds(self._pid) - before)

    def ask(self, what: str, method: str, path: str, body: object = None) -> bytes:
        """Return the answer, and note the milliseconds until it was there."""
        payload = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        began = time.perf_counter()
        self._connection.request(method, path, payload, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        self.times[what].append((time.perf_counter() - began) * 1000)
        if answer.status >= 400:
            raise SystemExit(f"{method} {path} was answered with {answer.status}: {content!r}")
        return content


def search(ours: TimedConnection, bare: TimedConnection, seed: int) -> None:
    """Search with likes and dislikes in turn; then ask the bare route for the same lengths."""
    with ours.core_time_of("start"):
        now = json.loads(ours.ask("start", "POST", "/v1/sessions", {"seed": seed}))
    requests: list[tuple[dict[str, Any], int]] = []
    with ours.core_time_of("click"):
        for number in range(SEARCH_CLICKS):
            shown = [item["id"] for item in now["page"]["items"]]
            verdict = "dislike" if number % 3 == 2 else "like"
            click = {"item": shown[number % 5], "verdict": verdict, "shown": shown}
            click["step"] = now["step"]
            content = ours.ask("click", "POST", f"/v1/sessions/{now['id']}/clicks", click)
            requests.append((click, len(content)))
            now = json.loads(content)
    with ours.core_time_of("healthz"):
        for _ in range(HEALTH_CHECKS):
            ours.ask("healthz", "GET", "/healthz")
    with bare.core_time_of("bare"):
        for click, size in requests:
            bare.ask("bare", "POST", f"/bare?size={size}", click)


Measured = tuple[dict[str, list[float]], dict[str, float]]
"""By what was timed: milliseconds until each answer, and of the cores for all of them."""


def measure(served: tuple[str, int], bare_served: tuple[str, int], searches: int) -> Measured:
    """Return what some searches took."""
    for seed in range(WARM_UP_SEARCHES):
        search(TimedConnection(*served), TimedConnection(*bare_served), seed)
    ours, bare = TimedConnection(*served), TimedConnection(*bare_served)
    for seed in range(searches):
        search(ours, bare, WARM_UP_SEARCHES + seed)
    return (
        {**ours.times, "bare": bare.times["bare"]},
        {**ours.core_ms, "bare": bare.core_ms["bare"]},
    )


def summary(
    times: dict[str, list[float]], core_ms: dict[str, float], catalog: str
) -> dict[str, Any]:
    """Return medians and 95th percentiles, as milliseconds and as ratios to the bare route."""
    unit = statistics.median(times["bare"])
    return {
        **machine_facts(),
        "catalog": catalog,
        "clicks": len(times["click"]),
        "bar": MAX_MEDIAN_RATIO,
        "healthz_per_second": 1000 / statistics.mean(times["healthz"]),
        "times": {
            name: {**latency, "core_ms": core_ms[name] / len(times[name])}
            for name, latency in latencies(times, unit).items()
        },
    }


def table(result: dict[str, Any]) -> str:
    """Return the result as Markdown."""
    lines = [
        f"What the service adds to HTTP, on the {result['catalog']}: one client over kept "
        f"connections, {result['clicks']} clicks; ratios to the median of a bare FastAPI route of "
        "the same web server in the same run, measured by `python -P benchmarks/latency.py`.",
        "",
        "| what | median | 95th percentile | median, ms | of the server's cores, ms |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += ratio_rows(
        result["times"], LINES, lambda one: f"{one['median_ms']:.2f} | {one['core_ms']:.2f}"
    )
    lines += [
        "",
        f"One connection gets {result['healthz_per_second']:,.0f} answers of `/healthz` a second. "
        f"The median click shall take at most {result['bar']:g} times as long as the bare route. "
        f"Client and servers shared the machine's {result['cores']} cores with whatever else ran "
        f"(load average {result['load']:.1f}).",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Serve, ask, write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=30)
    parser.add_argument("--catalog", type=Path, help="a folder, instead of the built-in catalog")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as place,
        demo_server(Path(place), options.catalog) as served,
        bare_server() as bare_served,
    ):
        measured = measure(served, bare_served, options.searches)
    named = "built-in catalog" if options.catalog is None else f"catalog {options.catalog.name}"
    result = summary(*measured, named)
    pages.write(options.out, "latency", table(result), result)
    print(table(result))


if __name__ == "__main__":
    main()
