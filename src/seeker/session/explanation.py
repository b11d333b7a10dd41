"""Why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seeker.models.base import Evidence, is_text
from seeker.models.protocol import ItemScores
from seeker.session.state import Rating

_SAMPLE_ITEMS = 256


@dataclass(frozen=True)
class ClickShare:
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
    clicks: tuple[ClickShare, ...]


def explain_item(
    item: str, row: int, scores: ItemScores, evidence: Evidence, ratings: Iterable[Rating]
) -> Explanation:
    """Explain the score of the item at a row; ratings: whose clicks they are, in their order."""
    sample = np.linspace(0, scores.count - 1, min(scores.count, _SAMPLE_ITEMS)).astype(np.int64)
    rows = np.concatenate([[row], sample])
    terms = scores.model.terms(evidence, scores.space)
    texts = [term for term in terms if is_text(term)]
    clicks = [term for term in terms if not is_text(term)]
    shares = scores.model.shares(evidence, clicks, lambda some: scores.values(some, rows))
    return Explanation(
        item=item,
        score=float(scores.at(rows[:1])[0]),
        prior=0.0 if scores.log_prior is None else float(scores.log_prior[row]),
        text=float(scores.values(texts, rows[:1])[0, 0] - scores.grid.log_weights[0]),
        clicks=tuple(
            ClickShare(
                item=rating.item,
                verdict="like" if rating.liked else "dislike",
                log_likelihood=float(share[0]),
                pull=float(share[0] - share[1:].mean()),
            )
            for rating, share in zip(ratings, shares, strict=True)
        ),
    )
