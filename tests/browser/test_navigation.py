"""Leaving and coming back: reload, back and forward, two windows, other people, a new server."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser.catalogs import likeness
from browser.search import Search
from browser.servers import Serving
from browser.watch import Watch
from support.servers import TIMEOUT_SECONDS, Server


def test_a_reload_shows_exactly_the_same(search: Search) -> None:
    search.like(search.titles()[2]).dislike(search.titles()[0])
    titles, before = search.titles(), search.session()
    search.page.reload()
    search.settled()
    assert search.titles() == titles
    expect(search.liked.get_by_role("button")).to_have_count(1)
    expect(search.disliked.get_by_role("button")).to_have_count(1)
    after = search.session()
    assert {**after, "belief": None} == {**before, "belief": None}


def test_back_and_forward_go_from_search_to_search(search: Search) -> None:
    first = search.like(search.titles()[0]).titles()
    second = search.press("Start anew").titles()
    search.page.go_back()
    expect(search.liked.get_by_role("button")).to_have_count(1)
    assert search.settled().titles() == first
    search.page.go_forward()
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert search.settled().titles() == second


@pytest.mark.chromium("Playwright does not hear that Firefox has gone back.")
def test_going_back_to_another_site_and_returning(search: Search, shapes: Server) -> None:
    titles = search.like(search.titles()[0]).titles()
    search.page.goto(f"{shapes.url}/docs")
    search.page.go_back()
    search.settled()
    assert search.titles() == titles


def test_two_tabs_of_one_search_never_lose_a_click(search: Search, watch: Watch) -> None:
    other = Search(search.page.context.new_page()).begin(search.page.url)
    assert other.titles() == search.titles()
    first, second, *_ = search.titles()
    search.like(first)
    # The other tab does not know of it yet: its click is on a page that has passed.
    watch.allow(r"409")
    other.grid.get_by_role("button", name=f"Dislike {second}", exact=True).click()
    expect(other.alert).to_contain_text(re.compile(r"\w+"))
    other.settled()
    expect(other.liked.get_by_role("button", name=f"Clear {first}")).to_be_visible()
    assert other.titles() == search.titles()
    assert other.session()["dislikes"] == []
    other.dislike(other.titles()[0])
    assert other.session()["step"] == 2


def test_a_shared_link_can_be_read_and_continued(
    search: Search, windows: Callable[..., BrowserContext]
) -> None:
    wanted = search.absent("large orange square", "tiny cyan ring")
    search.seek(wanted, likeness)
    search.button(f"Found it: {wanted}").click()
    expect(search.found).to_be_visible()
    address = shared_address(search)
    assert search.session()["id"] not in address

    friend = Search(windows().new_page())
    friend.page.goto(address)
    expect(friend.found).to_contain_text(wanted)
    likes = len(search.session()["likes"])
    expect(friend.liked.get_by_role("listitem")).to_have_count(likes)
    expect(friend.button(re.compile("^(Dislike|Like|Clear) "))).to_have_count(0)
    friend.button("Continue from here").click()
    expect(friend.button("Continue from here")).to_be_hidden()
    friend.press("Keep looking")
    assert friend.session()["id"] != search.session()["id"]
    step = friend.session()["step"]
    friend.dislike(friend.titles()[0])
    assert friend.session()["step"] == step + 1
    # The one who has shared it does not see what others make of it.
    search.page.reload()
    expect(search.found).to_contain_text(wanted)
    assert search.session()["dislikes"] == []


def test_a_search_under_way_can_be_shared_too(
    search: Search, windows: Callable[..., BrowserContext]
) -> None:
    search.like(search.titles()[0])
    address = shared_address(search)
    friend = Search(windows().new_page()).begin(address)
    assert friend.page.get_by_role("button", name=re.compile("^Open ")).count() == 12
    expect(friend.button(re.compile("^(Dislike|Like|Clear) "))).to_have_count(0)
    expect(friend.page.get_by_role("searchbox", name="Words")).to_be_disabled()
    friend.button("Continue from here").click()
    expect(friend.button("Continue from here")).to_be_hidden()
    friend.settled()
    assert friend.titles() == search.titles()
    friend.dislike(friend.titles()[0])
    friend.page.go_back()
    expect(friend.button("Continue from here")).to_be_visible()


def test_the_server_restarts_in_the_middle(
    page: Page, serving: Serving, watch: Watch, shapes_folder: Path
) -> None:
    server = serving(shapes_folder)
    search = Search(page).begin(server.url)
    search.like(search.titles()[0])
    titles, port = search.titles(), int(server.url.rpartition(":")[2])
    server.kill()
    watch.allow("net::ERR_|NS_ERROR_")
    search.grid.get_by_role("button", name=f"Like {titles[1]}", exact=True).click()
    expect(page.get_by_text(re.compile("cannot be reached"))).to_be_visible()
    server.start(server.log, port).ready()
    # Nobody has to press anything: the service is asked again and again.
    search.settled()
    expect(page.get_by_text(re.compile("cannot be reached"))).to_be_hidden()
    assert len(search.session()["likes"]) == 2
    search.dislike(search.titles()[0])
    assert search.session()["step"] == 3


def test_a_search_that_is_gone_says_so_and_begins_anew(search: Search, watch: Watch) -> None:
    search.like(search.titles()[0])
    origin = re.sub(r"(https?://[^/]+).*", r"\1", search.page.url)
    gone = search.session()["id"]
    assert httpx.delete(f"{origin}/v1/sessions/{gone}", timeout=TIMEOUT_SECONDS).status_code == 204
    watch.allow(r"404")
    search.page.reload()
    expect(
        search.page.get_by_text(re.compile("no longer|not there|gone|expired", re.I))
    ).to_be_visible()
    expect(search.button("Share")).to_have_count(0)
    search.button(re.compile("Start|New search")).first.click()
    search.settled()
    assert len(search.titles()) == 12
    assert search.session()["id"] != gone


def shared_address(search: Search) -> str:
    """Return the address that is offered for sharing."""
    search.button("Share").first.click()
    link = search.page.get_by_role("link", name="Link to this search")
    expect(link).to_be_visible()
    address = link.get_attribute("href") or ""
    assert "#shared=" in address
    return address
