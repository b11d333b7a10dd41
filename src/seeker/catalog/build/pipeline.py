"""Runs a build: source → chunks → files, in bounded memory, with progress and a report."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from seeker.catalog.attributes import Kind, shorten
from seeker.catalog.build.chunks import (
    THUMBNAIL_SIDE,
    Chunk,
    ChunkBuilder,
    chunk_fingerprint,
    chunk_name,
)
from seeker.catalog.build.files import AssembledFiles, Assembly
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import RowProblem, Source
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest_fields import is_media_name
from seeker.catalog.nofollow import real_folder
from seeker.errors import BadInput

_EXAMPLES = 5


class BuildReport:
    """Counts problems by kind and keeps the first few of each as examples.

    rows: how many the source has had so far, good ones and bad ones.
    """

    def __init__(self, strict: bool = False) -> None:
        """Start with nothing; strict: the first problem is an error."""
        self._strict = strict
        self.rows = 0
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self._told: dict[str, str] = {}

    def add(self, problem: RowProblem) -> None:
        """Count a problem."""
        said = short_place(problem.place)
        if self._strict:
            detail = f" ({problem.detail})" if problem.detail else ""
            raise BadInput(
                f"{problem.what.capitalize()}: {said}{detail}.",
                "Mend it, or leave out --strict (strict=True) to skip such rows.",
            )
        self.counts[problem.what] += 1
        kept = self.examples.setdefault(problem.what, [])
        if len(kept) < _EXAMPLES:
            # Whatever is wrong with many rows is said once.
            new = problem.detail and problem.detail != self._told.get(problem.what)
            kept.append(f"{said} ({problem.detail})" if new else said)
            self._told[problem.what] = problem.detail

    def lines(self) -> list[str]:
        """Return the report in lines for people; empty if all went well."""
        if not self.counts:
            return []
        return [f"Left out {self.counts.total():,} of {self.rows:,} rows:", *self._kinds()]

    def sentence(self) -> str:
        """Return what was wrong as one line."""
        return "; ".join(line.strip() for line in self._kinds()) + "."

    def _kinds(self) -> list[str]:
        lines = []
        for what, count in self.counts.most_common():
            more = ", …" if count > len(self.examples[what]) else ""
            lines.append(f"  {count:,} × {what}: {', '.join(self.examples[what])}{more}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            what: {"count": count, "examples": self.examples[what]}
            for what, count in self.counts.most_common()
        }


def short_place(place: str) -> str:
    """Return a place in a source as one short printable line."""
    return place if place.isprintable() and len(place) <= 120 else shorten(place, 120)


ProgressCallback = Callable[[str], None]


class BuildProgress:
    """Sentences and, if asked for, a bar with items per second and the time left."""

    def __init__(self, tell: ProgressCallback | None, bar: bool) -> None:
        self._tell = tell
        self._bar = bar
        self._shown: Any = None

    def say(self, line: str) -> None:
        """Say something."""
        if self._tell is not None:
            if self._shown is not None:
                self._shown.clear()
            self._tell(line)

    def start(self, total: int | None) -> None:
        """Show the bar; total: about how many rows there are."""
        if self._bar:
            from tqdm import tqdm

            self._shown = tqdm(total=total, unit=" items", smoothing=0.1, dynamic_ncols=True)

    def advance(self, rows: int, again: bool) -> None:
        """Count rows as done; again: they had been done before."""
        if self._shown is None:
            return
        if again:
            # What was only read back says nothing about the speed of what is still to do.
            self._shown.initial += rows
        self._shown.update(rows)

    def __enter__(self) -> BuildProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown is not None:
            self._shown.close()


EMBEDDED, READY = 256, 8192
"""How many rows make a chunk: few where each costs time, many where vectors are there already."""

Thing = TypeVar("Thing")


class EmptySourceError(BadInput):
    """A source whose rows are all bad: there is nothing to go on with."""


def run_build(
    source: Source,
    makings: Sequence[ViewSpec],
    work: Path,
    report: BuildReport,
    progress: BuildProgress,
    prefix: str = "",
    kinds: Mapping[str, Kind] | None = None,
    taken: Callable[[str], bool] = lambda _: False,
    on_complete: Callable[[ItemWriter], None] = lambda _: None,
) -> AssembledFiles:
    """Make the files of a version in the folder work/new; chunks are kept in work/chunks.

    on_complete: called with the full item table before it is closed. Whatever was interrupted: the
    same source gives the same files, and only chunks that are not there yet, or whose rows have
    changed, are made.
    """
    chunks, new = work / "chunks", work / "new"
    real_folder(chunks)
    size = EMBEDDED if source.offer.pictures or any(one.embedder for one in makings) else READY
    how = chunk_name(makings, THUMBNAIL_SIDE)
    assembly = Assembly(new, makings, source.loose, kinds, taken)
    maker = ChunkBuilder(makings, new / "media")
    try:
        for number, rows in enumerate(_grouped(source.records(), size)):
            file = chunks / f"{number:06d}-{chunk_fingerprint(rows, how)}.npz"
            chunk = _kept_chunk(file, new)
            again = chunk is not None
            if chunk is None:
                chunk = maker.make(rows)
                chunk.save(file)
            report.rows += len(rows)
            for problem in [*chunk.problems, *assembly.add(chunk)]:
                report.add(problem)
            progress.advance(len(rows), again)
        if not assembly.writer.count:
            raise EmptySourceError(
                "No item could be made of the source.",
                report.sentence() if report.counts else "It is empty.",
            )
        progress.say("Indexing …")
        on_complete(assembly.writer)
        return assembly.finish(prefix)
    finally:
        maker.close()
        assembly.close()


def _grouped(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    remaining = iter(things)
    while group := list(islice(remaining, size)):
        yield group


def _kept_chunk(file: Path, new: Path) -> Chunk | None:
    """Return a chunk that was made before, if it and its thumbnails are whole."""
    if not file.exists():
        return None
    try:
        chunk = Chunk.load(file)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    pictures: list[Any] = [item["media"] for item in chunk.items if item["media"]]
    if all(is_media_name(one) and _is_whole(new / one) for one in pictures):
        return chunk
    return None


def _is_whole(file: Path) -> bool:
    """Return whether a thumbnail is there; a loss of power may have left it empty."""
    try:
        return file.stat().st_size > 0
    except OSError:
        return False
