"""The same search twice, on one machine and over shards, compared after every step."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from seeker import Catalog, SeekerError, Session
from seeker.cluster import ClusterCatalog, Fleet, InProcessShards


def spread(catalog: Catalog, shards: int, **settings: Any) -> ClusterCatalog:
    """Return the same items and views, searched by shards in this process."""
    settings.setdefault("limits", catalog.limits)
    return ClusterCatalog.over(catalog, Fleet(InProcessShards(catalog.views, shards, **settings)))


class Person:
    """Somebody who does anything that can be done, by chance but always the same."""

    def __init__(self, seed: int, views: Mapping[str, int]) -> None:
        self.chance = random.Random(seed)
        self.views = views

    def does(self, session: Session) -> Any:
        """Choose what to do next: a function that does it to any copy of the session."""
        chance = self.chance
        page = [item.id for item in session.more(0, 24).items]
        item = chance.choice([*page, f"item {chance.randrange(len(session.catalog))}"])
        on_screen = chance.choice([None, page, page[:3]])
        view = chance.choice(list(self.views))
        vector = [chance.gauss(0, 1) for _ in range(self.views[view])]
        steps = chance.randrange(1, 3)
        kind = chance.choice([{"kind": ["kind 1", "kind 3"]}, {"price": {"lt": 9}}, None])
        return chance.choice(
            [
                lambda s: s.like(item, on_screen),
                lambda s: s.like(item, on_screen),
                lambda s: s.dislike(item, on_screen),
                lambda s: s.clear(item),
                lambda s: s.undo(steps),
                lambda s: s.redo(),
                lambda s: s.say("kind 2 item"),
                lambda s: s.say(vector, view=view),
                lambda s: s.like_example({view: vector}),
                lambda s: s.focus({view: 4.0}),
                lambda s: s.filter(kind),
                lambda s: s.explore(2.0),
                lambda s: s.refresh(),
            ]
        )


def outcome(act: Any, session: Session) -> str:
    """Do something; return what was wrong with it, if anything."""
    try:
        act(session)
    except SeekerError as error:
        return str(error)
    return ""


def assert_alike(one: Session, other: Session) -> None:
    """Whatever two sessions show is the same; what is summed up is the same but for rounding."""
    assert one.page() == other.page()
    assert one.more(5, 40) == other.more(5, 40)
    mine, theirs = one.belief, other.belief
    assert theirs.entropy == pytest.approx(mine.entropy, abs=1e-9)
    assert theirs.on_page == pytest.approx(mine.on_page, abs=1e-9)
    assert theirs.views == pytest.approx(mine.views, abs=1e-6)
    assert theirs.noise == (None if mine.noise is None else pytest.approx(mine.noise, abs=1e-6))
    np.testing.assert_allclose(theirs.log_posterior, mine.log_posterior, rtol=1e-12, atol=1e-9)
    item = one.page().ids[-1]
    assert theirs.rank(item) == mine.rank(item)
    assert theirs.probability(item) == pytest.approx(mine.probability(item))
    assert one.explain(item) == other.explain(item)


def walk(catalog: Catalog, shards: int, seed: int, steps: int, **start: Any) -> None:
    """Do the same things on one machine and over shards, and compare after each."""
    alone = catalog.session(seed=seed, **start)
    over = spread(catalog, shards).session(seed=seed, **start)
    person = Person(seed, {name: view.dimensions for name, view in catalog.views.items()})
    assert_alike(alone, over)
    for _ in range(steps):
        act = person.does(alone)
        assert outcome(act, alone) == outcome(act, over)
        assert_alike(alone, over)
