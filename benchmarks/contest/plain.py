"""Two measures to judge by: numpy written plainly, and one reading of the memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.contest.base import PAGE, Contestant, Round, Way, average, nearest
from benchmarks.datasets import Vectors
from benchmarks.timing import MemoryReader


class Numpy(Contestant):
    """What one would write first: all distances by matrix products, all pairs, one partition."""

    name = "numpy"
    packages = ("numpy",)

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Compute the squared lengths once."""
        norms = np.einsum("ij,ij->i", vectors, vectors)

        def pairwise(round: Round) -> list[int]:
            rated = vectors[round.likes + round.dislikes]
            away = norms[:, None] - 2.0 * (vectors @ rated.T) + norms[round.likes + round.dislikes]
            score = np.zeros(len(vectors), np.float32)
            for i in range(len(round.likes)):
                for j in range(len(round.likes), len(round.likes) + len(round.dislikes)):
                    score -= np.logaddexp(np.float32(0.0), away[:, i] - away[:, j])
            best = np.argpartition(score, -PAGE)[-PAGE:]
            return [int(row) for row in best[np.argsort(-score[best])]]

        def averaged(round: Round) -> list[int]:
            return nearest(vectors, average(vectors, round), norms)

        yield "norms", [Way("pairwise", True, pairwise), Way("averaged vector", True, averaged)]


class Memory(Contestant):
    """One reading of all vectors, doing next to nothing with them: no exact pass can be quicker."""

    name = "one pass over the memory"

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Prepare the reading."""
        read = MemoryReader(vectors)

        def ask(round: Round) -> list[int]:
            read()
            return []

        yield "nothing", [Way("read only", True, ask)]
