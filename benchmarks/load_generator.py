"""People with think time, as light as they can be made: the server shall be what is measured."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from typing import Any
from urllib.parse import urlsplit

CROWD_PROCESSES = 2
"""Processes that the people are in: one alone would make them wait for each other."""

ARRIVALS_PER_SECOND = 100
"""People who come in a second, at most: what is asked is how many searches go on at once."""


class Connection:
    """One person's connection: JSON there and back over HTTP/1.1, kept open between requests."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        parts = urlsplit(url)
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Make a request; return status and answer."""
        if self._reader is None or self._writer is None:
            streams = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
            self._reader, self._writer = streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"{self._headers}Content-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        await self._writer.drain()
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(one.split(":")[1]) for one in lines if one.startswith("content-length"))
        answer = json.loads(await self._reader.readexactly(length))
        return int(lines[0].split()[1]), answer

    async def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
            await asyncio.gather(self._writer.wait_closed(), return_exceptions=True)
            self._reader = self._writer = None


@dataclass
class Answers:
    """What some people met: seconds until answers, and how many were refused or broke off."""

    starts: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    def add(self, other: Answers) -> None:
        """Take in what others met."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Person:
    """Starts a session, and then thinks, clicks, thinks, …, for as long as they are active."""

    def __init__(self, url: str, number: int, think: float) -> None:
        self.number = number
        self._connection = Connection(url)
        self._chance = random.Random(number)
        self._think = think
        self._turn = asyncio.Lock()
        self._session: dict[str, Any] | None = None

    async def come(self, within: float, part: PartOfCrowd) -> None:
        """Start a session within some seconds, and search from then on."""
        await asyncio.sleep(self._chance.uniform(0.0, within))
        self._session = await self._ask(part, "starts", "POST", "", {"seed": self.number})
        part.came += 1
        while self._session is not None:
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * self._think)
            if self.number < part.active:
                item = self._chance.choice(self._session["page"]["items"])["id"]
                verdict = self._chance.choice(["like", "dislike"])
                click = {"item": item, "verdict": verdict, "step": self._session["step"]}
                path = f"/{self._session['id']}/clicks"
                answer = await self._ask(part, "clicks", "POST", path, click)
                self._session = answer or self._session

    async def look(self, within: float, part: PartOfCrowd) -> None:
        """Look at the session once within some seconds."""
        await asyncio.sleep(self._chance.uniform(0.0, within))
        if self._session is not None:
            await self._ask(part, "looks", "GET", f"/{self._session['id']}")

    async def leave(self) -> None:
        """Hang up."""
        await self._connection.close()

    async def _ask(
        self, part: PartOfCrowd, what: str, method: str, path: str, body: object = None
    ) -> Any:
        """Return an answer and note how long it took; None if there was none, or a refusal."""
        began = time.perf_counter()
        try:
            async with self._turn:
                status, answer = await self._connection.ask(method, f"/v1/sessions{path}", body)
        except (OSError, asyncio.IncompleteReadError):
            part.answers.failed += 1
            await self._connection.close()
            return None
        if status >= 400:
            part.answers.refused += 1
            return None
        getattr(part.answers, what).append(time.perf_counter() - began)
        return answer


class PartOfCrowd:
    """The people in one process. active: people with lower numbers click. came: how many have."""

    def __init__(self, url: str, numbers: range, think: float) -> None:
        self.active = 0
        self.came = 0
        self.answers = Answers()
        self._people = [Person(url, number, think) for number in numbers]
        self._tasks: list[asyncio.Task[None]] = []

    async def obey(self, pipe: Pipe) -> None:
        """Do what the other end says until it hangs up."""
        while True:
            try:
                command, number = await asyncio.to_thread(pipe.recv)
            except EOFError:
                break
            pipe.send(self._do(command, number))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(one.leave() for one in self._people), return_exceptions=True)

    def _do(self, command: str, number: float) -> object:
        if command == "come":
            self._tasks += [asyncio.create_task(one.come(number, self)) for one in self._people]
        elif command == "look":
            looking = [one for one in self._people if one.number < self.active]
            self.active = 0
            self._tasks += [asyncio.create_task(one.look(number, self)) for one in looking]
        elif command == "click":
            self.active = int(number)
        elif command == "came":
            return self.came
        elif command == "answers":
            answers, self.answers = self.answers, Answers()
            return answers
        return None


def _run(pipe: Pipe, url: str, numbers: range, think: float) -> None:
    async def run() -> None:
        await PartOfCrowd(url, numbers, think).obey(pipe)

    asyncio.run(run())


class Crowd:
    """People in processes of their own, who do what they are told; think: seconds per click."""

    def __init__(self, pipes: list[Pipe], people: int) -> None:
        self._pipes = pipes
        self._people = people

    def come(self) -> None:
        """Have everybody start a session, and return when all have."""
        self._tell("come", max(1.0, self._people / ARRIVALS_PER_SECOND))
        while sum(self._tell("came")) < self._people:
            time.sleep(0.1)

    def click(self, people: int) -> None:
        """Have so many people click from now on; the others only wait."""
        self._tell("click", people)

    def look(self, seconds: float) -> None:
        """Have those who click look at their session once instead, within some seconds."""
        self._tell("look", seconds)

    def answers(self) -> Answers:
        """Return what all have met since this was last asked."""
        answers = Answers()
        for part in self._tell("answers"):
            answers.add(part)
        return answers

    def _tell(self, command: str, number: float = 0.0) -> list[Any]:
        for pipe in self._pipes:
            pipe.send((command, number))
        return [pipe.recv() for pipe in self._pipes]


@contextmanager
def crowd_of(url: str, people: int, think: float) -> Iterator[Crowd]:
    """Give a crowd of so many people, none of whom has come yet."""
    spawn = get_context("spawn")
    parts = min(CROWD_PROCESSES, people)
    pipes, processes = [], []
    for number in range(parts):
        mine, other = spawn.Pipe()
        arguments = (other, url, range(number, people, parts), think)
        processes.append(spawn.Process(target=_run, args=arguments))
        processes[-1].start()
        other.close()
        pipes.append(mine)
    try:
        yield Crowd(pipes, people)
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join()
