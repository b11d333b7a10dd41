"""What a belief tells, and that it stays the belief of its moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeker import Catalog, Session
from support.catalogs import random_catalog


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


@pytest.mark.parametrize("repeat", ["never", "unrated", "always"])
def test_what_has_been_seen_and_does_not_come_again_is_not_waited_for(
    two_views: Catalog, repeat: Any
) -> None:
    session, seen, judged = two_views.session(page_size=6, repeat=repeat), set[int](), set[int]()
    for _ in range(4):
        page = [two_views.row(item) for item in session.page().ids]
        shares = np.exp(session.belief.log_posterior)
        over = {"never": seen, "unrated": judged, "always": set()}[repeat]
        rest = sum(share for row, share in enumerate(shares) if row not in over)
        assert session.belief.on_page == pytest.approx(shares[page].sum() / rest, rel=1e-9)
        seen.update(page)
        judged.update(page[:2])
        session.like(session.page().ids[0])
        session.dislike(two_views.ids[page[1]], shown=[two_views.ids[row] for row in page])


def test_where_everything_has_been_seen_all_of_it_may_be_the_one() -> None:
    catalog = random_catalog(10)
    session = catalog.session(page_size=4)
    while len(session.page().ids) and session.step < 6:
        session.like(session.page().ids[0])
    assert 0.0 < session.belief.on_page <= 1.0


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
