"""What a build tells people: what was left out, what it guessed, and what to do instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import seeker
from seeker import BadInput
from support.builds import Letters, MeanColour, jsonl, picture


def test_what_is_wrong_with_many_rows_is_said_once(tmp_path: Path) -> None:
    vectors = np.eye(9)
    vectors[2:] = np.nan
    np.save(tmp_path / "v.npy", vectors)
    told: list[str] = []
    seeker.build(tmp_path / "v.npy", tmp_path / "catalog", tell=told.append)
    assert told[-2] == "Left out 7 of 9 rows:"
    assert told[-1].count("NaN") == 1
    assert told[-1].endswith("row 3, row 4, row 5, row 6, …")


def test_a_source_of_bad_rows_leaves_nothing_behind(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.full((3, 2), np.nan))
    with pytest.raises(
        BadInput, match=r"No item could be made.*3 × bad vector: row 0 \(.*\), row 1, row 2\.$"
    ):
        seeker.build(tmp_path / "v.npy", tmp_path / "catalog")
    assert [one.name for one in tmp_path.iterdir()] == ["v.npy"]


def test_a_table_without_a_good_row_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    (tmp_path / "header.csv").write_text("id,title\n")
    with pytest.raises(BadInput, match=r"There are no rows in '.*header\.csv'"):
        seeker.build(tmp_path / "header.csv", tmp_path / "catalog")
    (tmp_path / "ragged.csv").write_text("id,title\na\nb\n")
    with pytest.raises(BadInput, match=r"2 × row with missing or extra cells: row 1 \(line 2\)"):
        seeker.build(tmp_path / "ragged.csv", tmp_path / "catalog")


def test_a_vector_that_no_view_needs_may_be_missing(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "title": "one", "looks": [1, 2]},
        {"id": "b", "title": "two", "looks": [3, 4]},
        {"id": "c", "title": "three"},
        {"id": "d", "title": "four", "looks": "none yet"},
    ]
    source = jsonl(tmp_path / "s.jsonl", rows)
    told: list[str] = []
    both = seeker.build(source, tmp_path / "both", vectors=["looks"], tell=told.append)
    assert list(both.ids) == ["a", "b"]
    assert "1 × no vector: line 3 (looks)" in "\n".join(told)
    assert "1 × bad vector: line 4 (looks: it is not a list of numbers)" in "\n".join(told)
    text = seeker.build(
        source,
        tmp_path / "text",
        vectors=["looks"],
        views=["letters"],
        embedders={"letters": Letters()},
    )
    assert list(text.ids) == ["a", "b", "c", "d"]


def test_a_cell_that_says_that_there_is_nothing_does_not_make_numbers_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,film_title,rating,v\na,A,7.5,[1 2]\nb,B,N/A,[3 4]\n")
    catalog = seeker.build(tmp_path / "t.csv", tmp_path / "catalog")
    assert catalog.attributes == {"rating": "number"}
    assert catalog.item("b").title == "B"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("films.json", "one JSON object per line"),
        ("films.xlsx", "as CSV"),
        ("photo.jpg", "the folder that the pictures are in"),
        ("films.docx", "A source is a folder of pictures, .csv"),
    ],
)
def test_what_cannot_be_read_says_what_can(name: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(BadInput, match=f"cannot read '{name}' as a source.*{says}"):
        seeker.build(tmp_path / name, tmp_path / "catalog")


def test_a_metric_for_no_view_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(4))
    with pytest.raises(BadInput, match=r"metric for view 'sound'.*\['vectors'\]"):
        seeker.build(tmp_path / "v.npy", tmp_path / "catalog", metric={"sound": "cosine"})


def test_files_of_a_folder_that_are_no_pictures_are_told_by_their_endings(tmp_path: Path) -> None:
    picture(tmp_path / "photos" / "a.png", (200, 0, 0))
    for name in ("b.HEIC", "c.heic", "d.mp4", "README"):
        (tmp_path / "photos" / name).write_bytes(b"x")
    told: list[str] = []
    seeker.build(
        tmp_path / "photos",
        tmp_path / "catalog",
        views=["colour"],
        embedders={"colour": MeanColour()},
        tell=told.append,
    )
    assert told[1] == "Not looked at: 4 other files, .heic (2), .mp4 (1), no ending (1)."


@pytest.mark.parametrize(
    ("title", "english"),
    [
        ("Красное платье", False),
        ("红色连衣裙", False),
        ("Élégante robe d'été", False),
        ("Rotes Sommerkleid aus Baumwolle", False),
        ("A red summer dress", True),
    ],
)
def test_texts_that_are_not_english_get_a_view_that_reads_them(
    title: str, english: bool, tmp_path: Path
) -> None:
    source = jsonl(
        tmp_path / "s.jsonl", [{"id": str(n), "title": f"{title} {n}"} for n in range(3)]
    )
    told: list[str] = []
    catalog = seeker.build(source, tmp_path / "catalog", tell=told.append)
    assert catalog.views["text"].dimensions == (384 if english else 512)
    assert any("reads sixteen languages" in line for line in told) != english
    assert len(catalog.search(title)) == 3
    chosen: list[str] = []
    seeker.build(source, tmp_path / "chosen", views=["text"], tell=chosen.append)
    assert any("choose --views text=multilingual" in line for line in chosen) != english
