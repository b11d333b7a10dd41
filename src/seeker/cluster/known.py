"""A moment of a session as the front knows it, and what of it each shard must be told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from seeker.cluster.messages import Lacking, Moment, Supply
from seeker.cluster.prior import Prior
from seeker.cluster.priorpart import PriorPart
from seeker.cluster.ranges import Range
from seeker.cluster.space import FrontSpace
from seeker.types import Doubles, Floats


@dataclass(eq=False)
class Told:
    """What one session's front has told each shard so far; a hint only, for shards may forget.

    space: where vectors are read.
    """

    space: FrontSpace
    vectors: dict[int, set[int]] = field(default_factory=dict)
    priors: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Known:
    """A moment of a session as the front knows it, with what shards may have to be told."""

    moment: Moment
    prior: Prior | None
    told: Told

    def supply(self, shard: int, rows: Range, lacking: Lacking) -> Supply:
        """Return what a shard probably does not know yet, and what it says it lacks."""
        told = self.told.vectors.setdefault(shard, set())
        told.difference_update(lacking.rows)
        wanted = dict.fromkeys((*self.moment.rows, *lacking.rows))
        new = [row for row in wanted if row not in told and row not in rows]
        told.update(new)
        vectors = {row: self.told.space.vectors(row) for row in new}
        return Supply(vectors, self._part(shard, lacking))

    def _part(self, shard: int, lacking: Lacking) -> PriorPart | None:
        """Return a shard's part of the prior, unless it knows it."""
        if self.prior is None:
            return None
        if not lacking.prior and self.told.priors.get(shard) == self.prior.name:
            return None
        self.told.priors[shard] = self.prior.name
        return self.prior.parts[shard]


def key_of(
    seed: int,
    model: object,
    person: Mapping[str, Doubles] | None,
    departed: Sequence[Mapping[str, Floats]],
) -> str:
    """Return a name for what a shard keeps of a session; other fronts find it, too."""
    digest = hashlib.sha256(repr((seed, model)).encode())
    for one in ([] if person is None else [person], departed):
        for by_view in one:
            for name in sorted(by_view):
                digest.update(repr((name, by_view[name].shape)).encode())
                digest.update(by_view[name].tobytes())
    return digest.hexdigest()[:32]
