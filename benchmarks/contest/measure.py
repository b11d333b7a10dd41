"""One contestant in a process of its own: what it took to build, to hold and to ask.

Results are printed as they come, one JSON object per line, so that a contestant which is stopped
because it takes too long has shown what it did until then.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import timing
from benchmarks.contest.base import Click, Contestant, Round, Way
from benchmarks.contest.contestants import CONTESTANTS
from benchmarks.datasets import open_vectors
from benchmarks.processes import memory_bytes

LEAST_ROUNDS = 3
PASSES = 5


def rounds_of(path: Path) -> list[Round]:
    """Return the rounds of a file."""
    return [
        Round(round["seed"], [Click(**click) for click in round["clicks"]])
        for round in json.loads(path.read_text())
    ]


def total_memory_bytes(processes: list[int]) -> int:
    """Return the bytes of memory that this process and some others hold, shared parts once."""
    return sum(memory_bytes("Pss", process) for process in (os.getpid(), *processes))


def print_record(**what: Any) -> None:
    """Print a result."""
    print(json.dumps(what), flush=True)


def measure(name: str, folder: Path, seconds: float) -> None:
    """Build one contestant on the folder's vectors and ask it all rounds, in all its ways.

    seconds: a way is not asked more rounds than fit, but at least three.
    """
    contestant = CONTESTANTS[name]()
    print_record(contestant=contestant.name, packages=_versions(contestant))
    rounds = rounds_of(folder / "rounds.json")
    before = total_memory_bytes([])
    vectors = open_vectors(folder / "vectors.npy")
    read = timing.MemoryReader(vectors)
    read()
    scratch = folder / name
    scratch.mkdir()
    began = time.perf_counter()
    for stage, ways in contestant.stages(vectors, scratch):
        print_record(stage=stage, seconds=time.perf_counter() - began)
        for way in ways:
            print_record(passes=[timing.seconds(read) for _ in range(PASSES)])
            print_record(**_time_rounds(way, rounds, seconds))
        own = total_memory_bytes(contestant.processes()) - before
        print_record(stage=stage, bytes=own - (vectors.nbytes if contestant.copies else 0))
        del ways
        gc.collect()
        began = time.perf_counter()


def _time_rounds(way: Way, rounds: list[Round], seconds: float) -> dict[str, Any]:
    way.ask(way.prepare(rounds[0]))
    times, right, count = [], [], 0
    began = time.perf_counter()
    for round in rounds:
        prepared = way.prepare(round)
        start = time.perf_counter()
        rows = way.ask(prepared)
        times.append(time.perf_counter() - start)
        count += 1
        if way.truth is not None:
            truth = way.truth(round)
            right.append(len(set(rows) & set(truth)) / len(truth))
        if count >= LEAST_ROUNDS and time.perf_counter() - began > seconds:
            break
    return {
        "way": way.name,
        "exact": way.exact,
        "rounds": count,
        "times": times,
        "recall": statistics.mean(right) if right else None,
    }


def _versions(contestant: Contestant) -> dict[str, str]:
    versions = {}
    for package in contestant.packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            raise SystemExit(
                f"{package} is not installed: pip install 'seeker-search[peers]'"
            ) from None
    return versions
