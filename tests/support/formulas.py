"""What models should believe, straight from their formulas, and clicks to try them with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seeker import Session
from seeker.kernels import reference
from seeker.models import Bipartite, Choice, Pairwise, Relative
from seeker.types import Doubles


def twin(session: Session, person: Sequence[Doubles] | None = None) -> Doubles:
    """The log-posterior of a session's clicks straight from the formulas, (items,)."""
    catalog = session.catalog
    model = session.state.start.model
    ratings = session.state.ratings.values()
    vectors = [view.rows(slice(None)) for view in catalog.views.values()]
    if person is not None:
        vectors = [x * c for x, c in zip(vectors, person, strict=True)]
    scales = [
        1.0 if getattr(model, "scale", "unit") == "raw" else reference.mean_squared_distance(x)
        for x in vectors
    ]
    everyone = range(len(catalog))
    full = [reference.distances(x, everyone, s) for x, s in zip(vectors, scales, strict=True)]
    mixed = np.mean(full, axis=0)
    average = mixed.mean(axis=0)
    likes = mixed[[catalog.row(one.item) for one in ratings if one.liked]]
    dislikes = mixed[[catalog.row(one.item) for one in ratings if not one.liked]]
    if isinstance(model, Pairwise):
        total = reference.pairwise(likes, dislikes, average, model.alpha)
    elif isinstance(model, Bipartite):
        total = reference.bipartite(likes, dislikes, average, model.alpha1, model.alpha2)
    else:
        assert isinstance(model, Choice)
        clicks = [
            (catalog.row(one.item), one.liked, [catalog.row(k) for k in one.among])
            for one in ratings
        ]
        total = reference.choice(
            full,
            clicks,
            model.mixtures(len(vectors)),
            model.sigmas,
            model.slip,
            np.exp(model.grid(list(catalog.views)).log_weights),
            model.floor if isinstance(model, Relative) else None,
        )
    return np.asarray(total - np.logaddexp.reduce(total))


def rate(session: Session, likes: int, dislikes: int, seed: int = 1) -> None:
    """Like and dislike that many items picked by chance, each from a screen of its own."""
    rng = np.random.default_rng(seed)
    picked = rng.choice(len(session.catalog), likes + dislikes, replace=False)
    ids = session.catalog.ids  # type: ignore[attr-defined]
    for n, row in enumerate(picked):
        shown = [ids[k] for k in rng.choice(len(ids), 12, replace=False)]
        (session.like if n < likes else session.dislike)(ids[row], shown)
