"""Follows a real click from the browser through the service and back, and draws its way.

    python docs/make/way_of_a_click.py          # prints it; writes docs/architecture.svg

A browser shows a small catalog and somebody likes an item. Named by hand are the few landmarks that
every click passes; the files between them are those on the stack when a landmark is reached for the
first time. Python says so by its own profiler, compiled kernels where they are called, the page by
breakpoints that never stop. What was imported before does not count.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import uvicorn
from playwright.sync_api import Browser, Page, Route, sync_playwright

import seeker
from seeker.server.app import create_app
from seeker.server.runner import listen, server_config
from seeker.server.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from browser import chromium
from browser.search import Search, module_by_module
from support.servers import TIMEOUT_SECONDS, until

ROOT = Path(__file__).parents[2]
PACKAGE = Path(seeker.__file__).parent
PICTURE = ROOT / "docs" / "architecture.svg"
ITEMS = 20_000
"""So many that a page is found by bounds."""

SENDING = {
    ("web/components/panel.js", "Trays.update"): "a person likes an item, and it lies in its tray",
    ("web/api.js", "request"): "the request is sent",
}
SERVING = {
    ("server/requests.py", "ClickRequest.check_limits"): "the request is checked",
    ("engine/workers.py", "WorkerPool.submit"): "it waits for a free thread",
    ("engine/repository.py", "SessionRepository.turn"): "one at a time in each session",
    ("session/state.py", "State.advance"): "the event leads to the next state",
    ("models/choice.py", "Choice.click_terms"): "the click becomes a term: a log-probability",
    ("stores/sqlite.py", "SqliteStore.writing"): "the event is stored, before any answer",
    ("display/strategies.py", "Boltzmann.rank"): "the strategy says what order is wanted",
    ("kernels/noise.py", "bound"): "bounds of all items: their last scores, with noise",
    ("kernels/columns.py", "columns"): "distances of the most promising items",
    ("kernels/likelihood.py", "choice"): "their scores, exactly: the best are the page",
    ("catalog/item_table.py", "ItemTable.fetch"): "what is known of the items of the page",
    ("server/serializers.py", "session_response"): "the answer, as JSON",
}
DRAWING = {("web/components/card.js", "createCard"): "the answer is there: new cards"}
LANDMARKS = {**SENDING, **SERVING, **DRAWING}
"""What every click passes, by file and function, in words: in the page, the service, the page."""

Function = tuple[str, str]
"""A file of the package, and a function in it."""


@dataclass(frozen=True)
class Way:
    """The way of one click: the stack at each landmark, in the order in which they were reached.

    entered: all files with a function that was entered, be it on a stack or not.
    """

    stacks: Mapping[Function, Sequence[Function]]
    entered: Sequence[str]

    @property
    def files(self) -> list[str]:
        """The files on the way, each once, in order."""
        return [*dict.fromkeys(file for stack in self.stacks.values() for file, _ in stack)]


class ServiceTrace:
    """Notes where Python is while it is recording, in all threads that are started from now on."""

    def __init__(self) -> None:
        self.recording = False
        self.entered: dict[str, None] = {}
        self.stacks: dict[Function, list[Function]] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Trace all threads that are started from now on."""
        import numba.core.registry

        kernels: Any = numba.core.registry.CPUDispatcher
        compiled_call = kernels.__call__

        def profile(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and self.recording:
                self._note(frame.f_code, frame.f_back)

        def call(kernel: Any, *arguments: Any, **named: Any) -> Any:
            if self.recording:
                self._note(kernel.py_func.__code__, sys._getframe(1))
            return compiled_call(kernel, *arguments, **named)

        threading.setprofile(profile)
        kernels.__call__ = call
        try:
            yield
        finally:
            del kernels.__call__
            threading.setprofile(None)

    def _note(self, code: CodeType, caller: FrameType | None) -> None:
        entered = _function(code)
        if entered is None:
            return
        self.entered.setdefault(entered[0])
        if entered in SERVING and entered not in self.stacks:
            stack = [entered]
            while caller is not None:
                on_stack = _function(caller.f_code)
                if on_stack is not None:
                    stack.append(on_stack)
                caller = caller.f_back
            self.stacks[entered] = stack[::-1]


def _function(code: CodeType) -> Function | None:
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE) or code.co_name == "<module>":
        return None
    return path.relative_to(PACKAGE).as_posix(), code.co_qualname.replace(".<locals>", "")


class PageTrace:
    """Notes where the page's modules are."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._tools = page.context.new_cdp_session(page)
        for domain in ("Debugger", "Profiler"):
            self._tools.send(f"{domain}.enable")

    def begin(self) -> None:
        """Note from now on what is entered."""
        for file, function in {**SENDING, **DRAWING}:
            line, column = _position(file, function)
            note = (
                f'((globalThis.__way ??= {{}})["{file} {function}"] ??= new Error().stack, false)'
            )
            place = {"urlRegex": f"/{re.escape(file)}$", "lineNumber": line, "columnNumber": column}
            self._tools.send("Debugger.setBreakpointByUrl", {**place, "condition": note})
        self._page.evaluate("Error.stackTraceLimit = 100")
        how = {"callCount": True, "detailed": False}
        self._tools.send("Profiler.startPreciseCoverage", how)

    def stacks(self) -> dict[Function, list[Function]]:
        """Return the stack at each landmark."""
        stack_by_landmark: dict[str, str] = self._page.evaluate("globalThis.__way ?? {}")
        stacks = {}
        for landmark, stack in stack_by_landmark.items():
            file, _, function = landmark.partition(" ")
            calls = re.findall(r"at (?:async )?(?:(\S+) )?.*?/(web/[^:?]+)", stack)
            # The first of them is the breakpoint itself.
            stacks[(file, function)] = [(place, name) for name, place in reversed(calls[1:])]
        return stacks

    def entered(self) -> list[str]:
        """Return the files with a function that was entered."""
        scripts = self._tools.send("Profiler.takePreciseCoverage")["result"]
        return [
            "web/" + script["url"].partition("/web/")[2]
            for script in scripts
            if "/web/" in script["url"]
            and any(one["ranges"][0]["count"] for one in script["functions"])
        ]


def _position(file: str, function: str) -> tuple[int, int]:
    """Return the line and the column at which a function of the page begins to do something."""
    source = (PACKAGE / file).read_text(encoding="utf-8")
    owner, _, name = function.rpartition(".")
    start = re.search(rf"class {owner}\b", source).end() if owner else 0  # type: ignore[union-attr]
    match = re.compile(rf"^ *(?:export )?(?:async )?(?:function )?{name}\(.*\{{$", re.M).search(
        source, start
    )
    assert match is not None, f"{file} has no function {function}"
    return source.count("\n", 0, match.end()) + 1, 0


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a small catalog from a thread of this process; gives its address."""
    vectors = np.random.default_rng(7).normal(size=(ITEMS, 8)).astype(np.float32)
    np.save(folder / "vectors.npy", vectors)
    seeker.build(folder / "vectors.npy", folder / "catalog")
    settings = Settings(
        catalogs=(str(folder / "catalog"),),
        store=str(folder / "sessions.sqlite"),
        rate=0,
        no_refresh=True,
    )
    server = uvicorn.Server(server_config(settings, create_app(settings)))
    socket = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([socket],))
    thread.start()
    try:
        until(lambda: server.started)
        host, port = server.servers[0].sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()


def follow(browser: Browser, folder: Path) -> Way:
    """Let somebody click, and return the way of the second click: by then, all is warm."""
    trace = ServiceTrace()
    with trace.installed(), serving(folder) as address, browser.new_page() as page:
        page.set_default_timeout(1000 * TIMEOUT_SECONDS)
        module_by_module(page)
        search = Search(page).begin(address)
        search.like(search.titles()[0])
        title = search.titles()[1]
        page.wait_for_load_state("networkidle")
        page_trace = PageTrace(page)
        page_trace.begin()
        held: list[Route] = []

        def hold(route: Route) -> None:
            """Let what else the page asks for wait: it would be noted as part of the click."""
            if trace.recording and not route.request.url.endswith("/clicks"):
                held.append(route)
            else:
                route.continue_()

        page.route("**/*", hold)
        trace.recording = True
        with page.expect_response(lambda response: response.url.endswith("/clicks")):
            search.grid.get_by_role("button", name=f"Like {title}", exact=True).click()
        trace.recording = False
        for route in held:
            route.continue_()
        search.settled()
        of_page = page_trace.stacks()
        entered = [*page_trace.entered(), *trace.entered]
    missing = [landmark for landmark in LANDMARKS if landmark not in {**of_page, **trace.stacks}]
    assert not missing, f"The click did not pass {missing}."
    before, after = ({one: of_page[one] for one in part} for part in (SENDING, DRAWING))
    return Way({**before, **trace.stacks, **after}, entered)


COLOURS = {
    "web": "#fdebd0",
    "server": "#d6eaf8",
    **dict.fromkeys(("engine", "stores", "catalog"), "#d5f5e3"),
    **dict.fromkeys(("session", "models", "display", "space", "kernels"), "#e8daef"),
}
"""The page, the service, what joins the parts, the pure core."""

WIDTH, LINE, GAP = 820, 22, 10


def draw(way: Way) -> str:
    """Return the way as SVG: at each landmark the files that are new on the stack."""
    parts: list[str] = []
    drawn_files: set[str] = set()
    top = GAP
    for landmark, stack in way.stacks.items():
        lines = _new_files(stack, drawn_files)
        drawn_files |= {file for file, _ in lines}
        height = LINE * max(1, len(lines)) + GAP
        colour = COLOURS[landmark[0].partition("/")[0]]
        parts += [
            f'<rect x="10" y="{top}" width="{WIDTH - 20}" height="{height}" rx="6" '
            f'fill="{colour}" stroke="#566573"/>',
            f'<text x="22" y="{top + LINE}">{escape(LANDMARKS[landmark])}</text>',
        ]
        for number, (file, function) in enumerate(lines, 1):
            parts.append(
                f'<text x="370" y="{top + number * LINE}" class="file">{escape(file)}</text>'
                f'<text x="{WIDTH - 22}" y="{top + number * LINE}" class="function">'
                f"{escape('.'.join(function.split('.')[-2:]))}</text>"
            )
        top += height + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" '
        'font-family="sans-serif" font-size="14">',
        "<title>The way of a click, from the browser to the page and back</title>",
        "<style>.file, .function { font: 13px monospace } .function { text-anchor: end }</style>",
        f'<rect width="{WIDTH}" height="{top}" fill="white"/>',
    )
    return "\n".join([*head, *parts, "</svg>", ""])


def _new_files(stack: Sequence[Function], drawn_files: set[str]) -> list[Function]:
    """Return the files of a stack that are not drawn yet, each with its innermost function."""
    lines: dict[str, str] = {}
    for file, function in stack:
        if file not in drawn_files and ((function and "<" not in function) or file not in lines):
            lines[file] = function
    return [*lines.items()]


def files_in_picture() -> list[str]:
    """Return the files that the picture shows."""
    return re.findall(r'class="file">([^<]+)<', PICTURE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium.found(), args=chromium.flags()
        )
        way = follow(running, Path(folder))
        running.close()
    PICTURE.write_text(draw(way), encoding="utf-8")
    print("\n".join(way.files))
    print(f"{len(way.files)} files are on the way of a click; it enters {len(way.entered)} in all")
    print("entered besides:", ", ".join(sorted({*way.entered} - {*way.files})))
