"""What is learned from: the clicks of searches of which the target is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seeker.errors import BadInput
from seeker.types import Array, Doubles, Rows


@dataclass(frozen=True, eq=False)
class Observations:
    """Clicks of searches that ended with *found*, by rows of the items that take part.

    targets: (searches,), what was found. weights: (searches,), how much each counts. searches:
    (clicks,), to which search a click belongs, from 0, never falling. liked: (clicks,). shown:
    what was on screen and not judged yet, the clicked item first, of click c at offsets[c] :
    offsets[c + 1]; offsets: (clicks + 1,). Clicks on or among the target itself may be there: it
    is 0 away from itself.
    """

    targets: Rows
    weights: Doubles
    searches: Rows
    liked: NDArray[np.bool_]
    offsets: Rows
    shown: Rows

    def __post_init__(self) -> None:
        clicks = len(self.searches)
        if len(self.weights) != len(self.targets) or len(self.liked) != clicks:
            raise BadInput("The arrays of the observations do not fit together.")
        if len(self.offsets) != clicks + 1 or (np.diff(self.offsets) < 1).any():
            raise BadInput("Every click must have an item that was shown.")
        if clicks and (np.diff(self.searches) < 0).any():
            raise BadInput("The clicks must be in the order of their searches.")

    def __len__(self) -> int:
        """How many searches there are."""
        return len(self.targets)

    @property
    def clicks(self) -> int:
        """How many clicks there are."""
        return len(self.searches)

    @property
    def rows(self) -> Rows:
        """The items that take part, each once, in their order."""
        return np.unique(np.concatenate([self.targets, self.shown]))

    @classmethod
    def of(
        cls,
        searches: Iterable[tuple[int, float, Sequence[tuple[bool, Sequence[int]]]]],
    ) -> Observations:
        """Gather searches: (target, weight, clicks) each; a click: (liked, rows, its own first)."""
        targets, weights, which, liked, lengths = [], [], [], [], []
        shown: list[int] = []
        for number, (target, weight, clicks) in enumerate(searches):
            targets.append(target)
            weights.append(weight)
            for like, among in clicks:
                which.append(number)
                liked.append(like)
                lengths.append(len(among))
                shown.extend(among)
        return cls(
            np.array(targets, np.int64),
            np.array(weights, np.float64),
            np.array(which, np.int64),
            np.array(liked, bool),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array(shown, np.int64),
        )

    def subset(self, chosen: Array) -> Observations:
        """Return some of the searches, by a mask, (searches,), or by their numbers, ascending."""
        keep = np.zeros(len(self), bool)
        keep[chosen] = True
        clicks = keep[self.searches]
        lengths = np.diff(self.offsets)
        return Observations(
            self.targets[keep],
            self.weights[keep],
            (np.cumsum(keep) - 1)[self.searches[clicks]],
            self.liked[clicks],
            np.concatenate([[0], np.cumsum(lengths[clicks])]).astype(np.int64),
            self.shown[np.repeat(clicks, lengths)],
        )

    def reindexed(self, rows: Rows) -> Observations:
        """Return the same with items numbered by their place in `rows`, which are ascending."""
        return Observations(
            np.searchsorted(rows, self.targets),
            self.weights,
            self.searches,
            self.liked,
            self.offsets,
            np.searchsorted(rows, self.shown),
        )


class Pairs:
    """The different pairs (shown item, target) of observations, each of which has one distance.

    one, other: (pairs,) rows. of_shown: (shown,), the pair of every entry of `observations.shown`.
    signs: (clicks,), 1 for a like and −1 for a dislike.
    """

    def __init__(self, observations: Observations, items: int) -> None:
        self.observations = observations
        lengths = np.diff(observations.offsets)
        target = np.repeat(observations.targets[observations.searches], lengths)
        keys, self.of_shown = np.unique(observations.shown * items + target, return_inverse=True)
        self.one, self.other = keys // items, keys % items
        self.signs = np.where(observations.liked, 1.0, -1.0)
        self.click_weights = observations.weights[observations.searches]
        self.items = items

    def __len__(self) -> int:
        return len(self.one)
