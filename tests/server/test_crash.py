"""Killed without warning, again and again, under load: nothing that was answered is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from seeker import Catalog, Session
from seeker.server.runner import ListenError, listen
from study.parts import StudyServer
from support.catalogs import build_folder
from support.servers import TIMEOUT_SECONDS, Server, until


class Person(threading.Thread):
    """Clicks as fast as answers come, and notes every answer."""

    def __init__(self, url: str, id: str, step: int) -> None:
        super().__init__()
        self._url, self._id, self._step = url, id, step
        self.answered: list[tuple[int, str]] = []
        self.page: dict[str, object] = {}

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=TIMEOUT_SECONDS) as http:
            try:
                page = http.get(f"/v1/sessions/{self._id}").json()["page"]
                while True:
                    item = page["items"][0]["id"]
                    click = {"item": item, "verdict": "like", "step": self._step}
                    answer = http.post(f"/v1/sessions/{self._id}/clicks", json=click)
                    if answer.status_code != 200:
                        return
                    page = answer.json()["page"]
                    self._step = answer.json()["step"]
                    self.answered.append((self._step, item))
                    self.page = page
            except httpx.TransportError:
                return


def test_every_answered_click_outlives_a_kill(store: str, tmp_path: Path) -> None:
    folder = build_folder(tmp_path / "shop", items=400)
    flags = ("--store", store, "--rate", "0", "--workers", "2")
    server = Server(folder, *flags)
    catalog = Catalog.open(folder)
    answered: dict[str, list[tuple[int, str]]] = {}
    ids: list[str] = []
    for _ in range(2):
        server.start(tmp_path / "log").ready()
        with httpx.Client(base_url=server.url, timeout=TIMEOUT_SECONDS) as http:
            if not ids:
                ids = [http.post("/v1/sessions", json={}).json()["id"] for _ in range(3)]
                answered = {id: [] for id in ids}
            steps = {id: http.get(f"/v1/sessions/{id}").json()["step"] for id in ids}
        people = {id: Person(server.url, id, steps[id]) for id in ids}
        for person in people.values():
            person.start()
        until(lambda: all(len(one.answered) >= 4 for one in people.values()))  # noqa: B023
        server.kill()
        for id, person in people.items():
            person.join()
            answered[id] += person.answered
    server.start(tmp_path / "log").ready()
    with httpx.Client(base_url=server.url, timeout=TIMEOUT_SECONDS) as http:
        for id in ids:
            kept = http.get(f"/v1/sessions/{id}/events").json()["events"]
            clicked = [event["item"] for event in kept[1:]]
            assert len(set(clicked)) == len(clicked)
            for step, item in answered[id]:
                assert clicked[step - 1] == item
            # At most the one click of each kill whose answer was under way is there besides.
            assert len(clicked) - len(answered[id]) <= 2
            now = http.get(f"/v1/sessions/{id}").json()
            shown = [item["id"] for item in now["page"]["items"]]
            assert shown == Session.replay(catalog, kept).page().ids
            click = {"item": shown[1], "verdict": "dislike", "step": now["step"]}
            assert http.post(f"/v1/sessions/{id}/clicks", json=click).status_code == 200
    assert server.stop() == 0


@pytest.mark.parametrize("kind", [Server, StudyServer])
def test_workers_end_with_a_parent_that_is_killed(
    kind: type[Server], folder: Path, tmp_path: Path
) -> None:
    """Otherwise they would keep the port, and nobody would know whom to stop."""
    flags = ("--store", str(tmp_path / "s.sqlite"), "--rate", "0", "--workers", "2")
    server = kind(folder, *flags).start(tmp_path / "log").ready()
    assert server.process is not None
    try:
        server.process.kill()
        server.process.wait()
        port = httpx.URL(server.url).port or 0
        until(lambda: _is_free(port), within=60)
        until(lambda: server.workers_gone(), within=60)
    finally:
        server.kill()
    assert "Traceback" not in server.log.read_text()


_HANGING_WORKERS = """
import sys
from seeker.server.runner import serve
from seeker.server.settings import Settings

if __name__ == "__main__":
    settings = Settings(catalogs=(sys.argv[1],), store=sys.argv[2], port=0, workers=2)
    serve(settings, print, factory="hanging:application")
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_workers_that_have_not_begun_to_serve_end_with_their_parent(
    end: signal.Signals, folder: Path, tmp_path: Path
) -> None:
    """What a worker imports takes long on a busy machine; here it takes for ever."""
    (tmp_path / "hanging.py").write_text(
        "import os, threading\nos.write(1, b'importing\\n')\nthreading.Event().wait()\n"
    )
    script = tmp_path / "script.py"
    script.write_text(_HANGING_WORKERS)
    parent = subprocess.Popen(
        [sys.executable, script, folder, tmp_path / "s.sqlite"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    # Whoever would stay is killed in the end, and then there is nothing to read any more, either.
    stayed = threading.Timer(TIMEOUT_SECONDS, os.killpg, (parent.pid, signal.SIGKILL))
    stayed.start()
    try:
        for _ in range(2):
            while "importing" not in parent.stdout.readline():
                assert parent.poll() is None
        parent.send_signal(end)
        parent.stdout.read()
        assert not stayed.finished.is_set()
    finally:
        stayed.cancel()
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()


def _is_free(port: int) -> bool:
    try:
        listen("127.0.0.1", port).close()
    except ListenError:
        return False
    return True
