"""The rows of human studies: those of simulated runs, and what people add to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeker.errors import BadInput
from seeker.lab.rows import schema

if TYPE_CHECKING:
    import pyarrow as pa

SOURCE = "people"
"""What the column `source` holds in the rows of studies."""


def human() -> pa.Schema:
    """Return the columns that only people have; they are null in simulated runs.

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


def whole() -> pa.Schema:
    """Return the columns of runs and of studies."""
    import pyarrow as pa

    return pa.schema([*schema(), *human()])


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a study, as Parquet or as JSON Lines by the file's name."""
    aside = path.with_name(f"{path.name}.part")
    if path.suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        aside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    elif path.suffix == ".parquet":
        _parquet(aside, rows)
    else:
        raise BadInput(
            f"'{path.name}' ends in neither .jsonl nor .parquet.", "Name it so that it does."
        )
    aside.replace(path)


def read_lines(path: Path) -> pa.Table:
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
        return whole().empty_table()
    try:
        return pa.Table.from_pylist(rows, schema=_of(rows[0]))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadInput(f"The file '{path}' is not a run: {error}.") from None


def filled(table: pa.Table) -> pa.Table:
    """Return a table with all columns; what people add is null where nobody added it."""
    import pyarrow as pa

    for field in human():
        if field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table.select(whole().names).cast(whole())


def ended(table: pa.Table) -> pa.Table:
    """Leave out the searches that people have left without an end: nothing follows from them."""
    import pyarrow.compute as pc

    return table.filter(
        pc.or_(pc.not_equal(table["source"], SOURCE), pc.is_valid(table["outcome"]))
    )


def names(table: pa.Table) -> dict[str, dict[int, str]]:
    """Return the ids of the items that the rows of studies speak of, by catalog and number."""
    known: dict[str, dict[int, str]] = {}
    columns = ("catalog", "target", "target_id", "page", "page_ids")
    for row in table.select(columns).to_pylist():
        if row["target_id"] is None:
            continue
        mine = known.setdefault(row["catalog"], {})
        mine[row["target"]] = row["target_id"]
        mine.update(zip(row["page"], row["page_ids"], strict=True))
    return known


def _of(row: Mapping[str, Any]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([field for field in whole() if field.name in row])


def _parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput(
            "Parquet needs the package 'pyarrow'.",
            'Install it with: pip install "seeker[parquet]", or write .jsonl.',
        ) from None
    pq.write_table(pa.Table.from_pylist(list(rows), schema=whole()), path, compression="zstd")
