"""Seeker and its peers: eight likes and eight dislikes → twelve results, on the same vectors.

    python -P benchmarks/peers.py                                 # both sizes below
    python -P benchmarks/peers.py --items 100000 --dims 512 --items 1000000 --dims 256
    python -P benchmarks/peers.py --glove --only memory,seeker,faiss-hnsw

(-P, because a neighbour of this file is called like a package that is needed.) The peers come with
`pip install 'seeker-search[peers]'`. Each runs in a process of its own, one after the other, and is
stopped after --limit seconds. Writes peers.json, peers.md, peers.svg and, of the smallest size,
click-beside-peers.svg; sizes in peers.json that are not measured again stay in them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks import datasets, pages
from benchmarks.contest import report
from benchmarks.contest.contestants import CONTESTANTS
from benchmarks.contest.measure import measure

SIZES = [(100_000, 512), (1_000_000, 256)]


def child(*arguments: str, limit: float) -> tuple[list[dict[str, Any]], str]:
    """Run this file as a process of its own; return its records, and why it ended, if not well."""
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, "-P", __file__, *arguments]
    why = ""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as trouble:
        try:
            done = subprocess.run(
                command, stdout=out, stderr=trouble, env=environment, timeout=limit
            )
            if done.returncode:
                trouble.seek(0)
                last = trouble.read().strip().splitlines() or ["without a word"]
                why = f"failed ({last[-1]})"
        except subprocess.TimeoutExpired:
            why = f"stopped after {limit:,.0f} s"
        out.seek(0)
        return [json.loads(line) for line in out if line.startswith("{")], why


def one_size(
    source: str, items: int, dimensions: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Let all contestants run on one set of vectors."""
    with tempfile.TemporaryDirectory(prefix="seeker-peers-", dir=options.scratch) as name:
        folder = Path(name)
        path = folder / "vectors.npy"
        if source == "made":
            datasets.write_synthetic(path, items, dimensions)
        else:
            datasets.write_glove(path)
        shape = datasets.open_vectors(path).shape
        size: dict[str, Any] = {
            "source": source,
            "items": shape[0],
            "dimensions": shape[1],
            "lines": [],
            "passes": {},
            "packages": {},
            "missing": {},
        }
        _, why = child("--play", name, "--rounds", str(options.rounds), limit=options.limit)
        if why:
            raise SystemExit(f"The rounds could not be made: {why}")
        for contestant in options.only:
            records, why = child(
                "--measure",
                contestant,
                name,
                "--seconds",
                str(options.seconds),
                limit=options.limit,
            )
            size["lines"] += report.lines(records)
            size["passes"][contestant] = report.passes(records)
            for one in records:
                size["packages"] |= one.get("packages", {})
            if why:
                size["missing"][contestant] = why
            done = ", ".join(
                f"{line['way']} {line['milliseconds']:.2f} ms" for line in report.lines(records)
            )
            print(f"  {shape[0]:,} × {shape[1]}, {contestant}: {done} {why}", flush=True)
    return size


def which(size: dict[str, Any]) -> tuple[str, int, int]:
    """Return what tells a set of vectors from others."""
    return size["source"], size["items"], size["dimensions"]


def play(folder: Path, count: int) -> None:
    """Write the rounds that all contestants are asked."""
    from benchmarks.contest.ours import play_rounds

    rounds = play_rounds(datasets.open_vectors(folder / "vectors.npy"), count)
    (folder / "rounds.json").write_text(json.dumps([asdict(round) for round in rounds]))


def main() -> None:
    """Run the contest, or one part of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, action="append", default=[])
    parser.add_argument("--dims", type=int, action="append", default=[])
    parser.add_argument("--glove", action="store_true", help="400,000 × 50 real word vectors, too")
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(CONTESTANTS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0, help="for one question's rounds")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds for one contestant")
    parser.add_argument("--scratch", type=Path, help="folder for vectors and indexes")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        play(options.play, options.rounds)
        return
    if options.measure:
        measure(options.measure[0], Path(options.measure[1]), options.seconds)
        return
    if len(options.items) != len(options.dims):
        parser.error("--items and --dims belong together: give as many of the one as of the other.")
    unknown = set(options.only) - CONTESTANTS.keys()
    if unknown:
        parser.error(f"{sorted(unknown)[0]!r} is none of {', '.join(CONTESTANTS)}.")
    sizes_to_run = list(zip(options.items, options.dims, strict=True))
    if not sizes_to_run and not options.glove:
        sizes_to_run = SIZES
    runs = [("made", *size) for size in sizes_to_run] + ([("GloVe", 0, 0)] if options.glove else [])
    options.out.mkdir(parents=True, exist_ok=True)
    record = options.out / "peers.json"
    sizes = json.loads(record.read_text())["sizes"] if record.exists() else []
    for run in runs:
        new = one_size(*run, options)
        sizes = [size for size in sizes if which(size) != which(new)]
        sizes = sorted([*sizes, new], key=which)
        results = {
            "cores": len(os.sched_getaffinity(0)),
            "machine": platform.machine(),
            "sizes": sizes,
        }
        pages.write(options.out, "peers", report.page(results), results)
        report.draw(results, options.out / "peers.svg")
        report.draw_click(sizes[0], options.out / "click-beside-peers.svg")
        print("\n".join(report.verdicts(new)))


if __name__ == "__main__":
    main()
