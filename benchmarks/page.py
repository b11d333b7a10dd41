"""From a click to the repainted grid, in a real browser, beside the bare HTTP round trip.

    python -P benchmarks/page.py [--clicks 40] [--out docs/benchmarks]

(-P, because a neighbour of this file is called like a package that is needed.) A person's clicks
in the page on the built-in catalog, and the same clicks sent by a program to a twin of the session,
one after the other in the same run: times on a shared machine mean little by themselves, their
ratio does. Writes page.json and page.md. Needs a Chromium and the extra `dev`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import CDPSession, Page, expect, sync_playwright

sys.path.append(str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from benchmarks import pages
from benchmarks.server import demo_server
from benchmarks.timing import latencies, machine_facts, ratio_rows
from browser import chromium

WARM_UP_CLICKS = 3
"""Clicks at the beginning that are not counted."""

LINES = {
    "bare": "the bare HTTP round trip of the same click, by a program",
    "answer": "the same round trip as the browser sees it",
    "shown": "from the click until it is shown as done",
    "repainted": "from the click until the new grid is painted",
    "work": "processor time of the page's own thread in between, motion included",
}

# Runs in the page. A click is over when the grid is no longer busy and what it holds was painted:
# the frame is drawn after the callback of requestAnimationFrame, a task later it is on screen.
WATCH = """() => {
    const search = document.querySelector("seeker-search");
    const grid = search.shadowRoot.querySelector('[aria-label="Items"]');
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const times = (globalThis.times = { answers: [] });
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) {
            if (one.name.endsWith("/clicks")) times.answers.push(one.responseEnd - one.startTime);
        }
    }).observe({ type: "resource" });
    globalThis.click = async (verdict, place) => {
        const buttons = grid.querySelectorAll(`[aria-label^="${verdict} "]`);
        const repainted = new Promise((done) => {
            const observer = new MutationObserver(() => {
                if (grid.getAttribute("aria-busy") !== "false") return;
                observer.disconnect();
                painted().then(() => done(performance.now()));
            });
            observer.observe(grid, { attributes: true, attributeFilter: ["aria-busy"] });
        });
        const began = performance.now();
        buttons[place].click();
        await painted();
        const shown = performance.now();
        return { shown: shown - began, repainted: (await repainted) - began };
    };
}"""


def session_of(page: Page) -> dict[str, Any]:
    """Return the service's last answer to the page."""
    answer: dict[str, Any] = page.locator("seeker-search").evaluate("one => one.session")
    return answer


def bare(http: httpx.Client, twin: str, click: dict[str, Any]) -> float:
    """Send a click to the twin of the session, and return the milliseconds until its answer."""
    body = {name: click[name] for name in ("item", "verdict", "shown")}
    began = time.perf_counter()
    answer = http.post(f"/v1/sessions/{twin}/clicks", json=body)
    answer.raise_for_status()
    answer.json()
    return (time.perf_counter() - began) * 1000


def thread_ms(devtools: CDPSession) -> float:
    """Return the milliseconds of processor time that the page's own thread has taken so far."""
    figures = devtools.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in figures if one["name"] == "TaskDuration"))


def measure(page: Page, url: str, clicks: int) -> dict[str, list[float]]:
    """Search with likes and dislikes in turn; return milliseconds by what was timed."""
    times: dict[str, list[float]] = {name: [] for name in LINES}
    with httpx.Client(base_url=url, timeout=60) as http:
        page.goto(url)
        grid = page.get_by_role("list", name="Items", exact=True)
        expect(grid).to_have_attribute("aria-busy", "false")
        page.evaluate(WATCH)
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        twin = http.post(f"/v1/sessions/{session_of(page)['id']}/fork", json={}).json()["id"]
        for number in range(WARM_UP_CLICKS + clicks):
            arguments = ["Dislike" if number % 3 == 2 else "Like", number % 5]
            before = thread_ms(devtools)
            took = page.evaluate("([verdict, place]) => click(verdict, place)", arguments)
            worked = thread_ms(devtools) - before
            session = session_of(page)["id"]
            event = http.get(f"/v1/sessions/{session}/events").json()["events"][-1]
            answer = page.evaluate("times.answers.at(-1)")
            alone = bare(http, twin, event)
            if number >= WARM_UP_CLICKS:
                times["shown"].append(took["shown"])
                times["repainted"].append(took["repainted"])
                times["answer"].append(answer)
                times["work"].append(worked)
                times["bare"].append(alone)
    return times


def summary(times: dict[str, list[float]], browser: str) -> dict[str, Any]:
    """Return medians and 95th percentiles, as milliseconds and as ratios to the bare round trip."""
    unit = statistics.median(times["bare"])
    return {
        **machine_facts(),
        "browser": browser,
        "clicks": len(times["bare"]),
        "times": latencies(times, unit),
    }


def table(result: dict[str, Any]) -> str:
    """Return the result as Markdown."""
    lines = [
        "From a click to the repainted grid on the built-in catalog, in a real browser "
        f"({result['browser']}), over {result['clicks']} clicks; ratios to the median of the bare "
        "HTTP round trip in the same run, measured by `python -P benchmarks/page.py`.",
        "",
        "| what | median | 95th percentile | median, ms |",
        "| --- | --- | --- | --- |",
    ]
    lines += ratio_rows(result["times"], LINES, lambda one: f"{one['median_ms']:.1f}")
    lines += [
        "",
        "The screen is painted 60 times a second, so anything that is shown waits for up to 17 ms. "
        "Browser and service shared the machine's "
        f"{result['cores']} cores with whatever else ran (load average {result['load']:.1f}).",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Serve, click, write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    path = chromium.found()
    if path is None:
        sys.exit("There is no Chromium. Run: python tests/browser/chromium.py")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        with demo_server(Path(place)) as (url, _):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            times = measure(page, url, options.clicks)
        result = summary(times, f"Chromium {browser.version}")
        browser.close()
    pages.write(options.out, "page", table(result), result)
    print(table(result))


if __name__ == "__main__":
    main()
