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

from seeker.cluster import partition
from seeker.cluster.messages import ShardReport, SupplyRequest
from seeker.cluster.partition import CatalogPart, RowRange, split_rows
from seeker.cluster.ray_actor import Assignment, ShardActor, checksum, pieces
from seeker.cluster.ray_runtime import NAMESPACE, import_ray
from seeker.cluster.transport import NO_ROWS, Call, Reply, SilentShard
from seeker.errors import SeekerError
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.space import View

LOGGER = logging.getLogger("seeker")


class ShardHealth:
    """Shards that are silent; whoever falls silent or answers again is logged. For any thread.

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

    def note(self, replies: Mapping[int, object]) -> None:
        """Take in what shards have replied to anything, by number."""
        for shard, reply in replies.items():
            trouble = _failure_reason(reply)
            with self._lock:
                before = self._silent.pop(shard, None)
                if trouble is not None:
                    self._silent[shard] = trouble
                again = isinstance(reply, ShardReport) and self._is_new(shard, reply)
            if again:
                LOGGER.warning("shard %d had died and was started again", shard)
            if trouble is not None and before in (None, NO_ROWS) and trouble != before:
                LOGGER.warning("shard %d cannot answer: %s", shard, trouble)
            elif trouble is None and before is not None:
                LOGGER.info("shard %d answers again", shard)

    def _is_new(self, shard: int, report: ShardReport) -> bool:
        """Whether a shard is in another process than when it was last heard of."""
        process = (report.node, report.pid)
        before, self._processes[shard] = self._processes.get(shard, process), process
        return before != process


def _failure_reason(reply: object) -> str | None:
    """Return why a shard cannot answer, or None if it can."""
    match reply:
        case SilentShard(why):
            return why
        case SupplyRequest(part=True) | ShardReport(ready=False):
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
            under_way = self._under_way.get(shard)
            if under_way is None or not under_way.is_alive():
                under_way = Delivery(actor, self._parts[shard])
                self._under_way[shard] = under_way
                under_way.start()
        under_way.join(seconds)
        return NO_ROWS if under_way.is_alive() else under_way.trouble


class Delivery(threading.Thread):
    """Sends a shard its rows, piece by piece; trouble: why that could not be done."""

    def __init__(self, actor: Any, part: CatalogPart) -> None:
        super().__init__(name="seeker-delivery", daemon=True)
        self._actor = actor
        self._part = part
        self.trouble: str | None = None

    def run(self) -> None:
        """Send the rows."""
        ray, sender = import_ray(), secrets.token_hex(8)
        sums = []
        try:
            for piece in pieces(self._part):
                ray.get(self._actor.receive.remote(sender, piece))
                sums.append(piece.sha256)
            ray.get(self._actor.finish.remote(sender, checksum(sums), self._part.outline))
        except ray.exceptions.RayTaskError as error:
            self.trouble = f"it could not keep its part of the catalog: {error.cause}"
        except (ray.exceptions.RayError, ConnectionError) as error:
            self.trouble = f"its part of the catalog did not arrive: {type(error).__name__}"


THREADS = 8
_RETRY_SECONDS = 0.1
_STOP_CHECK_SECONDS = 0.05
_PING_SECONDS = 30.0


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
        self._ray = import_ray()
        self.ranges: tuple[RowRange, ...] = split_rows(len(next(iter(views.values()))), shards)
        parts = [CatalogPart.of(views, one) for one in self.ranges]
        partition.check_outline(parts[0].views)
        self._assignments = [
            Assignment(identity, rows, folder, copies, memory, idle) for rows in self.ranges
        ]
        self._class = self._ray.remote(ShardActor)
        self._lock = threading.Lock()
        self._actors: list[Any] = [self._actor(shard) for shard in range(shards)]
        self._dead = [False] * shards
        self._noticed = ShardHealth()
        self._deliveries = Deliveries(parts)
        self._closed = threading.Event()
        pinging = threading.Thread(
            target=_ping,
            args=(weakref.ref(self), self._closed, min(_PING_SECONDS, idle / 4)),
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

    def reports(self, seconds: float) -> dict[int, ShardReport | SilentShard]:
        """Return how the shards are."""
        everybody = dict.fromkeys(range(len(self.ranges)), ())
        replies: dict[int, ShardReport | SilentShard] = self._gather("report", everybody, seconds)
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
                (replies if isinstance(called, SilentShard) else waiting)[shard] = called
            if not waiting:
                return replies
            if stop():
                self._give_up(waiting.values())
                raise Interrupted
            left = max(0.0, until - time.monotonic())
            refs = list(waiting.values())
            try:
                look = left if stop is never else min(left, _STOP_CHECK_SECONDS)
                done = set(ray.wait(refs, num_returns=len(refs), timeout=look)[0])
            except Exception as error:
                lost = SilentShard(self._why_lost(error))
                return replies | dict.fromkeys(waiting, lost)
            failed = []
            for shard, ref in list(waiting.items()):
                if ref not in done:
                    continue
                del waiting[shard]
                reply = self._got(ref)
                if isinstance(reply, SilentShard):
                    failed.append(shard)
                    self._dead[shard] = True
                replies[shard] = reply
            if time.monotonic() >= until:
                silent = self._lifeless(waiting, seconds, stop) if patient else waiting
                for shard in list(silent):
                    self._give_up([waiting.pop(shard)])
                    replies[shard] = SilentShard(f"no answer in {seconds:.3g} seconds")
                if not patient:
                    return replies
                until = time.monotonic() + seconds
            if failed:
                time.sleep(_RETRY_SECONDS)
        return replies

    def _lifeless(self, shards: Iterable[int], seconds: float, stop: Stop) -> list[int]:
        """Return those of some shards that do not even say how they are; none if it is to stop."""
        try:
            reports = self._replies("report", dict.fromkeys(shards, ()), seconds, stop)
        except Interrupted:
            return []
        return [shard for shard, report in reports.items() if isinstance(report, SilentShard)]

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
            return SilentShard(self._why_lost(error))

    def _got(self, ref: Any) -> Any:
        """Return an answer that is there; an error of ours is raised, a lost shard is silent."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise cause if isinstance(cause, SeekerError) else error from None
        except Exception as error:
            return SilentShard(self._why_lost(error))

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
            self._noticed.note({shard: SilentShard(trouble)})
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
