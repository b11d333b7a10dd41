"""Runs a build: source → chunks → files, in bounded memory, with progress and a report."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from seeker.catalog.attributes import shorten
from seeker.catalog.build.chunks import (
    Chunk,
    ChunkBuilder,
    chunk_fingerprint,
    views_recipe,
)
from seeker.catalog.build.files import AssembledFiles, Assembly
from seeker.catalog.build.known_items import KnownItems
from seeker.catalog.build.plan import ViewSpec
from seeker.catalog.build.source import RowProblem, Source
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.media import is_media_name, media_files
from seeker.catalog.nofollow import new_file, real_folder, remove_tree
from seeker.embedders.attributes import AttributeEncoding
from seeker.errors import BadInput

_MAX_EXAMPLES = 5

ProgressCallback = Callable[[str], None]

EMBEDDED_CHUNK_ROWS, VECTOR_CHUNK_ROWS = 256, 8192
"""How many rows make a chunk: few where each costs time, many where vectors are there already."""

Row = TypeVar("Row")


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
        self._last_detail: dict[str, str] = {}

    def add(self, problem: RowProblem) -> None:
        """Count a problem."""
        place = short_place(problem.place)
        if self._strict:
            detail = f" ({problem.detail})" if problem.detail else ""
            raise BadInput(
                f"{problem.what.capitalize()}: {place}{detail}.",
                "Mend it, or leave out --strict (strict=True) to skip such rows.",
            )
        self.counts[problem.what] += 1
        examples = self.examples.setdefault(problem.what, [])
        if len(examples) < _MAX_EXAMPLES:
            # Whatever is wrong with many rows is said once.
            new = problem.detail and problem.detail != self._last_detail.get(problem.what)
            examples.append(f"{place} ({problem.detail})" if new else place)
            self._last_detail[problem.what] = problem.detail

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


class BuildProgress:
    """Sentences and, if asked for, a bar with items per second and the time left."""

    def __init__(self, tell: ProgressCallback | None, bar: bool) -> None:
        self._tell = tell
        self._bar = bar
        self._display: Any = None

    def say(self, line: str) -> None:
        """Say something."""
        if self._tell is not None:
            if self._display is not None:
                self._display.clear()
            self._tell(line)

    def start(self, total: int | None) -> None:
        """Show the bar; total: about how many rows there are."""
        if self._bar:
            from tqdm import tqdm

            self._display = tqdm(total=total, unit=" items", smoothing=0.1, dynamic_ncols=True)

    def advance(self, rows: int, again: bool) -> None:
        """Count rows as done; again: they had been done before."""
        if self._display is None:
            return
        if again:
            # What was only read back says nothing about the speed of what is still to do.
            self._display.initial += rows
        self._display.update(rows)

    def __enter__(self) -> BuildProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._display is not None:
            self._display.close()


class EmptySourceError(BadInput):
    """A source whose rows are all bad: there is nothing to go on with."""


def prepare_work_folder(work: Path, recipe: str) -> bool:
    """Make a work folder ready; return whether there is work in it that can be gone on with.

    recipe: a name for the source and how its views are made; what another one left is removed.
    """
    note = work / "how.json"
    try:
        same = not note.is_symlink() and note.read_text(encoding="utf-8") == recipe
    except (FileNotFoundError, UnicodeDecodeError):
        same = False
    if not same:
        # Never the lock: it is held.
        for name in ("chunks", "new"):
            remove_tree(work / name)
        with new_file(note) as handle:
            handle.write(recipe.encode())
    return same and any((work / "chunks").glob("*.npz"))


def run_build(
    source: Source,
    specs: Sequence[ViewSpec],
    work: Path,
    report: BuildReport,
    progress: BuildProgress,
    sizes: Sequence[int],
    prefix: str = "",
    known: KnownItems | None = None,
    on_complete: Callable[[ItemWriter, Sequence[ViewSpec]], None] = lambda _, __: None,
    encodings: Mapping[str, AttributeEncoding] | None = None,
) -> AssembledFiles:
    """Make the files of a version in the folder work/new.

    sizes: of thumbnails, in pixels each way. known: the items of the version before. on_complete:
    called with the full item table before it is closed, and with how the views are made.
    encodings: of views of attributes, to go on with if they still fit.
    """
    assembly = Assembly(real_folder(work / "new"), specs, source.loose)
    try:
        for _, chunk in make_chunks(source, specs, work, report, progress, sizes, known):
            for problem in assembly.add(chunk):
                report.add(problem)
        if not assembly.writer.count:
            raise EmptySourceError(
                "No item could be made of the source.",
                report.sentence() if report.counts else "It is empty.",
            )
        progress.say("Indexing …")
        on_complete(assembly.writer, assembly.complete_items(encodings))
        return assembly.finish(prefix)
    finally:
        assembly.close()


def make_chunks(
    source: Source,
    specs: Sequence[ViewSpec],
    work: Path,
    report: BuildReport,
    progress: BuildProgress,
    sizes: Sequence[int],
    known: KnownItems | None = None,
) -> Iterator[tuple[Path, Chunk]]:
    """Yield the chunks of a source, each with its file in work/chunks; report what is wrong in it.

    sizes: of thumbnails, which are in work/new/media, or in the catalog already. Whatever was
    interrupted: the same source gives the same chunks, and only those that are not there yet, or
    whose rows have changed, are made.
    """
    chunks, new = real_folder(work / "chunks"), real_folder(work / "new")
    embeds = source.offer.pictures or any(one.embedder for one in specs)
    size = EMBEDDED_CHUNK_ROWS if embeds else VECTOR_CHUNK_ROWS
    recipe = views_recipe(specs, sizes)
    builder = ChunkBuilder(specs, new / "media", sizes, known, source.loose)

    def has_thumbnail(media: str) -> bool:
        made = all(_is_whole(new / file) for file in media_files(media))
        return made or (known is not None and known.has_thumbnail(media))

    try:
        for number, rows in enumerate(_grouped(source.records(), size)):
            file = chunks / f"{number:06d}-{chunk_fingerprint(rows, recipe)}.npz"
            chunk = _load_chunk(file, has_thumbnail)
            again = chunk is not None
            if chunk is None:
                chunk = builder.make(rows)
                chunk.save(file)
            report.rows += len(rows)
            for problem in chunk.problems:
                report.add(problem)
            yield file, chunk
            progress.advance(len(rows), again)
    finally:
        builder.close()


def _grouped(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while group := list(islice(remaining, size)):
        yield group


def _load_chunk(file: Path, has_thumbnail: Callable[[str], bool]) -> Chunk | None:
    """Return a chunk that was made before, if it and its thumbnails are whole."""
    if not file.exists():
        return None
    try:
        chunk = Chunk.load(file)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    pictures: list[Any] = [item["media"] for item in chunk.items if item["media"]]
    if all(is_media_name(one) and has_thumbnail(one) for one in pictures):
        return chunk
    return None


def _is_whole(file: Path) -> bool:
    """Return whether a file of a thumbnail is there; a loss of power may have left it empty."""
    try:
        return file.stat().st_size > 0
    except OSError:
        return False
