"""Weights that come inside packages of the Python registry, read without PyTorch."""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
from collections import OrderedDict
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from seeker.errors import BadInput, SeekerError, install_hint
from seeker.types import Array

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_TYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


@dataclass(frozen=True)
class _Storage:
    """A run of numbers that comes later in the file."""

    key: str
    dtype: np.dtype[Any]
    count: int


@dataclass(frozen=True)
class _Tensor:
    """A piece of a storage; stride: how many numbers apart neighbours lie, per dimension."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


class _Reader(pickle.Unpickler):
    """An unpickler that knows four names and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Answer a name with a harmless part, or refuse the file."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise BadInput(f"The weights ask for '{module}.{name}', which is not allowed.")

    def persistent_load(self, pid: Any) -> _Storage:
        """Note a storage that will follow."""
        kind, dtype, key, _, count, view = pid
        if kind != "storage" or view is not None:
            raise BadInput("The weights hold something other than plain tensors.")
        return _Storage(str(key), dtype, int(count))


def _tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> _Tensor:
    """Note a tensor, if all of it lies within its storage."""
    whole = (offset, *shape, *stride)
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    if min(whole) < 0 or 0 in shape or last >= storage.count:
        raise BadInput("The weights hold a tensor that reaches beyond its numbers.")
    return _Tensor(storage, offset, tuple(shape), tuple(stride))


def read_checkpoint(contents: bytes) -> dict[str, Array]:
    """Return the tensors of a checkpoint by name, as read-only arrays."""
    file = io.BytesIO(contents)
    try:
        magic, protocol, system = (_Reader(file).load() for _ in range(3))
        if magic != _MAGIC or protocol != _PROTOCOL or not system["little_endian"]:
            raise BadInput("The weights are not in the legacy PyTorch format.")
        tensors = _Reader(file).load()
        keys = _Reader(file).load()
        storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
        numbers = {}
        for key in keys:
            storage = storages[key]
            (count,) = struct.unpack("<q", file.read(8))
            if count != storage.count:
                raise BadInput("The weights hold a storage of another length than declared.")
            raw = file.read(count * storage.dtype.itemsize)
            numbers[key] = np.frombuffer(raw, storage.dtype, count)
        return {name: _array(tensor, numbers) for name, tensor in tensors.items()}
    except BadInput:
        raise
    except Exception as problem:  # a damaged pickle can raise nearly anything
        raise BadInput(f"The weights cannot be read ({type(problem).__name__}).") from None


def _array(tensor: _Tensor, numbers: dict[str, Array]) -> Array:
    """Return a tensor as an array, (shape of the tensor)."""
    flat = numbers[tensor.storage.key][tensor.offset :]
    steps = tuple(step * flat.itemsize for step in tensor.stride)
    return np.lib.stride_tricks.as_strided(flat, tensor.shape, steps, writeable=False)


def read_weights(package: str, distribution: str, path: str, checksum: str) -> bytes:
    """Return a file inside a package, which is found but never imported.

    package: its name in Python; distribution: its name in the registry; checksum: SHA-256.
    """
    hint = install_hint("--force-reinstall", "--no-deps", distribution)
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SeekerError(f"The package '{distribution}' is missing.", hint)
    try:
        contents = (Path(spec.origin).parent / path).read_bytes()
    except OSError:
        raise SeekerError(
            f"The package '{distribution}' does not hold the file '{path}'.", hint
        ) from None
    if hashlib.sha256(contents).hexdigest() != checksum:
        raise SeekerError(
            f"The file '{path}' of the package '{distribution}' is not the expected one.", hint
        )
    return contents
