"""Items that have left the catalog since they were clicked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, Session
from seeker.models import Bipartite, Choice, Pairwise


class Remembering:
    """A catalog that some items have left, their vectors being remembered."""

    def __init__(self, whole: Catalog, gone: set[str]) -> None:
        kept = [item for item in whole.ids if item not in gone]
        rows = [whole.row(item) for item in kept]
        self._whole = whole
        self._gone = gone
        self._now = Catalog.from_arrays(
            kept, {name: view.vectors[rows] for name, view in whole.views.items()}, scale="raw"
        )
        self.departed = self

    def get(self, item: str) -> dict[str, Any] | None:
        if item not in self._gone:
            return None
        row = self._whole.row(item)
        return {name: view.vectors[row] for name, view in self._whole.views.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, name)

    def __len__(self) -> int:
        return len(self._now)


@pytest.mark.parametrize("model", [Choice(), Pairwise(scale="raw"), Bipartite(scale="raw")])
def test_an_item_that_is_gone_keeps_its_vote(model: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5))
    ids = [f"item {n}" for n in range(60)]
    whole = Catalog.from_arrays(ids, {"x": x}, scale="raw")
    session = whole.session(model=model)
    session.like("item 3", shown=ids[:6])
    session.dislike("item 20", shown=ids[15:25])
    gone = {"item 3", "item 17", "item 59"}
    later: Any = Remembering(whole, gone)
    again = Session.replay(later, session.events)
    assert again.likes == ["item 3"]
    before, after = session.belief.log_posterior, again.belief.log_posterior
    kept = [n for n, item in enumerate(ids) if item not in gone]
    np.testing.assert_allclose(after - after[0], before[kept] - before[0], rtol=0, atol=1e-4)
    shown = again.more(0, 100).ids
    assert set(shown) == set(ids) - gone
    again.like(shown[0])
    again.clear("item 3")
    assert "item 3" not in again.likes
    with pytest.raises(seeker.NotFound):
        again.like("item 59")
    nothing: Any = Remembering(whole, set())
    nothing._now = later._now
    with pytest.raises(seeker.NotFound, match="nothing is known"):
        Session.replay(nothing, session.events)
