"""The parts of a cluster by themselves: ranges, priors kept small, copies that arrive whole."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seeker import BadInput
from seeker.cluster import partition, ray_runtime
from seeker.cluster.context import Candidates
from seeker.cluster.fleet import Fleet
from seeker.cluster.messages import MissingDataReply, NoReply, ShardReport
from seeker.cluster.partition import CatalogPart, RowRange, split_rows
from seeker.cluster.prior import Prior, PriorPart
from seeker.cluster.ray_actor import PartCopy, checksum, pieces
from seeker.cluster.ray_transport import NO_ROWS, ShardMonitor
from seeker.cluster.shard import InProcessShards
from support.catalogs import random_catalog


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 10])
def test_ranges_cover_all_rows_once(shards: int) -> None:
    ranges = split_rows(10, shards)
    assert [row for one in ranges for row in range(one.first, one.last)] == list(range(10))
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1


@pytest.mark.parametrize("shards", [0, 11, -1, 2.0, True, 10_000])
def test_shards_that_cannot_be(shards: Any) -> None:
    with pytest.raises(BadInput):
        split_rows(10, shards)


def priors() -> dict[str, np.ndarray[Any, Any]]:
    """Return log-priors of the kinds there are, (1,000,) each."""
    rng = np.random.default_rng(3)
    even = np.full(1000, -np.log(1000))
    filtered = np.where(rng.random(1000) < 0.1, even, -np.inf)
    words = even.copy()
    words[rng.integers(1000, size=30)] += rng.random(30)
    both = np.where(rng.random(1000) < 0.5, words, -np.inf)
    half = np.where(np.arange(1000) < 300, even, -np.inf)
    return {
        "filter": filtered,
        "words": words,
        "words and filter": both,
        "half": half,
        "any": rng.normal(size=1000),
    }


@pytest.mark.parametrize("kind", list(priors()))
def test_a_packed_prior_is_the_same_to_the_bit(kind: str) -> None:
    logs = priors()[kind]
    prior = Prior(logs, split_rows(1000, 7))
    unpacked = np.concatenate([part.unpacked() for part in prior.parts])
    np.testing.assert_array_equal(unpacked, logs)
    rows = np.random.default_rng(1).integers(1000, size=(5, 40))
    np.testing.assert_array_equal(prior[rows], logs[rows])
    assert float(prior[17]) == logs[17]
    possible = np.flatnonzero(logs > -np.inf)
    np.testing.assert_array_equal(prior.select(np.arange(len(possible))), possible)
    np.testing.assert_array_equal(prior.rank(possible), np.arange(len(possible)))
    assert prior.name == Prior(logs.copy(), split_rows(1000, 7)).name
    other = logs.copy()
    other[possible[0]] -= 0.5
    assert prior.name != Prior(other, split_rows(1000, 7)).name


def test_a_filter_takes_a_bit_per_item() -> None:
    logs = np.where(np.arange(100_000) % 3, -1.0, -np.inf)
    assert PriorPart.of(logs).nbytes <= 100_000 / 8 + 100


@pytest.mark.parametrize("kind", [None, *priors()])
def test_candidates_are_found_without_a_list(kind: str | None) -> None:
    rng = np.random.default_rng(8)
    logs = np.zeros(1000) if kind is None else priors()[kind]
    possible = np.flatnonzero(logs > -np.inf)
    later = [np.sort(some) for some in np.split(rng.permutation(possible)[:40], [25])]
    expected = np.setdiff1d(possible, np.concatenate(later))
    prior = None if kind is None else Prior(logs, split_rows(1000, 3))
    candidates = Candidates(1000, prior, later)
    assert len(candidates) == len(expected)
    np.testing.assert_array_equal(candidates[np.arange(len(expected))], expected)
    assert int(candidates[3]) == expected[3]
    with pytest.raises(IndexError):
        candidates[len(expected)]


def send(copy: PartCopy, part: CatalogPart, sender: str = "me") -> None:
    """Send a part to a copy."""
    checksums = []
    for piece in pieces(part):
        copy.receive(sender, piece)
        checksums.append(piece.sha256)
    copy.finish(sender, checksum(checksums), part.outline)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_copy_is_the_part_it_was_sent(tmp_path: Path, dtype: Any) -> None:
    catalog = random_catalog(items=50, dims=(6, 3), dtype=dtype, metric={"colour": "manhattan"})
    rows = RowRange(10, 35)
    part = CatalogPart.of(catalog.views, rows)
    copy = PartCopy(str(tmp_path), "name", rows)
    assert copy.open() is None
    send(copy, part)
    again = PartCopy(str(tmp_path), "name", rows).open()
    assert again is not None
    for one, other in zip(part.views, again.views, strict=True):
        np.testing.assert_array_equal(one.rows(slice(None)), other.rows(slice(None)))
        np.testing.assert_array_equal(one.sample, other.sample)
        np.testing.assert_array_equal(one.mean, other.mean)
        assert (one.scale, one.radius, one.metric) == (other.scale, other.radius, other.metric)
    assert [one.name for one in tmp_path.iterdir()] == ["name-10-35"]


def test_what_is_damaged_or_half_sent_is_not_used(tmp_path: Path) -> None:
    catalog = random_catalog(items=50, dims=(6,))
    part = CatalogPart.of(catalog.views, RowRange(0, 50))
    copy = PartCopy(str(tmp_path), "name", RowRange(0, 50))
    (piece,) = pieces(part)
    with pytest.raises(BadInput, match="damaged"):
        copy.receive("me", replace(piece, data=piece.data[:-1] + b"x"))
    with pytest.raises(BadInput, match="order"):
        copy.receive("me", replace(piece, start=4))
    with pytest.raises(BadInput, match="No piece"):
        copy.finish("somebody else", "", part.outline)
    copy.receive("other", piece)
    with pytest.raises(BadInput, match="not what was sent"):
        copy.finish("other", "0" * 64, part.outline)
    assert copy.open() is None
    send(copy, part, "third")
    (tmp_path / "name-0-50" / "0").write_bytes(b"short")
    assert copy.open() is None


def test_what_could_not_be_finished_leaves_nothing_behind(tmp_path: Path) -> None:
    part = CatalogPart.of(random_catalog(items=50, dims=(6,)).views, RowRange(0, 50))
    (piece,) = pieces(part)
    killed, next_one = (PartCopy(str(tmp_path), "name", RowRange(0, 50)) for _ in range(2))
    killed.receive("me", piece)
    assert len(list(tmp_path.iterdir())) == 1
    next_one.receive("me", piece)
    next_one.receive("you", piece)
    assert len(list(tmp_path.iterdir())) == 2, "what is under way stays, what is not goes"
    with pytest.raises(BadInput, match="order"):
        next_one.receive("me", piece)
    next_one.finish("you", checksum([piece.sha256]), part.outline)
    assert [one.name for one in tmp_path.iterdir()] == ["name-0-50"]
    next_one.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["link", "open to others"])
def test_copies_are_not_kept_where_others_can_put_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """In the folder for temporary files anybody may have made what we would use."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    base, other = tmp_path / f"seeker-parts-{os.getuid()}", tmp_path / "other"
    part = CatalogPart.of(random_catalog(items=50, dims=(6,)).views, RowRange(0, 50))
    send(PartCopy(None, "name", RowRange(0, 50)), part, "me")
    assert PartCopy(None, "name", RowRange(0, 50)).open() is not None
    if how == "link":
        base.rename(other)
        base.symlink_to(other)
    else:
        base.chmod(0o777)
    (base / "name-0-50.mine").mkdir()
    before = sorted(base.rglob("*"))
    copy = PartCopy(None, "name", RowRange(0, 50))
    assert copy.open() is None
    with pytest.raises(BadInput, match="others can write"):
        send(copy, part, "me")
    copy.remove()
    assert sorted(base.rglob("*")) == before


def test_who_starts_ray_tidies_up_after_those_who_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = "import os; from seeker.cluster.ray_runtime import make_ray_folder"
    command = [sys.executable, "-c", f"{code}; make_ray_folder(1000); os._exit(9)"]
    killed = subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert killed.returncode == 9
    assert len(list(tmp_path.iterdir())) == 1
    folder, remove = ray_runtime.make_ray_folder(1000)
    other, remove_other = ray_runtime.make_ray_folder(1000)
    assert {folder, other} == set(tmp_path.iterdir()), "those of the living stay"
    remove()
    remove_other()
    assert not list(tmp_path.iterdir())


def test_sockets_find_room_however_long_the_path_to_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long " * 20)))
    folder, remove = ray_runtime.make_ray_folder()
    try:
        inside = "session_2026-01-01_00-00-00_000000_1234567/sockets/plasma_store"
        assert len(str(folder / inside)) <= 103
    finally:
        remove()


def test_a_metric_that_is_a_function_cannot_be_sent() -> None:
    catalog = random_catalog(
        items=20, metric=lambda query, vectors: np.abs(vectors - query).max(axis=1)
    )
    with pytest.raises(BadInput, match="function"):
        partition.check_outline(CatalogPart.of(catalog.views, RowRange(0, 20)).views)


def test_sessions_in_a_shard_take_no_more_memory_than_they_may() -> None:
    from seeker.cluster import ClusterCatalog

    catalog = random_catalog(items=2_000)
    transport = InProcessShards(catalog.views, 2, memory=300_000)
    over = ClusterCatalog.over(catalog, Fleet(transport))
    for seed in range(8):
        session = over.session(seed=seed)
        session.like(session.page().ids[0])
        session.refresh()
    for shard in transport.shards:
        assert 1 <= len(shard.sessions) < 8
        assert shard.sessions.bytes <= 300_000


def test_who_falls_silent_is_noticed_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("seeker"), "propagate", True)
    caplog.set_level(logging.INFO, "seeker")
    monitor, report = ShardMonitor(), ShardReport(1, "", True, False, 0, 0)
    monitor.observe({0: report, 1: NoReply("no answer"), 2: replace(report, ready=False)})
    monitor.observe({1: NoReply("still none"), 2: MissingDataReply(part=True)})
    assert monitor.silent == {1: "still none", 2: NO_ROWS}
    monitor.observe({1: MissingDataReply(prior=True), 2: None})
    assert monitor.silent == {}
    monitor.observe({0: replace(report, pid=2), 1: replace(report, pid=9)})
    assert [(record.message, record.fields) for record in caplog.records] == [  # type: ignore[attr-defined]
        ("shard silent", {"shard": 1, "reason": "no answer"}),
        ("shard silent", {"shard": 2, "reason": NO_ROWS}),
        ("shard answers again", {"shard": 1}),
        ("shard answers again", {"shard": 2}),
        ("shard restarted", {"shard": 0}),
    ]
