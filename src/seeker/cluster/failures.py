"""What can go wrong between the front and its shards."""

from __future__ import annotations

from collections.abc import Sequence

from seeker.errors import SeekerError


class ShardsSilent(SeekerError):
    """Some shards did not answer in time; nothing was lost, and the same may be asked again."""

    exit_code = 6
    http_status = 503
    title = "Part of the catalog does not answer"

    def __init__(self, shards: Sequence[int], of: int, why: str = "") -> None:
        named = ", ".join(str(shard) for shard in shards)
        reason = f" ({why})" if why else ""
        super().__init__(
            f"{len(shards)} of {of} shards did not answer in time: number {named}{reason}.",
            "Nothing was lost; try again in a few seconds.",
        )
        self.shards = tuple(shards)


class NoCluster(SeekerError):
    """The cluster cannot be reached or started."""

    exit_code = 6
    http_status = 503
    title = "The cluster cannot be reached"
