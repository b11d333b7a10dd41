"""Input that means harm, or looks as if it did: named in the report, and nothing worse."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

import seeker
from seeker import BadInput, Catalog
from seeker.cli import main
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
    with pytest.raises(BadInput, match="is in another encoding: row 1") as caught:
        seeker.build(table, tmp_path / "x")
    assert "--encoding cp1252" in str(caught.value)
    assert not (tmp_path / "x").exists()
    assert seeker.build(table, tmp_path / "y", encoding="latin-1").item("a").title == "café"
    # Where others with such letters can be read, one that cannot is a bad row.
    table.write_bytes(table.read_bytes() + 'c,thé,"[1,2]"\n'.encode())
    told: list[str] = []
    assert list(seeker.build(table, tmp_path / "z", tell=told.append).ids) == ["b", "c"]
    assert "text in another encoding: row 1" in "\n".join(told)


def test_numbers_with_a_comma_are_asked_about(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = [f'{n},thing,"{n},50","1.{n:03},5",note {n}' for n in range(1, 9)]
    table.write_text("\n".join(["id,name,price,far,note", *lines]))
    with pytest.raises(BadInput, match="'price' holds '1,50' and the like") as caught:
        seeker.build(table, tmp_path / "x", views=["attributes"])
    assert "--decimal" in str(caught.value)
    options: dict[str, Any] = {"views": ["attributes"], "attributes_view": ["price"]}
    numbers = seeker.build(table, tmp_path / "numbers", decimal=",", **options)
    assert numbers.item("3").attributes == {"price": 3.5, "far": 1003.5, "note": "note 3"}
    assert numbers.matching({"price": {"lt": 3}}).tolist() == [True] * 2 + [False] * 6
    table.write_text('id,price\n3,"9,75"\n')
    seeker.update(tmp_path / "numbers", table)
    assert seeker.Catalog.open(tmp_path / "numbers").item("3").attributes["price"] == 9.75
    table.write_text("\n".join(["id,name,price,far,note", *lines]))
    texts = seeker.build(table, tmp_path / "texts", decimal=".", **options)
    assert texts.item("3").attributes["price"] == "3,50"


@pytest.mark.parametrize(
    ("cells", "numbers", "currency"),
    [
        (["12,50 €", "1.249,90 €", "7 €", "-3,00 €"], [12.5, 1249.9, 7, -3], "EUR"),
        (["$12.50", "$1,249.90", "$7", "n/a"], [12.5, 1249.9, 7, None], "USD"),
        (["CHF 1'249.50", "CHF 3.00", "", "5"], [1249.5, 3, None, 5], "CHF"),
        (["1 249,90 zł", "7 zł", "1\u202f000 zł", "0,5 zł"], [1249.9, 7, 1000, 0.5], "PLN"),
    ],
)
def test_amounts_of_money_are_numbers_in_their_currency(
    tmp_path: Path, cells: list[str], numbers: list[float | None], currency: str
) -> None:
    table = tmp_path / "t.csv"
    lines = [f"{n};thing {n};{cell}" for n, cell in enumerate(cells)]
    table.write_text("\n".join(["id;name;price", *lines]))
    told: list[str] = []
    options: dict[str, Any] = {"views": ["attributes"], "attributes_view": ["price"]}
    catalog = seeker.build(table, tmp_path / "x", tell=told.append, **options)
    assert f"  money       price ({currency})" in told
    assert [catalog.item(str(n)).attributes.get("price") for n in range(4)] == numbers
    assert catalog.presentation.to_json()["attributes"] == {"price": {"currency": currency}}
    # A later file is read as the first one was, and what was said of it holds.
    table.write_text(f"id;price\n0;{cells[0].replace('2', '3')}\n")
    seeker.update(tmp_path / "x", table)
    changed = seeker.Catalog.open(tmp_path / "x").item("0").attributes["price"]
    assert changed == float(str(numbers[0]).replace("2", "3"))
    told_otherwise: dict[str, Any] = {"price": {"currency": "XTS", "card": True}}
    table.write_text("\n".join(["id;name;price", *lines]))
    again = seeker.build(table, tmp_path / "y", presentation=told_otherwise, **options)
    assert again.presentation.to_json()["attributes"] == told_otherwise


@pytest.mark.parametrize(
    "cells",
    [
        ["12,50 €", "on request", "3,00 €"],
        ["12,50 €", "$3.00", "4,00 €"],
        ["12,50 €", "3.00 €", "4,00 €"],
        ["€ 3 €", "€ 4 €", "€ 5 €"],
        ["3 for 2", "2 for 1", "1 TL 50"],
    ],
)
def test_what_is_not_money_throughout_stays_a_text(tmp_path: Path, cells: list[str]) -> None:
    table = tmp_path / "t.csv"
    lines = [f"{n};{cell}" for n, cell in enumerate(cells)]
    table.write_text("\n".join(["id;price", *lines]))
    catalog = seeker.build(table, tmp_path / "x", views=["attributes"], attributes_view=["price"])
    assert [catalog.item(str(n)).attributes["price"] for n in range(3)] == cells
    assert catalog.presentation.to_json()["attributes"] == {}


def test_a_folder_without_the_pictures_that_a_table_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wrong").mkdir()
    table = tmp_path / "t.csv"
    table.write_text("id,name,photo\n1,one,a/1.jpg\n2,two,a/2.jpg\n")
    with pytest.raises(BadInput, match=r"'photo' names pictures such as 'a/1\.jpg'"):
        seeker.build(table, tmp_path / "x", images=tmp_path / "wrong")
    table.write_text("id,name\n1,one\n2,two\n")
    with pytest.raises(BadInput, match="No column names pictures in"):
        seeker.build(table, tmp_path / "x", images=tmp_path / "wrong")


def test_a_build_that_loses_many_rows_does_not_end_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "t.csv", str(tmp_path / "x")
    good = [f"{n},k{n % 3}" for n in range(95)]

    def build(*lines: str) -> int:
        table.write_text("\n".join(["id,kind", *good, *lines]))
        return main(["build", str(table), "--out", out, "--quiet", "--replace"])

    assert build(*[",none"] * 5) == 0
    assert build(*[",none"] * 6) == 8
    assert "but without 6 of 101 rows" in capsys.readouterr().err
    assert len(seeker.Catalog.open(out)) == 95
    table.write_text("id,kind\n1,k2\n,k3\n")
    assert main(["update", out, str(table), "--quiet"]) == 8


def test_a_misspelt_value_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "t.csv", str(tmp_path / "x")
    rows = [f"{n},{'Dress' if n % 2 else 'Coat'}" for n in range(20)]
    table.write_text("\n".join(["id,kind", *rows]))
    assert main(["build", str(table), "--out", out, "--quiet"]) == 0
    assert main(["search", out, "--where", "kind=dres"]) == 3
    assert "No item has 'dres' as 'kind'. Did you mean 'Dress'?" in capsys.readouterr().err
    assert main(["remove", out, "--where", "kind=hat"]) == 3
    assert "Frequent are 'Coat', 'Dress'" in capsys.readouterr().err
    assert main(["search", out, "--where", "kind=Dress"]) == 0
