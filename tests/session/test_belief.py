"""What a belief tells, and that it stays the belief of its moment."""

from __future__ import annotations

import numpy as np
import pytest

from seeker import Catalog, Session


def test_what_a_belief_tells(small: Catalog) -> None:
    session = small.session()
    belief = session.belief
    assert belief.entropy == pytest.approx(np.log(300))
    assert belief.candidates == pytest.approx(300)
    assert belief.on_page == pytest.approx(12 / 300)
    assert belief.rank("item 0") == 150.5
    assert belief.views == {"image": 1.0}
    target = "item 40"
    for _ in range(6):
        page = session.page().ids
        x = small.views["image"].vectors
        nearest = min(page, key=lambda i: ((x[small.row(i)] - x[40]) ** 2).sum())
        session.like(nearest)
    assert session.belief.entropy < belief.entropy
    assert session.belief.rank(target) < 60
    assert np.exp(session.belief.log_posterior).sum() == pytest.approx(1.0)
    assert session.belief.probability(target) == np.exp(session.belief.log_posterior[40])


def test_an_old_belief_stays_what_it_was(two_views: Catalog) -> None:
    session = two_views.session()
    session.like(session.page().ids[0])
    belief = session.belief
    logs, entropy = belief.log_posterior.copy(), belief.entropy
    expected = Session.replay(two_views, session.events).belief.views
    for _ in range(3):
        session.like(session.page().ids[0])
        session.refresh()
    assert belief.views == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(belief.log_posterior, logs)
    assert belief.entropy == entropy
    with pytest.raises(ValueError, match="read-only"):
        belief.log_posterior[0] = 0.0
