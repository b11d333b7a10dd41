"""What a change of a catalog costs beside building it: processor time and bytes written.

    python benchmarks/live.py [ITEMS]

A catalog of ITEMS × 256 vectors with prices is built; then 100 prices are changed, 100 items added
and 10 removed, each in one version. Bytes are those of the files that are new or longer; names of
files that were there before are not counted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import seeker
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.update import apply_changes

DIMENSIONS = 256


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


def main(items: int) -> None:
    """Build, change, and print what each took."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder, source = Path(place) / "shop", Path(place) / "v.npz"
        vectors = rng.normal(size=(items, DIMENSIONS)).astype(np.float32)
        np.savez(
            source, looks=vectors, ids=np.arange(items).astype(str), price=np.arange(items) % 99
        )
        del vectors
        built, size = cost(lambda: seeker.build(source, folder), Path(place))
        print(f"build: {built:.1f} s, {size / 1e6:.1f} MB")
        new = rng.normal(size=(100, DIMENSIONS)).astype(np.float32)
        changes = {
            "100 prices": [
                ItemChange(str(n * 97 % items), "patch", attributes={"price": 1000})
                for n in range(100)
            ],
            "100 added, 10 removed": [
                *(ItemChange(f"new {n}", "merge", vectors={"looks": new[n]}) for n in range(100)),
                *(ItemChange(str(n * 101 % items), "remove") for n in range(10)),
            ],
        }
        for what, some in changes.items():
            taken, written = cost(lambda some=some: apply_changes(folder, some), folder)  # type: ignore[misc]
            share = f"1/{built / taken:.0f} of the build"
            print(f"{what}: {taken:.2f} s, {share}, {written / 1e6:.2f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
