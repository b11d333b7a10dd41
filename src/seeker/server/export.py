"""Sessions as rows: for JSON Lines, Parquet, another store, and for people to read.

An id opens its session, so exports name sessions by pseudonyms; only whoever moves them to another
store asks for their ids.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from seeker.errors import BadInput, missing_package
from seeker.session.events import fold, parse_event
from seeker.stores import DamagedSession, StaleWriteError, Store, StoredSession, pseudonym

PSEUDONYM = re.compile(r"[0-9a-f]{10,32}")
"""The form of a pseudonym, or of its first ten digits, which are in logs; ids are shorter."""

_RUN = 512
_NO_EVENTS = 2**31 - 1

Damaged: TypeAlias = Callable[[DamagedSession], None]
"""Is told of sessions that cannot be read, which an export leaves out."""


def export_lines(
    store: Store,
    damaged: Damaged,
    user: str | None = None,
    owner: str | None = None,
    ids: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield every session, or those of one user, with all its events and when they happened.

    ids: name sessions by the ids that open them, not by pseudonyms.
    """
    for id in store.find(user, owner):
        try:
            stored = store.load(id)
        except DamagedSession as error:
            damaged(error)
            continue
        if stored is not None:
            yield {**_line(stored), "id": id if ids else pseudonym(id)}


def write_export(
    store: Store,
    out: Path,
    damaged: Damaged,
    user: str | None = None,
    owner: str | None = None,
    ids: bool = False,
) -> int:
    """Write sessions to a file, .jsonl or .parquet (one row per event); return how many."""
    if out.suffix == ".jsonl":
        count = 0
        with out.open("w", encoding="utf-8") as handle:
            for line in export_lines(store, damaged, user, owner, ids):
                handle.write(json.dumps(line) + "\n")
                count += 1
        return count
    if out.suffix == ".parquet":
        return _parquet(out, export_lines(store, damaged, user, owner, ids))
    raise BadInput(f"'{out.name}' ends in neither .jsonl nor .parquet.", "Name it so that it does.")


def _parquet(out: Path, lines: Iterable[dict[str, Any]]) -> int:
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
            ("network", whole),
            ("began", number),
            ("active", number),
            ("sequence", whole),
            ("at", number),
            ("type", text),
            ("item", text),
            ("verdict", text),
            ("shown", pyarrow.list_(text)),
            ("event", text),
        ]
    )
    count, rows = 0, list[dict[str, Any]]()
    with parquet.ParquetWriter(out, schema) as writer:
        for line in lines:
            count += 1
            rows += _rows(line)
            if len(rows) >= _RUN:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    return count


def _rows(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    about = {
        name: line[name] for name in ("catalog", "owner", "user", "network", "began", "active")
    }
    happened = zip(line["events"], line["times"], strict=True)
    for sequence, (event, at) in enumerate(happened, 1):
        yield {
            "session": line["id"],
            **about,
            "sequence": sequence,
            "at": at,
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
        "network": stored.network,
        "began": stored.began,
        "active": stored.active,
        "events": list(stored.events),
        "times": list(stored.event_times),
    }


def import_lines(store: Store, lines: Iterable[str | bytes]) -> Iterator[bool]:
    """Put sessions that were exported with their ids into a store; yield of each if it is new.

    Those that are there already are left as they are.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        stored = _parse_line(line, number)
        try:
            store.create(stored)
        except StaleWriteError:
            yield False
        else:
            yield True


def _parse_line(line: str | bytes, number: int) -> StoredSession:
    """Return the session that a line of an export tells of; refuse what could not be replayed."""
    try:
        session = json.loads(line)
        fold(map(parse_event, session["events"]))
        stored = StoredSession(
            **{name: session[name] for name in ("id", "catalog", "owner", "began", "active")},
            person=session["user"],
            length=len(session["events"]),
            events=session["events"],
            times=session["times"],
            network=session.get("network"),
        )
        names = (stored.id, stored.catalog, stored.owner or "", stored.person or "")
        numbers = (stored.began, stored.active, *stored.times)
        if not all(isinstance(one, str) for one in names):
            raise ValueError("a name is no text")
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers):
            raise ValueError("a time is no number")
        if not isinstance(stored.network, int | None):
            raise ValueError("a network is no whole number")
        if len(stored.times) != stored.length:
            raise ValueError("there is not one time for each event")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(
            f"Line {number:,} is not a session of an export: {error}.",
            "`seeker sessions export FILE --ids` writes such files.",
        ) from None
    if PSEUDONYM.fullmatch(stored.id):
        raise BadInput(
            f"Line {number:,} names its session by a pseudonym.",
            "Export the sessions with --ids to move them to another store.",
        )
    return stored


def find_session(store: Store, name: str) -> str | None:
    """Return the id of a session by its id, its pseudonym, or how that begins, as in logs."""
    if store.load(name, after=_NO_EVENTS) is not None:
        return name
    if not PSEUDONYM.fullmatch(name):
        return None
    return next((id for id in store.find() if pseudonym(id).startswith(name)), None)


def history(stored: StoredSession) -> Iterator[str]:
    """Yield the lines that tell a session's story."""
    began, active = (
        datetime.fromtimestamp(one, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        for one in (stored.began, stored.active)
    )
    person = f", user {stored.person!r}" if stored.person else ""
    yield f"Session in '{stored.catalog}'{person}: began {began}, last active {active}"
    happened = zip(stored.events, stored.event_times, strict=True)
    for sequence, (event, at) in enumerate(happened, 1):
        yield f"{sequence:4} {at - stored.began:7.0f} s  {parse_event(event).describe()}"
