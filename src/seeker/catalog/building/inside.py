"""Pictures are read from inside one folder and from nowhere else."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from seeker.embedders.formats import SUFFIXES
from seeker.errors import BadInput, NotFound

EXTENSIONS = tuple(sorted(SUFFIXES))
"""What the name of a picture ends with."""


class Inside:
    """Finds files in a folder by names that a table or a folder gives."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def find(self, name: str) -> Path:
        """Return the file a name means; the ending may be missing.

        NotFound if there is none; BadInput if it lies outside the folder or is not a plain file.
        """
        if not name or "\0" in name or len(name) > 4096:
            raise NotFound("no such file")
        if ".." in PurePosixPath(name).parts or ".." in PureWindowsPath(name).parts:
            raise BadInput("the path goes up with '..'")
        for ending in ("", *EXTENSIONS):
            found = self._plain_file(self.root / f"{name}{ending}")
            if found is not None:
                return found
        raise NotFound("no such file")

    def _plain_file(self, path: Path) -> Path | None:
        try:
            resolved = path.resolve(strict=True)
            mode = resolved.stat().st_mode
        except (OSError, RuntimeError, ValueError):
            return None
        if not resolved.is_relative_to(self.root):
            raise BadInput("it lies outside the folder of the source")
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise BadInput("it is not a plain file")
        return resolved
