"""Items that have left the catalog since they were clicked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, Session
from seeker.models import Bipartite, Choice, Pairwise


@pytest.mark.parametrize("model", [Choice(), Pairwise(scale="raw"), Bipartite(scale="raw")])
def test_an_item_that_is_gone_keeps_its_vote(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5)).astype(np.float32)
    ids = [f"item {n}" for n in range(60)]
    session = Catalog.from_arrays(ids, {"x": x}, scale="raw").session(model=model)
    session.like("item 3", shown=ids[:6])
    session.dislike("item 20", shown=ids[15:25])
    gone = {"item 3": 3, "item 17": 17, "item 59": 59}
    kept = [n for n, item in enumerate(ids) if item not in gone]
    later = Catalog.from_arrays([ids[n] for n in kept], {"x": x[kept]}, scale="raw")
    remembered = {item: {"x": x[n]} for item, n in gone.items()}
    monkeypatch.setattr(Catalog, "tombstones", remembered)
    again = Session.replay(later, session.events)
    assert again.likes == ["item 3"]
    before, after = session.belief.log_posterior, again.belief.log_posterior
    np.testing.assert_allclose(after - after[0], before[kept] - before[0], rtol=0, atol=1e-4)
    shown = again.more(0, 100).ids
    assert set(shown) == set(ids) - set(gone)
    again.like(shown[0])
    again.clear("item 3")
    assert "item 3" not in again.likes
    with pytest.raises(seeker.NotFound):
        again.like("item 59")
    monkeypatch.setattr(Catalog, "tombstones", {})
    with pytest.raises(seeker.NotFound, match="nothing is known"):
        Session.replay(later, session.events)


def test_what_was_on_screen_and_has_left_since_counts(tmp_path: Path) -> None:
    """A click on a page of which one has left is the click that was made before it left."""
    rng = np.random.default_rng(1)
    ids = [f"item {n}" for n in range(40)]
    source = Catalog.from_arrays(ids, {"x": rng.normal(size=(40, 4)).astype(np.float32)})
    folder = tmp_path / "shop"
    source.save(folder)
    before = Catalog.open(folder).session(seed=2)
    before.like(ids[6], shown=ids[:8])
    seeker.remove(folder, ids=[ids[3], ids[39]])
    after = Catalog.open(folder).session(seed=2)
    with pytest.raises(seeker.NotFound, match="has left this catalog"):
        after.like(ids[3])
    with pytest.raises(seeker.NotFound, match="has left this catalog"):
        after.found(ids[3])
    with pytest.raises(seeker.NotFound, match="no item 'item 77'"):
        after.like(ids[6], shown=[*ids[:8], "item 77"])
    after.like(ids[6], shown=ids[:8])
    replayed = Session.replay(Catalog.open(folder), before.events)
    assert after.page().ids == replayed.page().ids
    same = after.belief.log_posterior
    np.testing.assert_array_equal(same, replayed.belief.log_posterior)
    without = Catalog.open(folder).session(seed=2)
    without.like(ids[6], shown=[*ids[:3], *ids[4:8]])
    assert not np.allclose(same, without.belief.log_posterior, atol=1e-3)
