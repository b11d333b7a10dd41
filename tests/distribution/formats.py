"""Writes a catalog and a store in the format of today, for later versions to read.

    python tests/distribution/formats.py tests/distribution/written_by_0_1.zip

What was written once is never written again: a later format is one more file.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import zipfile
from contextlib import closing
from itertools import count
from pathlib import Path

import numpy as np

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import seeker
from seeker.engine import Catalogs, Engine
from seeker.session import Click, Event, Explore, Filter, Found, Say, Undo
from seeker.stores import IdempotencyKey, open_store
from support.builds import picture


def write(out: Path) -> None:
    """Write an archive of a catalog of two versions, a store, and what they are to show."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        vectors = np.random.default_rng(0).normal(size=(24, 6)).round(2)
        lines = [
            {
                "id": f"thing {n}",
                "title": f"A {'red' if n % 2 else 'blue'} thing",
                "price": n,
                "kind": ["cup", "hat", "key"][n % 3],
                "picture": picture(place / f"{n}.png", (10 * n, 100, 50)).name,
                "vector": vectors[n].tolist(),
            }
            for n in range(24)
        ]
        source = place / "things.jsonl"
        source.write_text("\n".join(map(json.dumps, lines)))
        with contextlib.chdir(place):
            seeker.build(source.name, "catalog")
        from seeker.catalog.build import update

        update.remove(place / "catalog", ids=["thing 7"])
        clock = count(1_800_000_000.0, 2.0)
        engine = Engine(
            Catalogs({"catalog": seeker.Catalog.open(place / "catalog")}),
            open_store(str(place / "sessions.sqlite")),
            clock=lambda: next(clock),
        )
        with closing(engine):
            first = engine.start(seed=3, user="ann", page_size=4, owner="site")
            acts: list[Event] = [
                Click(first.page.ids[0], "like"),
                Click(first.page.ids[1], "dislike"),
                Say("blue"),
                Filter({"price": {"lt": 20}}),
                Explore(2.0),
                Undo(1),
            ]
            for act in acts:
                shown = engine.act(first.id, act)
            key = IdempotencyKey(first.id, "a-key-that-was-used-once", "f")
            shown = engine.act(first.id, Found(shown.page.ids[0]), key=key)
            expected = {
                "id": first.id,
                "share": engine.share(first.id),
                "step": shown.step,
                "page": shown.page.ids,
                "found": shown.page.ids[0],
                "times": engine.stored(first.id).times,
            }
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("expected.json", json.dumps(expected))
            packed.write(place / "sessions.sqlite", "sessions.sqlite")
            for file in sorted((place / "catalog").rglob("*")):
                if file.is_file():
                    packed.write(file, file.relative_to(place))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
