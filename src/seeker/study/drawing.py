"""What is drawn for a participant: pure functions of the study's seed and the person's number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker.study.cells import Cell

_CELLS, _TARGETS, _SEEDS = range(3)


def cell_of(cells: Sequence[Cell], seed: int, person: int, trial: int, trials: int) -> Cell:
    """Return the cell of a person's trial: chance, but balanced.

    All trials of all people stand in one row; each run of as many trials as there are cells holds
    every cell once, in an order of its own. So at any time the cells differ by one trial at most,
    as far as people complete theirs.
    """
    slot = person * trials + trial
    block, place = divmod(slot, len(cells))
    order = np.random.default_rng([seed, _CELLS, block]).permutation(len(cells))
    return cells[int(order[place])]


def target_of(items: int, seed: int, person: int, trial: int, trials: int) -> int:
    """Return the row of the target of a person's trial: drawn evenly, none twice for a person."""
    rng = np.random.default_rng([seed, _TARGETS, person])
    return int(rng.choice(items, min(trials, items), replace=False)[trial])


def seed_of(seed: int, person: int, trial: int) -> int:
    """Return the seed of the search of a person's trial."""
    return int(np.random.default_rng([seed, _SEEDS, person, trial]).integers(2**53))
