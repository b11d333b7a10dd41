"""Copies of the sessions and catalogs of a service that goes on running, and the way back.

A backup is a folder: `backup.json` says what is in it, with checksums; `sessions.sqlite` is the
store as it was at one moment, and each folder in `catalogs` one version of a catalog, whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from seeker import __version__
from seeker.catalog import Catalog
from seeker.catalog.manifest import MANIFEST_NAME, Manifest, part_sha256
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.media import media_files
from seeker.catalog.nofollow import LeadsOut, NotPlain, open_inside
from seeker.catalog.sqlite_connections import FileConnections
from seeker.engine.catalogs import check_catalog_name
from seeker.errors import BadInput, Conflict, NotFound
from seeker.files import atomic_write
from seeker.stores import MEMORY
from seeker.stores.sqlite import copy_store

SCHEMA = 1
ABOUT_NAME = "backup.json"
SESSIONS_NAME = "sessions.sqlite"
CATALOGS_FOLDER = "catalogs"

_ATTEMPTS = 5
_PIECE_BYTES = 1_000_000

Progress = Callable[[int], object]
"""Is told of bytes that were copied."""


@dataclass(frozen=True)
class Backup:
    """What a backup holds.

    sessions: how many, None if there is no store in it. catalogs: how many items each has. files:
    length and SHA-256 of every file, by its place in the folder.
    """

    at: str
    seeker: str
    sessions: int | None
    catalogs: Mapping[str, int]
    files: Mapping[str, tuple[int, str]]

    def to_json(self) -> dict[str, Any]:
        """Return what is written to backup.json."""
        return {
            "schema": SCHEMA,
            "at": self.at,
            "seeker": self.seeker,
            "sessions": self.sessions,
            "catalogs": dict(self.catalogs),
            "files": {
                name: {"bytes": size, "sha256": digest}
                for name, (size, digest) in self.files.items()
            },
        }


def write_backup(
    out: Path, store: str | None, catalogs: Mapping[str, str], progress: Progress
) -> Backup:
    """Write the sessions of a store and some catalogs, by name, to a new folder.

    store: its address; None for none. All may be in use: nobody waits, and each thing is as it was
    at one moment. The folder is there when it is complete, not before.
    """
    if out.exists():
        raise Conflict(f"There is something at '{out}' already.", "Name a new folder.")
    if not out.absolute().parent.is_dir():
        raise NotFound(f"There is no folder '{out.parent}'.", "Make it, or name another.")
    work = out.with_name(f"{out.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    try:
        files: dict[str, tuple[int, str]] = {}
        sessions = None
        if store is not None:
            sessions = _copy_store(store, work / SESSIONS_NAME)
            files[SESSIONS_NAME] = _measure(work / SESSIONS_NAME, progress)
        counts: dict[str, int] = {}
        for name, folder in catalogs.items():
            place = f"{CATALOGS_FOLDER}/{name}"
            copied, counts[name] = _copy_catalog(Path(folder), work / place, progress)
            files |= {f"{place}/{file}": entry for file, entry in copied.items()}
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        backup = Backup(at, __version__, sessions, counts, files)
        with atomic_write(work / ABOUT_NAME) as handle:
            handle.write(json.dumps(backup.to_json(), indent=1).encode())
        work.rename(out)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return backup


def read_backup(folder: Path) -> Backup:
    """Return what a backup says it holds."""
    try:
        about = json.loads((folder / ABOUT_NAME).read_bytes())
    except FileNotFoundError:
        raise NotFound(
            f"There is no backup at '{folder}'.", "`seeker backup FOLDER` writes one."
        ) from None
    except (NotADirectoryError, ValueError, RecursionError):
        raise _damaged(folder, f"its {ABOUT_NAME} cannot be read") from None
    try:
        if about["schema"] > SCHEMA:
            raise BadInput(
                f"The backup at '{folder}' has schema {about['schema']}, "
                f"but this Seeker reads schemas up to {SCHEMA}.",
                "Restore it with the version of Seeker that wrote it, or a newer one.",
            )
        return Backup(
            str(about["at"]),
            str(about["seeker"]),
            None if about["sessions"] is None else int(about["sessions"]),
            {_catalog_name(name): int(count) for name, count in about["catalogs"].items()},
            {
                _file_name(name): (int(one["bytes"]), str(one["sha256"]))
                for name, one in about["files"].items()
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadInput):
            raise
        raise _damaged(folder, f"its {ABOUT_NAME} lacks what it should say") from None


def _catalog_name(name: str) -> str:
    check_catalog_name(name)
    return name


def _file_name(name: str) -> str:
    """Return the place of a file in a backup, which is never outside of it."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(name)
    return name


def restore_backup(
    folder: Path, store: str | None, catalogs: Path | None, progress: Progress
) -> Backup:
    """Put the sessions of a backup to a store's file and its catalogs into a folder.

    None leaves them out. All files are compared with their checksums first, and nothing that is
    there already is replaced.
    """
    backup = read_backup(folder)
    wanted: dict[str, Path] = {}
    if store is not None and backup.sessions is not None:
        wanted[SESSIONS_NAME] = _store_file(
            store,
            "Sessions are restored to a file of SQLite only.",
            "For PostgreSQL, `seeker sessions import` reads an export.",
        )
    if catalogs is not None:
        for name in backup.catalogs:
            wanted[f"{CATALOGS_FOLDER}/{name}"] = catalogs / name
    if not wanted:
        raise BadInput("There is nothing to restore.", "Name --store, --catalogs or both.")
    for place in wanted.values():
        for taken in (place, Path(f"{place}-wal"), Path(f"{place}-shm")):
            if os.path.lexists(taken):
                raise Conflict(
                    f"There is something at '{taken}' already, and nothing is replaced.",
                    "Stop the service and move it away, or name another place.",
                )
        place.absolute().parent.mkdir(parents=True, exist_ok=True)
    aside = {source: place.with_name(f"{place.name}.part") for source, place in wanted.items()}
    try:
        for source, place in aside.items():
            _remove(place)
            for file, entry in backup.files.items():
                if file == source or file.startswith(f"{source}/"):
                    _bring(folder, file, entry, Path(f"{place}{file[len(source) :]}"), progress)
        for source, place in wanted.items():
            aside[source].rename(place)
    except BaseException:
        for place in aside.values():
            _remove(place)
        raise
    return backup


def _copy_store(address: str, out: Path) -> int:
    """Write a store's sessions to a file; return how many they are."""
    path = _store_file(
        address,
        "Only sessions in a file of SQLite are copied.",
        "PostgreSQL has its own tool for this: pg_dump. Leave the store out with --no-store.",
    )
    if not path.is_file():
        raise NotFound(f"There is no store '{path}'.", "Name it with --store.")
    return copy_store(path, out)


def _copy_catalog(
    folder: Path, out: Path, progress: Progress
) -> tuple[dict[str, tuple[int, str]], int]:
    """Copy the present version of a catalog; return its files, and how many items it has.

    Files of a version never change, but go when a later one but one is published: then the copy
    begins anew, with that.
    """
    for attempt in range(_ATTEMPTS):
        manifest = read_manifest(folder)
        try:
            return _copy_version(folder, manifest, out, progress), manifest.count
        except FileNotFoundError:
            if attempt == _ATTEMPTS - 1 or read_manifest(folder).identity == manifest.identity:
                raise
            shutil.rmtree(out)
    raise Conflict(f"'{folder}' changes faster than it can be copied.", "Try again later.")


def _copy_version(
    folder: Path, manifest: Manifest, out: Path, progress: Progress
) -> dict[str, tuple[int, str]]:
    out.mkdir(parents=True)
    copied = {one.file: _copy(folder, one.file, out / one.file, progress) for one in manifest.files}
    growing = manifest.growing
    for one in manifest.files:
        whole = copied[one.file] == (one.bytes, one.sha256)
        if one.file in growing:
            begins = part_sha256(out, one.file, 0, one.bytes) == one.sha256
            whole = begins and copied[one.file][0] >= growing[one.file]
        if not whole:
            raise _damaged_catalog(folder, one.file)
    log = manifest.log is not None
    with FileConnections(out / manifest.items.file, log).use() as connection:
        media = [
            file
            for (name,) in connection.execute(
                "SELECT DISTINCT media FROM items WHERE media IS NOT NULL ORDER BY media"
            )
            for file in media_files(str(name))
        ]
    copied |= {name: _copy(folder, name, out / name, progress) for name in media}
    manifest.write(out)
    copied[MANIFEST_NAME] = _measure(out / MANIFEST_NAME, progress)
    Catalog.open(out)
    return copied


def _copy(folder: Path, file: str, place: Path, progress: Progress) -> tuple[int, str]:
    """Copy a file of a folder; return its length and SHA-256."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open_inside(folder, file) as source, place.open("xb") as copy:
        if file == SESSIONS_NAME:
            os.chmod(place, 0o600)  # what people have done is for nobody else
        return _digest(source, progress, copy)


def _measure(path: Path, progress: Progress) -> tuple[int, str]:
    with path.open("rb") as handle:
        return _digest(handle, progress)


def _digest(source: BinaryIO, progress: Progress, copy: BinaryIO | None = None) -> tuple[int, str]:
    """Read a file to its end, and write it to another, if there is one, as far as to the disk."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
        if copy is not None:
            copy.write(piece)
        progress(len(piece))
    if copy is not None:
        copy.flush()
        os.fsync(copy.fileno())
    return size, digest.hexdigest()


def _bring(
    folder: Path, file: str, entry: tuple[int, str], place: Path, progress: Progress
) -> None:
    """Copy a file of a backup that must be what was written."""
    try:
        same = _copy(folder, file, place, progress) == entry
    except (FileNotFoundError, LeadsOut, NotPlain):
        raise _damaged(folder, f"'{file}' is missing") from None
    if not same:
        raise _damaged(folder, f"'{file}' is not what was written")


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.unlink()


def _store_file(address: str, refusal: str, hint: str) -> Path:
    """Return the file of a store; refuse other kinds of stores."""
    if address == MEMORY or ("://" in address and not address.startswith("sqlite:///")):
        raise BadInput(refusal, hint)
    return Path(address.removeprefix("sqlite:///"))


def _damaged(folder: Path, what: str) -> BadInput:
    return BadInput(f"The backup at '{folder}' is damaged: {what}.", "Use another one.")


def _damaged_catalog(folder: Path, file: str) -> BadInput:
    return BadInput(
        f"'{file}' of the catalog at '{folder}' is not what was written.",
        "`seeker verify` says what is wrong; the backup was not made.",
    )
