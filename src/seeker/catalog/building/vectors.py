"""Writes .npy files row by row, in bounded memory."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from seeker.catalog.nofollow import new_file, real_folder
from seeker.space.packing import Stored
from seeker.types import Array

_HEADER = 128
"""Room for the header, which can be written only when the count is known; keeps rows aligned."""


class VectorFile:
    """A (items, d) array in a file, made by appending."""

    def __init__(self, path: Path, dimensions: int, dtype: Stored = "float32") -> None:
        real_folder(path.parent)
        self._handle = new_file(path)
        self._handle.write(b"\0" * _HEADER)
        self._dimensions = dimensions
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self.count = 0

    def append(self, vectors: Array) -> None:
        """Add rows at the end, (n, d)."""
        self._handle.write(np.ascontiguousarray(vectors, self._dtype).data)
        self.count += len(vectors)

    def finish(self) -> None:
        """Write the header and bring everything to disk."""
        header = io.BytesIO()
        described = {
            "descr": npy.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self.count, self._dimensions),
        }
        npy.write_array_header_1_0(header, described)
        written = header.getvalue()
        # The length of the header is in bytes 8 and 9; blanks before its final newline are free.
        text = written[10:].rstrip() + b" " * _HEADER
        text = text[: _HEADER - 11] + b"\n"
        self._handle.seek(0)
        self._handle.write(written[:8] + len(text).to_bytes(2, "little") + text)
        self._handle.flush()
        os.fsync(self._handle.fileno())
        self._handle.close()

    def close(self) -> None:
        """Give up the file."""
        self._handle.close()
