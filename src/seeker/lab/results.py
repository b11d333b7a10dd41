"""Results on disk: the rows of simulated runs and of studies, one per page of a search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from seeker.errors import BadInput, NotFound, install_hint
from seeker.files import atomic_write

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1

STUDY_SOURCE = "people"
"""What the column `source` holds in the rows of studies."""


def run_schema() -> pa.Schema:
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


def study_schema() -> pa.Schema:
    """Return the columns that only studies have; they are null in simulated runs.

    participant: a random label. trial: which of a participant's searches. outcome: how the search
    ended, null if it was left. found: the person picked the target on this page. overlooked: it
    was on this page, and they went on without it. mistaken: how often they took another item for
    it. act, item: what they did. shown: what was on screen. seconds: how long they looked at the
    page. elapsed: seconds from the beginning of the search to the page.
    """
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("participant", text),
            ("trial", pa.int16()),
            ("outcome", text),
            ("found", pa.bool_()),
            ("overlooked", pa.bool_()),
            ("mistaken", pa.int16()),
            ("act", text),
            ("item", text),
            ("shown", pa.list_(text)),
            ("seconds", pa.float64()),
            ("elapsed", pa.float64()),
            ("target_id", text),
            ("page_ids", pa.list_(text)),
        ]
    )


def full_schema() -> pa.Schema:
    """Return the columns of runs and of studies."""
    import pyarrow as pa

    return pa.schema([*run_schema(), *study_schema()])


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows to a Parquet file, which is whole or not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(list(rows), schema=run_schema())
    with atomic_write(path) as file:
        pq.write_table(table, file, compression="zstd")


def write_study(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a study, as Parquet or as JSON Lines by the file's name."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise BadInput(
            f"'{path.name}' ends in neither .jsonl nor .parquet.", "Name it so that it does."
        )
    with atomic_write(path) as file:
        if path.suffix == ".parquet":
            _write_parquet(file, rows)
        else:
            for row in rows:
                file.write(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n".encode())


def write_item_ids(folder: Path, catalog: str, ids: Sequence[str]) -> None:
    """Write beside the rows which items their numbers stand for."""
    name = "items-" + "".join(one if one.isalnum() else "-" for one in catalog)
    with atomic_write(folder / f"{name}.json") as file:
        file.write(json.dumps({"catalog": catalog, "ids": list(ids)}).encode())


def read_rows(*folders: Path) -> pa.Table:
    """Read all runs and studies of some folders, or of single files, in a fixed order.

    The columns that only studies have are null in simulated runs; searches that participants left
    without an end are not among the rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for folder in folders:
        files = [folder] if folder.is_file() else sorted(folder.glob("*.parquet"))
        if not files:
            raise NotFound(
                f"There are no runs in '{folder}'.", "Make some with `seeker evaluate CATALOG`."
            )
        for file in files:
            if file.suffix == ".jsonl":
                table = read_json_lines(file)
            else:
                try:
                    table = pq.read_table(file)
                except pa.ArrowInvalid:
                    raise BadInput(f"The file '{file}' is neither Parquet nor .jsonl.") from None
            missing = [name for name in run_schema().names if name not in table.schema.names]
            if missing:
                raise BadInput(f"The file '{file}' is not a run: it lacks {missing}.")
            tables.append(drop_unfinished(add_study_columns(table)))
    table = pa.concat_tables(tables)
    order = ["method", "person", "page_size", "seed", "target", "step"]
    return table.sort_by([(name, "ascending") for name in order])


def read_item_ids(*folders: Path) -> dict[str, list[str]]:
    """Return the ids of the items by row, for every catalog that some runs were made with."""
    ids = {}
    for folder in folders:
        for file in sorted(folder.glob("items-*.json")):
            record = json.loads(file.read_text(encoding="utf-8"))
            ids[str(record["catalog"])] = [str(one) for one in record["ids"]]
    return ids


def study_item_ids(table: pa.Table) -> dict[str, dict[int, str]]:
    """Return the ids of the items that the rows of studies speak of, by catalog and number."""
    ids: dict[str, dict[int, str]] = {}
    columns = ("catalog", "target", "target_id", "page", "page_ids")
    for row in table.select(columns).to_pylist():
        if row["target_id"] is None:
            continue
        by_row = ids.setdefault(row["catalog"], {})
        by_row[row["target"]] = row["target_id"]
        by_row.update(zip(row["page"], row["page_ids"], strict=True))
    return ids


def read_json_lines(path: Path) -> pa.Table:
    """Read rows from JSON Lines."""
    import pyarrow as pa

    rows = []
    with path.open(encoding="utf-8") as handle:
        for number, line in enumerate(handle, 1):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise BadInput(f"Line {number} of '{path}' is not a row of JSON.")
            rows.append(row)
    if not rows:
        return full_schema().empty_table()
    try:
        return pa.Table.from_pylist(rows, schema=_schema_of(rows[0]))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadInput(f"The file '{path}' is not a run: {error}.") from None


def add_study_columns(table: pa.Table) -> pa.Table:
    """Return a table with all columns; those that only studies have are null in simulated runs."""
    import pyarrow as pa

    for field in study_schema():
        if field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table.select(full_schema().names).cast(full_schema())


def drop_unfinished(table: pa.Table) -> pa.Table:
    """Leave out the searches that participants left without an end: nothing follows from them."""
    import pyarrow.compute as pc

    return table.filter(
        pc.or_(pc.not_equal(table["source"], STUDY_SOURCE), pc.is_valid(table["outcome"]))
    )


def _schema_of(row: Mapping[str, Any]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([field for field in full_schema() if field.name in row])


def _write_parquet(file: BinaryIO, rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput(
            "Parquet needs the package 'pyarrow'.",
            f"{install_hint('seeker-search[parquet]')} Or write .jsonl.",
        ) from None
    pq.write_table(pa.Table.from_pylist(list(rows), schema=full_schema()), file, compression="zstd")
