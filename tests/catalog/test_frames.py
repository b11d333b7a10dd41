"""Tables that are in memory already are built from as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from PIL import Image

import seeker
from seeker import Catalog
from seeker.errors import BadInput

VECTORS = np.arange(24, dtype=np.float32).reshape(6, 4) % 5


def columns() -> dict[str, list[Any]]:
    return {
        "id": [*range(100, 106)],
        "title": [f"thing {n}" for n in range(6)],
        "price": [1.5, None, 3.0, 4.0, 5.0, 6.0],
        "kind": ["a", "b", None, "a", "b", "a"],
        "looks": VECTORS.tolist(),
    }


class Dataset:
    """What a dataset of Hugging Face is to those who read it."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.column_names = [*columns]

    def __len__(self) -> int:
        return len(self._columns["id"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for n in range(len(self)):
            yield {name: column[n] for name, column in self._columns.items()}


def dicts(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


FRAMES = {
    "pandas": pandas.DataFrame,
    "pandas of arrays": lambda columns: pandas.DataFrame(
        {
            name: [np.array(one) if isinstance(one, list) else one for one in column]
            for name, column in columns.items()
        }
    ),
    "arrow": pyarrow.table,
    "dataset": Dataset,
    "dicts": dicts,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_in_memory_is_a_source(tmp_path: Path, kind: str) -> None:
    frame = FRAMES[kind](columns())
    catalog = seeker.build(frame, tmp_path / "catalog", views=["looks"])
    assert list(catalog.ids) == [str(n) for n in range(100, 106)]
    assert catalog.item("100").attributes == {"price": 1.5, "kind": "a"}
    assert catalog.item("101").attributes == {"kind": "b"}
    assert catalog.attributes == {"price": "number", "kind": "text"}
    np.testing.assert_array_equal(catalog.views["looks"].vectors, VECTORS)
    changed = FRAMES[kind]({"id": [102], "price": [9.0]})
    report = seeker.update(catalog, changed)
    assert (report.changed, report.refused) == (1, 0)
    assert report.catalog.item("102").attributes == {"price": 9.0}


def test_columns_of_a_frame_are_arrays(tmp_path: Path) -> None:
    frame = pandas.DataFrame(columns())
    catalog = Catalog.from_arrays(
        frame["id"], {"looks": frame["looks"]}, frame["title"], frame[["price", "kind"]]
    )
    assert list(catalog.ids) == [str(n) for n in range(100, 106)]
    np.testing.assert_array_equal(catalog.views["looks"].vectors, VECTORS)
    assert catalog.item("103").title == "thing 3"


def test_rows_in_memory_name_pictures_in_a_folder(tmp_path: Path) -> None:
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (32, 32), colour).save(tmp_path / name)
    rows = [{"id": "a", "image": "a.png"}, {"id": "b", "image": "b.png", "price": 2}]
    catalog = seeker.build(rows, tmp_path / "catalog", images=tmp_path, views=["colour"])
    assert catalog.item("b").media is not None
    assert catalog.item("b").attributes == {"price": 2}
    for wrong in ([], [1, 2], ["a"]):
        with pytest.raises(BadInput, match="is not a source"):
            seeker.build(wrong, tmp_path / "other")
