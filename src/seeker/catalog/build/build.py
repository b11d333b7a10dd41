"""`seeker build`: from a folder, a table or arrays to a catalog."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeker import __version__
from seeker.catalog.build import languages, publish
from seeker.catalog.build.chunks import THUMBNAIL_SIDE, chunk_name
from seeker.catalog.build.files import AssembledFiles
from seeker.catalog.build.pipeline import (
    BuildProgress,
    BuildReport,
    EmptySourceError,
    ProgressCallback,
    run_build,
)
from seeker.catalog.build.plan import check_attributes, plan_views
from seeker.catalog.build.publish import write_tombstones
from seeker.catalog.build.source import Source
from seeker.catalog.build.sources.opener import SourceOptions, open_source
from seeker.catalog.catalog import Catalog
from seeker.catalog.file_lock import clear, file_lock
from seeker.catalog.item_writer import ItemWriter
from seeker.catalog.manifest import MANIFEST_NAME, Manifest, PathLike, path_of, work_folder
from seeker.catalog.manifest_fields import BadField, check_plain, cleaned
from seeker.catalog.nofollow import new_file, remove_tree
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
    options: SourceOptions | None = None,
    about: Mapping[str, Any] | None = None,
    strict: bool = False,
    replace: bool = False,
    tell: ProgressCallback | None = None,
    progress: bool = False,
) -> Catalog:
    """Build a catalog from a source and open it; see `seeker.build`."""
    target = path_of(out, "the path of a catalog")
    if (target / MANIFEST_NAME).exists() and not replace:
        raise Conflict(
            f"There is a catalog at '{target}' already.",
            "Put a new one in its place with --replace (replace=True), or use `seeker add`.",
        )
    if target.exists() and not (target / MANIFEST_NAME).exists() and not _is_empty(target):
        raise Conflict(
            f"'{target}' is there already and is no catalog.", "Choose another place for it."
        )
    try:
        check_plain(cleaned(dict(about or {})))
    except BadField as error:
        raise BadInput(f"What is said about the catalog {error}.") from None
    opened = open_source(source, options or SourceOptions())
    stored = check_dtype(dtype)
    planned = plan_views(opened.offer, views, metric, embedders or {})
    makings = [dataclasses.replace(one, dtype=stored) for one in planned]
    check_attributes(makings, opened)
    if (target / MANIFEST_NAME).exists():
        publish.check_writable(target, media=opened.offer.pictures)
    report = BuildReport(strict)
    work = work_folder(target)
    work.parent.mkdir(parents=True, exist_ok=True)
    with (
        file_lock(work / "lock", f"'{target}' is being built"),
        BuildProgress(tell, progress) as shown,
    ):
        for note in opened.notes():
            shown.say(note)
        shown.say(f"Views: {', '.join(f'{one.name} ({one.dimensions})' for one in makings)}")
        if warning := languages.language_notice(opened, makings):
            shown.say(warning)
        if begin_folder(
            work, f"{chunk_name(makings, THUMBNAIL_SIDE)} {json.dumps(opened.origin())}"
        ):
            shown.say("Resuming the build that was interrupted.")
        shown.start(opened.count() if progress else None)
        before = Catalog.open(target) if (target / MANIFEST_NAME).exists() else None
        tombstones = 0

        def on_complete(writer: ItemWriter) -> None:
            nonlocal tombstones
            tombstones = 0 if before is None else write_tombstones(writer, before, makings)

        prefix = publish.prefix(target)
        try:
            made = run_build(opened, makings, work, report, shown, prefix, on_complete=on_complete)
        except EmptySourceError:
            clear(work)
            raise
        manifest = make_manifest(
            made,
            version=publish.next_version(target),
            source={**opened.origin(), "left out": report.to_json()},
            about=dict(about or {}),
            tombstones=tombstones,
        )
        publish.publish(manifest, work, target)
        clear(work)
    for line in report.lines():
        if tell is not None:
            tell(line)
    return Catalog.open(target)


def make_manifest(
    made: AssembledFiles,
    version: int,
    source: Mapping[str, Any],
    about: Mapping[str, Any],
    tombstones: int = 0,
) -> Manifest:
    """Return the manifest of a version that has just been made."""
    return Manifest(
        version=version,
        count=made.count,
        items=made.items,
        attributes=made.attributes,
        views=made.views,
        media=made.media,
        created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        seeker=__version__,
        source=cleaned(dict(source)),
        about=cleaned(dict(about)),
        tombstones=tombstones,
    )


def begin_folder(work: Path, how: str) -> bool:
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
