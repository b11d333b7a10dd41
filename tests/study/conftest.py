"""A catalog, stores, and studies that are begun in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seeker.engine import Catalogs, Engine
from seeker.stores import open_store
from seeker.study.study import Study
from seeker.study.tables import ParticipantTable, tables_of
from study.parts import CATALOG, CONSENT, Begin, Clock, design_of
from support.stores import DURABLE, NewStore


@pytest.fixture(scope="package")
def catalogs(folder: Path) -> Catalogs:
    return Catalogs.open([f"{CATALOG}={folder}"])


@pytest.fixture(params=DURABLE)
def address(request: pytest.FixtureRequest, new_store: NewStore) -> str:
    """A store for a test alone, once of each durable kind."""
    return new_store(request.param)


@pytest.fixture
def file(new_store: NewStore) -> str:
    """A store in a file, for a test alone."""
    return new_store("sqlite")


@pytest.fixture
def begin(catalogs: Catalogs) -> Iterator[Begin]:
    """How a study is begun in a store; all are closed in the end."""
    engines = []

    def begin_study(address: str, clock: Clock | None = None, **changes: object) -> Study:
        clock = clock or Clock()
        engine = Engine(catalogs, open_store(address), clock=clock)
        engines.append(engine)
        ParticipantTable(tables_of(engine.store)).begin(
            design_of(catalogs, **changes), CONSENT, clock()
        )
        return Study(engine, clock)

    yield begin_study
    for engine in engines:
        engine.close()
