"""One catalog over many shards: each holds some of the rows, the front merges what they answer.

Scores of items do not depend on one another, and noise is keyed by an item's place in the whole
catalog. So a shard can compute the exact place values of its own items, and the best of all is
the best of what the shards call their best: the page is the one that a single machine shows.

Every question to a shard holds all of the session that matters for the answer. What a shard keeps
between questions only makes the next answer cheaper, so a shard that was killed and started again
answers as if nothing had happened.
"""

from seeker.cluster.finder import ClusterCatalog
from seeker.cluster.fleet import Fleet, FleetHealth, ShardsSilentError
from seeker.cluster.shard import InProcessShards

__all__ = ["ClusterCatalog", "Fleet", "FleetHealth", "InProcessShards", "ShardsSilentError"]
