"""Keys for the noise: pure functions of a session's seed, the step and what the noise is for."""

from __future__ import annotations

import numpy as np

from seeker.types import Doubles, Rows

_MASK = 2**64 - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64."""

RANKING, PLACE, PICK, COVER = range(4)
"""What a stream of noise is for."""


def _mixed(z: int) -> int:
    z = (z + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def key(seed: int, step: int, purpose: int, place: int = 0) -> np.uint64:
    """Return the key of a stream of noise."""
    value = seed & _MASK
    for part in (seed >> 64, step, purpose, place):
        value = _mixed(value ^ _mixed(part & _MASK))
    return np.uint64(value)


def uniforms(stream: np.uint64, count: int) -> Doubles:
    """Return the first numbers in (0, 1) of a stream, (count,): as `kernels.noise.uniform`."""
    return uniforms_at(stream, np.arange(count))


def uniforms_at(stream: np.uint64, places: Rows) -> Doubles:
    """Return the numbers in (0, 1) at some places of a stream, (places,)."""
    z = stream + (places.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
