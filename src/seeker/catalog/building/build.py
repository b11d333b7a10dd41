"""`seeker build`: from a folder, a table or arrays to a catalog."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeker import __version__
from seeker.catalog import head as heads
from seeker.catalog.building import languages, publish
from seeker.catalog.building.assembly import Assembled
from seeker.catalog.building.chunk import name_of
from seeker.catalog.building.departing import keep_departed
from seeker.catalog.building.making import THUMBNAIL
from seeker.catalog.building.plan import check_attributes, plan
from seeker.catalog.building.progress import Progress, Tell
from seeker.catalog.building.record import Source
from seeker.catalog.building.report import Report
from seeker.catalog.building.run import NoItems, run
from seeker.catalog.building.sources.choose import Options, open_source
from seeker.catalog.catalog import Catalog
from seeker.catalog.head import Head
from seeker.catalog.locks import alone, clear
from seeker.catalog.manifest_fields import BadField, check_plain, cleaned
from seeker.catalog.nofollow import new_file, remove_tree
from seeker.catalog.paths import PathLike, path_of, work_folder
from seeker.catalog.writer import ItemWriter
from seeker.errors import BadInput, Conflict
from seeker.space.packing import check_dtype

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder


def build(
    source: PathLike | Source,
    out: PathLike,
    *,
    views: Sequence[str] | None = None,
    embedders: Mapping[str, Embedder] | None = None,
    metric: str | Mapping[str, str] | None = None,
    dtype: str = "auto",
    options: Options | None = None,
    about: Mapping[str, Any] | None = None,
    strict: bool = False,
    replace: bool = False,
    tell: Tell | None = None,
    progress: bool = False,
) -> Catalog:
    """Build a catalog from a source and open it; see `seeker.build`."""
    target = path_of(out, "the path of a catalog")
    if (target / heads.NAME).exists() and not replace:
        raise Conflict(
            f"There is a catalog at '{target}' already.",
            "Put a new one in its place with --replace (replace=True), or use `seeker add`.",
        )
    if target.exists() and not (target / heads.NAME).exists() and not _is_empty(target):
        raise Conflict(
            f"'{target}' is there already and is no catalog.", "Choose another place for it."
        )
    try:
        check_plain(cleaned(dict(about or {})))
    except BadField as error:
        raise BadInput(f"What is said about the catalog {error}.") from None
    opened = open_source(source, options or Options())
    stored = check_dtype(dtype)
    planned = plan(opened.offer, views, metric, embedders or {})
    makings = [dataclasses.replace(one, dtype=stored) for one in planned]
    check_attributes(makings, opened)
    if (target / heads.NAME).exists():
        publish.check_writable(target, media=opened.offer.pictures)
    report = Report(strict)
    work = work_folder(target)
    work.parent.mkdir(parents=True, exist_ok=True)
    with (
        alone(work / "lock", f"'{target}' is being built"),
        Progress(tell, progress) as shown,
    ):
        for note in opened.notes():
            shown.say(note)
        shown.say(f"Views: {', '.join(f'{one.name} ({one.dimensions})' for one in makings)}")
        if warning := languages.notice(opened, makings):
            shown.say(warning)
        if begin(work, f"{name_of(makings, THUMBNAIL)} {json.dumps(opened.origin())}"):
            shown.say("Resuming the build that was interrupted.")
        shown.start(opened.count() if progress else None)
        before = Catalog.open(target) if (target / heads.NAME).exists() else None
        departed = 0

        def farewell(writer: ItemWriter) -> None:
            nonlocal departed
            departed = 0 if before is None else keep_departed(writer, before, makings)

        prefix = publish.prefix(target)
        try:
            made = run(opened, makings, work, report, shown, prefix, farewell=farewell)
        except NoItems:
            clear(work)
            raise
        head = make_head(
            made,
            version=publish.next_version(target),
            source={**opened.origin(), "left out": report.to_json()},
            about=dict(about or {}),
            departed=departed,
        )
        publish.publish(head, work, target)
        clear(work)
    for line in report.lines():
        if tell is not None:
            tell(line)
    return Catalog.open(target)


def make_head(
    made: Assembled,
    version: int,
    source: Mapping[str, Any],
    about: Mapping[str, Any],
    departed: int = 0,
) -> Head:
    """Return the head of a version that has just been made."""
    return Head(
        version=version,
        count=made.count,
        items=made.items,
        attributes=made.attributes,
        views=made.views,
        media=made.media,
        made=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        seeker=__version__,
        source=cleaned(dict(source)),
        about=cleaned(dict(about)),
        departed=departed,
    )


def begin(work: Path, how: str) -> bool:
    """Make a work folder ready; return whether there is work in it that can be gone on with."""
    note = work / "how.json"
    try:
        same = not note.is_symlink() and note.read_text(encoding="utf-8") == how
    except (FileNotFoundError, UnicodeDecodeError):
        same = False
    if not same:
        # Never the lock: it is held.
        for name in ("chunks", "new"):
            remove_tree(work / name)
        with new_file(note) as handle:
            handle.write(how.encode())
    return same and any((work / "chunks").glob("*.npz"))


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except NotADirectoryError:
        return False
