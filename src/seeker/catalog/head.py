"""catalog.json: what a catalog folder holds, and where."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seeker.catalog.paths import work_folder
from seeker.catalog.values import Kind
from seeker.errors import BadInput, NotFound

SCHEMA = 2
NAME = "catalog.json"


@dataclass(frozen=True)
class Stored:
    """A file of the catalog: where it is in the folder, how long, and what its bytes sum up to."""

    file: str
    bytes: int
    sha256: str

    @classmethod
    def of(cls, folder: Path, file: str) -> Stored:
        """Measure a file."""
        with (folder / file).open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        return cls(file, (folder / file).stat().st_size, digest)


@dataclass(frozen=True)
class Embedded:
    """Which embedder made a view, and what it reads: "picture", "text" or both."""

    name: str
    version: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class ViewEntry:
    """A view: its vectors, and what distances need to know of them.

    moments: a file with the mean and the variance of every dimension, (2, d) float64; of compact
    vectors also their centre, (3, d). steps: a file with the step of every int8 vector, (items,).
    """

    vectors: Stored
    moments: Stored
    dimensions: int
    metric: str
    units: str
    scale: float
    radius: float
    dtype: str = "float32"
    steps: Stored | None = None
    embedder: Embedded | None = None


@dataclass(frozen=True)
class Head:
    """What catalog.json says.

    version counts the updates; identity tells one version from any other. about: title, licence,
    attribution and the like, for people. source: where the items came from, what the columns were
    taken for, and what was left out.
    """

    version: int
    count: int
    items: Stored
    attributes: Mapping[str, Kind]
    views: Mapping[str, ViewEntry]
    media: int
    made: str
    seeker: str
    source: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    departed: int = 0

    @property
    def identity(self) -> str:
        """A name for exactly this content: the same files give the same name."""
        sums = [self.items.sha256, *(one.vectors.sha256 for one in self.views.values())]
        sums += [one.steps.sha256 for one in self.views.values() if one.steps is not None]
        return hashlib.sha256("\n".join([str(self.version), *sums]).encode()).hexdigest()[:16]

    @property
    def files(self) -> list[Stored]:
        """All files that have a checksum."""
        every = ((one.vectors, one.moments, one.steps) for one in self.views.values())
        return [self.items, *(file for some in every for file in some if file is not None)]

    def to_json(self) -> dict[str, Any]:
        """Return what is written to catalog.json."""
        return {"schema": SCHEMA, "identity": self.identity, **asdict(self)}

    def write(self, folder: Path) -> None:
        """Put this head in place of the one that is there, at once or not at all."""
        aside = folder / f"{NAME}.new"
        with aside.open("w", encoding="utf-8") as handle:
            json.dump(self.to_json(), handle, indent=2, ensure_ascii=False)
            handle.write("\n")
            handle.flush()
            os.fsync(handle.fileno())
        aside.replace(folder / NAME)
        settle(folder)


def settle(folder: Path) -> None:
    """Make sure that what was renamed in a folder outlives a loss of power."""
    if os.name == "nt":
        # Windows has no such call for folders; its file system keeps a journal of renames.
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(folder: Path) -> Head:
    """Read the head of a catalog; refuse what is no catalog, damaged, or newer than this Seeker."""
    try:
        written = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(folder) from None
    except (ValueError, RecursionError):
        raise damaged(folder, "its catalog.json is not JSON") from None
    if not isinstance(written, dict) or not isinstance(written.get("schema"), int):
        raise damaged(folder, "its catalog.json does not say which schema it has")
    if written["schema"] > SCHEMA:
        raise BadInput(
            f"The catalog at '{folder}' has schema {written['schema']}, but this Seeker reads "
            f"schemas up to {SCHEMA}.",
            "Install a newer Seeker, or build the catalog again with this one.",
        )
    try:
        return _head(written)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise damaged(folder, "its catalog.json is not complete") from None


def _missing(folder: Path) -> NotFound:
    """Return the error for a place that has no catalog, with what may have been meant."""
    if folder.name == NAME and folder.is_file():
        return NotFound(f"'{folder}' is part of a catalog.", f"Open its folder, '{folder.parent}'.")
    if work_folder(folder).is_dir():
        return NotFound(
            f"There is no catalog at '{folder}' yet.",
            "Its build has not come to its end; the same `seeker build` goes on with it.",
        )
    if folder.exists():
        return NotFound(
            f"'{folder}' is not a catalog.", f"Make one of it with `seeker build {folder} --out …`."
        )
    return NotFound(
        f"There is no catalog at '{folder}'.", "Make one with `seeker build SOURCE --out …`."
    )


def damaged(folder: Path, what: str) -> BadInput:
    """Return the error for a folder that cannot be trusted."""
    return BadInput(
        f"The catalog at '{folder}' is damaged: {what}.",
        "Restore it from a copy, or build it again.",
    )


def _head(written: Mapping[str, Any]) -> Head:
    return Head(
        version=int(written["version"]),
        count=int(written["count"]),
        items=_stored(written["items"]),
        attributes=dict(written["attributes"]),
        views={name: _view(entry) for name, entry in written["views"].items()},
        media=int(written["media"]),
        made=str(written["made"]),
        seeker=str(written["seeker"]),
        source=dict(written["source"]),
        about=dict(written["about"]),
        departed=int(written["departed"]),
    )


def _view(entry: Mapping[str, Any]) -> ViewEntry:
    maker = entry["embedder"]
    return ViewEntry(
        vectors=_stored(entry["vectors"]),
        moments=_stored(entry["moments"]),
        dimensions=int(entry["dimensions"]),
        metric=str(entry["metric"]),
        units=str(entry["units"]),
        scale=float(entry["scale"]),
        radius=float(entry["radius"]),
        dtype=str(entry["dtype"]),
        steps=None if entry.get("steps") is None else _stored(entry["steps"]),
        embedder=maker
        and Embedded(str(maker["name"]), str(maker["version"]), tuple(maker["reads"])),
    )


def _stored(entry: Mapping[str, Any]) -> Stored:
    file = str(entry["file"])
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise ValueError("a catalog names no file outside its folder")
    return Stored(file, int(entry["bytes"]), str(entry["sha256"]))
