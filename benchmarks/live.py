"""What a change of a catalog costs, and whether people who search notice it.

    python -P benchmarks/live.py items [ITEMS] [DTYPE]  changes beside a build, and pages after them
    python -P benchmarks/live.py photos TABLE FOLDER    1,500 photos, 150 rows changed
    python -P benchmarks/live.py clicks                 clicks of 50 people, each in a new version
    python -P benchmarks/live.py changes [COUNT]        prices changed over HTTP, nobody searching
    python -P benchmarks/live.py load [SECONDS]         50 people, with 100 changes a second

Processor time and bytes are counted, not guessed: bytes are those of the files that are new or
longer; names of files that were there before are not counted. What is compared was measured in one
run.
"""

from __future__ import annotations

import asyncio
import csv
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import seeker
from seeker.catalog.build.files import AssembledFiles
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.publish import make_manifest
from seeker.catalog.build.update import apply_changes
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest import FileEntry, ViewEntry
from seeker.catalog.manifest_reader import read_manifest
from seeker.engine import Catalogs, Engine
from seeker.server.auth import make_key
from seeker.session import Click
from seeker.space import View
from seeker.stores import MemoryStore

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks.live_crowd import CHANGES, PEOPLE, People, change_prices, changing
from benchmarks.processes import cpu_seconds, process_tree

DIMENSIONS = 256
SEARCHES = 20
SECONDS, PHASES = 60, 4
FIRST_CHANGES = 400
"""Changes before those that are counted: a process to write them is started meanwhile."""


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
        folder = Path(place) / "shop"
        make = _put_together if count > MAX_BUILT_ITEMS else _build
        built, size = cost(lambda: make(folder, count, dtype), Path(place))
        print(f"{count:,} × {DIMENSIONS} {dtype}", flush=True)
        print(f"{make.__name__.strip('_')}: {built:.1f} s, {size / 1e6:.1f} MB", flush=True)
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
        before = seeker.Catalog.open(folder)  # who has opened a version reads it to the end
        for what, some in changes.items():
            taken, written = cost(lambda some=some: apply_changes(folder, some), folder)  # type: ignore[misc]
            share = f"1/{built / taken:.0f} of that" if make is _build else ""
            print(f"{what}: {taken:.2f} s, {written / 1e6:.2f} MB {share}", flush=True)
        began = time.process_time()
        after = seeker.Catalog.open(folder)
        print(f"opened in {1e3 * (time.process_time() - began):.0f} ms", flush=True)
        _compare_pages(before, after)
        print(f"seen by a running server: {_seen_after(folder, count):.2f} s after the answer")


MAX_BUILT_ITEMS = 2_000_000
"""More items than so many are not built of a source, which takes a minute for each million."""


def _build(folder: Path, count: int, dtype: str) -> None:
    source = folder.with_name("v.npz")
    vectors = np.random.default_rng(0).normal(size=(count, DIMENSIONS)).astype(np.float32)
    np.savez(source, looks=vectors, ids=np.arange(count).astype(str), price=np.arange(count) % 99)
    del vectors
    seeker.build(source, folder, dtype=dtype)
    source.unlink()


def _put_together(folder: Path, count: int, dtype: str) -> None:
    """Write a catalog as a build leaves it: items by a few statements, vectors in blocks."""
    if dtype == "int8":
        sys.exit("More than two million items are put together as float32 or float16.")
    (folder / "views").mkdir(parents=True)
    rng, block = np.random.default_rng(0), 50_000
    with closing(sqlite3.connect(folder / "items.sqlite", isolation_level=None)) as connection:
        writer = ItemWriter(connection)
        writer.add_attribute("price", "number")
        rows = f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT {count})"
        connection.execute(
            f"{rows} INSERT INTO items SELECT i, CAST(i AS TEXT), CAST(i AS TEXT), '', "
            "NULL, NULL, NULL FROM n"
        )
        connection.execute(f"{rows} INSERT INTO known SELECT i, i % 99 FROM n")
        writer.count = count
        attributes = writer.finish()
    vectors = np.lib.format.open_memmap(
        folder / "views/looks.npy", "w+", dtype, (count, DIMENSIONS)
    )
    for first in range(0, count, block):
        shape = (min(block, count - first), DIMENSIONS)
        # Whole numbers of few bits: so many that look like normal ones would take minutes.
        drawn = rng.integers(-64, 64, size=(2, *shape), dtype=np.int8)
        vectors[first : first + block] = drawn.sum(axis=0, dtype=np.int8) / np.float32(64)
    vectors.flush()
    compact = dtype != "float32"
    centre = np.zeros(DIMENSIONS, np.float32) if compact else None
    view = View.measure("looks", np.asarray(vectors), "euclidean", centre=centre)
    moments = [view.mean, view.variance, *([np.zeros(DIMENSIONS)] if compact else [])]
    np.save(folder / "views/looks.moments.npy", np.stack(moments))
    entry = ViewEntry(
        vectors=FileEntry.of(folder, "views/looks.npy"),
        moments=FileEntry.of(folder, "views/looks.moments.npy"),
        dimensions=DIMENSIONS,
        metric="euclidean",
        units="unit",
        scale=view.scale,
        radius=view.radius,
        dtype=dtype,
    )
    files = AssembledFiles(
        count, 0, FileEntry.of(folder, "items.sqlite"), attributes, {"looks": entry}
    )
    make_manifest(files, version=1, source={}, about={}).write(folder)


def _compare_pages(before: seeker.Catalog, after: seeker.Catalog) -> None:
    """Print how long a click and its page take in two versions, in turns."""
    taken: dict[str, list[float]] = {"before": [], "after": []}
    versions = {"before": before, "after": after}
    for seed in range(SEARCHES + 1):
        for what in sorted(versions, reverse=bool(seed % 2)):
            session = versions[what].session(seed=seed)
            page = session.page()
            for step in range(3):
                start = time.process_time()
                session.like(page.ids[step])
                page = session.page()
                if seed:  # the first warms up
                    taken[what].append(time.process_time() - start)
    for name, middle in (("median", statistics.median), ("mean", statistics.mean)):
        one, other = (1e3 * middle(taken[what]) for what in ("before", "after"))
        print(
            f"{len(taken['after'])} clicks and their pages, {name}: {one:.1f} ms before, "
            f"{other:.1f} ms after, {other / one:.2f} ×",
            flush=True,
        )


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, dict[str, str], int]]:
    """Serve a catalog; lend its address, headers of who may change it, and the process's number."""
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
            yield url, headers, process.pid
        finally:
            process.terminate()


def _seen_after(folder: Path, count: int) -> float:
    """Return how long after the answer to 100 changed prices the last of them is seen."""
    with served(folder) as (url, headers, _), httpx.Client(base_url=url, timeout=600) as http:
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


def _shop(folder: Path, count: int) -> Path:
    """Build a catalog of items with prices."""
    vectors = np.random.default_rng(0).normal(size=(count, 64)).astype(np.float32)
    ids = np.arange(count).astype(str)
    np.savez(folder / "v.npz", v=vectors, ids=ids, price=np.zeros(count))
    seeker.build(folder / "v.npz", folder / "shop")
    return folder / "shop"


def clicks() -> None:
    """Print the processor time of clicks in a version that is open and in one that is new.

    All in one process: where others use the cores, too, waiting says more about them.
    """
    count, rounds, seconds = 20_000, 12, 0.0
    chance = random.Random(0)
    taken: dict[str, list[float]] = defaultdict(list)

    def timed(what: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        taken[what].append(time.process_time() - began)
        return result

    with tempfile.TemporaryDirectory() as place:
        folder = _shop(Path(place), count)
        catalogs = Catalogs({"shop": seeker.Catalog.open(folder)}, clock=lambda: seconds)
        engine = Engine(catalogs, MemoryStore(), refresh=False)
        people = [engine.start(seed=number) for number in range(PEOPLE)]
        for turn in range(2 * rounds):
            if turn % 2:
                prices = [
                    ItemChange(
                        str((turn * CHANGES + n) * 7919 % count),
                        "patch",
                        attributes={"price": turn},
                    )
                    for n in range(CHANGES)
                ]
                timed(f"writing {CHANGES} changes", partial(apply_changes, folder, prices))
                seconds += 2.0
                timed("opening the new version", catalogs.get)
            what = "a click in a new version" if turn % 2 else "a click"
            for number, shown in enumerate(people):
                click = Click(chance.choice(shown.page.ids), "like")
                people[number] = timed(what, partial(engine.act, shown.id, click, shown.step))
        served = catalogs.get()[1]
        for shown in people:
            replay = partial(served.replay, engine.stored(shown.id).events)
            timed("a replay and its page", lambda: replay().page())  # noqa: B023
        assert engine.rebuilder.rebuilt == 0
        engine.close()
    for what, some in taken.items():
        p95 = sorted(some)[int(0.95 * len(some))]
        print(f"{what}: median {1e3 * statistics.median(some):.1f} ms, 95th {1e3 * p95:.1f} ms")


async def changes(count: int) -> None:
    """Print the core time that changes of prices take of a service and of what it has started."""
    with tempfile.TemporaryDirectory() as place:
        folder = _shop(Path(place), 20_000)
        with served(folder) as (url, headers, server):
            sent = await change_prices(url, headers, 1, FIRST_CHANGES)
            own, every, version = cpu_seconds(server), _used(server), _version(folder)
            await change_prices(url, headers, sent + 1, count)
            own, every = cpu_seconds(server) - own, _used(server) - every
            versions = _version(folder) - version
    print(
        f"{count:,} changes in {versions} versions: {1e3 * own / count:.2f} ms of a core each in "
        f"the service's own process, {1e3 * every / count:.2f} ms with all that it has started"
    )


async def load(seconds: float) -> None:
    """Let people search without and with changes, in turns, and compare.

    seconds: with changes, and as many without.
    """
    count = 20_000
    with tempfile.TemporaryDirectory() as place:
        folder = _shop(Path(place), count)
        with (
            served(folder) as (url, headers, server),
            changing(url, headers, count) as prices,
        ):
            people = People(url, headers)
            crowd = asyncio.create_task(people.search())
            for phase in ("warm-up", *PHASES * ("without", "with")):
                people.phase = phase
                if phase == "with":
                    prices.go_on.set()
                used, version = _used(server), _version(folder)
                await asyncio.sleep(seconds / PHASES)
                people.used[phase] += _used(server) - used
                people.versions[phase] += _version(folder) - version
                prices.go_on.clear()
            people.phase = "end"
            await crowd
            sent, answered = prices.stop()
        after = seeker.Catalog.open(folder)
        lost = sum(after.item(id).attributes["price"] != value for id, value in answered.items())
    each = {}
    for phase in ("without", "with"):
        taken = sorted(people.taken[phase])
        each[phase] = taken[int(0.95 * len(taken))]
        print(
            f"{PEOPLE} people, {len(taken):,} clicks {phase} changes: median "
            f"{1e3 * statistics.median(taken):.0f} ms, 95th percentile {1e3 * each[phase]:.0f} ms, "
            f"{1e3 * people.used[phase] / len(taken):.1f} ms of a core for each click"
        )
    print(f"{each['with'] / each['without']:.2f} ×; of {sent:,} changes, {lost} lost")
    clicks = len(people.taken["with"]) / len(people.taken["without"])
    more = people.used["with"] - people.used["without"] * clicks
    print(
        f"{sent / seconds:.0f} changes a second in {people.versions['with'] / seconds:.1f} versions"
        f"; {1e3 * more / sent:.1f} ms of a core for each change"
    )


def _used(server: int) -> float:
    """Return the core time of a server with all its processes, in seconds."""
    return sum(map(cpu_seconds, process_tree(server)))


def _version(folder: Path) -> int:
    return read_manifest(folder).version


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["items", *rest]:
            items(int(rest[0]) if rest else 1_000_000, rest[1] if len(rest) > 1 else "float32")
        case ["photos", table, folder]:
            photos(Path(table), Path(folder))
        case ["clicks"]:
            clicks()
        case ["changes", *rest]:
            asyncio.run(changes(int(rest[0]) if rest else 1000))
        case ["load", *rest]:
            asyncio.run(load(float(rest[0]) if rest else SECONDS))
        case _:
            sys.exit(__doc__)
