"""Columns that one search has computed serve the others, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from seeker import Session
from seeker.display import POOL_PAGES
from seeker.engine import Catalogs, Engine
from seeker.kernels.parallel import Interrupted
from seeker.models import Choice
from seeker.space import Space
from seeker.space.columns import FIRST_PAGE_ITEMS, MIN_COLUMNS, SharedColumns
from seeker.stores import MemoryStore
from support.catalogs import random_catalog


def searched(session: Session) -> Session:
    for n in range(5):
        session.click(session.page().ids[n], "dislike" if n % 2 else "like")
    session.page()
    return session


def test_a_second_search_reads_what_the_first_has_computed() -> None:
    catalog = random_catalog(dims=(24, 9))
    first = searched(catalog.session(seed=1))
    shared = first._finder._scores.space.shared
    assert shared is not None
    count = len(shared)
    assert count >= 12, "what was on screen at the clicks"
    second = searched(catalog.session(seed=1))
    assert len(shared) == count
    assert second.page() == first.page()
    fresh = searched(random_catalog(dims=(24, 9)).session(seed=1))
    assert second.page() == fresh.page()
    np.testing.assert_array_equal(second.belief.log_posterior, fresh.belief.log_posterior)


def test_who_sees_otherwise_shares_nothing() -> None:
    catalog = random_catalog()
    space = Choice().space([*catalog.views.values()], {"image": np.linspace(0, 2, 24)})
    assert space.shared is None
    usual = Choice().space([*catalog.views.values()])
    raw = Space([*catalog.views.values()], "raw")
    assert usual.shared is Choice().space([*catalog.views.values()]).shared
    assert raw.shared is not usual.shared


def test_shared_columns_stay_within_their_bytes() -> None:
    column = np.zeros((2, 50), np.float32)
    shared = SharedColumns(MIN_COLUMNS * column.nbytes)
    for row in range(3 * MIN_COLUMNS):
        assert shared.add(row, column.copy())
        assert shared.get(0) is not None, "what is used stays, the longest unused goes"
    assert len(shared) == MIN_COLUMNS
    assert shared.nbytes == MIN_COLUMNS * column.nbytes
    assert not shared.add(1000, np.zeros((2, 100), np.float32)), "too few of these would fit"


def test_columns_of_first_pages_make_way_last() -> None:
    column = np.zeros((2, 50), np.float32)
    shared = SharedColumns(MIN_COLUMNS * column.nbytes)
    first = shared.page(3, 24, lambda: np.arange(100, 124))
    rows = [*first[:FIRST_PAGE_ITEMS].tolist(), *range(3 * MIN_COLUMNS)]
    for row in rows:
        assert shared.add(row, column.copy())
    stayed = {row for row in {*rows, *first.tolist()} if shared.get(row) is not None}
    newest = range(3 * MIN_COLUMNS - (MIN_COLUMNS - FIRST_PAGE_ITEMS), 3 * MIN_COLUMNS)
    assert stayed == {*range(100, 100 + FIRST_PAGE_ITEMS), *newest}
    crowd = shared.page(4, 12 * MIN_COLUMNS, lambda: np.arange(1000, 1000 + 12 * MIN_COLUMNS))
    for row in crowd.tolist():
        assert shared.add(row, column.copy()), "where all are, the longest unused goes"
    assert shared.nbytes == MIN_COLUMNS * column.nbytes


def test_an_engine_limits_what_is_shared() -> None:
    catalog = random_catalog()
    one = Engine(Catalogs({"shop": catalog}), MemoryStore(), cache_bytes=8_000_000)
    shared = Choice().space([*catalog.views.values()]).shared
    assert shared is not None
    for row in range(2000):
        shared.add(row, np.zeros((1, 2000), np.float32))
    assert 900_000 < shared.nbytes <= 1_000_000
    one.close()


def test_columns_of_all_items_computed_in_advance_change_nothing() -> None:
    catalog, fresh = random_catalog(dims=(24, 9)), random_catalog(dims=(24, 9))
    catalog.preload()
    shared = Choice().space([*catalog.views.values()]).shared
    assert shared is not None
    assert len(shared) == len(catalog)
    for seed in range(3):
        first, second = catalog.session(seed=seed), fresh.session(seed=seed)
        assert first.page() == second.page(), "the page that covers the catalog"
        assert searched(first).more(0, 60) == searched(second).more(0, 60)
        np.testing.assert_array_equal(first.belief.log_posterior, second.belief.log_posterior)
        assert first.belief.views == second.belief.views


def test_columns_are_computed_in_advance_only_where_all_fit() -> None:
    catalog = random_catalog()
    catalog.limit_shared_columns(len(catalog) ** 2 * 4 - 1)
    catalog.preload()
    shared = Choice().space([*catalog.views.values()]).shared
    assert shared is not None
    assert len(shared) == 0


def test_computing_columns_in_advance_gives_way_and_goes_on() -> None:
    catalog, asked = random_catalog(), list[bool]()

    def stop(after: int) -> bool:
        asked.append(len(asked) == after)
        return asked[-1]

    with pytest.raises(Interrupted):
        catalog.preload(lambda: stop(2))
    shared = Choice().space([*catalog.views.values()]).shared
    assert shared is not None
    assert len(shared) == 0
    catalog.preload(lambda: stop(-1))
    assert len(shared) == len(catalog)
    pieces = -(-len(catalog) // 32)
    looks = pieces + POOL_PAGES + 1
    assert len(asked) == looks, "none is computed twice, but for the one that gave way"
