"""Every kind of source becomes a catalog, and what does not fit is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, NotFound
from support.builds import SHIRTS, Letters, MeanColour, jsonl, picture

EMBEDDERS = {"colour": MeanColour(), "letters": Letters()}


def built(source: Path, out: Path, **given: Any) -> tuple[Catalog, str]:
    told: list[str] = []
    catalog = seeker.build(source, out, tell=told.append, embedders=EMBEDDERS, **given)
    return catalog, "\n".join(told)


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    root = tmp_path / "photos"
    picture(root / "red_dress.png", (255, 0, 0))
    picture(root / "shoes" / "old" / "blue-boot.JPG".lower(), (0, 0, 255))
    (root / "notes.txt").write_text("not a picture")
    catalog, told = built(root, tmp_path / "catalog", views=["colour"])
    assert list(catalog.ids) == ["red_dress.png", "shoes/old/blue-boot.jpg"]
    boot = catalog.item("shoes/old/blue-boot.jpg")
    assert (boot.title, boot.attributes) == ("blue boot", {"folder": "shoes/old"})
    assert catalog.item("red_dress.png").attributes == {}
    np.testing.assert_allclose(catalog.views["colour"].vectors[0], [1, 0, 0], atol=0.01)
    thumbnail = catalog.media_file(boot)
    assert thumbnail is not None
    assert thumbnail.read_bytes()[8:12] == b"WEBP"
    assert "Found 2 pictures" in told
    assert "1 other files" in told


def test_a_folder_with_a_table_about_its_pictures(tmp_path: Path) -> None:
    root = tmp_path / "photos"
    for name in ("one", "two", "three"):
        picture(root / f"{name}.png", (10, 20, 30))
    table = tmp_path / "labels.csv"
    table.write_text("image,label,kids\ntwo,Hat,False\none,Dress,True\ngone,Hat,False\n")
    catalog, told = built(root, tmp_path / "catalog", table=str(table), views=["colour"])
    assert list(catalog.ids) == ["two", "one", "three"]
    assert catalog.item("one").attributes == {"label": "Dress", "kids": True}
    assert catalog.item("three").attributes == {}
    assert "1 × no picture: row 3 (line 4) (no file 'gone')" in told
    with pytest.raises(BadInput, match="names pictures"):
        built(root, tmp_path / "other", table=str(jsonl(tmp_path / "x.jsonl", [{"a": 1}])))


def test_a_csv_table_with_pictures(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "p1.png", (255, 0, 0))
    picture(tmp_path / "images" / "deep" / "p2.jpg", (0, 255, 0))
    (tmp_path / "table.csv").write_text(
        "image,label,price,sold,code\n"
        'p1,"Long, red",3.50,TRUE,007\n'
        "deep/p2.jpg,Green,,false,008\n"
        "p1,Twice,1,true,009\n"
        ",Nothing,1,true,009\n",
        encoding="utf-8",
    )
    catalog, told = built(
        tmp_path / "table.csv",
        tmp_path / "catalog",
        images=tmp_path / "images",
        id="image",
        views=["colour"],
    )
    assert list(catalog.ids) == ["p1", "deep/p2.jpg"]
    assert catalog.item("p1").attributes == {
        "label": "Long, red",
        "price": 3.5,
        "sold": True,
        "code": "007",
    }
    assert catalog.attributes["code"] == "text"
    assert catalog.item("deep/p2.jpg").attributes == {
        "label": "Green",
        "sold": False,
        "code": "008",
    }
    assert "picture     image" in told
    assert "1 × duplicate id: row 3 (line 4) ('p1')" in told
    assert "1 × no id: row 4 (line 5)" in told


def test_a_csv_table_of_texts_and_one_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "book_id;title;description\n1;Cats;About cats\n2;Dogs;\n3;;\n", encoding="utf-8-sig"
    )
    catalog, told = built(tmp_path / "t.csv", tmp_path / "a", views=["letters"])
    assert list(catalog.ids) == ["1", "2"]
    assert "text        description" in told
    assert "1 × no text: row 3 (line 4)" in told
    assert [hit.item.id for hit in catalog.search("about")] == ["1"]
    lengths = np.linalg.norm(catalog.views["letters"].vectors, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-6)
    (tmp_path / "v.tsv").write_text(
        "id\tembedding\nx\t[1, 2, 3]\ny\t[1, NaN, 3]\nz\t[4, 5]\nw\t\nv\t[4, 5, 1e300]\n"
        "u\t[7,8,9]\n"
        "t\t[7, 8, nine]\n"
    )
    catalog, told = built(tmp_path / "v.tsv", tmp_path / "b", vectors=["embedding"])
    assert list(catalog.ids) == ["x", "u"]
    assert catalog.views["embedding"].vectors.tolist() == [[1, 2, 3], [7, 8, 9]]
    assert "4 × bad vector: row 2 (line 3) (embedding: it holds NaN" in told
    assert "2 numbers instead of 3" in told
    assert "1 × no vector: row 4" in told


def test_every_column_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,Cats,About cats,9\n2,Dogs,Bark,8\n")
    catalog, _ = built(
        tmp_path / "t.csv",
        tmp_path / "catalog",
        id="d",
        title="c",
        text=["b", "c"],
        attributes=["b"],
        views=["letters"],
    )
    assert list(catalog.ids) == ["9", "8"]
    assert catalog.item("9").title == "About cats"
    assert catalog.item("9").attributes == {"b": "Cats"}
    with pytest.raises(BadInput, match=r"no column 'e'.*'a', 'b'"):
        built(tmp_path / "t.csv", tmp_path / "x", id="e")
    with pytest.raises(BadInput, match="holds no vectors"):
        built(tmp_path / "t.csv", tmp_path / "x", vectors=["b"])
    with pytest.raises(BadInput, match="single text"):
        built(tmp_path / "t.csv", tmp_path / "x", text="b")


@pytest.mark.parametrize(
    "header",
    [
        "Artikelnr.;Titel;Beschreibung;Bild",
        "Référence;Nom;Texte;Vue",
        "KOD;NAZWA;OPIS;ZDJĘCIE",
        "品番;商品名;説明;写真",
    ],
)
def test_a_table_is_understood_in_its_own_language(header: str, tmp_path: Path) -> None:
    rows = "".join(f"A{n};Kanne {n};Aus Ton, {n};bilder/{n}.png\n" for n in range(4))
    (tmp_path / "t.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    (tmp_path / "bilder").mkdir()
    for n in range(4):
        picture(tmp_path / f"bilder/{n}.png", (60 * n, 0, 0))
    catalog, _ = built(tmp_path / "t.csv", tmp_path / "catalog", views=["colour", "letters"])
    assert list(catalog.ids) == ["A0", "A1", "A2", "A3"]
    first = catalog.item("A0")
    assert (first.title, first.attributes) == ("Kanne 0", {})
    assert first.media is not None
    assert next(hit.item.id for hit in catalog.search("Ton, 3")) == "A3"


def test_a_number_that_rows_share_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Nr;Titel\n1;Kanne\n1;Vase\n2;Krug\n")
    catalog, _ = built(tmp_path / "t.csv", tmp_path / "catalog", views=["letters"])
    assert list(catalog.ids) == ["0", "1", "2"]
    assert catalog.item("0").attributes == {"Nr": 1}


def test_without_an_id_the_number_of_the_row_is_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,kind\nCats,x\nDogs,x\n")
    catalog, told = built(tmp_path / "t.csv", tmp_path / "catalog", views=["letters"])
    assert list(catalog.ids) == ["0", "1"]
    assert "the number of the row" in told


def test_json_lines_keep_their_kinds(tmp_path: Path) -> None:
    rows: list[Any] = [
        *SHIRTS,
        {"id": "e", "price": "7", "tags": "wool", "new": None, "vector": [1, 2, 3]},
        {"id": "f", "deep": {"b": 1, "a": [2]}, "vector": [1, 2, 3]},
        {"id": 7, "big": 10**40, "vector": [1, 2, 3]},
        [1, 2],
        {"id": "", "vector": [1, 2, 3]},
        {"id": "g", "vector": [1, 2, "x"]},
    ]
    source = jsonl(tmp_path / "rows.jsonl", rows)
    with source.open("ab") as handle:
        handle.write(b'{"id": broken\n\n{"id": "\xff", "vector": [1, 2, 3]}\n' + b"[" * 100_000)
    catalog, told = built(source, tmp_path / "catalog")
    assert list(catalog.ids) == ["a", "b", "c", "d", "e", "f", "7"]
    assert catalog.attributes["price"] == "text"
    assert catalog.item("a").attributes["price"] == "20"
    assert catalog.item("e").attributes["tags"] == ["wool"]
    assert catalog.item("f").attributes["deep"] == '{"a": [2], "b": 1}'
    assert catalog.item("7").attributes["big"] == 1e40
    assert "1 × line that is not a JSON object: line 8" in told
    assert "1 × no id: line 9" in told
    assert "1 × bad vector: line 10" in told
    assert "2 × line that is not JSON: line 11, line 14" in told
    assert "1 × text in another encoding: line 13" in told


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    picture(tmp_path / "p.png", (255, 0, 0))
    table = pa.table(
        {
            "id": ["a", "b", "c"],
            "name": ["Cat", "Dog", None],
            "tags": [["x", "y"], None, ["y"]],
            "year": [1999, None, 2001],
            "image": [(tmp_path / "p.png").read_bytes(), b"broken", b""],
            "embedding": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), 2)),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    catalog, told = built(
        tmp_path / "t.parquet", tmp_path / "catalog", views=["embedding", "colour"]
    )
    assert list(catalog.ids) == ["a"]
    assert catalog.item("a").attributes == {"tags": ["x", "y"], "year": 1999}
    np.testing.assert_allclose(catalog.views["colour"].vectors, [[1, 0, 0]], atol=0.01)
    assert "2 × broken picture: row 2" in told
    (tmp_path / "no.parquet").write_bytes(b"PAR1 this is none")
    with pytest.raises(BadInput, match="Parquet"):
        built(tmp_path / "no.parquet", tmp_path / "x")


def test_arrays_of_vectors_with_ids(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float16).reshape(4, 3)
    x[2, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "ids.txt").write_text("a\nb\nc\nd\n")
    catalog, told = built(
        tmp_path / "x.npy", tmp_path / "a", ids=tmp_path / "ids.txt", metric="cosine"
    )
    assert list(catalog.ids) == ["a", "b", "d"]
    assert catalog.views["vectors"].metric == "cosine"
    assert "1 × bad vector: row 2" in told
    (tmp_path / "ids.json").write_text(json.dumps(["a\nb", "☃", "c", "d"]))
    catalog, _ = built(tmp_path / "x.npy", tmp_path / "b", ids=tmp_path / "ids.json")
    assert list(catalog.ids) == ["a\nb", "☃", "d"]
    (tmp_path / "few.txt").write_text("a\n")
    with pytest.raises(BadInput, match="1 ids for 4 rows"):
        built(tmp_path / "x.npy", tmp_path / "c", ids=tmp_path / "few.txt")
    with pytest.raises(NotFound, match="no file"):
        built(tmp_path / "x.npy", tmp_path / "c", ids=tmp_path / "none.txt")


def test_a_stack_of_pictures_and_labels(tmp_path: Path) -> None:
    images = np.zeros((5, 8, 6), np.uint8)
    images[3] = 255
    np.savez(tmp_path / "x.npz", images=images, labels=np.arange(5, dtype=np.uint8))
    catalog, told = built(tmp_path / "x.npz", tmp_path / "catalog")
    assert list(catalog.ids) == ["0", "1", "2", "3", "4"]
    assert catalog.views["pixels"].vectors.shape == (5, 48)
    assert catalog.views["pixels"].vectors[3].tolist() == [255.0] * 48
    assert catalog.item("3").attributes == {"labels": 3}
    assert len(list((tmp_path / "catalog" / "media").rglob("*.webp"))) == 2
    assert "vectors     pixels (48)" in told


def test_arrays_that_hold_objects_or_nothing_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(BadInput, match="never read"):
        built(tmp_path / "o.npy", tmp_path / "x")
    np.savez(tmp_path / "o.npz", a=np.array([{"a": 1}], object))
    with pytest.raises(BadInput, match="never read"):
        built(tmp_path / "o.npz", tmp_path / "x")
    np.save(tmp_path / "flat.npy", np.arange(4))
    with pytest.raises(BadInput, match="neither vectors nor pictures"):
        built(tmp_path / "flat.npy", tmp_path / "x")
    (tmp_path / "no.npz").write_bytes(b"PK none")
    with pytest.raises(BadInput, match="plain arrays"):
        built(tmp_path / "no.npz", tmp_path / "x")


@pytest.mark.parametrize(
    ("name", "contents"),
    [("notes.txt", b"hello"), ("vector.npy", b"hello"), ("cut.npy", b"\x93NUMPY")],
)
def test_what_else_lies_among_arrays_is_named(tmp_path: Path, name: str, contents: bytes) -> None:
    np.savez(tmp_path / "x.npz", vectors=np.eye(4))
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr(name, contents)
    with pytest.raises(BadInput, match=f"'{name.removesuffix('.npy')}' in .* cannot be read"):
        built(tmp_path / "x.npz", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_array_is_not_several(tmp_path: Path) -> None:
    np.savez(tmp_path / "several.npz", vectors=np.eye(4))
    np.save(tmp_path / "one.npy", np.eye(4))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    for file in ("one.npz", "several.npy"):
        with pytest.raises(BadInput, match="is not a file of plain arrays"):
            built(tmp_path / file, tmp_path / "out")
    np.save(tmp_path / "x.npy", np.eye(4))
    (tmp_path / "empty.npy").write_bytes(b"")
    for file in ("several.npy", "empty.npy"):
        with pytest.raises(BadInput, match="cannot be read as ids"):
            built(tmp_path / "x.npy", tmp_path / "out", ids=tmp_path / file)


@pytest.mark.parametrize(
    ("views", "says"),
    [
        (["smell"], "no view 'smell'"),
        (["colour"], "made of pictures, but the source has none"),
        (["../up=text"], "not a name"),
        ([], "neither pictures"),
    ],
)
def test_views_that_cannot_be_made_are_refused(tmp_path: Path, views: list[str], says: str) -> None:
    source = jsonl(tmp_path / "rows.jsonl", SHIRTS)
    with pytest.raises(BadInput, match=says):
        built(source, tmp_path / "x", views=views)
    assert not (tmp_path / "x").exists()


def test_sources_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("id,title\n")
    (tmp_path / "double.csv").write_text("id,id\n1,2\n")
    with pytest.raises(NotFound, match="There is no"):
        built(tmp_path / "none", tmp_path / "x")
    for name, says in (
        ("empty", "no pictures"),
        ("empty.csv", "names of its columns"),
        ("double.csv", "more than one column 'id'"),
    ):
        with pytest.raises(BadInput, match=says):
            built(tmp_path / name, tmp_path / "x")
    with pytest.raises(BadInput, match="not an encoding"):
        built(tmp_path / "header.csv", tmp_path / "x", encoding="klingon")


def test_strict_refuses_the_first_bad_row(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "rows.jsonl", [*SHIRTS, SHIRTS[0]])
    with pytest.raises(BadInput, match=r"Duplicate id: line 5 \('a'\)"):
        built(source, tmp_path / "x", strict=True)
    assert not (tmp_path / "x").exists()


def test_nothing_but_bad_rows_is_an_error_with_the_report(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.png").write_bytes(b"none")
    with pytest.raises(BadInput, match=r"No item could be made.*broken picture: x.png"):
        built(tmp_path / "a", tmp_path / "x", views=["colour"])
