"""Rows on disk: one Parquet file per finished batch, in one fixed schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeker.errors import BadInput, NotFound

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1


def schema() -> pa.Schema:
    """Return the columns of a run: what, with which settings, and what happened.

    Everything but `milliseconds` is a pure function of the settings.
    """
    import pyarrow as pa

    text = pa.string()
    rows = pa.list_(pa.int32())
    return pa.schema(
        [
            ("schema", pa.int16()),
            ("version", text),
            ("catalog", text),
            ("items", pa.int32()),
            ("source", text),
            ("person", text),
            ("person_settings", text),
            ("method", text),
            ("method_settings", text),
            ("page_size", pa.int16()),
            ("pages", pa.int16()),
            ("seed", pa.int64()),
            ("target", pa.int32()),
            ("step", pa.int16()),
            ("rank", pa.float64()),
            ("on_page", pa.bool_()),
            ("claimed", pa.float64()),
            ("likes", pa.int16()),
            ("dislikes", pa.int16()),
            ("milliseconds", pa.float32()),
            ("page", rows),
            ("liked", rows),
            ("disliked", rows),
        ]
    )


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows aside and move them into place, so that a file is whole or not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    aside = path.with_suffix(".part")
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema()), aside, compression="zstd")
    aside.replace(path)


def write_items(folder: Path, catalog: str, ids: Sequence[str]) -> None:
    """Write beside the rows which items their numbers stand for."""
    name = "items-" + "".join(one if one.isalnum() else "-" for one in catalog)
    aside = folder / f"{name}.part"
    aside.write_text(json.dumps({"catalog": catalog, "ids": list(ids)}), encoding="utf-8")
    aside.replace(folder / f"{name}.json")


def read_items(*folders: Path) -> dict[str, list[str]]:
    """Return the ids of the items by row, for every catalog that some runs were made with."""
    known = {}
    for folder in folders:
        for file in sorted(folder.glob("items-*.json")):
            held = json.loads(file.read_text(encoding="utf-8"))
            known[str(held["catalog"])] = [str(one) for one in held["ids"]]
    return known


def read(*folders: Path) -> pa.Table:
    """Read all runs and studies of some folders, or of single files, in a fixed order.

    The columns that only people have are null in simulated runs; searches that people left
    without an end are not among the rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from seeker.lab import studies

    tables = []
    for folder in folders:
        files = [folder] if folder.is_file() else sorted(folder.glob("*.parquet"))
        if not files:
            raise NotFound(
                f"There are no runs in '{folder}'.", "Make some with `seeker evaluate CATALOG`."
            )
        for file in files:
            if file.suffix == ".jsonl":
                table = studies.read_lines(file)
            else:
                try:
                    table = pq.read_table(file)
                except pa.ArrowInvalid:
                    raise BadInput(f"The file '{file}' is neither Parquet nor .jsonl.") from None
            missing = [name for name in schema().names if name not in table.schema.names]
            if missing:
                raise BadInput(f"The file '{file}' is not a run: it lacks {missing}.")
            tables.append(studies.ended(studies.filled(table)))
    table = pa.concat_tables(tables)
    order = ["method", "person", "page_size", "seed", "target", "step"]
    return table.sort_by([(name, "ascending") for name in order])
