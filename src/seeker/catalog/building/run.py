"""Runs a build: source → chunks → assembly, in bounded memory, resuming what was begun."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from seeker.catalog.building.assembly import Assembled, Assembly
from seeker.catalog.building.chunk import Chunk, fingerprint, name_of
from seeker.catalog.building.making import THUMBNAIL, Maker
from seeker.catalog.building.plan import Making
from seeker.catalog.building.progress import Progress
from seeker.catalog.building.record import Source
from seeker.catalog.building.report import Report
from seeker.catalog.manifest_fields import is_media_name
from seeker.catalog.nofollow import real_folder
from seeker.catalog.values import Kind
from seeker.catalog.writer import ItemWriter
from seeker.errors import BadInput

EMBEDDED, READY = 256, 8192
"""How many rows make a chunk: few where each costs time, many where vectors are there already."""

Thing = TypeVar("Thing")


class NoItems(BadInput):
    """A source whose rows are all bad: there is nothing to go on with."""


def run(
    source: Source,
    makings: Sequence[Making],
    work: Path,
    report: Report,
    progress: Progress,
    prefix: str = "",
    kinds: Mapping[str, Kind] | None = None,
    taken: Callable[[str], bool] = lambda _: False,
    farewell: Callable[[ItemWriter], None] = lambda _: None,
) -> Assembled:
    """Make the files of a version in the folder work/new; chunks are kept in work/chunks.

    farewell: called with the full item table before it is closed. Whatever was interrupted: the
    same source gives the same files, and only chunks that are not there yet, or whose rows have
    changed, are made.
    """
    chunks, new = work / "chunks", work / "new"
    real_folder(chunks)
    size = EMBEDDED if source.offer.pictures or any(one.embedder for one in makings) else READY
    how = name_of(makings, THUMBNAIL)
    assembly = Assembly(new, makings, source.loose, kinds, taken)
    maker = Maker(makings, new / "media")
    try:
        for number, rows in enumerate(_grouped(source.records(), size)):
            file = chunks / f"{number:06d}-{fingerprint(rows, how)}.npz"
            chunk = _kept(file, new)
            again = chunk is not None
            if chunk is None:
                chunk = maker.make(rows)
                chunk.save(file)
            report.rows += len(rows)
            for problem in [*chunk.problems, *assembly.add(chunk)]:
                report.add(problem)
            progress.advance(len(rows), again)
        if not assembly.writer.count:
            raise NoItems(
                "No item could be made of the source.",
                report.sentence() if report.counts else "It is empty.",
            )
        progress.say("Indexing …")
        farewell(assembly.writer)
        return assembly.finish(prefix)
    finally:
        maker.close()
        assembly.close()


def _grouped(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    remaining = iter(things)
    while group := list(islice(remaining, size)):
        yield group


def _kept(file: Path, new: Path) -> Chunk | None:
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
