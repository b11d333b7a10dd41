"""A learned view: a linear map of all other views in which distances explain what people chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seeker.kernels.dots import LANES
from seeker.kernels.parallel import over_blocks
from seeker.learning.observations import Pairs
from seeker.types import Array, Doubles, Floats, Rows


class ChoiceLoss:
    """How badly distances explain clicks: −log P, a mean over clicks, and its derivatives."""

    def __init__(self, pairs: Pairs, slip: float, floor: float) -> None:
        """slip, floor: as in `seeker.models.Relative`; without a floor, as in `Choice`."""
        self.pairs = pairs
        self.slip = slip
        self.floor = floor
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
                self.floor,
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
    """What a fit came to: the matrix, (d, d), 1 / σ, the loss of what was held aside, rounds."""

    matrix: Floats
    sharpness: float
    loss: float
    rounds: int


FIRST_SIGMA = 0.15
"""The noise with which a fit begins."""

STEP = 0.05
"""How far a round moves the matrix in every direction, as a share of the identity."""

MOMENTUM = 0.9


def fit_matrix(
    vectors: Floats,
    train: Pairs,
    valid: Pairs | None,
    ridge: float,
    slip: float,
    floor: float,
    rounds: int = 40,
    patience: int = 6,
    progress: Callable[[], None] | None = None,
) -> FittedMatrix:
    """Fit W, z = x W, so that distances explain the clicks of `train`, beginning at the identity.

    Minimised is the mean of −log P(click) + ½ ridge ‖W − I‖², σ being fitted with it. A round moves
    W by the same length in all directions: by the gradient made orthogonal. Few clicks say much
    about few directions, and a step in proportion to the gradient would follow only these. The W
    with the least loss on `valid` counts; after so many rounds without a better one the fit ends.
    Without `valid`, it is that of the last round. vectors: (items, d), d in whole lanes.
    """
    width = vectors.shape[1]
    loss = ChoiceLoss(train, slip, floor)
    held = None if valid is None else ChoiceLoss(valid, slip, floor)
    matrix = np.eye(width, dtype=np.float32)
    log_sharpness = -float(np.log(FIRST_SIGMA))
    speed = np.zeros_like(matrix)
    mean, square = 0.0, 0.0
    best = FittedMatrix(matrix, float(np.exp(log_sharpness)), np.inf, 0)
    for number in range(rounds + 1):
        mapped = vectors @ matrix
        sharpness = float(np.exp(log_sharpness))
        now = -number if held is None else held.value(held.distances(mapped), sharpness)
        if now < best.loss:
            best = FittedMatrix(matrix.copy(), sharpness, now, number)
        if number == rounds or number - best.rounds >= patience:
            break
        _, by_vectors, by_sharpness = loss.gradient(mapped, sharpness)
        gradient = vectors.T @ by_vectors
        gradient += np.float32(ridge) * matrix
        gradient[np.diag_indices(width)] -= np.float32(ridge)
        speed = np.float32(MOMENTUM) * speed + gradient
        matrix -= np.float32(STEP) * orthogonal(gradient + np.float32(MOMENTUM) * speed)
        mean += 0.1 * (by_sharpness - mean)
        square += 0.001 * (by_sharpness**2 - square)
        low, lower = 1.0 - 0.9 ** (number + 1), 1.0 - 0.999 ** (number + 1)
        log_sharpness -= 0.01 / low * mean / (np.sqrt(square / lower) + 1e-8)
        if progress is not None:
            progress()
    return best


def orthogonal(matrix: Floats) -> Floats:
    """Return about the nearest orthogonal matrix: all singular values near 1, same directions.

    Five rounds of a polynomial that takes singular values from 0.01 to 1 to between 0.7 and 1.2
    (the Newton–Schulz iteration as K. Jordan uses it in Muon, 2024).
    """
    out = matrix / np.float32(np.linalg.norm(matrix) + 1e-12)
    a, b, c = np.float32(3.4445), np.float32(-4.7750), np.float32(2.0315)
    for _ in range(5):
        square = out @ out.T
        out = a * out + (b * square + c * (square @ square)) @ out
    return np.asarray(out, np.float32)
