"""A learned view: a linear map of all other views in which distances explain what people chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seeker.kernels.parallel import over_blocks
from seeker.kernels.simd import LANES
from seeker.learning.observations import Pairs
from seeker.types import Array, Doubles, Floats, Rows


class ChoiceLoss:
    """How badly distances explain clicks: −log P, a mean over clicks, and its derivatives."""

    def __init__(self, pairs: Pairs, slip: float) -> None:
        self.pairs = pairs
        self.slip = slip
        observations = pairs.observations
        self._clicks = observations.clicks
        self._weights = pairs.click_weights / pairs.click_weights.sum()
        self._entry_weights = np.repeat(self._weights, np.diff(observations.offsets))
        both = np.concatenate([pairs.one, pairs.other])
        order = np.argsort(both, kind="stable")
        counts = np.bincount(both, minlength=pairs.items)
        self._offsets: Rows = np.concatenate([[0], np.cumsum(counts)])
        self._others = np.concatenate([pairs.other, pairs.one])[order]
        self._pair_of = order % len(pairs)

    def distances(self, vectors: Array) -> Array:
        """Return the squared distances of all pairs, (pairs,)."""
        return pair_distances(vectors, self.pairs)

    def value(self, distances: Array, sharpness: float) -> float:
        """Return the loss; sharpness: 1 / σ."""
        return self._slopes(distances, sharpness)[0]

    def gradient(self, vectors: Array, sharpness: float) -> tuple[float, Array, float]:
        """Return the loss, its derivatives by the vectors, (items, k), and by log sharpness."""
        from seeker.kernels.pairs import pair_gradient

        loss, slopes, steepness = self._slopes(self.distances(vectors), sharpness)
        of_pairs = np.bincount(
            self.pairs.of_shown, weights=slopes * -self._entry_weights, minlength=len(self.pairs)
        ).astype(vectors.dtype)
        out = np.empty_like(vectors)
        over_blocks(
            len(vectors),
            lambda start, stop: pair_gradient(
                vectors, self._offsets, self._others, self._pair_of, of_pairs, start, stop, out
            ),
        )
        return loss, out, -float(steepness @ self._weights)

    def _slopes(self, distances: Array, sharpness: float) -> tuple[float, Doubles, Doubles]:
        from seeker.kernels.pairs import choice_slopes

        observations = self.pairs.observations
        logs, steepness = np.empty(self._clicks), np.empty(self._clicks)
        slopes = np.empty(len(observations.shown))
        over_blocks(
            self._clicks,
            lambda start, stop: choice_slopes(
                distances,
                observations.offsets,
                self.pairs.of_shown,
                self.pairs.signs,
                sharpness,
                self.slip,
                start,
                stop,
                logs,
                slopes,
                steepness,
            ),
        )
        return -float(logs @ self._weights), slopes, steepness


def pair_distances(vectors: Array, pairs: Pairs) -> Array:
    """Return the squared distances of pairs, (pairs,); vectors: (items, k), k in whole lanes."""
    from seeker.kernels.pairs import pair_distances as kernel

    out = np.empty(len(pairs), vectors.dtype)
    over_blocks(
        len(pairs),
        lambda start, stop: kernel(vectors, pairs.one, pairs.other, start, stop, out),
    )
    return out


def padded(vectors: Array) -> Floats:
    """Return vectors with zeros added up to whole lanes, (items, k) float32."""
    width = -(-vectors.shape[1] // LANES) * LANES
    out = np.zeros((len(vectors), width), np.float32)
    out[:, : vectors.shape[1]] = vectors
    return out


@dataclass(frozen=True, eq=False)
class FittedMatrix:
    """What a fit came to: the matrix, (d, d), 1 / σ, and the loss of the searches held aside."""

    matrix: Floats
    sharpness: float
    loss: float
    rounds: int


def fit_matrix(
    vectors: Floats,
    train: Pairs,
    valid: Pairs,
    ridge: float,
    slip: float = 0.05,
    rate: float = 0.005,
    rounds: int = 60,
    patience: int = 6,
    progress: Callable[[], None] | None = None,
) -> FittedMatrix:
    """Fit W, z = x W, so that distances explain the clicks of `train`, beginning at the identity.

    Minimised by Adam: the mean of −log P(click) + ½ ridge (‖W − I‖² + (log σ)²-change). The W with
    the least loss on `valid` counts; after so many rounds without a better one the fit ends.
    vectors: (items, d), d in whole lanes.
    """
    width = vectors.shape[1]
    loss, held = ChoiceLoss(train, slip), ChoiceLoss(valid, slip)
    matrix = np.eye(width, dtype=np.float32)
    start = np.log(1.0 / 0.15)
    log_sharpness = start
    first, second = np.zeros_like(matrix), np.zeros_like(matrix)
    first_s = second_s = 0.0
    best = FittedMatrix(matrix.copy(), float(np.exp(start)), np.inf, 0)
    for number in range(rounds + 1):
        mapped = vectors @ matrix
        sharpness = float(np.exp(log_sharpness))
        now = held.value(held.distances(mapped), sharpness)
        if now < best.loss:
            best = FittedMatrix(matrix.copy(), sharpness, now, number)
        if number == rounds or number - best.rounds >= patience:
            break
        _, by_vectors, by_sharpness = loss.gradient(mapped, sharpness)
        gradient = vectors.T @ by_vectors
        gradient += np.float32(ridge) * matrix
        gradient[np.diag_indices(width)] -= np.float32(ridge)
        by_sharpness += ridge * (log_sharpness - start)
        first += np.float32(0.1) * (gradient - first)
        second += np.float32(0.001) * (gradient**2 - second)
        first_s += 0.1 * (by_sharpness - first_s)
        second_s += 0.001 * (by_sharpness**2 - second_s)
        c1, c2 = 1.0 - 0.9 ** (number + 1), 1.0 - 0.999 ** (number + 1)
        matrix -= np.float32(rate / c1) * first / (np.sqrt(second / np.float32(c2)) + 1e-8)
        log_sharpness -= rate / c1 * first_s / (np.sqrt(second_s / c2) + 1e-8)
        if progress is not None:
            progress()
    return best
