"""Puts a version in its place, at once, and clears away versions that nobody uses.

catalog.json names all files of the version that counts, so replacing this one file is the switch.
The first version lies in the folder itself; later ones lie in versions/<number>. Thumbnails are
named by their contents and shared by all versions.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from seeker.catalog import head as heads
from seeker.catalog.head import Head, settle
from seeker.catalog.locks import alone
from seeker.catalog.paths import work_folder
from seeker.errors import NotFound

VERSIONS = "versions"


def next_version(target: Path) -> int:
    """Return the number of the version to come."""
    try:
        current = heads.read(target).version
    except NotFound:
        return 1
    return current + 1


def prefix(target: Path) -> str:
    """Return what stands before the names of the files of the version to come."""
    if not (target / heads.NAME).exists():
        return ""
    return f"{VERSIONS}/{_place(target)}/"


def _place(target: Path) -> int:
    """Return a number for a folder of files that is not taken by a version or a leftover."""
    folder = target / VERSIONS
    taken = [int(one.name) for one in folder.glob("*") if re.fullmatch(r"\d+", one.name)]
    return max([next_version(target) - 1, *taken]) + 1


def publish(head: Head, work: Path, target: Path) -> None:
    """Move the files in work/new to the catalog and make them the version that counts."""
    new = work / "new"
    _sweep_media(new, _media(new / Path(head.items.file).name))
    if not (target / heads.NAME).exists():
        head.write(new)
        if target.exists():
            target.rmdir()
        new.rename(target)
        settle(target.parent)
        return
    before = heads.read(target)
    _share_media(new / "media", target / "media")
    place = target / Path(head.items.file).parent
    place.parent.mkdir(exist_ok=True)
    new.rename(place)
    settle(place.parent)
    head.write(target)
    tidy(target, {before.items.file, *(one.file for one in before.files)})


def tidied(target: Path) -> int:
    """Leave only the present version in a catalog; return how many bytes were freed."""
    heads.read(target)
    work = work_folder(target)
    work.mkdir(exist_ok=True)
    with alone(work / "lock", f"'{target}' is being changed"):
        freed = tidy(target)
        if not (work / "chunks").exists():
            shutil.rmtree(work, ignore_errors=True)
        return freed


def tidy(target: Path, also: Iterable[str] = ()) -> int:
    """Remove files that the present version does not name; return how many bytes they had.

    also: files to keep, such as those of the version before, which may be in use. Thumbnails are
    removed only if nothing is kept besides the present version.
    """
    head = heads.read(target)
    keep = {one.file for one in head.files} | set(also)
    freed = 0
    for folder in (target, *(target / VERSIONS).glob("*")):
        for file in (folder / "items.sqlite", *(folder / "views").glob("*.npy")):
            if file.exists() and file.relative_to(target).as_posix() not in keep:
                freed += file.stat().st_size
                file.unlink()
        for empty in (folder / "views", folder):
            if empty != target and empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
    if not set(also) - {one.file for one in head.files}:
        freed += _sweep_media(target, _media(target / head.items.file))
    return freed


def _media(items: Path) -> set[str]:
    """Return the thumbnails that an item table names."""
    import sqlite3

    connection = sqlite3.connect(f"{items.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        found = connection.execute("SELECT DISTINCT media FROM items WHERE media IS NOT NULL")
        return {media for (media,) in found}
    finally:
        connection.close()


def _sweep_media(folder: Path, keep: set[str]) -> int:
    """Remove thumbnails that nothing names; return how many bytes they had."""
    freed = 0
    for at, _, files in os.walk(folder / "media"):
        for name in files:
            file = Path(at) / name
            if file.relative_to(folder).as_posix() not in keep:
                freed += file.stat().st_size
                file.unlink()
    return freed


def _share_media(source: Path, target: Path) -> None:
    """Move thumbnails to those of the catalog; the same name is the same picture."""
    for at, _, files in os.walk(source):
        place = target / Path(at).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in files:
            (Path(at) / name).replace(place / name)
    shutil.rmtree(source, ignore_errors=True)
