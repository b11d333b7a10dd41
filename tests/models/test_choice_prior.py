"""What the choice model believes of a person before any click: that they look at things broadly."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seeker import BadInput, Catalog, Session
from seeker.kernels import reference
from seeker.models import Choice
from seeker.models.words import DEFAULT_WORDS
from seeker.types import Doubles
from support.catalogs import random_catalog

# One line of a log as it was written when all mixtures counted alike.
OLD_START = """{"schema": 2, "type": "start", "model": {"name": "choice",
"sigmas": [0.8, 0.4, 0.2, 0.1, 0.05], "slip": 0.05, "beta": 1.0, "weights": null},
"strategy": {"name": "boltzmann", "c": 0.3535533905932738, "score": "log", "schedule": null,
"first": "cover"}, "page_size": 12, "seed": 7, "prior": null, "filter": null, "user": null,
"repeat": "never"}"""


def by_mixture(model: Choice, views: int) -> Doubles:
    """How much each mixture counts; all noise levels must count alike."""
    shares = np.exp(model.grid(list("abcde")[:views]).log_weights).reshape(-1, len(model.sigmas))
    np.testing.assert_allclose(shares, shares[:, :1] * np.ones(len(model.sigmas)))
    return np.asarray(shares.sum(axis=1))


@pytest.mark.parametrize(
    ("views", "shares"),
    [
        (1, [1]),
        (2, [1 / 6, 1 / 6, 4 / 6]),
        (3, [1 / 24] * 3 + [4 / 24] * 3 + [9 / 24]),
        (5, [1 / 30] * 5 + [25 / 30]),
    ],
)
def test_a_mixture_counts_by_the_square_of_the_number_of_its_views(
    views: int, shares: list[float]
) -> None:
    np.testing.assert_allclose(by_mixture(Choice(), views), shares)
    np.testing.assert_allclose(by_mixture(Choice(weights=None), views), 1 / len(shares))


def test_scores_are_the_formula_with_this_prior() -> None:
    catalog = random_catalog(300, dims=(24, 9))
    session = catalog.session(seed=5)
    for _ in range(4):
        page = session.page().ids
        session.like(page[0])
        session.dislike(page[7])
    first = catalog.session().belief.settings.sum(axis=1)
    np.testing.assert_allclose(first, [1 / 6, 1 / 6, 4 / 6])
    expected = posterior(catalog, session, np.repeat([1.0, 1.0, 4.0], 5) / 30.0)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-4)


def posterior(catalog: Catalog, session: Session, weights: Doubles) -> Doubles:
    """The log-posterior by the slow formulas in double precision, (items,)."""
    distances = []
    for view in catalog.views.values():
        x = view.rows(slice(None)).astype(np.float64)
        squares = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
        distances.append(squares / squares.mean())
    clicks = [
        (catalog.row(one.item), one.liked, [catalog.row(k) for k in one.among])
        for one in session.state.ratings.values()
    ]
    mixtures = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    sigmas = (0.8, 0.4, 0.2, 0.1, 0.05)
    total = reference.choice(distances, clicks, mixtures, sigmas, 0.05, weights)
    return np.asarray(total - np.logaddexp.reduce(total))


def test_sessions_from_before_mean_what_they_meant() -> None:
    catalog = random_catalog(300, dims=(24, 9))
    old = Session.replay(catalog, [json.loads(OLD_START)])
    even = catalog.session(model=Choice(weights=None), seed=7)
    for session in (old, even):
        page = session.page().ids
        session.like(page[3])
        session.dislike(page[1])
    assert old.page() == even.page()
    np.testing.assert_array_equal(old.belief.log_posterior, even.belief.log_posterior)
    written = old.events[0].to_json()
    assert written["model"].pop("words") == [*DEFAULT_WORDS]
    assert written == json.loads(OLD_START) | {"schema": 4}
    assert catalog.session().events[0].to_json()["model"]["weights"] == "broad"


def test_a_word_that_is_no_prior_is_refused() -> None:
    with pytest.raises(BadInput, match="broad"):
        Choice(weights="narrow")  # type: ignore[arg-type]
