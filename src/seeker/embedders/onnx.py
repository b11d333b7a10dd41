"""ONNX networks: written to files, and run on all cores, one thing per run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from seeker.embedders.base import disable_telemetry
from seeker.errors import SeekerError
from seeker.kernels.parallel import cores
from seeker.types import Array, Floats

_OPSET, _IR_VERSION = 13, 7
_FLOAT = 1  # TensorProto.DataType
_INT, _STRING, _INTS = 2, 3, 7  # AttributeProto.AttributeType

Attribute = int | str | Sequence[int]


class OnnxGraph:
    """A network under construction: nodes and constants, each known by a name."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, values: Floats) -> str:
        """Add an array of float32 and return its name."""
        dims = b"".join(_number(1, size) for size in values.shape)
        raw = np.ascontiguousarray(values, dtype="<f4").tobytes()
        self._constants.append(dims + _number(2, _FLOAT) + _text(8, name) + _bytes(9, raw))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Attribute) -> str:
        """Add an operation and return the name of its output."""
        node = b"".join(_text(1, one) for one in inputs) + _text(2, output)
        node += _text(3, output) + _text(4, kind)
        for name, value in attributes.items():
            node += _bytes(5, _attribute(name, value))
        self._nodes.append(node)
        return output

    def file(
        self, inputs: Mapping[str, Sequence[int | str]], outputs: Mapping[str, Sequence[int | str]]
    ) -> bytes:
        """Return the ONNX file; shapes are given by name, a text for a size left open."""
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _text(2, "network")
        graph += b"".join(_bytes(5, constant) for constant in self._constants)
        graph += b"".join(_bytes(11, _value(*one)) for one in inputs.items())
        graph += b"".join(_bytes(12, _value(*one)) for one in outputs.items())
        opset = _number(2, _OPSET)
        header = _number(1, _IR_VERSION) + _text(2, "seeker")
        return header + _bytes(7, graph) + _bytes(8, opset)


def _attribute(name: str, value: Attribute) -> bytes:
    """Write an AttributeProto."""
    start = _text(1, name)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, _INT)
    if isinstance(value, str):
        return start + _text(4, value) + _number(20, _STRING)
    return start + b"".join(_number(8, one) for one in value) + _number(20, _INTS)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    """Write a ValueInfoProto of a float32 tensor."""
    dims = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    tensor = _number(1, _FLOAT) + _bytes(2, dims)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _varint(value: int) -> bytes:
    """Write a whole number, seven bits at a time, the lowest first."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


Input = TypeVar("Input")


class OnnxNetwork:
    """An ONNX network that can be run by several threads at once."""

    def __init__(self, contents: bytes) -> None:
        disable_telemetry()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                contents, options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # the runtime's errors have no common base of their own
            raise SeekerError(
                f"ONNX Runtime cannot load a network ({' '.join(str(problem).split())[:200]})."
            ) from None
        self.inputs = [one.name for one in self._session.get_inputs()]

    def run(self, inputs: dict[str, Array]) -> Array:
        """Return the first output for one thing."""
        output: Array = self._session.run(None, inputs)[0]
        return output


def embed_each(
    embed: Callable[[Input], Floats], inputs: Sequence[Input], dimensions: int
) -> Floats:
    """Return the vectors of inputs, (n, dimensions) float32, embedded side by side on all cores."""
    vectors = np.empty((len(inputs), dimensions), np.float32)
    workers = min(cores(), len(inputs))
    if workers <= 1:
        _fill(vectors, map(embed, inputs))
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            _fill(vectors, pool.map(embed, inputs))
    return vectors


def _fill(vectors: Floats, rows: Iterable[Floats]) -> None:
    for row, vector in enumerate(rows):
        vectors[row] = vector
