"""What several tests use: small catalogs, in memory and in a folder, and empty stores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer

from seeker import Catalog
from support.catalogs import build_folder, random_catalog
from support.scheduling import GroupScheduling
from support.stores import DURABLE, NewStore, stores

settings.register_profile("usual", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.fixture(scope="session")
def small() -> Catalog:
    return random_catalog()


@pytest.fixture(scope="session")
def two_views() -> Catalog:
    return random_catalog(dims=(24, 9))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of 120 things in a folder, called `shop`; nobody changes it."""
    return build_folder(tmp_path_factory.mktemp("folder") / "shop")


@pytest.fixture(scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewStore]:
    with stores(tmp_path_factory.mktemp("stores")) as new:
        yield new


@pytest.fixture(scope="module", params=DURABLE)
def store(request: pytest.FixtureRequest, new_store: NewStore) -> str:
    """The address of a store that the tests of a file share, once of each durable kind."""
    return new_store(request.param)


SERVERS = {"http", "url", "server", "servers", "keyed"}
"""Fixtures with a server behind them that the tests of a file share."""

LONG = {"test_benchmarks.py", "test_crash.py", "test_docs.py", "test_fuzz.py", "test_learn.py"}
"""Files whose tests take seconds each: begun last, one would go on while all others are done."""


def pytest_xdist_auto_num_workers() -> int:
    """Run three processes more than there are processors: a third of the time tests wait."""
    return (os.cpu_count() or 1) + 3


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling | None:
    """Deal out tests by group, where that is asked for."""
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share a server in one process: it takes seconds to start, and once is enough.

    All others go to whichever process is free, the long ones first. This comes before other hooks,
    for groups are told apart right after.
    """
    items.sort(key=lambda item: item.path.name not in LONG)
    for item in items:
        if SERVERS & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))
