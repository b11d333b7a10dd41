"""People who search a catalog, and a process that changes it meanwhile, both over HTTP."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.load_generator import Connection

PEOPLE = 50
CHANGES = 100
"""Changes in a second."""
CHANGES_AT_ONCE = 40
MAX_WAITING = 400
"""Changes that may be on their way at once."""


class People:
    """People who search, all the time; how long each click took is kept by phase."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.phase = ""
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.used: dict[str, float] = defaultdict(float)
        self.versions: dict[str, int] = defaultdict(int)
        self._url, self._headers = url, headers

    async def search(self) -> None:
        """Search until the last phase has ended."""
        await asyncio.gather(*(self._person(number) for number in range(PEOPLE)))

    async def _person(self, number: int) -> None:
        chance, connection = random.Random(number), Connection(self._url, self._headers)
        while True:
            _, session = await connection.ask("POST", "/v1/sessions", {})
            for _ in range(10):
                await asyncio.sleep(chance.uniform(1.0, 3.0))
                if self.phase == "end":
                    return await connection.close()
                item = chance.choice(session["page"]["items"])["id"]
                phase, began = self.phase, time.monotonic()
                click = {"item": item, "verdict": "like", "step": session["step"]}
                path = f"/v1/sessions/{session['id']}/clicks"
                status, session = await connection.ask("POST", path, click)
                self.taken[phase].append(time.monotonic() - began)
                assert status == 200, session


class Changes:
    """A process that changes a hundred prices a second while it may; each that was answered."""

    def __init__(self, url: str, headers: dict[str, str], count: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.go_on, self._end = spawn.Event(), spawn.Event()
        self._outcome, outcome = spawn.Pipe(duplex=False)
        arguments = (url, headers, count, self.go_on, self._end, outcome)
        self.process = spawn.Process(target=_change_prices, args=arguments, daemon=True)
        self.process.start()
        outcome.close()  # so that nobody waits for a process that has died

    def stop(self) -> tuple[int, dict[str, int]]:
        """Return how many changes were sent, and the last price that was answered of each item."""
        self._end.set()
        sent: int
        answered: dict[str, int]
        try:
            sent, answered = self._outcome.recv()
        except EOFError:
            raise RuntimeError("The process that changes prices has died.") from None
        self.process.join()
        return sent, answered


@contextmanager
def changing(url: str, headers: dict[str, str], count: int) -> Iterator[Changes]:
    """Lend a process that changes prices."""
    changes = Changes(url, headers, count)
    try:
        yield changes
    finally:
        changes.process.terminate()


def _change_prices(
    url: str, headers: dict[str, str], count: int, go_on: Any, end: Any, outcome: Any
) -> None:
    outcome.send(asyncio.run(_patches(url, headers, count, go_on, end)))


async def _patches(
    url: str, headers: dict[str, str], count: int, go_on: Any, end: Any
) -> tuple[int, dict[str, int]]:
    sent, answered, tasks = 0, dict[str, int](), set[asyncio.Task[None]]()
    unused: list[Connection] = []

    async def patch(number: int) -> None:
        id = str(number * 7919 % count)
        connection = unused.pop() if unused else Connection(url, headers)
        body = {"attributes": {"price": number}}
        try:
            status, answer = await connection.ask("PATCH", f"/v1/items/shop/{id}", body)
        except asyncio.IncompleteReadError:  # the server has hung up between two phases
            await connection.close()
            status, answer = await connection.ask("PATCH", f"/v1/items/shop/{id}", body)
        assert status == 200, answer
        unused.append(connection)
        answered[id] = max(answered.get(id, 0), number)

    owed, last = 0.0, time.monotonic()
    async with asyncio.TaskGroup() as group:  # a change that is refused ends the process
        while not end.is_set():
            now = time.monotonic()
            owed += (now - last) * CHANGES if go_on.is_set() else 0.0
            last = now
            while owed >= 1.0 and len(tasks) < MAX_WAITING:
                owed, sent = owed - 1.0, sent + 1
                tasks.add(task := group.create_task(patch(sent)))
                task.add_done_callback(tasks.discard)
            owed = min(owed, 1.0)  # a server that cannot keep up is not sent more and more
            await asyncio.sleep(0.01)
    for connection in unused:
        await connection.close()
    return sent, answered


async def change_prices(url: str, headers: dict[str, str], first: int, count: int) -> int:
    """Change so many prices of 20,000 items, some at a time; return the last.

    first: the number of the first change, as there was none before.
    """
    numbers = iter(range(first, first + count))

    async def one_after_the_other() -> None:
        connection = Connection(url, headers)
        for number in numbers:
            body = {"attributes": {"price": number}}
            path = f"/v1/items/shop/{number * 7919 % 20_000}"
            status, answer = await connection.ask("PATCH", path, body)
            assert status == 200, answer
        await connection.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CHANGES_AT_ONCE):
            group.create_task(one_after_the_other())
    return first + count - 1
