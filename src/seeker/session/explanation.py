"""Why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from seeker.models.base import Evidence, is_text
from seeker.models.scores import ItemScores
from seeker.session.state import Rating
from seeker.types import Rows

_SAMPLE_ITEMS = 256


@dataclass(frozen=True)
class ClickShare:
    """What one click did for an item.

    log_likelihood: its part in the item's score, in nats. pull: the same compared with the mean
    over the catalog (a sample of it): positive if the click speaks for the item. views: by which
    views it came, as parts of the pull, which they add up to.
    """

    item: str
    verdict: Literal["like", "dislike"]
    log_likelihood: float
    pull: float
    views: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """An item's score in its parts: prior + text + the clicks' log-likelihoods = score.

    The score is the log-posterior before it is normalised. Clicks come in their order. text_pull:
    what words say of the item, compared with the mean over the catalog, as the pull of a click.
    """

    item: str
    score: float
    prior: float
    text: float
    clicks: tuple[ClickShare, ...]
    text_pull: float = 0.0


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
    pulls = [float(share[0] - share[1:].mean()) for share in shares]
    splits = _by_view(scores, evidence, rows, pulls)
    said = scores.values(texts, rows)[0] - scores.grid.log_weights[0]
    return Explanation(
        item=item,
        score=float(scores.at(rows[:1])[0]),
        prior=0.0 if scores.log_prior is None else float(scores.log_prior[row]),
        text=float(said[0]),
        text_pull=float(said[0] - said[1:].mean()),
        clicks=tuple(
            ClickShare(
                item=rating.item,
                verdict="like" if rating.liked else "dislike",
                log_likelihood=float(share[0]),
                pull=pull,
                views=views,
            )
            for rating, share, pull, views in zip(ratings, shares, pulls, splits, strict=True)
        ),
    )


def _by_view(
    scores: ItemScores, evidence: Evidence, rows: Rows, pulls: Sequence[float]
) -> list[dict[str, float]]:
    """Split the pull of every click among the views; rows: the item, and then the sample.

    A view gets its part by how much the click says the same by this view alone, weighed by how much
    the view counts for this item. Where a model has one distance only, that is its mean of views.
    """
    names = [view.name for view in scores.space.views]
    grid = scores.grid
    noises = max(1, len(grid.sigmas))
    logs = scores.values(scores.model.terms(evidence, scores.space), rows[:1])[:, 0]
    theta = np.exp(logs - np.logaddexp.reduce(logs))
    weights = theta.reshape(-1, noises).sum(axis=1) @ grid.mixtures
    alone = [int(np.argmax(grid.mixtures[:, place])) for place in range(len(names))]
    pure = [grid.mixtures[mixture, place] == 1.0 for place, mixture in enumerate(alone)]
    splits = []
    for click, pull in zip(evidence.clicks, pulls, strict=True):
        parts = weights.copy()
        if all(pure) and len(grid.mixtures) > 1:
            some = scores.model.terms(Evidence(clicks=(click,)), scores.space)
            values = scores.values(some, rows) - grid.log_weights[:, None]
            beyond = values[:, 0] - values[:, 1:].mean(axis=1)
            noise = theta.reshape(-1, noises).sum(axis=0)
            single = np.array([beyond.reshape(-1, noises)[mixture] @ noise for mixture in alone])
            agreeing = np.maximum(0.0, np.sign(pull) * single) * weights
            parts = agreeing if agreeing.any() else parts
        splits.append(dict(zip(names, map(float, pull * parts / parts.sum()), strict=True)))
    return splits
