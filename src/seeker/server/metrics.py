"""Figures for Prometheus; several worker processes are added up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from seeker.catalog.build.segments import fullness
from seeker.engine import Catalogs, Engine, WorkerPool

if TYPE_CHECKING:
    from seeker.cluster import FleetHealth
    from seeker.server.compaction import CompactionStatus
    from seeker.server.learning import LearningStatus
    from seeker.server.placement import WorkerSlot

SHARED = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Metrics:
    """What is measured: latencies by call, the belief cache, the queue, sessions, shards."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "seeker_request_seconds",
            "Seconds until an answer, by call.",
            ["method", "call"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._answers = Counter(
            "seeker_answers",
            "Answers by call and status.",
            ["method", "call", "status"],
            registry=self._registry,
        )
        self._figures: dict[tuple[str, str, int], tuple[Histogram, Counter]] = {}
        self._gauges = {
            name: Gauge(
                f"seeker_{name}", help, registry=self._registry, multiprocess_mode="livesum"
            )
            for name, help in (
                ("belief_cache_hits", "Requests that found their session in memory."),
                ("belief_cache_misses", "Requests whose session was rebuilt from its events."),
                ("sessions_rebuilt", "Sessions that were rebuilt from their events."),
                ("belief_cache_dropped", "Sessions that were dropped from memory."),
                ("belief_cache_bytes", "Bytes that sessions take in memory."),
                ("belief_cache_sessions", "Sessions in memory."),
                ("queue_length", "Requests that wait for a thread."),
                ("long_length", "Requests whose long session is being rebuilt, or waits for it."),
                ("refused", "Requests refused because too many were waiting."),
                ("background_length", "Sessions that wait to be refreshed."),
                ("background_failed", "Refreshes that failed."),
                ("background_dropped", "Work between clicks left undone for lack of time."),
                ("lookahead_skipped", "Sessions whose next pages were not found in advance."),
                ("connections_passed", "Connections handed to the worker with their session."),
            )
        }
        # Every worker sees the same store: the newest figure counts, not the sum.
        self._sessions = Gauge(
            "seeker_sessions",
            "Sessions that are kept.",
            registry=self._registry,
            multiprocess_mode="livemostrecent",
        )

        # Every worker sees the same shards: who sees the most trouble counts.
        self._shards, self._silent = (
            Gauge(
                f"seeker_{name}",
                help,
                ["catalog"],
                registry=self._registry,
                multiprocess_mode="livemax",
            )
            for name, help in (
                ("shards", "Shards that hold a catalog."),
                ("shards_silent", "Shards that could not answer when they were last asked."),
            )
        )

        self._by_catalog = {
            name: Gauge(
                f"seeker_{name}",
                help,
                ["catalog"],
                registry=self._registry,
                multiprocess_mode="livemostrecent",
            )
            for name, help in (
                ("learned_searches", "Searches that new sessions begin with what they taught."),
                ("learning_last_seconds", "When learning last ended, in seconds since 1970."),
                ("learning_failures", "How often learning has failed."),
                ("catalog_changed_share", "Part of the changes after which all is written anew."),
                ("compactions", "How often a catalog was written anew in quiet times."),
                ("compaction_last_seconds", "When that last ended, in seconds since 1970."),
                ("compaction_failures", "How often that has failed."),
            )
        }

    def answered(self, method: str, call: str, status: int, seconds: float) -> None:
        """Note an answer."""
        figures = self._figures.get((method, call, status))
        if figures is None:
            figures = self._figures[method, call, status] = (
                self._seconds.labels(method, call),
                self._answers.labels(method, call, str(status)),
            )
        figures[0].observe(seconds)
        figures[1].inc()

    def note(self, engine: Engine, pool: WorkerPool, worker: WorkerSlot | None) -> None:
        """Note how the engine is doing now; worker: this process among several."""
        cache = engine.cache
        for name, value in (
            ("belief_cache_hits", cache.hits),
            ("belief_cache_misses", cache.misses),
            ("sessions_rebuilt", engine.rebuilder.rebuilt),
            ("belief_cache_dropped", cache.dropped),
            ("belief_cache_bytes", cache.bytes),
            ("belief_cache_sessions", len(cache)),
            ("queue_length", pool.waiting),
            ("long_length", pool.long),
            ("refused", pool.refused),
            ("background_length", len(engine.background)),
            ("background_failed", engine.background.failed),
            ("background_dropped", engine.background.dropped),
            ("lookahead_skipped", engine.background.spare_time.skipped),
            ("connections_passed", 0 if worker is None else worker.passed),
        ):
            self._gauges[name].set(value)

    def note_shards(self, health: Mapping[str, FleetHealth]) -> None:
        """Note how the shards of each catalog are."""
        for name, one in health.items():
            self._shards.labels(name).set(one.shards)
            self._silent.labels(name).set(len(one.silent))

    def note_learning(self, catalogs: Catalogs, statuses: Mapping[str, LearningStatus]) -> None:
        """Note from how many searches each catalog has learned, and how it goes by itself."""
        for name in catalogs.names:
            learned = catalogs.get(name)[1].learned
            searches = 0 if learned is None else learned.searches
            self._by_catalog["learned_searches"].labels(name).set(searches)
        for name, one in statuses.items():
            self._by_catalog["learning_last_seconds"].labels(name).set(one.at or 0.0)
            self._by_catalog["learning_failures"].labels(name).set(one.failures)

    def note_compaction(self, catalogs: Catalogs, statuses: Mapping[str, CompactionStatus]) -> None:
        """Note how much of each catalog was changed, and how often it was written anew."""
        for name in catalogs.names:
            manifest = catalogs.get(name)[1].manifest
            share = 0.0 if manifest is None else fullness(manifest)
            self._by_catalog["catalog_changed_share"].labels(name).set(share)
        for name, one in statuses.items():
            self._by_catalog["compactions"].labels(name).set(one.count)
            self._by_catalog["compaction_last_seconds"].labels(name).set(one.at)
            self._by_catalog["compaction_failures"].labels(name).set(one.failures)

    def text(self, sessions: int | None) -> bytes:
        """Return all figures as Prometheus reads them; sessions: None if it is not known."""
        if sessions is not None:
            self._sessions.set(sessions)
        if SHARED not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
