"""A chunk: a few hundred rows of a source, made into items and vectors in one go.

A chunk depends on its rows and on how the views are made, and on nothing else. So it can be kept
in a file under a name that says both, and a build that was interrupted finds what it had done.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seeker.catalog.building.plan import Making
from seeker.catalog.building.record import Problem, Record
from seeker.catalog.nofollow import new_file
from seeker.types import Floats


@dataclass(frozen=True, eq=False)
class Chunk:
    """items: what the item table needs, and the place in the source. vectors: by view, (n, d)."""

    items: list[dict[str, Any]]
    vectors: dict[str, Floats]
    problems: list[Problem]

    def save(self, path: Path) -> None:
        """Write the chunk to a file, all of it or nothing."""
        described = {"items": self.items, "problems": [asdict(one) for one in self.problems]}
        text = np.frombuffer(json.dumps(described).encode(), np.uint8)
        aside = path.with_suffix(".new")
        with new_file(aside) as handle:
            np.savez(handle, described=text, **_prefixed(self.vectors))
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Chunk:
        """Read a chunk back."""
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
            described = json.loads(archive["described"].tobytes())
            vectors = {
                name.removeprefix("view "): archive[name]
                for name in archive.files
                if name.startswith("view ")
            }
        problems = [Problem(**one) for one in described["problems"]]
        return cls(described["items"], vectors, problems)


def _prefixed(vectors: dict[str, Floats]) -> dict[str, Any]:
    return {f"view {name}": one for name, one in vectors.items()}


def fingerprint(rows: Sequence[Record | Problem], making: str) -> str:
    """Return a name for what these rows give; making: a name for how the views are made."""
    digest = hashlib.sha256(making.encode())
    for row in rows:
        if isinstance(row, Problem):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
            continue
        parts = [row.place, row.id, row.title, row.text, row.attributes, sorted(row.vectors)]
        digest.update(json.dumps(parts, default=dict).encode())
        for name in sorted(row.vectors):
            vector = row.vectors[name]
            digest.update(
                vector.encode() if isinstance(vector, str) else np.ascontiguousarray(vector).data
            )
        match row.picture:
            case None:
                pass
            case Path():
                digest.update(_stamp(row.picture))
            case bytes():
                digest.update(hashlib.sha256(row.picture).digest())
            case pixels:
                digest.update(f"{pixels.shape}".encode())
                digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()[:32]


def _stamp(path: Path) -> bytes:
    try:
        found = path.stat()
    except OSError:
        return f"{path} is gone".encode("utf-8", "surrogatepass")
    return f"{path} {found.st_size} {found.st_mtime_ns}".encode("utf-8", "surrogatepass")


def name_of(makings: Sequence[Making], thumbnail: int) -> str:
    """Return a name for how views are made: the same makings give the same name."""
    described = [
        (one.name, one.of, one.dimensions, one.metric, one.column)
        + ((one.embedder.name, one.embedder.version) if one.embedder else ())
        for one in makings
    ]
    return json.dumps(["chunk 1", thumbnail, described])
