"""What a study keeps in a store, for how long, and of whom."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seeker.engine import Catalogs, Engine
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.stores import MemoryStore, StoreError, open_store
from seeker.stores.sqlite import SqliteStore
from seeker.study.export import count_progress, describe_progress, study_rows
from seeker.study.study import Study
from seeker.study.tables import ParticipantTable, digest, migrate, tables_of
from study.parts import CONSENT, Begin, design_of, joined, session_of


def test_a_study_goes_on_only_with_the_same_design(
    catalogs: Catalogs, address: str, begin: Begin
) -> None:
    store = tables_of(open_store(address))
    people = ParticipantTable(store)
    people.begin(design_of(catalogs), CONSENT, 1.0)
    people.begin(design_of(catalogs, people=7), "You agree still.", 2.0)
    design = people.design()
    assert design is not None
    assert design.people == 7
    assert people.consent() == "You agree still."
    with pytest.raises(Conflict, match="steps is 4 there, but 5 here"):
        people.begin(design_of(catalogs, steps=5), CONSENT, 3.0)
    store.close()


def test_a_store_of_a_later_version_is_refused(file: str) -> None:
    store = SqliteStore(file)
    migrate(store)
    with store.writing() as run:
        run("INSERT INTO study_schema (version) VALUES (99)")
    with pytest.raises(BadInput, match="schema 99"):
        migrate(store)
    store.close()


def test_a_study_in_memory_is_refused() -> None:
    with pytest.raises(BadInput, match="memory"):
        tables_of(MemoryStore())


def test_a_store_without_a_study_says_so_and_stays_so(catalogs: Catalogs, address: str) -> None:
    store = tables_of(open_store(address))
    readers: tuple[Callable[[], object], ...] = (
        lambda: count_progress(store),
        lambda: list(study_rows(store)),
        lambda: Study(Engine(catalogs, store)),
    )
    for read in readers:
        with pytest.raises(NotFound, match="no study"):
            read()
    with pytest.raises(StoreError), store.reading() as run:
        run("SELECT version FROM study_schema")
    store.close()


def test_only_the_text_that_was_read_is_consented_to(begin: Begin, file: str) -> None:
    study = begin(file, people=2)
    with pytest.raises(Conflict, match="changed"):
        study.join(digest("something else"))
    first = joined(study)
    joined(study)
    with pytest.raises(Conflict, match="As many people"):
        joined(study)
    study.withdraw(first)
    joined(study)
    assert study.people.counts() == (3, 1)
    assert [one.number for one in study.people.all()] == [1, 2]


def test_withdrawing_leaves_nothing_behind(address: str, begin: Begin) -> None:
    study = begin(address)
    key, other = joined(study), joined(study)
    mine, theirs = session_of(study, key), session_of(study, other)
    study.show(mine)
    study.show(theirs)
    study.withdraw(key)
    with pytest.raises(NotFound):
        study.progress(key)
    with pytest.raises(NotFound):
        study.show(mine)
    engine = study.engine
    assert engine.store.load(mine) is None
    assert study.trials.steps(mine) == []
    assert {row["trial"] for row in study_rows(tables_of(engine.store))} == {0}
    assert len({row["participant"] for row in study_rows(tables_of(engine.store))}) == 1
    assert study.show(theirs).id == theirs
    with pytest.raises(NotFound):
        study.withdraw(key)
    assert study.people.counts() == (2, 1)


def test_two_tabs_get_one_trial(begin: Begin, address: str) -> None:
    tabs = [begin(address), begin(address)]
    for _ in range(5):
        key = joined(tabs[0])
        at_once = threading.Barrier(2)

        def opened(tab: Study, key: str = key, at_once: threading.Barrier = at_once) -> str:
            at_once.wait()
            return session_of(tab, key)

        with ThreadPoolExecutor(2) as hands:
            assert len(set(hands.map(opened, tabs))) == 1
    # What the slower tab had begun is gone: there are five searches for five people.
    assert tabs[0].engine.store.count() == 5


def test_keys_are_not_kept(begin: Begin, tmp_path: Path) -> None:
    study = begin(str(tmp_path / "study.sqlite"))
    key = joined(study)
    study.engine.close()
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert key.encode() not in content
    assert digest(key).encode() in content


def test_progress_is_told_by_cell_and_without_identities(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    joined(study)
    session_of(study, key)
    study.stop(key, 0)
    session_of(study, key)
    one = count_progress(tables_of(study.engine.store))
    assert (one.joined, one.withdrawn, one.finished) == (2, 0, 0)
    assert (one.trials, one.wanted) == (1, 6)
    assert sum(cell.gave_up for cell in one.cells) == 1
    assert sum(cell.under_way for cell in one.cells) == 1
    assert len(one.cells) == 4
    lines = list(describe_progress(one))
    label = study.people.by_key(key).label
    assert not any(label in line for line in lines)
    assert any("choice + random" in line for line in lines)


def test_a_store_that_fails_is_told_in_words(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    with tables_of(study.engine.store).writing() as run:
        run("DROP TABLE study_steps")
        run("DROP TABLE study_trials")
    with pytest.raises(SeekerError, match="cannot be kept or read"):
        study.next(key)
