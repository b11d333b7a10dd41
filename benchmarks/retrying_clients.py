"""Clients that never give up: each click is made again with the same key until it is answered."""

from __future__ import annotations

import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

MAX_SESSION_CLICKS = 150
"""Clicks in a session before a new one is begun: long sessions take long to be opened again."""

RETRY_STATUSES = {408, 429, 500, 503}
PAUSE_SECONDS = 0.05


@dataclass
class SessionRecord:
    """A session as one person has seen it: the clicks that were answered, and the last page."""

    id: str
    clicks: list[tuple[str, str]] = field(default_factory=list)
    page: list[str] = field(default_factory=list)


class RetryingClient(threading.Thread):
    """Starts sessions and clicks in them until told to stop; notes every answer.

    sessions: all sessions. statuses: how often each status was answered. surprises: what should
    not be.
    """

    def __init__(self, url: str, seed: int) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._chance = random.Random(seed)
        self._over = threading.Event()
        self._leave = threading.Event()
        self.sessions: list[SessionRecord] = []
        self.answered = 0
        self.statuses: Counter[int] = Counter()
        self.surprises: list[str] = []

    def stop(self) -> None:
        """Begin no further click; the one under way is made until it is answered."""
        self._over.set()

    def give_up(self) -> None:
        """Leave at once, whatever is under way."""
        self._over.set()
        self._leave.set()

    def run(self) -> None:
        """Search, one session after the other."""
        with httpx.Client(base_url=self._url, timeout=30) as http:
            while not self._over.is_set():
                answer = self._post(http, "/v1/sessions", {"seed": self._chance.randrange(2**31)})
                if answer is None:
                    return
                record = SessionRecord(answer["id"], page=_ids(answer))
                self.sessions.append(record)
                while len(record.clicks) < MAX_SESSION_CLICKS and not self._over.is_set():
                    if not self._click(http, record):
                        return
                    time.sleep(self._chance.uniform(0.2, 1.0) * PAUSE_SECONDS)

    def _click(self, http: httpx.Client, record: SessionRecord) -> bool:
        item, verdict = self._chance.choice(record.page), self._chance.choice(["like", "dislike"])
        click = {"item": item, "verdict": verdict, "step": len(record.clicks)}
        answer = self._post(http, f"/v1/sessions/{record.id}/clicks", click)
        if answer is None:
            return False
        record.clicks.append((item, verdict))
        record.page = _ids(answer)
        if answer["step"] != len(record.clicks):
            self.surprises.append(f"step {answer['step']} after {len(record.clicks)} clicks")
        self.answered += 1
        return True

    def _post(self, http: httpx.Client, address: str, body: dict[str, Any]) -> Any:
        """Ask with one key until there is an answer; None if there will be none."""
        key = {"Idempotency-Key": uuid.UUID(int=self._chance.getrandbits(128)).hex}
        while not self._leave.is_set():
            try:
                answer = http.post(address, json=body, headers=key)
            except httpx.TransportError:
                time.sleep(PAUSE_SECONDS)
                continue
            self.statuses[answer.status_code] += 1
            if answer.status_code in (200, 201):
                return answer.json()
            if answer.status_code not in RETRY_STATUSES:
                self.surprises.append(
                    f"{answer.status_code} to {json.dumps(body)}: {answer.text[:300]}"
                )
                return None
            time.sleep(2 * PAUSE_SECONDS)
        return None


class HealthProbe(threading.Thread):
    """Asks /healthz again and again; slowest: seconds of the slowest answer while it was alive.

    life: 0 while the service is dead or starts, else a number that is another after each start.
    """

    def __init__(self, url: str, life: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._life = life
        self._over = threading.Event()
        self.slowest = 0.0
        self.answers = 0
        self.late = 0

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self.join()

    def run(self) -> None:
        """Ask five times a second, with a connection of its own each time."""
        while not self._over.wait(0.2):
            began, life = time.monotonic(), self._life()
            try:
                httpx.get(f"{self._url}/healthz", timeout=20)
            except httpx.TimeoutException:
                pass
            except httpx.TransportError:
                continue  # it was dead, or died under the question
            took = time.monotonic() - began
            if not life or life != self._life():
                continue
            self.answers += 1
            self.late += took > 1.0
            self.slowest = max(self.slowest, took)


def _ids(session: dict[str, Any]) -> list[str]:
    return [item["id"] for item in session["page"]["items"]]
