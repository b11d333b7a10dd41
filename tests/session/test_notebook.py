"""How a notebook shows a catalog, a session, a page and a belief; and pages as data frames."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from seeker import Catalog, SeekerError
from support.catalogs import random_catalog


def test_everything_shows_itself(folder: Path) -> None:
    catalog = Catalog.open(folder)
    session = catalog.session(seed=1, page_size=5)
    session.like(session.page().ids[0])
    page = session.page()
    told = page._repr_html_()
    assert told.count('src="data:image/') == sum(item.media is not None for item in page) > 0
    for shown in (session._repr_html_(), told):
        assert all(item.title in shown for item in page)
    assert f"liked: {session.likes[0]}" in session._repr_html_()
    assert "Catalog of 120 items" in catalog._repr_html_()
    assert "candidates" in session.belief._repr_html_()


def test_what_items_are_called_is_not_taken_for_html() -> None:
    catalog = Catalog.from_arrays(
        ["<b>1", "2"], {"v": [[1.0, 0.0], [0.0, 1.0]]}, titles=["<script>alert(1)</script>", "two"]
    )
    session = catalog.session()
    for shown in (catalog, session, session.page()):
        assert "<script>" not in shown._repr_html_()
        assert "&lt;script&gt;" in shown._repr_html_()


def test_looking_changes_nothing() -> None:
    catalog = random_catalog(60)
    looked, other = catalog.session(seed=4), catalog.session(seed=4)
    first = looked.page()
    looked._repr_html_()
    assert looked.page() == first
    item = first.ids[0]
    other.page()
    for session in (looked, other):
        session.like(item)
    assert [one.to_json() for one in looked.events] == [one.to_json() for one in other.events]
    page = looked.page()
    assert pickle.loads(pickle.dumps(page)) == page


def test_a_page_is_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    session = random_catalog(60).session(seed=2)
    page = session.more(4, 6)
    frame = page.to_pandas()
    assert list(frame["id"]) == page.ids
    assert list(frame.index) == [5, 6, 7, 8, 9, 10]
    assert list(frame["price"]) == [item.attributes["price"] for item in page]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SeekerError, match="pip install pandas"):
        page.to_pandas()
