"""Several catalogs on one server: choosing one, and coming back to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.search import Search
from browser.servers import Serving
from support.servers import Server


@pytest.fixture(scope="module")
def several(serving: Serving, shapes_folder: Path, sentences_folder: Path) -> Server:
    return serving(shapes_folder, sentences_folder)


def test_another_catalog_is_chosen_and_kept(page: Page, several: Server) -> None:
    search = Search(page).begin(several.url)
    assert search.session()["catalog"] == "shapes"
    chooser = page.get_by_role("combobox", name="Catalog", exact=True)
    chooser.select_option("sentences")
    expect(search.grid.locator("img")).to_have_count(0)
    search.settled()
    assert search.session()["catalog"] == "sentences"
    titles = search.titles()
    page.reload()
    assert search.settled().titles() == titles
    expect(chooser).to_have_value("sentences")
    search.press("Start anew")
    assert search.session()["catalog"] == "sentences"
    page.go_back()
    page.go_back()
    expect(chooser).to_have_value("shapes")


def test_nobody_chooses_between_one(search: Search) -> None:
    expect(search.page.get_by_role("combobox", name="Catalog")).to_have_count(0)
