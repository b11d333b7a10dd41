"""Sessions as rows: for JSON Lines, Parquet, and for people to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from seeker.errors import BadInput, missing_package
from seeker.session.events import parse_event
from seeker.stores import DamagedSession, Store, StoredSession

_RUN = 512


Damaged: TypeAlias = Callable[[DamagedSession], None]
"""Is told of sessions that cannot be read, which an export leaves out."""


def export_lines(
    store: Store, damaged: Damaged, user: str | None = None, owner: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield every session, or those of one user, with all its events."""
    for id in store.find(user, owner):
        try:
            stored = store.load(id)
        except DamagedSession as error:
            damaged(error)
            continue
        if stored is not None:
            yield _line(stored)


def write_export(
    store: Store, out: Path, damaged: Damaged, user: str | None = None, owner: str | None = None
) -> int:
    """Write sessions to a file, .jsonl or .parquet (one row per event); return how many."""
    if out.suffix == ".jsonl":
        count = 0
        with out.open("w", encoding="utf-8") as handle:
            for line in export_lines(store, damaged, user, owner):
                handle.write(json.dumps(line) + "\n")
                count += 1
        return count
    if out.suffix == ".parquet":
        return _parquet(store, out, damaged, user, owner)
    raise BadInput(f"'{out.name}' ends in neither .jsonl nor .parquet.", "Name it so that it does.")


def _parquet(store: Store, out: Path, damaged: Damaged, user: str | None, owner: str | None) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_package("Parquet", "pyarrow", "parquet", BadInput) from None
    text, whole, number = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    schema = pyarrow.schema(
        [
            ("session", text),
            ("catalog", text),
            ("owner", text),
            ("user", text),
            ("began", number),
            ("active", number),
            ("sequence", whole),
            ("type", text),
            ("item", text),
            ("verdict", text),
            ("shown", pyarrow.list_(text)),
            ("event", text),
        ]
    )
    count, rows = 0, list[dict[str, Any]]()
    with parquet.ParquetWriter(out, schema) as writer:
        for line in export_lines(store, damaged, user, owner):
            count += 1
            rows += _rows(line)
            if len(rows) >= _RUN:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    return count


def _rows(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    about = {name: line[name] for name in ("catalog", "owner", "user", "began", "active")}
    for sequence, event in enumerate(line["events"], 1):
        yield {
            "session": line["id"],
            **about,
            "sequence": sequence,
            "type": event["type"],
            "item": event.get("item"),
            "verdict": event.get("verdict"),
            "shown": event.get("shown"),
            "event": json.dumps(event),
        }


def _line(stored: StoredSession) -> dict[str, Any]:
    return {
        "id": stored.id,
        "catalog": stored.catalog,
        "owner": stored.owner,
        "user": stored.person,
        "began": stored.began,
        "active": stored.active,
        "events": list(stored.events),
    }


def history(stored: StoredSession) -> Iterator[str]:
    """Yield the lines that tell a session's story."""
    began, active = (
        datetime.fromtimestamp(one, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        for one in (stored.began, stored.active)
    )
    person = f", user {stored.person!r}" if stored.person else ""
    yield f"Session in '{stored.catalog}'{person}: began {began}, last active {active}"
    for sequence, event in enumerate(stored.events, 1):
        yield f"{sequence:4}  {parse_event(event).describe()}"
