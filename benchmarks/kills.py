"""Killed a hundred times under load: what was answered is there, once, and nothing else is.

    make kills                                     about 100 kills in some ten minutes; writes
                                                   docs/benchmarks/kills.md
    python -P benchmarks/kills.py --kills 12       fewer of them; writes it, too
    python -P benchmarks/kills.py --only stall     only these phases; writes nothing

Real servers on loopback, SQLite and PostgreSQL, one and two workers. People click without a pause
for thought, each click with a key of its own, and make it again until it is answered. Meanwhile
whatever is to be killed is killed (SIGKILL) at random moments, or stands still: PostgreSQL that is
stopped, a store that another process has locked, a disk that is full. In the end what is kept is
compared with what was answered. Linux only; everything it starts, it ends.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import seeker
from seeker import Catalog, Session
from seeker.stores import open_store

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import pages
from benchmarks.fault_injection import (
    ORPHAN_SECONDS,
    TIMEOUT_SECONDS,
    KillablePostgres,
    KillableServer,
    disk_full,
    store_locked,
    wait_for,
)
from benchmarks.retrying_clients import HealthProbe, RetryingClient

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
CATALOG_ITEMS = 400


@dataclass(frozen=True)
class Phase:
    """A server, and what happens to it: kills (of what), or times of standing still."""

    name: str
    store: str
    workers: int
    share: float
    victims: tuple[str, ...]


PHASES = (
    Phase("SQLite, one process", "SQLite", 1, 0.25, ("server",)),
    Phase("SQLite, two workers", "SQLite", 2, 0.3, ("worker", "parent", "server")),
    Phase(
        "PostgreSQL, two workers",
        "PostgreSQL",
        2,
        0.45,
        ("postgres", "worker", "parent", "server", "postgres"),
    ),
    Phase("stall: PostgreSQL stands still", "PostgreSQL", 1, 0.0, ("stopped",)),
    Phase("stall: the store is locked", "SQLite", 2, 0.0, ("locked",)),
    Phase("stall: the disk is full", "SQLite", 1, 0.0, ("full",)),
)
STALL_COUNT = 2
"""Times that each stall happens; in one that was, the next may find something left behind."""

STALL_SECONDS = 12.0
"""Longer than the service waits for its store: 5 s for a lock, 10 s for a statement."""


@dataclass
class Outcome:
    """What came of a phase."""

    phase: Phase
    kills: dict[str, int] = field(default_factory=dict)
    answered: int = 0
    sessions: int = 0
    lost: int = 0
    doubled: int = 0
    other_pages: int = 0
    orphans: int = 0
    surprises: list[str] = field(default_factory=list)
    retried: int = 0
    probes: int = 0
    late: int = 0
    slowest: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether everything is as it was answered."""
        wrong = self.lost + self.doubled + self.other_pages + self.orphans
        return not wrong and not self.surprises


class Round:
    """One phase: a server, people and a probe; kills until there were enough."""

    def __init__(self, phase: Phase, catalog: Path, folder: Path, people: int, seed: int) -> None:
        self._phase = phase
        self._catalog = catalog
        self._folder = folder
        self._chance = random.Random(seed)
        self._people = people

    def run(self, kills: int) -> Outcome:
        """Return what came of it."""
        phase, outcome = self._phase, Outcome(self._phase)
        with ExitStack() as stack:
            postgres: KillablePostgres | None = None
            store = str(self._folder / "sessions.sqlite")
            if phase.store == "PostgreSQL":
                postgres = KillablePostgres(self._folder)
                stack.callback(postgres.end)
                store = postgres.address
            log = self._folder / "log"
            server = KillableServer(self._catalog, store, phase.workers, log)
            stack.callback(server.stop)
            server.start()
            people = [
                RetryingClient(server.url, self._chance.getrandbits(32))
                for _ in range(self._people)
            ]
            probe = HealthProbe(server.url, lambda: server.life)
            for thread in (*people, probe):
                thread.start()
            for person in people:
                stack.callback(person.give_up)
            victims = _victims(phase, kills, self._chance)
            for victim in victims:
                self._progress(people)
                time.sleep(self._chance.uniform(0.0, 1.0))
                self._strike(victim, server, postgres, store)
                outcome.kills[victim] = outcome.kills.get(victim, 0) + 1
                print(f"  {victim}", end="", flush=True)
            self._progress(people)
            print()
            for person in people:
                person.stop()
            for person in people:
                person.join(TIMEOUT_SECONDS)
            probe.stop()
            server.stop()
            outcome.orphans = server.orphans
            outcome.probes, outcome.late = probe.answers, probe.late
            outcome.slowest = probe.slowest
            _compare(people, store, self._catalog, outcome)
            outcome.surprises += _unforeseen_errors(log)
        return outcome

    def _strike(
        self, victim: str, server: KillableServer, postgres: KillablePostgres | None, store: str
    ) -> None:
        match victim:
            case "server":
                server.kill()
            case "worker":
                server.kill_worker(self._chance)
            case "parent":
                server.kill_parent()
            case "postgres" if postgres is not None:
                postgres.kill()
            case "stopped" if postgres is not None:
                with postgres.stopped():
                    time.sleep(STALL_SECONDS)
            case "locked":
                with store_locked(store):
                    time.sleep(STALL_SECONDS)
            case "full":
                with disk_full(server):
                    time.sleep(STALL_SECONDS)

    @staticmethod
    def _progress(people: list[RetryingClient]) -> None:
        """Wait until everybody has had some clicks answered."""
        before = [one.answered for one in people]
        wait_for(
            lambda: all(
                one.answered > was + 2 or one.surprises
                for one, was in zip(people, before, strict=True)
            )
        )


def _victims(phase: Phase, kills: int, chance: random.Random) -> list[str]:
    """Return what is killed, in which order: everything about equally often."""
    count = max(len(phase.victims), round(kills * phase.share)) if phase.share else STALL_COUNT
    order = [phase.victims[n % len(phase.victims)] for n in range(count)]
    chance.shuffle(order)
    return order


def _compare(people: list[RetryingClient], store: str, catalog: Path, outcome: Outcome) -> None:
    """Compare what is kept with what was answered."""
    sessions, items = open_store(store), Catalog.open(catalog)
    try:
        for person in people:
            outcome.surprises += person.surprises
            if person.is_alive():
                outcome.surprises.append("Somebody's click was never answered.")
            outcome.answered += person.answered
            statuses = person.statuses
            outcome.retried += sum(statuses[one] for one in statuses if one not in (200, 201))
            for session in person.sessions:
                outcome.sessions += 1
                record = sessions.load(session.id)
                events = [] if record is None else list(record.events)
                there = [(one["item"], one["verdict"]) for one in events[1:]]
                same = sum(a == b for a, b in zip(there, session.clicks, strict=False))
                outcome.lost += len(session.clicks) - same
                outcome.doubled += max(0, len(there) - len(session.clicks))
                page = Session.replay(items, events).page().ids if events else []
                outcome.other_pages += page != session.page
        ids = {session.id for person in people for session in person.sessions}
        # A session that was kept but never answered would be one too many.
        outcome.doubled += sum(id not in ids for id in sessions.find())
    finally:
        sessions.close()


def _unforeseen_errors(log: Path) -> list[str]:
    """Return what the service logged with a traceback: nothing, whatever is killed."""
    records = []
    for line in log.read_text(errors="replace").splitlines():
        with suppress(ValueError):
            records.append(json.loads(line))
    return [
        f"The log tells of an error nobody foresaw: {record['message']}."
        for record in records
        if isinstance(record, dict) and str(record.get("error")).startswith("Traceback")
    ]


def build_catalog(folder: Path) -> Path:
    """Build a small catalog."""
    source = folder / "vectors.npy"
    np.save(source, np.random.default_rng(0).normal(size=(CATALOG_ITEMS, 16)).astype(np.float32))
    seeker.build(source, folder / "catalog")
    return folder / "catalog"


def digest(folder: Path) -> str:
    """Return a checksum of all files in a folder and their names."""
    sums = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sums.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return sums.hexdigest()


def page(outcomes: list[Outcome], took: float, kills_option: int, people: int, seed: int) -> str:
    """Return the report."""
    kills = sum(n for one in outcomes if one.phase.share for n in one.kills.values())
    stalls = sum(n for one in outcomes if not one.phase.share for n in one.kills.values())
    lines = [
        "# Killed under load",
        "",
        f"`python -P benchmarks/kills.py --kills {kills_option} --seed {seed}` (`make kills` asks "
        f"for 100) on {os.cpu_count()} cores ({platform.machine()}), "
        f"{took / 60:.0f} minutes: {kills} kills, and {stalls} times of {STALL_SECONDS:g} s in "
        f"which the store stood still, while {people} people clicked without a pause for thought. "
        "Each click has an Idempotency-Key and is made again until it is answered. Lost: clicks "
        "that were answered and are not kept in their place. Doubled: clicks or sessions that are "
        "kept and were not answered, or more than once. Other pages: last pages that a replay of "
        "what is kept does not show. Orphans: workers that outlive their parent by "
        f"{ORPHAN_SECONDS:g} s. The last columns tell how long `/healthz` took, asked five times a "
        "second from when the service was ready until it was killed.",
        "",
        "| | killed | answered clicks | sessions | asked again | lost | doubled | other pages "
        "| orphans | slowest `/healthz` | over 1 s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in outcomes:
        killed = ", ".join(f"{name} {count}" for name, count in sorted(one.kills.items()))
        lines.append(
            f"| {one.phase.name} | {killed} | {one.answered:,} | {one.sessions} | {one.retried:,} "
            f"| {one.lost} | {one.doubled} | {one.other_pages} | {one.orphans} "
            f"| {one.slowest:.2f} s | {one.late} of {one.probes:,} |"
        )
    lines += [
        "",
        "The catalog's files are the same to the byte before and after. A full disk is a limit to "
        "the length of the server's files. A wrong clock is tried by the tests of the store.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Kill, compare and report; 1 if anything was lost, doubled or touched."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="phases whose name holds this")
    options = parser.parse_args()
    began, outcomes = time.monotonic(), list[Outcome]()
    with tempfile.TemporaryDirectory(prefix="seeker-kills-", ignore_cleanup_errors=True) as place:
        catalog = build_catalog(Path(place))
        before = digest(catalog)
        for number, phase in enumerate(PHASES):
            if options.only not in phase.name:
                continue
            print(phase.name, flush=True)
            folder = Path(place) / str(number)
            folder.mkdir()
            one = Round(phase, catalog, folder, options.people, options.seed + number)
            outcomes.append(one.run(options.kills))
        touched = digest(catalog) != before
    took = time.monotonic() - began
    report = page(outcomes, took, options.kills, options.people, options.seed)
    print(report)
    for outcome in outcomes:
        for surprise in dict.fromkeys(outcome.surprises):
            print(f"{outcome.phase.name}: {surprise}")
    if touched:
        print("The catalog was touched.")
    sound = not touched and all(one.sound for one in outcomes)
    if sound and not options.only:
        pages.write(OUT, "kills", report)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
