"""Input that means harm, or looks as if it did: named in the report, and nothing worse."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

import seeker
from seeker import Catalog
from support.builds import MeanColour, jsonl, picture, png_that_claims


def built(source: Path, out: Path, **given: Any) -> tuple[Catalog, str]:
    told: list[str] = []
    catalog = seeker.build(
        source,
        out,
        views=["colour"],
        embedders={"colour": MeanColour()},
        tell=told.append,
        **given,
    )
    return catalog, "\n".join(told)


def test_pictures_that_are_none_are_named(tmp_path: Path) -> None:
    root = tmp_path / "photos"
    whole = picture(root / "whole.jpg", (200, 100, 0), (300, 200)).read_bytes()
    (root / "huge.png").write_bytes(png_that_claims(20_000, 20_000))
    (root / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(root / "zip.jpg", "w") as archive:
        archive.writestr("a", "b")
    (root / "bad.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        '<image href="file:///etc/passwd"/><script>alert(1)</script></svg>'
    )
    (root / "empty.png").write_bytes(b"")
    catalog, told = built(root, tmp_path / "catalog")
    assert list(catalog.ids) == ["whole.jpg"]
    assert "5 × broken picture" in told
    for name in ("huge.png", "cut.jpg", "zip.jpg", "bad.svg", "empty.png"):
        assert name in told
    catalog_report = catalog.manifest.source["left out"] if catalog.manifest else {}
    assert catalog_report["broken picture"]["count"] == 5


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    secret = picture(tmp_path / "secret" / "secret.png", (1, 2, 3))
    root = tmp_path / "photos"
    picture(root / "mine.png", (9, 9, 9))
    (root / "link.png").symlink_to(secret)
    (root / "inside.png").symlink_to(root / "mine.png")
    (root / "loop.png").symlink_to(root / "loop.png")
    (root / "all").symlink_to(secret.parent)
    catalog, told = built(root, tmp_path / "catalog")
    assert list(catalog.ids) == ["inside.png", "mine.png"]
    assert "1 × picture outside the source: link.png" in told
    assert "1 × no picture: loop.png" in told
    assert "1 × link to a folder: all" in told


def test_a_table_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    secret = picture(tmp_path / "secret.png", (1, 2, 3))
    picture(tmp_path / "t" / "a.png", (9, 9, 9))
    (tmp_path / "t" / "link.png").symlink_to(secret)
    (tmp_path / "t" / "folder").mkdir()
    names = ["a.png", "../secret.png", str(secret), "link", "folder/../a.png", "folder", "a\0b"]
    rows = [{"id": name, "image": name} for name in names]
    catalog, told = built(
        jsonl(tmp_path / "t" / "rows.jsonl", rows), tmp_path / "catalog", picture="image"
    )
    assert list(catalog.ids) == ["a.png"]
    assert "4 × picture outside the source: line 2 ('../secret.png': the path goes up" in told
    assert "2 × no picture" in told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_does_not_hang_the_build(tmp_path: Path) -> None:
    picture(tmp_path / "p" / "a.png", (9, 9, 9))
    os.mkfifo(tmp_path / "p" / "pipe.png")
    catalog, told = built(tmp_path / "p", tmp_path / "catalog")
    assert len(catalog) == 1
    assert "pipe.png (it is not a plain file)" in told


def test_ids_may_hold_anything(tmp_path: Path) -> None:
    ids = [
        "two\nlines",
        "☃🎩",
        "../../up",
        "<b>",
        "a'; DROP TABLE items; --",
        "nul\0",
        " edge",
        "x" * 4000,
    ]
    picture(tmp_path / "a.png", (9, 9, 9))
    rows = [{"id": id, "image": "a.png", "title": id} for id in ids]
    catalog, told = built(
        jsonl(tmp_path / "r.jsonl", [*rows, {"id": "y" * 5000, "image": "a.png"}]), tmp_path / "c"
    )
    kept = [id.strip() for id in ids]
    assert list(catalog.ids) == kept
    assert [catalog.item(id).id for id in kept] == kept
    assert [catalog.row(id) for id in kept] == list(range(len(kept)))
    assert "1 × id that is too long" in told
    media = {path.name for path in (tmp_path / "c" / "media").rglob("*.webp")}
    assert len(media) == 1


def test_a_huge_cell_is_one_bad_row(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    vector = '"[1,2]"'
    with table.open("w") as handle:
        handle.write("id,title,v\n")
        handle.write(f"a,first,{vector}\n")
        handle.write(f'b,"{"x" * 10_000_000}",{vector}\n')
        handle.write(f"c,after,{vector}\n")
        handle.write(f"d,{'y' * 40_000_000},{vector}\n")
        handle.write(f"e,last,{vector}\n")
        handle.write(f"f,short\ng,long,{vector},more\n")
        handle.write('h,"never closed,1 2\n')
    told: list[str] = []
    catalog = seeker.build(table, tmp_path / "catalog", tell=told.append)
    assert list(catalog.ids) == ["a", "c", "e"]
    report = "\n".join(told)
    assert "1 × cell that is too large: row 2 (line 3) (10,000,000 characters)" in report
    assert "1 × row that is too large" in report
    assert "row with missing or extra cells" in report


def test_a_quote_that_is_never_closed_does_not_swallow_memory(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    with table.open("w") as handle:
        handle.write('id,v,title\na,1 2,first\nb,1 2,"open\n')
        handle.writelines(f"{n},1 2,{'a title of some length ' * 4}\n" for n in range(200_000))
    told: list[str] = []
    catalog = seeker.build(table, tmp_path / "catalog", vectors=["v"], tell=told.append)
    assert catalog.ids[0] == "a"
    assert catalog.ids[-1] == "199999"
    assert 10_000 < len(catalog) < 60_000
    assert "1 × row that is too large: row 2" in "\n".join(told)


def test_text_in_another_encoding_is_named_or_read(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes('id,name,v\na,caf\xe9,"[1,2]"\nb,tea,"[1,2]"\n'.encode("latin-1"))
    told: list[str] = []
    assert list(seeker.build(table, tmp_path / "x", tell=told.append).ids) == ["b"]
    assert "text in another encoding: row 1" in "\n".join(told)
    assert seeker.build(table, tmp_path / "y", encoding="latin-1").item("a").title == "café"
