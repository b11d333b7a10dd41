"""What a person sees: a space of their own, never exactly the system's, and never without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seeker.errors import BadInput
from seeker.types import Array, Doubles, Floats, Rows

_SAMPLE_ITEMS = 2048


@dataclass(frozen=True, eq=False)
class Sense:
    """One thing a person attends to: vectors, (items, d), or one label per item, (items,).

    Distances in vectors are squared and scaled so that two random items are 1 apart on average;
    two labels are 0 apart where they are the same and 1 where they differ. An empty label is like
    no other.
    """

    name: str
    values: Array
    weight: float = 1.0

    @property
    def is_label(self) -> bool:
        """Whether this sense compares labels."""
        return self.values.ndim == 1


class Perception:
    """A person's distances: D(i, t) = e^(noise · normal) · Σ weight · D_sense(i, t)."""

    def __init__(self, senses: Sequence[Sense], noise: float = 0.15) -> None:
        if not senses:
            raise BadInput("A person must perceive something.", "Give at least one sense.")
        counts = {len(sense.values) for sense in senses}
        if len(counts) > 1:
            raise BadInput(f"The senses see {sorted(counts)} items, but all must see the same.")
        if not 0.0 <= noise < 10.0:
            raise BadInput(f"noise is {noise!r}, but it must be a number of at least 0.")
        self.senses = tuple(senses)
        self.noise = noise
        self.count = counts.pop()
        self._values = [_scale(sense) for sense in self.senses]

    def distances(self, target: int, rows: Rows) -> Doubles:
        """Return the distances of some items from the target, (rows,)."""
        total = np.zeros(len(rows))
        for sense, values in zip(self.senses, self._values, strict=True):
            if sense.is_label:
                same = (values[rows] == values[target]) & (values[target] != "")
                total += sense.weight * ~same
            else:
                total += sense.weight * ((values[rows] - values[target]) ** 2).sum(axis=1)
        return total

    def noisy_distances(self, target: int, rows: Rows, rng: np.random.Generator) -> Doubles:
        """Return the distances of some items from the target with noise, (rows,)."""
        return self.distances(target, rows) * np.exp(self.noise * rng.standard_normal(len(rows)))

    def quantiles(self, target: int, shares: Sequence[float]) -> Doubles:
        """Return how near the nearest shares of the catalog are to the target, (shares,)."""
        rows = np.linspace(0, self.count - 1, min(self.count, _SAMPLE_ITEMS)).astype(np.int64)
        return np.quantile(self.distances(target, rows[rows != target]), shares)

    def vectors(self) -> Floats:
        """Return vectors, (items, d), whose squared distances are this person's without noise."""
        parts = [
            np.sqrt(sense.weight) * (label_vectors(values) if sense.is_label else values)
            for sense, values in zip(self.senses, self._values, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def of_search(self, seed: int) -> Perception:
        """Return what is seen by the person of one search: the same by all."""
        return self

    def settings(self) -> dict[str, Any]:
        """Return what this perception is made of, as plain values."""
        return {
            "senses": {sense.name: sense.weight for sense in self.senses},
            "noise": self.noise,
        }


class Crowd(Perception):
    """People who differ: the same senses, each person with weights of their own.

    The weights of a person are drawn evenly from all mixtures, and sum to those of `senses`. Who
    searches is drawn for every search.
    """

    def __init__(self, senses: Sequence[Sense], people: int, noise: float = 0.15) -> None:
        super().__init__(senses, noise)
        total = sum(sense.weight for sense in senses)
        shares = np.random.default_rng([people, len(senses)]).dirichlet(
            np.ones(len(senses)), people
        )
        self.people = [
            Perception(
                [
                    replace(sense, weight=float(weight))
                    for sense, weight in zip(senses, total * share, strict=True)
                ],
                noise,
            )
            for share in shares
        ]

    def of_search(self, seed: int) -> Perception:
        return self.people[who_searches(seed, len(self.people))]

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "people": len(self.people)}


def who_searches(seed: int, people: int) -> int:
    """Return by which of so many people the search with this seed is."""
    return int(np.random.default_rng([seed, people]).integers(people))


def label_vectors(labels: Array) -> Floats:
    """Return labels as vectors, (items, d): 0 apart in squared distance if the same, else 1.

    Every item without a label has an axis of its own, for it is like no other.
    """
    names = [str(one) or f"\n{row}" for row, one in enumerate(labels)]
    _, axis = np.unique(names, return_inverse=True)
    vectors = np.zeros((len(names), int(axis.max()) + 1), np.float32)
    vectors[np.arange(len(names)), axis] = np.sqrt(0.5)
    return vectors


def distort(views: Mapping[str, Array], seed: int, strength: float = 1.0) -> list[Sense]:
    """Make senses for a catalog of which nothing but the system's own views is known.

    Every view is turned to its principal axes, each axis is stretched by a log-normal factor
    e^(strength · normal), and half the axes are not seen at all: kindred, but not the same.
    """
    senses = []
    for place, (name, vectors) in enumerate(views.items()):
        rng = np.random.default_rng([seed, place])
        centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0)
        sample = centred[np.linspace(0, len(centred) - 1, min(len(centred), 4096)).astype(int)]
        axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1][:, :256]
        stretch = np.exp(strength * rng.standard_normal(axes.shape[1]))
        if len(stretch) > 1:
            stretch *= rng.permutation(len(stretch)) < (len(stretch) + 1) // 2
        senses.append(Sense(f"{name}, distorted", (centred @ axes * stretch).astype(np.float32)))
    return senses


def _scale(sense: Sense) -> Array:
    """Return labels as texts, or vectors in which two random items are 1 apart on average."""
    if sense.is_label:
        return np.array([str(one) for one in sense.values])
    vectors: Floats = np.asarray(sense.values, np.float32)
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise BadInput(
            f"The sense '{sense.name}' is not a matrix of finite numbers.",
            "Give vectors of shape (items, dimensions), or one label per item.",
        )
    mean_square = 2.0 * float(vectors.var(axis=0, dtype=np.float64).sum())
    return vectors / np.float32(np.sqrt(mean_square or 1.0))
