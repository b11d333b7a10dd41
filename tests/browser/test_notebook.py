"""The search in a real JupyterLab: a click on the page is done in the kernel, and back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from browser.drivers import free_port
from support.servers import until_answers

CELLS = (
    "import seeker\n"
    "catalog = seeker.Catalog.open({folder!r})\n"
    "search = seeker.widget(catalog, seed=3, page_size=6)\n"
    "search",
    "print('liked', search.session.likes, search.session.step)",
    "search.session.dislike(search.session.page().ids[0])\nsearch.session.page()",
)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """A JupyterLab in an empty folder; its address."""
    port = free_port()
    homes = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    homes |= {"JUPYTER_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ip=127.0.0.1", "--IdentityProvider.token="]
    # It asks nobody for news or updates.
    never = "jupyterlab.handlers.announcements.NeverCheckForUpdate"
    command += [f"--LabApp.check_for_updates_class={never}", "--LabApp.news_url="]
    with (tmp_path / "log").open("w") as log:
        running = subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, "NUMBA_NUM_THREADS": "1", **homes},
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until_answers(f"{address}/api", running, tmp_path / "log")
        yield address
    finally:
        running.terminate()
        running.wait(60)


def test_a_search_in_jupyterlab(
    lab: str, tmp_path: Path, shapes_folder: Path, windows: Callable[..., BrowserContext]
) -> None:
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source.format(folder=str(shapes_folder)),
        }
        for number, source in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "search.ipynb").write_text(json.dumps(book))
    page = windows(width=1800).new_page()
    page.goto(f"{lab}/lab/tree/search.ipynb?reset")
    first = page.locator(".jp-Notebook .jp-CodeCell").first
    expect(first).to_be_visible()
    # Before it is there, what is run is lost.
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
    first.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    items = page.get_by_role("list", name="Items", exact=True).get_by_role("listitem")
    expect(items).to_have_count(6)
    # The pictures came through the channel.
    expect(items.first.locator("img").first).to_have_attribute("src", re.compile("^data:image/"))
    items.first.get_by_role("button", name=re.compile("^Like ")).click()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_enabled()
    second = page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    second.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(second.locator(".jp-OutputArea-output")).to_contain_text("liked ['")
    expect(second.locator(".jp-OutputArea-output")).to_contain_text("] 1")
    third = page.locator(".jp-Notebook .jp-CodeCell").nth(2)
    third.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    shown = third.locator(".jp-OutputArea-output:visible img[src^='data:image/']")
    expect(shown.first).to_be_visible()
    expect(shown).to_have_count(6)
    # What was done in Python is on the page, too.
    expect(
        page.get_by_role("list", name="Disliked", exact=True).get_by_role("listitem")
    ).to_have_count(1)
