"""Runs an ONNX network on all cores, one thing per run.

A batch in one run is no faster on a processor, and it would make a vector depend on the batch it
came in: quantised networks take their scales from the whole batch, and sums are split by threads.
So every run takes one thing on one thread, and the cores share the things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from seeker.embedders.privacy import keep_quiet
from seeker.errors import SeekerError
from seeker.kernels.threads import cores
from seeker.types import Array, Floats

Thing = TypeVar("Thing")


class Network:
    """An ONNX network that can be run by several threads at once."""

    def __init__(self, contents: bytes) -> None:
        keep_quiet()
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


def each(embed: Callable[[Thing], Floats], things: Sequence[Thing], dimensions: int) -> Floats:
    """Return the vectors of things, (n, dimensions) float32, embedded side by side on all cores."""
    vectors = np.empty((len(things), dimensions), np.float32)
    workers = min(cores(), len(things))
    if workers <= 1:
        _fill(vectors, map(embed, things))
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            _fill(vectors, pool.map(embed, things))
    return vectors


def _fill(vectors: Floats, rows: Iterable[Floats]) -> None:
    for row, vector in enumerate(rows):
        vectors[row] = vector
