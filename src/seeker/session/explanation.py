"""Why an item stands where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Share:
    """What one click did for an item.

    log_likelihood: its part in the item's score, in nats, never positive. pull: the same compared
    with the mean over the catalog (a sample of it): positive if the click speaks for the item.
    """

    item: str
    verdict: Literal["like", "dislike"]
    log_likelihood: float
    pull: float


@dataclass(frozen=True)
class Explanation:
    """An item's score in its parts: prior + text + the clicks' log-likelihoods = score.

    The score is the log-posterior before it is normalised. Clicks come in their order.
    """

    item: str
    score: float
    prior: float
    text: float
    clicks: tuple[Share, ...]
