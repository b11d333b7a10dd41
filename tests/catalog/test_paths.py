"""Where catalogs and sources are: what may be given as a path, and what is said of what may not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from support.builds import SHIRTS, jsonl

NOT_PATHS = [None, 3, b"catalog", "", "a\0b", np.eye(3)]


@pytest.mark.parametrize("wrong", NOT_PATHS, ids=repr)
def test_what_is_no_path_is_named(wrong: Any, tmp_path: Path) -> None:
    source = jsonl(tmp_path / "s.jsonl", SHIRTS)
    calls: tuple[Callable[[], object], ...] = (
        lambda: seeker.Catalog.open(wrong),
        lambda: seeker.build(wrong, tmp_path / "catalog"),
        lambda: seeker.build(source, wrong),
        lambda: seeker.update(wrong, source),
        lambda: seeker.remove(wrong, ids=["a"]),
    )
    for call in calls:
        with pytest.raises(
            seeker.BadInput, match=r" is not (the path of a catalog|a source)\."
        ) as it:
            call()
        assert "\n" not in str(it.value)


def test_who_builds_from_memory_is_told_where_that_goes(tmp_path: Path) -> None:
    with pytest.raises(seeker.BadInput, match=r"Arrays go to `Catalog\.from_arrays`"):
        seeker.build({"looks": np.eye(3)}, tmp_path / "catalog")


def test_paths_may_be_objects_everywhere(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(4))
    (tmp_path / "ids.txt").write_text("a\nb\nc\nd\n")
    built = seeker.build(tmp_path / "v.npy", tmp_path / "catalog", ids=tmp_path / "ids.txt")
    assert list(built.ids) == ["a", "b", "c", "d"]
    assert list(seeker.remove(tmp_path / "catalog", ids=["b"]).catalog.ids) == ["a", "c", "d"]
    assert len(seeker.Catalog.open(tmp_path / "catalog")) == 3


def test_a_place_without_a_catalog_says_what_may_have_been_meant(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "s.jsonl", SHIRTS)
    seeker.build(source, tmp_path / "catalog")
    (tmp_path / "begun.building").mkdir()
    for path, says in (
        ("nowhere", r"no catalog at '.*nowhere'\. Make one with `seeker build SOURCE"),
        ("catalog/catalog.json", r"is part of a catalog\. Open its folder, '.*catalog'"),
        ("s.jsonl", r"is not a catalog\. Make one of it with `seeker build .*s\.jsonl --out"),
        (".", r"is not a catalog\. Make one of it"),
        ("begun", r"no catalog at '.*begun' yet\. Its build has not come to its end"),
    ):
        with pytest.raises(seeker.NotFound, match=says):
            seeker.Catalog.open(tmp_path / path)
