"""Shards as Ray actors: found by name, so that all fronts of a cluster share them."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from seeker.cluster import outline
from seeker.cluster.actor import Assignment, ShardActor
from seeker.cluster.connecting import NAMESPACE, imported
from seeker.cluster.delivery import Deliveries
from seeker.cluster.messages import Report
from seeker.cluster.noticing import Noticed
from seeker.cluster.part import Part
from seeker.cluster.ranges import Range, split
from seeker.cluster.transport import Call, Reply, Silent
from seeker.errors import SeekerError
from seeker.models.stopping import Interrupted, Stop, never
from seeker.space import View

THREADS = 8
_AGAIN = 0.1
_LOOK = 0.05
_PING = 30.0


class RayShards:
    """The shards of one catalog in a Ray cluster; made where they are not there yet.

    folder: where the catalog is; shards that see it there map it, others are sent a copy.
    """

    def __init__(
        self,
        views: Mapping[str, View],
        identity: str,
        shards: int,
        folder: str | None,
        memory: int = 512_000_000,
        idle: float = 600.0,
        copies: str | None = None,
    ) -> None:
        self._ray = imported()
        self.ranges: tuple[Range, ...] = split(len(next(iter(views.values()))), shards)
        parts = [Part.of(views, one) for one in self.ranges]
        outline.check(parts[0].views)
        self._assignments = [
            Assignment(identity, rows, folder, copies, memory, idle) for rows in self.ranges
        ]
        self._class = self._ray.remote(ShardActor)
        self._lock = threading.Lock()
        self._actors: list[Any] = [self._actor(shard) for shard in range(shards)]
        self._dead = [False] * shards
        self._noticed = Noticed()
        self._deliveries = Deliveries(parts)
        self._closed = threading.Event()
        pinging = threading.Thread(
            target=_ping,
            args=(weakref.ref(self), self._closed, min(_PING, idle / 4)),
            name="seeker-shards",
            daemon=True,
        )
        pinging.start()

    def _actor(self, shard: int) -> Any:
        """Return the actor of a shard, made if it is not there."""
        one = self._assignments[shard]
        return self._class.options(
            name=f"{one.identity}/{shard} of {len(self.ranges)}",
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=THREADS,
            num_cpus=0,
            scheduling_strategy="SPREAD",
        ).remote(one)

    def ask(
        self, calls: Mapping[int, Call], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards at once, by number, and wait for all of them, but no longer than that.

        stop: given where it may wait: then for as long as the shards show that they live.
        """
        replies: dict[int, Reply] = self._gather("answer", calls, seconds, stop)
        return replies

    def reports(self, seconds: float) -> dict[int, Report | Silent]:
        """Return how the shards are."""
        everybody = dict.fromkeys(range(len(self.ranges)), ())
        replies: dict[int, Report | Silent] = self._gather("report", everybody, seconds)
        return replies

    @property
    def silent(self) -> Mapping[int, str]:
        """The shards that could not answer when they were last asked, and why; pings ask, too."""
        return self._noticed.silent

    def _gather(
        self,
        method: str,
        calls: Mapping[int, tuple[Any, ...]],
        seconds: float,
        stop: Stop | None = None,
    ) -> Any:
        """Call a method of some shards, and note who cannot answer."""
        replies = self._replies(method, calls, seconds, stop or never, patient=stop is not None)
        self._noticed.note(replies)
        return replies

    def _replies(
        self,
        method: str,
        calls: Mapping[int, tuple[Any, ...]],
        seconds: float,
        stop: Stop = never,
        patient: bool = False,
    ) -> dict[int, Any]:
        """Call a method of some shards; those that died are made again as long as there is time.

        patient: there is time for as long as the shards live.
        """
        ray, until = self._ray, time.monotonic() + seconds
        waiting: dict[int, Any] = {}
        replies: dict[int, Any] = {}
        failed = list(calls)
        while failed or waiting:
            for shard in failed:
                called = self._call(shard, method, calls[shard])
                (replies if isinstance(called, Silent) else waiting)[shard] = called
            if not waiting:
                return replies
            if stop():
                self._give_up(waiting.values())
                raise Interrupted
            left = max(0.0, until - time.monotonic())
            refs = list(waiting.values())
            try:
                look = left if stop is never else min(left, _LOOK)
                done = set(ray.wait(refs, num_returns=len(refs), timeout=look)[0])
            except Exception as error:
                lost = Silent(self._why_lost(error))
                return replies | dict.fromkeys(waiting, lost)
            failed = []
            for shard, ref in list(waiting.items()):
                if ref not in done:
                    continue
                del waiting[shard]
                reply = self._got(ref)
                if isinstance(reply, Silent):
                    failed.append(shard)
                    self._dead[shard] = True
                replies[shard] = reply
            if time.monotonic() >= until:
                silent = self._lifeless(waiting, seconds, stop) if patient else waiting
                for shard in list(silent):
                    self._give_up([waiting.pop(shard)])
                    replies[shard] = Silent(f"no answer in {seconds:.3g} seconds")
                if not patient:
                    return replies
                until = time.monotonic() + seconds
            if failed:
                time.sleep(_AGAIN)
        return replies

    def _lifeless(self, shards: Iterable[int], seconds: float, stop: Stop) -> list[int]:
        """Return those of some shards that do not even say how they are; none if it is to stop."""
        try:
            reports = self._replies("report", dict.fromkeys(shards, ()), seconds, stop)
        except Interrupted:
            return []
        return [shard for shard, report in reports.items() if isinstance(report, Silent)]

    def _give_up(self, refs: Iterable[Any]) -> None:
        """Have nothing more done for answers that nobody waits for any longer."""
        for ref in refs:
            with suppress(Exception):  # whoever is gone does nothing more
                self._ray.cancel(ref)

    def _call(self, shard: int, method: str, call: tuple[Any, ...]) -> Any:
        """Ask a shard; Silent if even that cannot be done."""
        try:
            if self._dead[shard]:
                self._revive(shard)
            return getattr(self._actors[shard], method).remote(*call)
        except Exception as error:
            return Silent(self._why_lost(error))

    def _got(self, ref: Any) -> Any:
        """Return an answer that is there; an error of ours is raised, a lost shard is silent."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise cause if isinstance(cause, SeekerError) else error from None
        except Exception as error:
            return Silent(self._why_lost(error))

    def _why_lost(self, error: Exception) -> str:
        """Return why a shard could not be asked; what has other reasons is raised again."""
        if isinstance(error, self._ray.exceptions.RayError):
            return type(error).__name__
        # Where Ray's client has lost the cluster for good, it raises just that: an Exception.
        if isinstance(error, ConnectionError | RuntimeError) or type(error) is Exception:
            return "the cluster cannot be reached"
        raise error

    def _revive(self, shard: int) -> None:
        """Look for the actor of a shard again."""
        with self._lock:
            self._actors[shard] = self._actor(shard)
            self._dead[shard] = False

    def deliver(self, shard: int, seconds: float) -> str | None:
        """Bring a shard its part of the catalog; return why it is not there in time, or None."""
        trouble = self._deliveries.deliver(shard, self._actors[shard], seconds)
        if trouble is not None:
            self._noticed.note({shard: Silent(trouble)})
        return trouble

    def close(self) -> None:
        """Let go of the shards: they end by themselves when no front needs them."""
        self._closed.set()

    def end(self) -> None:
        """End the shards for all."""
        self.close()
        for actor in self._actors:
            self._ray.kill(actor, no_restart=True)


def _ping(shards: weakref.ref[RayShards], closed: threading.Event, every: float) -> None:
    """Tell the shards now and then that they are needed, for as long as they are."""
    while not closed.wait(every):
        alive = shards()
        if alive is None:
            return
        try:
            alive.reports(every)
        except Exception:  # whoever asks next meets the same error and is told
            continue
        finally:
            del alive
