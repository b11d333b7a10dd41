"""Updates and compactions killed at random moments: the catalog is whole, nothing told is lost.

    python benchmarks/live_kills.py [KILLS]

A process changes prices, adds and removes items, compacts now and then, and prints a line when a
change has returned. It is killed (SIGKILL) after a random time. Then the catalog is verified, and
every change of which a line was read must be in it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import seeker
from seeker import Catalog
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.update import apply_changes
from seeker.catalog.build.versions import compact
from seeker.catalog.verify import find_problems

ITEMS, DIMENSIONS = 3000, 32


def change_without_end(folder: str, start: int) -> None:
    """Change the catalog until the process is killed; tell each change that has returned."""
    number = start
    while True:
        number += 1
        price = ItemChange(str(number % ITEMS), "patch", attributes={"price": number})
        vector = np.full(DIMENSIONS, number % 97, np.float32)
        new = ItemChange(f"new {number}", "merge", attributes={"price": 1}, vectors={"v": vector})
        gone = ItemChange(f"new {number - 5}", "remove")
        apply_changes(folder, [price, new, gone])
        print(json.dumps(number), flush=True)
        if number % 25 == 0:
            compact(folder)


def main(kills: int) -> int:
    """Kill so many times; return how many defects were seen."""
    chance, defects, told = random.Random(1), 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop"
        vectors = np.random.default_rng(0).normal(size=(ITEMS, DIMENSIONS)).astype(np.float32)
        ids = np.arange(ITEMS).astype(str)
        np.savez(Path(place) / "v.npz", v=vectors, ids=ids, price=np.zeros(ITEMS))
        seeker.build(Path(place) / "v.npz", folder)
        number = 0
        for _ in range(kills):
            command = [sys.executable, __file__, "--change", str(folder), str(number)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                lines = [process.stdout.readline()]
                time.sleep(chance.uniform(0.0, 0.6))
                process.kill()
                lines += process.stdout.read().splitlines(keepends=True)
            whole = [int(line) for line in lines if line.endswith("\n")]
            told += len(whole)
            defects += len(find_problems(folder))
            catalog = Catalog.open(folder)
            for one in whole:
                price = catalog.item(str(one % ITEMS)).attributes["price"]
                defects += price < one or f"new {one - 5}" in catalog
                # A change that was not told may have come after the last that was.
                if one + 5 > max(whole) + 1:
                    defects += f"new {one}" not in catalog
            number = max([number, *whole]) + 10
    print(f"{kills} kills, {told:,} changes told, {defects} defects")
    return defects


if __name__ == "__main__":
    if sys.argv[1:2] == ["--change"]:
        change_without_end(sys.argv[2], int(sys.argv[3]))
    sys.exit(bool(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)))
