"""Searching by looking and clicking: what a person does, and what they see of it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from browser.catalogs import COLOURS, likeness
from browser.search import Search
from support.servers import Server, until


def test_something_is_found_by_clicking_what_is_closest(search: Search) -> None:
    wanted = search.absent("small violet star", "huge cyan ring")
    pages = search.seek(wanted, likeness)
    search.button(f"Found it: {wanted}").click()
    expect(search.found).to_be_visible()
    expect(search.found).to_contain_text(wanted)
    expect(search.found).to_contain_text(
        re.compile(rf"In {pages - 1} steps? \(.*(second|minute)s?\)")
    )
    path = search.found.get_by_role("list", name="The way there").get_by_role("listitem")
    expect(path).to_have_count(pages)
    assert search.found.get_by_role("link", name="Open the item").get_attribute("href")
    assert search.session()["found"] == search.session()["history"][-1]["item"]


def test_the_first_page_asks_for_nothing_but_a_look(search: Search) -> None:
    titles = search.titles()
    assert len(titles) == len(set(titles)) == 12
    # The first page covers the catalog: it is not twelve shades of the same thing.
    assert len({title.split()[1] for title in titles} & set(COLOURS)) >= 4
    pictures = search.grid.locator("img")
    assert pictures.count() == 12
    for picture in pictures.all():
        assert picture.evaluate("async one => { await one.decode(); return one.naturalWidth }") > 0
    assert search.button("Undo").is_disabled()


def test_liked_and_disliked_items_go_to_their_trays(search: Search) -> None:
    first, second, *_ = search.titles()
    search.like(first)
    expect(search.liked.get_by_role("button", name=f"Clear {first}")).to_be_visible()
    assert first not in search.titles()
    second = search.titles()[0]
    search.dislike(second)
    expect(search.disliked.get_by_role("button", name=f"Clear {second}")).to_be_visible()
    assert second not in search.titles()
    session = search.session()
    assert (session["step"], len(session["likes"]), len(session["dislikes"])) == (2, 1, 1)


def test_a_tray_gives_back_what_is_cleared(search: Search) -> None:
    title = search.titles()[3]
    search.like(title).clear(title)
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert search.session()["likes"] == []


def test_undo_and_redo(search: Search) -> None:
    before = search.titles()
    search.like(before[0])
    between = search.titles()
    search.dislike(between[1])
    after = search.titles()
    search.press("Undo")
    assert search.titles() == between
    search.press("Undo")
    assert search.titles() == before
    expect(search.button("Undo")).to_be_disabled()
    search.press("Redo").press("Redo")
    assert search.titles() == after
    expect(search.button("Redo")).to_be_disabled()
    expect(search.disliked.get_by_role("button", name=f"Clear {between[1]}")).to_be_visible()


def test_every_new_page_is_told_to_those_who_cannot_see_it(search: Search) -> None:
    told = search.page.locator("[aria-live='polite']")
    search.like(search.titles()[0]).like(search.titles()[0])
    expect(told.filter(has_text="Step 2: a new page of 12 items.")).to_have_count(1)
    search.press("Undo").press("Undo")
    expect(told.filter(has_text="At the start again, with 12 items.")).to_have_count(1)


def test_something_new_ends_what_could_be_redone(search: Search) -> None:
    search.like(search.titles()[0]).press("Undo")
    expect(search.button("Redo")).to_be_enabled()
    search.dislike(search.titles()[1])
    expect(search.button("Redo")).to_be_disabled()


def test_the_steps_can_be_gone_back_to(search: Search) -> None:
    pages = [search.titles()]
    for _ in range(4):
        search.like(search.titles()[0])
        pages.append(search.titles())
    expect(search.steps.get_by_role("listitem")).not_to_have_count(0)
    search.steps.get_by_role("button", name=re.compile(r"^Go back to step 2\b")).click()
    search.settled()
    assert search.titles() == pages[2]
    assert search.session()["step"] >= 2
    # Going back is not the end of what came after.
    search.press("Redo").press("Redo")
    assert search.titles() == pages[4]


def test_where_the_search_stands_is_told_in_plain_words(search: Search) -> None:
    picture = search.page.get_by_role("img", name=re.compile("where the search stands", re.I))
    expect(picture).to_be_visible()
    expect(search.status.filter(has_text="240 items to choose from.")).to_have_count(1)
    for _ in range(3):
        titles = search.titles()
        search.like(max(titles, key=lambda title: likeness(title, "small blue ring")))
    # No number that nobody could check: how soon it may come, where that can be said.
    told = re.compile("Getting closer|Still looking|probably on this page")
    expect(search.status.filter(has_text=told)).to_have_count(1)
    expect(search.status.filter(has_text="left")).to_have_count(0)
    # Where there is much to do, a belief comes after its page.
    belief = until(lambda: search.session()["belief"])
    assert belief["candidates"] < 240


def test_why_this_names_what_brought_it(search: Search) -> None:
    titles = search.titles()
    closest = max(titles, key=lambda title: likeness(title, "large green circle"))
    search.like(closest)
    shown = search.titles()[0]
    search.button(f"Why this? {shown}").click()
    why = search.page.get_by_role("dialog", name=shown)
    expect(why.get_by_role("heading", name="Why this?")).to_be_visible()
    expect(why).to_contain_text(f"You liked {closest}")
    search.page.keyboard.press("Escape")
    expect(why).to_be_hidden()


def test_surprise_me_explores_until_it_is_switched_off(search: Search, shapes: Server) -> None:
    for _ in range(3):
        titles = search.titles()
        search.like(max(titles, key=lambda title: likeness(title, "tiny red square")))
    usual = search.titles()
    button = search.button("Surprise me")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    search.settled()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert search.session()["exploration"] > 1
    assert set(search.titles()) != set(usual)
    button.click()
    search.settled()
    expect(button).to_have_attribute("aria-pressed", "false")
    with shapes.client() as http:
        answer = http.get(f"/v1/sessions/{search.session()['id']}").json()
    assert answer["exploration"] == 1


def test_starting_anew_forgets_nothing_but_begins_again(search: Search) -> None:
    search.like(search.titles()[0])
    old = search.session()["id"]
    search.press("Start anew")
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert search.session()["id"] != old
    search.page.go_back()
    expect(search.liked.get_by_role("button")).to_have_count(1)
    assert search.session()["id"] == old


def test_several_clicks_in_a_row_all_count(search: Search) -> None:
    """Somebody quicker than the service loses nothing and doubles nothing."""
    titles = search.titles()[:3]
    buttons = [
        search.grid.get_by_role("button", name=f"Like {title}", exact=True).element_handle()
        for title in titles
    ]
    search.page.evaluate("buttons => buttons.forEach((one) => one.click())", buttons)
    search.settled()
    expect(search.liked.get_by_role("button")).to_have_count(3)
    assert len(search.session()["likes"]) == 3
    assert search.session()["step"] == 3


def test_two_quick_undos_take_back_two_things(search: Search) -> None:
    before = search.titles()
    search.like(before[0]).like(search.titles()[0])
    undo = search.button("Undo").element_handle()
    search.page.evaluate("undo => { undo.click(); undo.click(); }", undo)
    search.settled()
    assert search.titles() == before
    assert search.session()["undone"] == 2


def test_a_click_just_before_starting_anew_belongs_to_the_old_search(search: Search) -> None:
    old = search.session()["id"]
    like = search.grid.get_by_role("button", name=f"Like {search.titles()[0]}", exact=True)
    handles = [like.element_handle(), search.button("Start anew").element_handle()]
    search.page.evaluate("both => both.forEach((one) => one.click())", handles)
    expect(search.grid).to_have_attribute("aria-busy", "false")
    assert search.settled().session()["id"] != old
    expect(search.liked.get_by_role("button")).to_have_count(0)
    assert search.session()["step"] == 0
