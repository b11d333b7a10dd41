"""Tables in memory as a source: data frames, Arrow tables, datasets, lists of dicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from seeker.catalog.build.source import RowProblem

_BATCH_ROWS = 1024


class FrameRows:
    """The rows of a table in memory: pandas, polars, Arrow, Hugging Face's datasets, or dicts."""

    loose = False

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        if isinstance(frame, list | tuple):
            self.columns = list(dict.fromkeys(str(name) for row in frame for name in row))
            return
        names = getattr(frame, "column_names", None)  # of Arrow and datasets
        self.columns = [str(name) for name in (frame.columns if names is None else names)]

    def origin(self) -> dict[str, Any]:
        """Return where the rows come from."""
        return {"kind": "table", "type": f"{type(self._frame).__module__.partition('.')[0]}"}

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._frame)

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | RowProblem]]:
        """Yield each row with its place."""
        for number, row in enumerate(self._records()):
            yield f"row {number}", {str(name): plain_cell(value) for name, value in row.items()}

    def _records(self) -> Iterable[Mapping[Any, Any]]:
        frame = self._frame
        if hasattr(frame, "iter_rows"):  # polars
            return frame.iter_rows(named=True)  # type: ignore[no-any-return]
        if hasattr(frame, "to_batches"):  # Arrow
            batches = frame.to_batches(max_chunksize=_BATCH_ROWS)
            return (row for batch in batches for row in batch.to_pylist())
        if hasattr(frame, "itertuples"):  # pandas
            names = [*frame.columns]
            rows = frame.itertuples(index=False, name=None)
            return (dict(zip(names, row, strict=True)) for row in rows)
        rows_as_dicts: Iterable[Mapping[Any, Any]] = frame
        return rows_as_dicts


def plain_cell(value: Any) -> Any:
    """Return the value of a cell; an array as a list, for it cannot be compared with others."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def is_frame(source: object) -> bool:
    """Return whether something is a table in memory."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(row, Mapping) for row in source)
    named = hasattr(source, "column_names") or hasattr(source, "columns")
    return named and hasattr(source, "__len__") and not isinstance(source, type)
