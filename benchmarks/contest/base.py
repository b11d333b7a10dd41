"""What a contestant is: it is built in stages, and after each it can be asked in some ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Vectors

PAGE = 12


@dataclass(frozen=True)
class Click:
    """A verdict on an item while some items were shown; all are rows."""

    item: int
    liked: bool
    shown: list[int]


@dataclass(frozen=True)
class Round:
    """Eight likes and eight dislikes, as a search for some target brought them about.

    seed: of the session that showed the pages.
    """

    seed: int
    clicks: list[Click]

    @property
    def likes(self) -> list[int]:
        """Rows of the liked items."""
        return [click.item for click in self.clicks if click.liked]

    @property
    def dislikes(self) -> list[int]:
        """Rows of the disliked items."""
        return [click.item for click in self.clicks if not click.liked]


def average(vectors: Vectors, round: Round) -> Vectors:
    """Return the one vector that stands for a round, (dimensions,): 2 · likes − dislikes.

    This is Qdrant's formula; engines that only know one query vector are asked for its neighbours.
    """
    liked = vectors[round.likes].mean(axis=0)
    return np.asarray(2.0 * liked - vectors[round.dislikes].mean(axis=0), np.float32)


def nearest(vectors: Vectors, query: Vectors, norms: NDArray[np.float32]) -> list[int]:
    """Return the rows of the nearest neighbours by brute force: the truth for averaged vectors."""
    away = norms - 2.0 * (vectors @ query)
    best = np.argpartition(away, PAGE)[:PAGE]
    return [int(row) for row in best[np.argsort(away[best])]]


def same(round: Round) -> Any:
    """Prepare nothing."""
    return round


@dataclass(frozen=True)
class Way:
    """One way to ask for twelve results; only `ask` is timed.

    truth: the exact answer to the same question, for ways that are not exact.
    """

    name: str
    exact: bool
    ask: Callable[[Any], list[int]]
    prepare: Callable[[Round], Any] = same
    truth: Callable[[Round], list[int]] | None = None


class Contestant:
    """Something that answers rounds."""

    name: str
    packages: tuple[str, ...] = ()
    copies: bool = False
    """Whether it keeps a copy of the vectors, so that ours can be let go."""

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Build, and yield what was built with the ways to ask; building time runs in between."""
        raise NotImplementedError

    def processes(self) -> list[int]:
        """Return the ids of processes beside this one that hold its memory."""
        return []
