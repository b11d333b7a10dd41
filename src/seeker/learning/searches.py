"""Past searches that ended with *found*: read from a store or an export, and what each counts for.

A search is replayed from its events to the clicks that were in effect at its end, each with what
was on screen and not judged yet. Items are named by id, so searches against older versions of a
catalog are read, too: what has left it is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seeker.catalog import Catalog
from seeker.errors import BadInput, NotFound, SeekerError, missing_package
from seeker.learning.observations import Observations
from seeker.session import Session
from seeker.session.events import exported_events, fold, parse_event
from seeker.session.words import Say, said_of
from seeker.stores import DamagedSession, Store, open_existing, pseudonym
from seeker.types import Doubles

GROUP_SEARCHES = 10.0
GROUP_SHARE = 0.05
"""For how many searches one person counts at most, and one target; or for which share of all."""

GIVEN_UP_SHARE = 1.0 / 3.0
"""Of searches without an end at most this share of the found ones counts: of some it may be that
they succeeded, and nobody said so."""
GIVEN_UP_WEIGHT = 0.5
"""What each of them counts for: about every second would be found with what was learned."""

_MAX_NOTES = 5
_BATCH_ROWS = 4096


@dataclass(frozen=True)
class PastClick:
    """A verdict on an item; among: what it was chosen among, the item itself first."""

    item: str
    liked: bool
    among: tuple[str, ...]


@dataclass(frozen=True)
class PastSearch:
    """A search that ended with its target found.

    id: of its session, if it had one. owner: the API key, user: whom it named; network: one of
    some thousand groups that networks are sorted into. said: for all words that were said, how much
    more the target matches them by letters, and by meaning, than the average item.
    """

    target: str
    clicks: tuple[PastClick, ...]
    id: str | None = None
    owner: str | None = None
    user: str | None = None
    network: int | None = None
    said: tuple[tuple[float | None, float | None], ...] = ()

    @property
    def person(self) -> tuple[object, ...] | None:
        """Who searched, as far as it is known: a named user, or those of some networks."""
        return _person(self.owner, self.user, self.network)


@dataclass(frozen=True)
class OpenSearch:
    """A search without an end: what it was about is not known, but it was on none of its pages."""

    clicks: tuple[PastClick, ...]
    owner: str | None = None
    user: str | None = None
    network: int | None = None

    @property
    def person(self) -> tuple[object, ...] | None:
        """Who searched, as far as it is known."""
        return _person(self.owner, self.user, self.network)


def _person(owner: str | None, user: str | None, network: int | None) -> tuple[object, ...] | None:
    if user is not None:
        return ("user", owner, user)
    return None if network is None else ("network", owner, network)


@dataclass
class SearchReader:
    """Reads sessions, keeps the found searches of one catalog, and counts what it leaves out.

    name: of the catalog, as it is served; sessions in others are left out. open: searches without
    an end. left_out: how many sessions, by the reason; notes: the first broken ones by their place.
    """

    catalog: Catalog
    name: str
    searches: list[PastSearch] = field(default_factory=list)
    open: list[OpenSearch] = field(default_factory=list)
    sessions: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def read(self, line: object, place: str) -> None:
        """Take in a line of an export; place: what it is called where it is broken."""
        self.sessions += 1
        try:
            events = exported_events(line)
            about = line if isinstance(line, Mapping) else json.loads(line)  # type: ignore[arg-type]
            state = fold(map(parse_event, events))
            same = bool(state.start.catalog) and state.start.catalog == self.catalog.id
            if not same and about.get("catalog") not in (None, self.name):
                self.left_out["in other catalogs"] += 1
                return
        except SeekerError as error:
            self.broken(f"{place}: {error.message}")
            return
        owner, user = _text(about.get("owner")), _text(about.get("user"))
        user, network = user or _text(state.start.user), _whole(about.get("network"))
        if state.target is None:
            self.left_out["not found"] += 1
            clicks = tuple(self._clicks(state.ratings.values()))
            self.open += [OpenSearch(clicks, owner, user, network)] if clicks else []
            return
        if state.target not in self.catalog:
            self.left_out["for items that have left"] += 1
            return
        clicks = tuple(self._clicks(state.ratings.values()))
        if not clicks:
            self.left_out["without clicks"] += 1
            return
        self.searches.append(
            PastSearch(
                state.target,
                clicks,
                _text(about.get("id")),
                owner,
                user,
                network,
                tuple(self._said(state.texts, self.catalog.row(state.target))),
            )
        )

    def broken(self, note: str) -> None:
        """Count a session that cannot be read."""
        self.left_out["broken"] += 1
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(note)

    def _clicks(self, ratings: Iterable[Any]) -> Iterator[PastClick]:
        for rating in ratings:
            if rating.example is not None:
                continue  # nobody chose it among what was on screen
            among = tuple(item for item in rating.among if item in self.catalog)
            # A click among one item alone says nothing.
            if rating.item in self.catalog and len(among) > 1:
                yield PastClick(rating.item, rating.liked, among)

    def _said(self, texts: Iterable[Say], row: int) -> Iterator[tuple[float | None, float | None]]:
        for text in texts:
            if text.search is not None:
                vector = np.asarray(text.vector, np.float64)
                yield said_of(self.catalog, text.search, text.view, vector, row)

    @property
    def sentence(self) -> str:
        """What was read, in words."""
        parts = [f"{count:,} {what}" for what, count in self.left_out.most_common()]
        found = f"{len(self.searches):,} of {self.sessions:,} sessions are searches that were found"
        return f"{found} ({', '.join(parts)})." if parts else f"{found}."


def read_searches(
    catalog: Catalog,
    name: str,
    sessions: object,
    progress: Callable[[int], None] = lambda count: None,
) -> SearchReader:
    """Read the searches of a catalog; progress: told of sessions that were read.

    sessions: the address of a store, an export (.jsonl or .parquet), or sessions, or lines.
    """
    reader = SearchReader(catalog, name)
    for line, place in _lines(sessions, reader):
        reader.read(line, place)
        progress(1)
    return reader


def _lines(sessions: object, reader: SearchReader) -> Iterator[tuple[object, str]]:
    if isinstance(sessions, Path) or (isinstance(sessions, str) and _is_export(sessions)):
        path = Path(sessions)
        if not path.is_file():
            raise NotFound(
                f"There is no file '{path}'.", "`seeker sessions export` writes such files."
            )
        yield from _parquet_lines(path) if path.suffix == ".parquet" else _text_lines(path)
    elif isinstance(sessions, str):
        store = open_existing(sessions)
        try:
            yield from _stored_lines(store, reader)
        finally:
            store.close()
    elif isinstance(sessions, Iterable):
        for number, one in enumerate(sessions, 1):
            yield one.to_json() if isinstance(one, Session) else one, f"session {number:,}"
    else:
        raise BadInput(
            "There is nothing to learn from.",
            "Give a store's address, a file of sessions, or a list of them.",
        )


def _is_export(address: str) -> bool:
    return address.endswith((".jsonl", ".parquet"))


def _text_lines(path: Path) -> Iterator[tuple[object, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield line, f"line {number:,}"


def _stored_lines(store: Store, reader: SearchReader) -> Iterator[tuple[object, str]]:
    for id in store.find():
        try:
            stored = store.load(id)
        except DamagedSession as error:
            reader.sessions += 1
            reader.broken(error.message)
            continue
        if stored is not None:
            yield (
                {
                    "id": pseudonym(id),
                    "catalog": stored.catalog,
                    "owner": stored.owner,
                    "user": stored.person,
                    "network": stored.network,
                    "events": list(stored.events),
                },
                f"session '{id}'",
            )


def _parquet_lines(path: Path) -> Iterator[tuple[object, str]]:
    """Yield the sessions of a table with one row per event, whose rows follow each other."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_package("Parquet", "pyarrow", "parquet", BadInput) from None
    line: dict[str, Any] | None = None
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                for row in batch.to_pylist():
                    if line is None or line["id"] != row["session"]:
                        if line is not None:
                            yield line, f"session '{line['id']}'"
                        line = {**row, "id": row["session"], "events": []}
                    line["events"].append(_event(row["event"]))
    except (pyarrow.ArrowInvalid, KeyError, OSError) as error:
        raise BadInput(
            f"'{path}' cannot be read as an export of sessions: {error}.",
            "`seeker sessions export` writes such files.",
        ) from None
    if line is not None:
        yield line, f"session '{line['id']}'"


def _event(text: object) -> object:
    try:
        return json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def search_weights(searches: Sequence[PastSearch]) -> Doubles:
    """Return how much each search counts, (searches,), 1 at most.

    However often one person, or those of one group of networks, have searched, and however often
    one item was found, together they count for ten searches, or for a twentieth of all. One API
    key counts for no more than all others together, and for a third of all where there are three.
    Where everything comes from one person, or with one key, there is nobody to protect from them.
    """
    weights = np.ones(len(searches))
    people = [one.person for one in searches]
    if len({*people}) > 1 or None in people:
        _cap_groups(weights, people)
    _cap_groups(weights, [one.target for one in searches])
    _cap_owners(weights, [one.owner for one in searches])
    return weights


def given_up(
    searches: Sequence[PastSearch], open: Sequence[OpenSearch], share: float = 1.0
) -> tuple[list[OpenSearch], Doubles]:
    """Return searches without an end that may have been given up, and what each counts for.

    Those that went on for as many clicks as half of the found ones, at most a third as many, each
    person capped as with found ones. share: how much of all found ones there are; so much of those
    without an end goes with them.
    """
    usual = float(np.median([len(one.clicks) for one in searches])) if searches else np.inf
    long = [one for one in open if len(one.clicks) >= usual]
    count = min(round(share * len(long)), int(GIVEN_UP_SHARE * len(searches)))
    places = np.linspace(0, len(long), count, endpoint=False).astype(np.int64).tolist()
    chosen = [long[place] for place in places]
    weights = np.ones(count)
    people = [one.person for one in chosen]
    if len({*people}) > 1 or None in people:
        _cap_groups(weights, people)
    return chosen, GIVEN_UP_WEIGHT * weights


def _cap_groups(weights: Doubles, groups: Sequence[object]) -> None:
    """Let no group count for more than ten searches, or a twentieth of all; None: each for itself.

    What is capped does not count for what all are: who searches more does not raise the limit.
    """
    totals: Counter[object] = Counter()
    single = 0.0
    for weight, group in zip(weights.tolist(), groups, strict=True):
        if group is None:
            single += weight
        else:
            totals[group] += weight
    most = before = GROUP_SEARCHES
    while True:
        together = single + sum(min(total, most) for total in totals.values())
        before, most = most, max(GROUP_SEARCHES, GROUP_SHARE * together)
        if most <= before * (1.0 + 1e-9):
            break
    for place, group in enumerate(groups):
        if group is not None and totals[group] > most:
            weights[place] *= most / totals[group]


def _cap_owners(weights: Doubles, owners: Sequence[str | None]) -> None:
    """Let no API key count for more than the others together, or half of them if there are two."""
    places = {key: np.array([owner == key for owner in owners]) for key in {*owners} - {None}}
    share = 1.0 if len(places) < 3 else 0.5
    for _ in range(2):
        for key in sorted(places, key=lambda one: (-weights[places[one]].sum(), str(one))):
            count = float(weights[places[key]].sum())
            most = share * (float(weights.sum()) - count)
            if 0.0 < most < count:
                weights[places[key]] *= most / count


def observe(catalog: Catalog, searches: Sequence[PastSearch], weights: Doubles) -> Observations:
    """Return searches by rows of the catalog."""
    row = catalog.row
    return Observations.of(
        (
            row(one.target),
            float(weight),
            [(click.liked, [row(item) for item in click.among]) for click in one.clicks],
        )
        for one, weight in zip(searches, weights, strict=True)
    )
