"""Several workers: a session is in the memory of one, whoever is called, and outlives it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from seeker.server.placement import WorkerSlot, receive
from support.servers import Server, start, until

SESSIONS = 12


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("placement")
    flags = ("--store", str(place / "s.sqlite"), "--workers", "2", "--rate", "0", "--open-metrics")
    with Server(folder, *flags, "--log-level", "warning").running(place / "log") as running:
        until(lambda: both_answer(running))
        yield running


def both_answer(server: Server) -> bool:
    """Start two sessions; return whether a worker has handed one to the other, be it now."""
    for _ in range(2):
        assert httpx.post(f"{server.url}/v1/sessions", json={}, timeout=60).status_code == 201
    return figure(server, "connections_passed") > 0


def workers(server: Server) -> set[int]:
    """Return the processes that answer."""
    assert server.process is not None
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    # The other child watches over what processes share.
    commands = {int(one): Path(f"/proc/{one}/cmdline").read_text() for one in children}
    return {one for one, command in commands.items() if "spawn_main" in command}


def figure(server: Server, name: str) -> float:
    """Return a figure of all workers; each tells its own at least once a second."""
    for line in httpx.get(f"{server.url}/metrics", timeout=60).text.splitlines():
        if line.startswith(f"seeker_{name} "):
            return float(line.split()[1])
    raise AssertionError(name)


def click(server: Server, session: dict[str, Any]) -> dict[str, Any]:
    """Click on the first item of a page, over a connection of its own."""
    item = session["page"]["items"][0]["id"]
    body = {"item": item, "verdict": "like", "step": session["step"]}
    answer = httpx.post(f"{server.url}/v1/sessions/{session['id']}/clicks", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_session_is_computed_in_one_worker_whoever_is_called(server: Server) -> None:
    with server.client() as http:
        sessions = [start(http, seed=seed) for seed in range(SESSIONS)]
    for _ in range(4):
        with ThreadPoolExecutor(4) as people:
            sessions = [*people.map(lambda one: click(server, one), sessions)]
    for session in sessions:
        url = f"{server.url}/v1/sessions/{session['id']}"
        assert httpx.get(url, timeout=60).json() == session
    until(lambda: figure(server, "belief_cache_hits") >= SESSIONS)
    # Each is in one memory and no more, and none was ever computed twice.
    until(lambda: figure(server, "belief_cache_sessions") == figure(server, "sessions"))
    assert figure(server, "sessions_rebuilt") == 0
    assert figure(server, "connections_passed") >= SESSIONS // 2


def test_one_connection_is_for_all_sessions(server: Server) -> None:
    """It goes from worker to worker, and what is sent and answered stays in order."""
    with server.client() as http:
        sessions = [start(http, seed=seed) for seed in range(SESSIONS)]
        addresses = set()
        for session in sessions * 3:
            answer = http.get(f"/v1/sessions/{session['id']}")
            assert answer.json() == session
            stream = answer.extensions["network_stream"]
            addresses.add(stream.get_extra_info("client_addr"))
        assert len(addresses) == 1


def test_a_worker_that_is_killed_costs_a_replay_and_nothing_else(server: Server) -> None:
    passed = figure(server, "connections_passed")
    with server.client() as http:
        sessions = [start(http, seed=seed) for seed in range(SESSIONS)]
    sessions = [click(server, one) for one in sessions]
    for victim in workers(server):
        os.kill(victim, signal.SIGKILL)
        until(lambda: victim not in workers(server))  # noqa: B023
        # Whoever is left answers for all, until there is another.
        sessions = [click(server, one) for one in sessions]
        assert {one["step"] for one in sessions} == {len(sessions[0]["likes"])}
        until(lambda: len(workers(server)) == 2)
    assert {one["step"] for one in sessions} == {3}
    for session in sessions:
        url = f"{server.url}/v1/sessions/{session['id']}"
        assert httpx.get(url, timeout=60).json() == session
    # The figures of those who are gone are, too: nothing is counted as in memory that is not.
    until(lambda: figure(server, "connections_passed") < passed)


def request(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def test_only_what_is_about_a_session_goes_to_its_worker(tmp_path: Path) -> None:
    slot = WorkerSlot(tmp_path, 2)
    assert slot.number == 0
    ids = [f"session{number}" for number in range(20)]
    foreign = [id for id in ids if not slot.owns(id)]
    assert 0 < len(foreign) < len(ids)
    for id in ids:
        where = 1 if id in foreign else None
        assert slot.elsewhere(request(f"/v1/sessions/{id}")) == where
        assert slot.elsewhere(request(f"/root/v1/sessions/{id}/clicks?x=1", "POST")) == where
        assert slot.elsewhere(request(f"http://localhost/v1/shared/{id}/items")) == where
    starts = [slot.elsewhere(request("/v1/sessions", "POST")) for _ in range(4)]
    assert starts == [None, 1, None, 1]
    one = foreign[0]
    for other in ("/healthz", "/v1/items/v1", f"/web?x=/v1/sessions/{one}", "/v1/sessions/"):
        assert slot.elsewhere(request(other)) is None
    assert slot.elsewhere(b"GET /v1/sess") is None
    assert slot.elsewhere(request(f"/v1/sessions/{one}", "POST") + bytes(70_000)) is None
    slot.close()


def test_a_slot_is_taken_by_one_and_the_third_waits_for_one(tmp_path: Path) -> None:
    first, second, third = (WorkerSlot(tmp_path, 2) for _ in range(3))
    assert (first.number, second.number, third.number) == (0, 1, None)
    assert third.owns("any")  # it answers for whoever cannot be reached
    line, other = socket.socketpair()
    with line, other:
        assert not first.pass_on(1, line.fileno(), b"nobody listens there yet")
        second.listening.listen()
        assert first.pass_on(1, line.fileno(), b"hello")
        second.close()
        assert not first.pass_on(1, line.fileno(), b"nobody listens there any more")
    assert first.passed == 1
    third.claim()
    assert third.number == 1
    first.close()
    third.close()


@pytest.mark.parametrize("length", [1, 2, 8, 9])
def test_what_is_handed_over_in_part_is_let_go(length: int) -> None:
    """Whoever began to hand it over was killed, or could not send it all and answers itself."""
    message = struct.pack("!I", 5) + b"hello"
    sender, receiver = socket.socketpair()
    line, person = socket.socketpair()

    async def hand_over() -> bytes:
        loop = asyncio.get_running_loop()
        adopted: asyncio.Future[bytes] = loop.create_future()

        def adopt(connection: socket.socket, data: bytes) -> None:
            connection.close()
            adopted.set_result(data)

        receive(loop, receiver, adopt)
        socket.send_fds(sender, [message[:length]], [line.fileno()])
        sender.close()
        line.close()
        person.setblocking(False)
        assert await loop.sock_recv(person, 1) == b""  # nobody has the other end any longer
        return adopted.result() if adopted.done() else b""

    with person:
        told = asyncio.run(asyncio.wait_for(hand_over(), 60))
    assert told == (b"hello" if length == len(message) else b"")
