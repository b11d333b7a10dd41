"""What a change of a catalog costs, and whether people who search notice it.

    python benchmarks/live.py items [ITEMS] [DTYPE]     changes beside a build, and pages after them
    python benchmarks/live.py photos TABLE FOLDER       1,500 photos, 150 rows changed
    python benchmarks/live.py load                      50 people, with 100 changes a second

Processor time and bytes are counted, not guessed: bytes are those of the files that are new or
longer; names of files that were there before are not counted. What is compared was measured in one
run.
"""

from __future__ import annotations

import asyncio
import csv
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import seeker
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.server.auth import make_key

DIMENSIONS = 256
PEOPLE, CHANGES, SECONDS = 50, 100, 60


def cost(work: Callable[[], object], folder: Path) -> tuple[float, int]:
    """Return the processor time of some work, in seconds, and the bytes it has written."""
    before = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    start = time.process_time()
    work()
    seconds, written = time.process_time() - start, 0
    for path in folder.rglob("*"):
        if path.name == "catalog.json":
            written += path.stat().st_size
        elif path.is_file() and path.stat().st_nlink == 1:
            written += path.stat().st_size - before.get(path, 0)
    return seconds, written


def items(count: int, dtype: str) -> None:
    """Build, change, and print what each took."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder, source = Path(place) / "shop", Path(place) / "v.npz"
        vectors = rng.normal(size=(count, DIMENSIONS)).astype(np.float32)
        np.savez(
            source, looks=vectors, ids=np.arange(count).astype(str), price=np.arange(count) % 99
        )
        del vectors
        built, size = cost(lambda: seeker.build(source, folder, dtype=dtype), Path(place))
        source.unlink()
        print(f"{count:,} × {DIMENSIONS} {dtype}", flush=True)
        print(f"build: {built:.1f} s, {size / 1e6:.1f} MB", flush=True)
        _pages(folder)
        before = _pages(folder)
        new = rng.normal(size=(100, DIMENSIONS)).astype(np.float32)
        changes = {
            "100 prices": [
                ItemChange(str(n * 97 % count), "patch", attributes={"price": 1000})
                for n in range(100)
            ],
            "100 added, 10 removed": [
                *(ItemChange(f"new {n}", "merge", vectors={"looks": new[n]}) for n in range(100)),
                *(ItemChange(str(n * 101 % count), "remove") for n in range(10)),
            ],
        }
        for what, some in changes.items():
            taken, written = cost(lambda some=some: apply_changes(folder, some), folder)  # type: ignore[misc]
            share = f"1/{built / taken:.0f} of the build"
            print(f"{what}: {taken:.2f} s, {share}, {written / 1e6:.2f} MB", flush=True)
        print(f"a click and its page after it: {_pages(folder) / before:.2f} × before", flush=True)
        print(f"seen by a running server: {_seen_after(folder, count):.2f} s after the answer")


def _pages(folder: Path) -> float:
    """Return the processor time of a click and its page, in seconds: the median of 30."""
    taken = []
    for seed in range(10):
        session = seeker.Catalog.open(folder).session(seed=seed)
        page = session.page()
        for step in range(3):
            start = time.process_time()
            session.like(page.ids[step])
            page = session.page()
            taken.append(time.process_time() - start)
    return statistics.median(taken)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve a catalog; lend its address and the headers of somebody who may change it."""
    keys = str(folder.with_name("keys"))
    headers = {"Authorization": f"Bearer {make_key('keeper', 'admin', keys)}"}
    command = [sys.executable, "-m", "seeker", "serve", str(folder), "--keys", keys]
    command += ["--store", str(folder.with_name("sessions.sqlite")), "--rate", "0", "--port", "0"]
    command += ["--log-level", "warning"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[3]
            while True:
                try:
                    if httpx.get(f"{url}/healthz/ready", timeout=60).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                time.sleep(0.2)
            yield url, headers
        finally:
            process.terminate()


def _seen_after(folder: Path, count: int) -> float:
    """Return how long after the answer to 100 changed prices the last of them is seen."""
    with served(folder) as (url, headers), httpx.Client(base_url=url, timeout=600) as http:
        lines = "\n".join(
            f'{{"id": "{n * 89 % count}", "attributes": {{"price": 77777}}}}'
            for n in range(100, 200)
        )
        typed = {**headers, "Content-Type": "application/x-ndjson"}
        answer = http.post("/v1/items/shop", content=lines, headers=typed)
        assert {one["result"] for one in answer.json()["lines"]} == {"changed"}, answer.text[:300]
        answered = time.monotonic()
        address = f"/v1/items/shop/{199 * 89 % count}"
        while http.get(address).json()["attributes"]["price"] != 77777:
            time.sleep(0.01)
        return time.monotonic() - answered


def photos(table: Path, folder: Path) -> None:
    """Build from photos, change 150 rows of the table, and build again."""
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))[:1500]
    column = next(name for name in rows[0] if name.lower() in ("image", "picture", "file", "path"))
    with tempfile.TemporaryDirectory() as place:
        names = list(folder.rglob("*.jpg"))
        paths = {one.stem: str(one.relative_to(folder)) for one in names}
        source, out = Path(place) / "rows.csv", Path(place) / "shop"

        def write(changed: int) -> None:
            with source.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "title", "picture", "price"])
                for number, row in enumerate(rows):
                    price = 500 if number < changed else number % 90
                    picture = paths.get(Path(row[column]).stem, row[column])
                    writer.writerow([number, f"photo {number}", picture, price])

        write(0)
        options: Any = {"images": folder, "picture": "picture", "views": ["image", "colour"]}
        built, _ = cost(lambda: seeker.build(source, out, **options), Path(place))
        write(150)
        again, written = cost(lambda: seeker.build(source, out, replace=True, **options), out)
        count = len(seeker.Catalog.open(out))
        print(f"{count:,} photos: {built:.1f} s; 150 rows changed and built again: {again:.2f} s,")
        print(f"1/{built / again:.0f} of the first build, {written / 1e6:.1f} MB written")


async def load() -> None:
    """Let people search with and without changes, in turns, and compare."""
    count = 20_000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop"
        vectors = rng.normal(size=(count, 64)).astype(np.float32)
        ids = np.arange(count).astype(str)
        np.savez(f"{place}/v.npz", v=vectors, ids=ids, price=np.zeros(count))
        seeker.build(f"{place}/v.npz", folder)
        with served(folder) as (url, headers):
            limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
            client = partial(httpx.AsyncClient, base_url=url, timeout=120, limits=limits)
            # Changes have connections of their own, so that no click waits for one behind them.
            async with client() as http, client() as changing_http:
                quiet, busy, told = [], [], dict[str, int]()
                await _search(http, headers, SECONDS / 4)
                quiet += await _search(http, headers, SECONDS / 2)
                done = asyncio.Event()
                changing = asyncio.create_task(_change(changing_http, headers, done, told, count))
                busy += await _search(http, headers, SECONDS)
                done.set()
                sent = await changing
                quiet += await _search(http, headers, SECONDS / 2)
        after = seeker.Catalog.open(folder)
        lost = sum(after.item(id).attributes["price"] != value for id, value in told.items())
    before, during = _p95(quiet), _p95(busy)
    print(f"{PEOPLE} people: {len(quiet):,} clicks without changes, p95 {1e3 * before:.0f} ms")
    each = f"{sent / SECONDS:.0f} changes a second"
    print(f"{len(busy):,} clicks with {each}, p95 {1e3 * during:.0f} ms")
    print(f"{during / before:.2f} ×; of {sent:,} changes, {lost} lost")


async def _search(http: httpx.AsyncClient, headers: dict[str, str], seconds: float) -> list[float]:
    """Return how long each click took."""
    end = time.monotonic() + seconds
    taken: list[float] = []

    async def person(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end:
            session = (await http.post("/v1/sessions", json={}, headers=headers)).json()
            for _ in range(10):
                await asyncio.sleep(chance.uniform(1.0, 3.0))
                if time.monotonic() >= end:
                    return
                item = chance.choice(session["page"]["items"])["id"]
                began = time.monotonic()
                body = {"item": item, "verdict": "like", "step": session["step"]}
                answer = await http.post(f"/v1/sessions/{session['id']}/clicks", json=body)
                taken.append(time.monotonic() - began)
                assert answer.status_code == 200, answer.text[:300]
                session = answer.json()

    await asyncio.gather(*(person(n) for n in range(PEOPLE)))
    return taken


async def _change(
    http: httpx.AsyncClient,
    headers: dict[str, str],
    done: asyncio.Event,
    told: dict[str, int],
    count: int,
) -> int:
    """Change a hundred prices a second until it is enough; note each that was answered."""
    sent, tasks = 0, set[asyncio.Task[None]]()

    async def patch(number: int) -> None:
        id = str(number * 7919 % count)
        answer = await http.patch(
            f"/v1/items/shop/{id}", json={"attributes": {"price": number}}, headers=headers
        )
        assert answer.status_code == 200, answer.text[:300]
        told[id] = max(told.get(id, 0), number)

    began = time.monotonic()
    while not done.is_set():
        while sent < (time.monotonic() - began) * CHANGES:
            sent += 1
            task = asyncio.create_task(patch(sent))
            tasks.add(task)
        await asyncio.sleep(0.01)
    await asyncio.gather(*tasks)
    return sent


def _p95(taken: list[float]) -> float:
    return sorted(taken)[int(0.95 * len(taken))]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["items", *rest]:
            items(int(rest[0]) if rest else 1_000_000, rest[1] if len(rest) > 1 else "float32")
        case ["photos", table, folder]:
            photos(Path(table), Path(folder))
        case ["load"]:
            asyncio.run(load())
        case _:
            sys.exit(__doc__)
