"""Shards as Ray actors: found by name, so that all fronts of a cluster share them."""

from __future__ import annotations

import logging
import secrets
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from seeker.cluster.messages import MissingDataReply, NoReply, Reply, ShardReport, ShardRequest
from seeker.cluster.partition import CatalogPart, RowRange, check_outline, split_rows
from seeker.cluster.ray_actor import Assignment, ShardActor, checksum, pieces
from seeker.cluster.ray_runtime import NAMESPACE, import_ray
from seeker.errors import SeekerError
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.space import View

LOGGER = logging.getLogger("seeker")

NO_ROWS = "its part of the catalog is on the way"
"""Why a shard is silent that has no rows yet."""


class ShardMonitor:
    """Notices shards that are silent, and logs who falls silent or answers again. For any thread.

    So is whoever was started again: Ray does that by itself, and clicks are merely late then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent: dict[int, str] = {}
        self._processes: dict[int, tuple[str, int]] = {}

    @property
    def silent(self) -> dict[int, str]:
        """The shards that could not answer when last asked, and why."""
        with self._lock:
            return dict(self._silent)

    def observe(self, replies: Mapping[int, object]) -> None:
        """Take in what shards have replied to anything, by number."""
        for shard, reply in replies.items():
            reason = _silence_reason(reply)
            with self._lock:
                before = self._silent.pop(shard, None)
                if reason is not None:
                    self._silent[shard] = reason
                restarted = isinstance(reply, ShardReport) and self._is_restarted(shard, reply)
            if restarted:
                LOGGER.warning("shard restarted", extra={"fields": {"shard": shard}})
            if reason is not None and before in (None, NO_ROWS) and reason != before:
                fields = {"shard": shard, "reason": reason}
                LOGGER.warning("shard silent", extra={"fields": fields})
            elif reason is None and before is not None:
                LOGGER.info("shard answers again", extra={"fields": {"shard": shard}})

    def _is_restarted(self, shard: int, report: ShardReport) -> bool:
        """Whether a shard is in another process than when it was last heard of."""
        process = (report.node, report.pid)
        before, self._processes[shard] = self._processes.get(shard, process), process
        return before != process


def _silence_reason(reply: object) -> str | None:
    """Return why a shard cannot answer, or None if it can."""
    match reply:
        case NoReply(reason):
            return reason
        case MissingDataReply(part=True) | ShardReport(ready=False):
            return NO_ROWS
    return None


class Deliveries:
    """What is on its way to shards; one delivery to each at a time. parts: of all shards."""

    def __init__(self, parts: list[CatalogPart]) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._under_way: dict[int, Delivery] = {}

    def deliver(self, shard: int, actor: Any, seconds: float) -> str | None:
        """Bring a shard, which is this actor, its part; return why that is not done, or None."""
        with self._lock:
            delivery = self._under_way.get(shard)
            if delivery is None or not delivery.is_alive():
                delivery = self._under_way[shard] = Delivery(actor, self._parts[shard])
                delivery.start()
        delivery.join(seconds)
        return NO_ROWS if delivery.is_alive() else delivery.failure


class Delivery(threading.Thread):
    """Sends a shard its rows, piece by piece; failure: why that could not be done."""

    def __init__(self, actor: Any, part: CatalogPart) -> None:
        super().__init__(name="seeker-delivery", daemon=True)
        self._actor = actor
        self._part = part
        self.failure: str | None = None

    def run(self) -> None:
        """Send the rows."""
        ray, sender = import_ray(), secrets.token_hex(8)
        checksums = []
        try:
            for piece in pieces(self._part):
                ray.get(self._actor.receive.remote(sender, piece))
                checksums.append(piece.sha256)
            ray.get(self._actor.finish.remote(sender, checksum(checksums), self._part.outline))
        except ray.exceptions.RayTaskError as error:
            self.failure = f"it could not keep its part of the catalog: {error.cause}"
        except (ray.exceptions.RayError, ConnectionError) as error:
            self.failure = f"its part of the catalog did not arrive: {type(error).__name__}"


_ACTOR_THREADS = 8
_RETRY_SECONDS = 0.1
_STOP_CHECK_SECONDS = 0.05
_PING_SECONDS = 30.0


class RayShards:
    """The shards of one catalog in a Ray cluster; made where they are not there yet.

    folder: where the catalog is; shards that see it there map it, others are sent a copy. memory,
    idle, copies: as in `Assignment`. actor: the class that runs in the shards' processes.
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
        actor: type[ShardActor] = ShardActor,
    ) -> None:
        self._ray = import_ray()
        self.ranges: tuple[RowRange, ...] = split_rows(len(next(iter(views.values()))), shards)
        parts = [CatalogPart.of(views, rows) for rows in self.ranges]
        check_outline(parts[0].views)
        self._assignments = [
            Assignment(identity, rows, folder, copies, memory, idle) for rows in self.ranges
        ]
        self._class = self._ray.remote(actor)
        self._lock = threading.Lock()
        self._actors: list[Any] = [self._actor(shard) for shard in range(shards)]
        self._dead = [False] * shards
        self._monitor = ShardMonitor()
        self._deliveries = Deliveries(parts)
        self._closed = threading.Event()
        threading.Thread(
            target=_ping,
            args=(weakref.ref(self), self._closed, min(_PING_SECONDS, idle / 4)),
            name="seeker-shards",
            daemon=True,
        ).start()

    def _actor(self, shard: int) -> Any:
        """Return the actor of a shard, made if it is not there."""
        assignment = self._assignments[shard]
        return self._class.options(
            name=f"{assignment.identity}/{shard} of {len(self.ranges)}",
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=_ACTOR_THREADS,
            num_cpus=0,
            scheduling_strategy="SPREAD",
        ).remote(assignment)

    def ask(
        self, requests: Mapping[int, ShardRequest], seconds: float, stop: Stop | None = None
    ) -> dict[int, Reply]:
        """Ask some shards at once, by number, and wait for all of them, but no longer than that.

        stop: given where it may wait: then for as long as the shards show that they live.
        """
        calls = {shard: (request,) for shard, request in requests.items()}
        replies: dict[int, Reply] = self._gather("answer", calls, seconds, stop)
        return replies

    def reports(self, seconds: float) -> dict[int, ShardReport | NoReply]:
        """Return how the shards are."""
        calls = dict.fromkeys(range(len(self.ranges)), ())
        reports: dict[int, ShardReport | NoReply] = self._gather("report", calls, seconds)
        return reports

    @property
    def silent(self) -> Mapping[int, str]:
        """The shards that could not answer when they were last asked, and why; pings ask, too."""
        return self._monitor.silent

    def _gather(
        self,
        method: str,
        calls: Mapping[int, tuple[Any, ...]],
        seconds: float,
        stop: Stop | None = None,
    ) -> Any:
        """Call a method of some shards, by number with its arguments; note who cannot answer."""
        replies = self._replies(method, calls, seconds, stop or never, patient=stop is not None)
        self._monitor.observe(replies)
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
        ray, deadline = self._ray, time.monotonic() + seconds
        waiting: dict[int, Any] = {}
        replies: dict[int, Any] = {}
        to_call = list(calls)
        while to_call or waiting:
            for shard in to_call:
                ref = self._call(shard, method, calls[shard])
                (replies if isinstance(ref, NoReply) else waiting)[shard] = ref
            if not waiting:
                return replies
            if stop():
                self._give_up(waiting.values())
                raise Interrupted
            left = max(0.0, deadline - time.monotonic())
            refs = list(waiting.values())
            try:
                timeout = left if stop is never else min(left, _STOP_CHECK_SECONDS)
                done = set(ray.wait(refs, num_returns=len(refs), timeout=timeout)[0])
            except Exception as error:
                lost = NoReply(self._loss_reason(error))
                return replies | dict.fromkeys(waiting, lost)
            to_call = []
            for shard, ref in list(waiting.items()):
                if ref not in done:
                    continue
                del waiting[shard]
                replies[shard] = self._result(ref)
                if isinstance(replies[shard], NoReply):
                    to_call.append(shard)
                    self._dead[shard] = True
            if time.monotonic() >= deadline:
                silent = self._lifeless(waiting, seconds, stop) if patient else waiting
                for shard in list(silent):
                    self._give_up([waiting.pop(shard)])
                    replies[shard] = NoReply(f"no answer in {seconds:.3g} seconds")
                if not patient:
                    return replies
                deadline = time.monotonic() + seconds
            if to_call:
                time.sleep(_RETRY_SECONDS)
        return replies

    def _lifeless(self, shards: Iterable[int], seconds: float, stop: Stop) -> list[int]:
        """Return those of some shards that do not even say how they are; none if it is to stop."""
        try:
            reports = self._replies("report", dict.fromkeys(shards, ()), seconds, stop)
        except Interrupted:
            return []
        return [shard for shard, report in reports.items() if isinstance(report, NoReply)]

    def _give_up(self, refs: Iterable[Any]) -> None:
        """Have nothing more done for answers that nobody waits for any longer."""
        for ref in refs:
            with suppress(Exception):  # whoever is gone does nothing more
                self._ray.cancel(ref)

    def _call(self, shard: int, method: str, call: tuple[Any, ...]) -> Any:
        """Ask a shard; return Ray's reference to its reply, NoReply if even that fails."""
        try:
            if self._dead[shard]:
                self._revive(shard)
            return getattr(self._actors[shard], method).remote(*call)
        except Exception as error:
            return NoReply(self._loss_reason(error))

    def _result(self, ref: Any) -> Any:
        """Return a reply that is there; an error of ours is raised, a lost shard is silent."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise cause if isinstance(cause, SeekerError) else error from None
        except Exception as error:
            return NoReply(self._loss_reason(error))

    def _loss_reason(self, error: Exception) -> str:
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
        failure = self._deliveries.deliver(shard, self._actors[shard], seconds)
        if failure is not None:
            self._monitor.observe({shard: NoReply(failure)})
        return failure

    def close(self) -> None:
        """Let go of the shards: they end by themselves when no front needs them."""
        self._closed.set()

    def end(self) -> None:
        """End the shards for all."""
        self.close()
        for actor in self._actors:
            self._ray.kill(actor, no_restart=True)


def _ping(shards: weakref.ref[RayShards], closed: threading.Event, seconds: float) -> None:
    """Tell the shards now and then that they are needed, for as long as they are."""
    while not closed.wait(seconds):
        alive = shards()
        if alive is None:
            return
        try:
            alive.reports(seconds)
        except Exception:  # whoever asks next meets the same error and is told
            continue
        finally:
            del alive
