"""A study as a participant lives it: from consent to the export, with breaks and a way out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import BrowserContext, Page, Route, expect

from browser.accessibility import violations
from browser.catalogs import likeness
from browser.search import Search, caught
from browser.study import agree, begin, heading, press
from browser.watch import Watch
from seeker.cli import cli
from study.parts import StudyServer

STEPS, TRIALS = 25, 2


class Study:
    """A running study and where it is kept."""

    def __init__(self, folder: Path, place: Path, *flags: str) -> None:
        self.store = str(place / "study.sqlite")
        usual = ("--steps", str(STEPS), "--targets-per-person", str(TRIALS), "--rate", "0")
        cells = ("--models", "choice", "--strategies", "boltzmann,greedy")
        self.server = StudyServer(folder, "--store", self.store, *usual, *cells, *flags)
        self.server.start(place / "log").ready()

    def rows(self, file: Path, label: str) -> list[dict[str, object]]:
        """Export the study and return the rows of one participant."""
        done = CliRunner().invoke(cli, ["study", "export", "-o", str(file), "--store", self.store])
        assert done.exit_code == 0, done.output
        lines = file.read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if row["participant"] == label]

    def label(self, link: str) -> str:
        """Return the random label of whoever has a link."""
        key = link.rpartition("=")[2]
        with self.server.client() as http:
            own = http.get(f"/v1/study/participants/{key}/records").json()
        return str(own["label"])


@pytest.fixture(scope="module")
def study(shapes_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    one = Study(shapes_folder, tmp_path_factory.mktemp("study"))
    yield one
    one.server.stop()


@pytest.fixture
def short(shapes_folder: Path, tmp_path: Path) -> Iterator[Study]:
    """A study of two steps a search, that no other test depends on."""
    one = Study(shapes_folder, tmp_path, "--steps", "2")
    yield one
    one.server.stop()


def wanted(page: Page) -> str:
    """Return what is to be found."""
    told = page.get_by_role("complementary", name="Look for this").get_by_role("paragraph").first
    return told.inner_text()


def at_step(page: Page, number: int, steps: int = STEPS) -> None:
    expect(page.get_by_role("status").filter(has_text="Step")).to_have_text(
        f"Step {number} of {steps}"
    )


def test_from_consent_to_export(page: Page, study: Study, tmp_path: Path) -> None:
    page.goto(study.server.url)
    heading(page, "A study of searching by looking")
    # Without consent nothing begins.
    press(page, "Take part")
    heading(page, "A study of searching by looking")
    agree(page, study.server.url)
    label = study.label(page.get_by_role("textbox", name="Your link").input_value())
    search = begin(page)
    target = wanted(page)
    pages = search.seek(target, likeness, STEPS)
    at_step(page, pages)
    press(page, f"Found it: {target}")
    heading(page, "You found it")
    expect(page.get_by_text(f"It took {pages} page")).to_be_visible()
    assert not re.search("choice|boltzmann|greedy", page.content(), re.IGNORECASE)
    begin(page, "Next search")
    expect(page.get_by_text("Search 2 of 2")).to_be_visible()
    press(page, "Give up this one")
    heading(page, "Thank you")
    rows = study.rows(tmp_path / "rows.jsonl", label)
    assert [row["trial"] for row in rows] == [0] * pages + [1]
    assert [row["step"] for row in rows] == [*range(pages), 0]
    assert rows[pages - 1]["found"] is True
    assert [row["outcome"] for row in rows] == ["found"] * pages + ["gave up"]
    for row in rows[: pages - 1]:
        assert row["act"] == "like"
        assert isinstance(row["seconds"], float)
        assert row["seconds"] > 0.0
        assert set(row["shown"]) <= set(row["page_ids"])  # type: ignore[call-overload]
    page.reload()
    heading(page, "Thank you")


def test_leaving_and_coming_back(
    page: Page, study: Study, windows: Callable[..., BrowserContext], watch: Watch
) -> None:
    agree(page, study.server.url)
    link = page.get_by_role("textbox", name="Your link").input_value()
    page.reload()
    heading(page, "How it works")
    search = begin(page)
    target = wanted(page)
    other = next(title for title in search.titles() if title != target)
    search.dislike(other)
    at_step(page, 2)
    titles = search.titles()
    page.reload()
    assert search.settled().titles() == titles
    at_step(page, 2)
    assert wanted(page) == target
    press(page, "Take a break")
    heading(page, "Take your time")
    elsewhere = windows(390, 800, has_touch=True, is_mobile=True).new_page()
    elsewhere.goto(link)
    heading(elsewhere, "Look for this")
    there = Search(elsewhere).settled()
    assert there.titles() == titles
    assert "key=" not in elsewhere.url
    at_step(elsewhere, 2)
    # The first window goes on with what happened in the other one.
    there.dislike(next(title for title in titles if title != target))
    press(page, "Go on")
    heading(page, "Look for this")
    at_step(page, 3)
    assert search.settled().titles() == there.titles()


def test_taking_another_thing_for_the_target(page: Page, study: Study, watch: Watch) -> None:
    agree(page, study.server.url)
    search = begin(page)
    target = wanted(page)
    other = next(title for title in search.titles() if title != target)
    watch.allow("409")
    press(page, f"Found it: {other}")
    expect(search.alert).to_contain_text("not the one")
    at_step(page, 1)
    search.settled()
    heading(page, "Look for this")


def test_liking_the_target_is_finding_it(page: Page, study: Study) -> None:
    agree(page, study.server.url)
    search = begin(page)
    target = wanted(page)
    search.seek(target, likeness, STEPS)
    press(page, f"Like {target}")
    heading(page, "You found it")


def test_a_second_click_on_a_page_that_has_passed_does_not_count(
    page: Page, study: Study, watch: Watch
) -> None:
    agree(page, study.server.url)
    search = begin(page)
    target = wanted(page)
    first, second = [title for title in search.titles() if title != target][:2]
    held: list[Route] = []
    page.route("**/clicks", lambda route: route.continue_() if held else held.append(route))
    watch.allow("422")
    press(page, f"Dislike {first}")
    press(page, f"Dislike {second}")
    caught(page, held)[0].continue_()
    expect(search.alert).to_contain_text("not on the page")
    at_step(page, 2)
    search.settled()
    expect(search.disliked.get_by_role("button")).to_have_count(1)


def test_the_steps_come_to_an_end(page: Page, short: Study) -> None:
    agree(page, short.server.url)
    search = begin(page)
    target = wanted(page)
    at_step(page, 1, 2)
    search.dislike(next(title for title in search.titles() if title != target))
    at_step(page, 2, 2)
    # No page comes any more that could be waited for.
    press(page, "Undo")
    heading(page, "That was the last step")
    page.reload()
    heading(page, "That was the last step")


@pytest.mark.chromium("Playwright hears of no download in Firefox.")
def test_withdrawing(page: Page, study: Study, watch: Watch, tmp_path: Path) -> None:
    agree(page, study.server.url)
    link = page.get_by_role("textbox", name="Your link").input_value()
    search = begin(page)
    with page.expect_download() as saved:
        press(page, "What is recorded about me")
    own = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert own["trials"][0]["pages"][0]["shown"]
    assert len(study.rows(tmp_path / "rows.jsonl", own["label"])) == 1
    press(page, "Withdraw and delete")
    press(page, "Keep it")
    search.settled()
    press(page, "Withdraw and delete")
    press(page, "Delete everything")
    heading(page, "You have withdrawn")
    assert study.rows(tmp_path / "rows.jsonl", own["label"]) == []
    page.reload()
    heading(page, "A study of searching by looking")
    watch.allow("404")
    page.goto(link)
    expect(page.get_by_role("alert")).to_contain_text("Nobody takes part with this key")


def test_a_server_that_is_away_is_waited_for(page: Page, short: Study, watch: Watch) -> None:
    agree(page, short.server.url)
    watch.allow("ERR_|NS_ERROR_|Failed to load|Same Origin Policy")
    port = int(short.server.url.rpartition(":")[2])
    short.server.kill()
    press(page, "Begin")
    heading(page, "That did not work")
    short.server.start(short.server.log, port).ready()
    press(page, "Try again")
    heading(page, "How it works")
    begin(page)


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1600, "light")])
def test_every_screen_is_accessible_and_fits(
    windows: Callable[..., BrowserContext], study: Study, width: int, scheme: str
) -> None:
    window = windows(width, 800, color_scheme=scheme, reduced_motion="reduce")
    page = window.new_page()

    def sound() -> None:
        assert violations(page) == []
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width

    page.goto(study.server.url)
    heading(page, "A study of searching by looking")
    sound()
    agree(page, study.server.url)
    sound()
    search = begin(page)
    target = wanted(page)
    search.dislike(next(title for title in search.titles() if title != target))
    sound()
    press(page, f"Enlarge {target}")
    sound()
    press(page, "Close")
    press(page, "Withdraw and delete")
    sound()
    press(page, "Keep it")
    press(page, "Give up this one")
    heading(page, "You gave this one up")
    sound()


def test_by_keyboard_alone(page: Page, study: Study) -> None:
    page.goto(study.server.url)
    heading(page, "A study of searching by looking")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "How it works")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "Look for this")
    search = Search(page).settled()
    target = wanted(page)
    first = next(title for title in search.titles() if title != target)
    while not page.get_by_role("button", name=f"Open {first}", exact=True).evaluate(
        "one => one === one.getRootNode().activeElement"
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("d")
    at_step(page, 2)
    search.settled()
    expect(search.disliked.get_by_role("button", name=f"Clear {first}")).to_be_visible()
