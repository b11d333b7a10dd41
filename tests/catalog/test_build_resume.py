"""A build that is killed goes on where it was, and ends as if nothing had happened."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import seeker
from seeker import BadInput, Catalog
from seeker.catalog.build.source import Record, RecordSource, RowProblem, SourceContents
from seeker.types import Floats
from support.builds import Letters, MeanColour, picture

COUNT = 700


class Counting(MeanColour):
    """Counts what it embeds; raises or kills its process once it has embedded enough."""

    def __init__(self, until: int | None = None, how: str = "raise") -> None:
        self.embedded = 0
        self._until = until
        self._how = how

    def embed(self, batch: object) -> Floats:
        """Embed, unless enough has been done."""
        if self._until is not None and self.embedded >= self._until:
            if self._how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyboardInterrupt
        self.embedded += len(batch)  # type: ignore[arg-type]
        return super().embed(batch)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("resume") / "photos"
    for n in range(COUNT):
        picture(root / f"{n:04d}.png", (n % 256, n * 7 % 256, n // 256), (8, 8))
    (root / "0300.png").write_bytes(b"broken")
    return root


def sums(folder: Path) -> dict[str, str]:
    """Return checksums of all files of a catalog except its manifest, which holds the time."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "catalog.json"
    }


@pytest.fixture(scope="module")
def whole(photos: Path) -> dict[str, str]:
    return sums(build(photos, photos.parent / "whole", Counting()))


def build(photos: Path, out: Path, embedder: Counting) -> Path:
    seeker.build(photos, out, views=["colour"], embedders={"colour": embedder})
    return out


def interrupted(photos: Path, out: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        build(photos, out, Counting(until=400))
    assert not out.exists()


def test_interrupted_and_resumed_gives_the_same_bytes(
    photos: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "catalog"
    interrupted(photos, out)
    last = Counting()
    build(photos, out, last)
    assert last.embedded < COUNT - 200
    assert sums(out) == whole
    assert len(Catalog.open(out)) == COUNT - 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["catalog"]


def test_killed_and_resumed_gives_the_same_bytes(
    photos: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "catalog"
    code = (
        "import sys; sys.path.insert(0, sys.argv[3]);"
        "from catalog import test_build_resume as t; from pathlib import Path;"
        "t.build(Path(sys.argv[1]), Path(sys.argv[2]), t.Counting(until=400, how='kill'))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(photos), str(out), str(Path(__file__).parents[1])],
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL
    assert not out.exists()
    last = Counting()
    build(photos, out, last)
    assert last.embedded < COUNT - 200
    assert sums(out) == whole


def test_a_changed_source_is_read_anew(photos: Path, tmp_path: Path) -> None:
    changed = tmp_path / "photos"
    changed.mkdir()
    for path in photos.iterdir():
        (changed / path.name).write_bytes(path.read_bytes())
    interrupted(changed, tmp_path / "catalog")
    picture(changed / "0000.png", (255, 255, 255), (8, 8))
    (changed / "0001.png").unlink()
    catalog = Catalog.open(build(changed, tmp_path / "catalog", Counting()))
    np.testing.assert_allclose(catalog.views["colour"].vectors[0], 1.0)
    assert "0001.png" not in catalog
    fresh = build(changed, tmp_path / "fresh", Counting())
    assert sums(tmp_path / "catalog") == sums(fresh)


def test_damaged_work_is_done_again(photos: Path, whole: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "catalog"
    interrupted(photos, out)
    work = tmp_path / "catalog.building"
    chunk = min((work / "chunks").glob("*.npz"))
    chunk.write_bytes(chunk.read_bytes()[:100])
    last = Counting()
    build(photos, out, last)
    assert last.embedded >= COUNT - 1
    assert sums(out) == whole


def test_lost_thumbnails_are_made_again(
    photos: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "catalog"
    interrupted(photos, out)
    next((tmp_path / "catalog.building" / "new" / "media").rglob("*.webp")).write_bytes(b"")
    build(photos, out, Counting())
    assert sums(out) == whole


def test_another_way_to_make_views_starts_afresh(photos: Path, tmp_path: Path) -> None:
    class Other(Counting):
        version = "2"

    interrupted(photos, tmp_path / "catalog")
    other = Other()
    build(photos, tmp_path / "catalog", other)
    assert other.embedded == COUNT - 1


def test_an_embedder_that_breaks_its_word_is_an_error(photos: Path, tmp_path: Path) -> None:
    class Wrong(Counting):
        dimensions = 4

    with pytest.raises(seeker.SeekerError, match=r"shape \(32, 3\) instead of \(32, 4\)"):
        build(photos, tmp_path / "catalog", Wrong())


def test_vectors_that_are_not_finite_are_bad_rows(tmp_path: Path) -> None:
    class Dark(Counting):
        """Gives NaN for black pictures."""

        def embed(self, batch: object) -> Floats:
            found = super().embed(batch)
            return np.where(found.sum(axis=1, keepdims=True) == 0, np.nan, found).astype(np.float32)

    for name, colour in (("black", (0, 0, 0)), ("white", (255, 255, 255))):
        Image.new("RGB", (4, 4), colour).save(tmp_path / f"{name}.png")
    catalog = Catalog.open(build(tmp_path, tmp_path / "catalog", Dark()))
    assert list(catalog.ids) == ["white.png"]
    with pytest.raises(BadInput, match="Bad vector: black"):
        seeker.build(
            tmp_path, tmp_path / "x", views=["colour"], embedders={"colour": Dark()}, strict=True
        )


def test_an_interrupted_update_leaves_the_catalog_whole_and_goes_on(
    photos: Path, tmp_path: Path
) -> None:
    picture(tmp_path / "first" / "first.png", (1, 2, 3))
    out = build(tmp_path / "first", tmp_path / "catalog", Counting())
    before = Catalog.open(out)
    with pytest.raises(KeyboardInterrupt):
        seeker.update(out, photos, embedders={"colour": Counting(until=400)})
    assert not before.changed()
    assert list(Catalog.open(out).ids) == ["first.png"]
    last = Counting()
    added = seeker.update(out, photos, embedders={"colour": last}).catalog
    assert last.embedded < COUNT - 200
    assert len(added) == COUNT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["catalog", "first"]


def test_an_interrupted_replacement_leaves_the_old_catalog_whole(
    photos: Path, tmp_path: Path
) -> None:
    picture(tmp_path / "first" / "first.png", (1, 2, 3))
    out = build(tmp_path / "first", tmp_path / "catalog", Counting())
    before = sums(out)
    with pytest.raises(KeyboardInterrupt):
        seeker.build(
            photos, out, views=["colour"], embedders={"colour": Counting(until=400)}, replace=True
        )
    assert sums(out) == before


def test_a_program_can_be_a_source(tmp_path: Path) -> None:
    contents = picture(tmp_path / "red.png", (255, 0, 0)).read_bytes()
    records: list[Record | RowProblem] = [
        Record("1", "one", "One", "first", contents, {"n": 1}),
        Record("2", "two", "Two", "second", np.full((4, 4, 3), 255, np.uint8), {"n": 2}),
        RowProblem("3", "no picture"),
    ]
    source = RecordSource(
        lambda: records, SourceContents(pictures=True, text=True), {"kind": "program"}, 3
    )
    embedders = {"colour": MeanColour(), "letters": Letters()}
    catalog = seeker.build(
        source, tmp_path / "catalog", views=["colour", "letters"], embedders=embedders
    )
    assert list(catalog.ids) == ["one", "two"]
    np.testing.assert_allclose(catalog.views["colour"].vectors, [[1, 0, 0], [1, 1, 1]], atol=0.01)
    assert catalog.manifest is not None
    assert catalog.manifest.source["left out"] == {"no picture": {"count": 1, "examples": ["3"]}}
