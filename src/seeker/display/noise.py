"""Keyed noise: pure functions of (session seed, step, item), and the values that it makes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seeker.space.columns import DirectionProbe
from seeker.types import Doubles, Rows

if TYPE_CHECKING:
    from seeker.display.base import RankingInputs
    from seeker.space import Space


_MASK = 2**64 - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64."""

RANKING, PLACE, PICK, COVER, WAVE = range(5)
"""What a stream of noise is for."""


def _mix(z: int) -> int:
    z = (z + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def stream_key(seed: int, step: int, purpose: int, place: int = 0) -> np.uint64:
    """Return the key of a stream of noise."""
    value = seed & _MASK
    for part in (seed >> 64, step, purpose, place):
        value = _mix(value ^ _mix(part & _MASK))
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


class KeyedNoise:
    """(width · γ + wave) / √n of items, γ ~ Gumbel(0, 1): the same for the same seed and step.

    per_click: n = 1 + clicks on the item so far; otherwise n = 1. wave: noise beside it that is
    alike for items that are alike. key: of the stream of γ. clicked: the items that have less noise
    than others, by row.
    """

    def __init__(
        self, context: RankingInputs, width: float, per_click: bool, wave: WaveNoise | None = None
    ) -> None:
        self.width = width
        self.wave = wave
        self.key = stream_key(context.seed, context.step, RANKING)
        self._first = context.first
        noisy = width > 0.0 or wave is not None
        clicks = dict(sorted(context.clicks.items())) if per_click and noisy else {}
        self.clicked: Rows = np.fromiter(clicks, np.int64, len(clicks))
        self._calmer: Doubles = np.sqrt(1.0 + np.fromiter(clicks.values(), np.float64, len(clicks)))

    def at(self, rows: Rows, clicked: bool = True) -> Doubles:
        """Return the noise of some items, (rows,); clicked: whether any of them may have been."""
        from seeker.kernels.noise import gumbel

        noise = np.zeros(len(rows))
        if self.width > 0.0:
            gumbel(self.key, rows + self._first, noise)
            noise *= self.width
        if self.wave is not None:
            noise += self.wave.at(rows)
        if clicked and len(self.clicked):
            place = np.minimum(self.clicked.searchsorted(rows), len(self.clicked) - 1)
            noise /= np.where(self.clicked[place] == rows, self._calmer[place], 1.0)
        return noise


class Wave(NamedTuple):
    """What noise that is alike for items that are alike is made of.

    spread: its standard deviation. reach: two items at a distance D, in units of the catalog's mean
    squared distance, are correlated by about exp(−D / reach).
    """

    spread: float
    reach: float


class WaveNoise:
    """Noise that is alike for items that are alike: a wave through the views, by seed and step.

    The wave rises and falls evenly between ± spread · √3 along one direction of the views, which
    goes forth or back on every axis by a keyed coin. It begins at a keyed place, so that an item's
    noise is even between these two. Sums run in one order, and the rest is exact or rounded once:
    the same bits on every processor.
    """

    def __init__(self, context: RankingInputs, space: Space, wave: Wave) -> None:
        self._space = space
        self._height = wave.spread * math.sqrt(3.0)
        self._probes: list[DirectionProbe] = []
        count = len(space.views)
        for place, view in enumerate(space.views):
            key = stream_key(context.seed, context.step, WAVE, place)
            # A Gaussian of waves of this length would be correlated by exactly exp(−D / reach).
            length = math.sqrt(2.0 / wave.reach / (view.scale * count)) / (2.0 * math.pi)
            coins = np.where(uniforms(key, view.dimensions) < 0.5, -length, length)
            self._probes.append(DirectionProbe(place, tuple(coins.tolist()), plain=True))
        begin = stream_key(context.seed, context.step, WAVE, count)
        self._begin = float(uniforms(begin, 1)[0])

    @property
    def most(self) -> float:
        """No item has more."""
        return (1.0 + 1e-6) * self._height

    def at(self, rows: Rows) -> Doubles:
        """Return the noise of some items, (rows,)."""
        turns = np.full(len(rows), self._begin)
        for probe in self._probes:
            turns += self._space.direction(probe, rows)
        turns -= np.floor(turns)
        return self._height * (4.0 * np.abs(turns - 0.5) - 1.0)


def noisy_probabilities(
    scores: Doubles, log_total: float, noise: KeyedNoise, rows: Rows
) -> Doubles:
    """Return posterior + noise of some items, (rows,).

    scores: of these, (rows,). log_total: the log of the sum of e**score over the whole catalog.
    """
    return np.exp(scores - log_total) + noise.at(rows)


def shuffle_values(context: RankingInputs, rows: Rows) -> Doubles:
    """Return the noise by which some items are ordered, (rows,)."""
    key = stream_key(context.seed, context.step, RANKING)
    return uniforms_at(key, rows + context.first)
