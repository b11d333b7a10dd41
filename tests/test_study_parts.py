"""The parts of a study: what is drawn, what is fixed, what is recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from seeker.engine import Catalogs, Engine, Moved
from seeker.errors import BadInput, Conflict, NotFound, SeekerError
from seeker.lab.trial import rank_of
from seeker.session import Session
from seeker.stores import Key, MemoryStore, StoreFailed, open_store
from seeker.stores.sqlite import SqliteStore
from seeker.study.cells import cells
from seeker.study.conduct import Conduct
from seeker.study.design import Design, content_of
from seeker.study.drawing import cell_of, seed_of, target_of
from seeker.study.exporting import rows
from seeker.study.progress import progress, told
from seeker.study.searching import Searching
from seeker.study.tables import People, digest, migrate, tables_of
from test_server_parts import folder_of, postgres

CONSENT = "You agree."
CATALOG = "shop"


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> Catalogs:
    return Catalogs.open([f"{CATALOG}={folder_of(tmp_path_factory.mktemp('study') / 'shop')}"])


def design_of(catalogs: Catalogs, **given: object) -> Design:
    name, catalog = catalogs.get(CATALOG)
    usual: dict[str, object] = {
        "models": ("pairwise", "choice"),
        "strategies": ("boltzmann", "random"),
        "page_size": 6,
        "steps": 4,
        "trials": 3,
    }
    return Design(name, content_of(catalog), len(catalog), **{**usual, **given})  # type: ignore[arg-type]


class Clock:
    """Seconds that pass only when somebody says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "study.sqlite")
    address: str = request.getfixturevalue("database")
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return address


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "study.sqlite")


Begin = Callable[..., Searching]


@pytest.fixture
def begin(catalogs: Catalogs) -> Iterator[Begin]:
    """How a study is begun in a store; all are closed in the end."""
    engines = []

    def begun(address: str, clock: Clock | None = None, **given: object) -> Searching:
        clock = clock or Clock()
        engine = Engine(catalogs, open_store(address), clock=clock)
        engines.append(engine)
        People(tables_of(engine.store)).begin(design_of(catalogs, **given), CONSENT, clock())
        return Searching(Conduct(engine, clock))

    yield begun
    for engine in engines:
        engine.close()


def joined(study: Searching) -> str:
    return study.conduct.join(digest(CONSENT))[0]


def session_of(study: Searching, key: str) -> str:
    current = study.next(key).current
    assert current is not None
    return current.session


def test_cells_are_balanced_for_any_number_of_people() -> None:
    some = cells(("pairwise", "choice"), ("boltzmann", "greedy", "epsilon", "random"))
    counts: Counter[str] = Counter()
    for person in range(21):
        for trial in range(5):
            counts[cell_of(some, 7, person, trial, 5).method] += 1
        assert max(counts.values()) - min(counts[one.method] for one in some) <= 1
    assert len(counts) == 8


def test_cells_come_in_another_order_each_time() -> None:
    some = cells(("choice",), ("boltzmann", "greedy", "epsilon", "random"))
    orders = {
        tuple(cell_of(some, 0, person, trial, 4) for trial in range(4)) for person in range(20)
    }
    assert len(orders) > 8


def test_targets_are_drawn_evenly_and_never_twice_for_a_person() -> None:
    drawn = [[target_of(40, 3, person, trial, 8) for trial in range(8)] for person in range(300)]
    assert all(len(set(mine)) == 8 for mine in drawn)
    counts = np.bincount(np.array(drawn).ravel(), minlength=40)
    assert counts.min() > 30
    assert counts.max() < 95
    assert drawn != [[target_of(40, 4, p, t, 8) for t in range(8)] for p in range(300)]
    assert len({seed_of(0, p, t) for p in range(50) for t in range(8)}) == 400


def test_a_cell_is_what_the_organiser_wrote() -> None:
    one = cells(("pairwise:alpha=10:scale=raw",), ("epsilon:epsilon=0.25",))[0]
    model, strategy, repeat = one.made("unrated")
    assert (model.alpha, model.scale) == (10, "raw")  # type: ignore[attr-defined]
    assert strategy.epsilon == 0.25  # type: ignore[attr-defined]
    assert repeat == "unrated"
    paper = cells(("paper",), ("greedy",))[0]
    model, strategy, repeat = paper.made("never")
    assert (model.alpha, model.scale) == (1.0, "raw")  # type: ignore[attr-defined]
    assert strategy.first == "ranked"  # type: ignore[attr-defined]
    assert repeat == "always"
    assert paper.method == "paper + greedy"


@pytest.mark.parametrize(
    ("some", "strategies"),
    [
        (("nothing",), ("greedy",)),
        (("choice",), ("",)),
        (("choice", "choice"), ("greedy",)),
        (("pairwise:alpha",), ("greedy",)),
        (("pairwise:alpha=much",), ("greedy",)),
        (("pairwise:alpha=[1]",), ("greedy",)),
        (("choice",), ("greedy:first={}",)),
        (("pairwise:gamma=2",), ("greedy",)),
        ((), ("greedy",)),
        (tuple(f"pairwise:alpha={n}" for n in range(1, 34)), ("greedy",)),
    ],
)
def test_cells_that_cannot_be_are_refused(
    some: tuple[str, ...], strategies: tuple[str, ...]
) -> None:
    with pytest.raises(BadInput):
        cells(some, strategies)


@pytest.mark.parametrize(
    "given",
    [
        {"page_size": 1},
        {"page_size": 200},
        {"page_size": 100, "items": 100},
        {"steps": 0},
        {"trials": 0},
        {"trials": 101},
        {"people": 0},
        {"repeat": "sometimes"},
        {"seed": -1},
    ],
)
def test_designs_have_limits(given: dict[str, object]) -> None:
    usual: dict[str, object] = {"items": 500, "models": ("choice",), "strategies": ("greedy",)}
    with pytest.raises(BadInput):
        Design("shop", "x", **{**usual, **given})  # type: ignore[arg-type]


def test_a_design_comes_back_as_it_was(catalogs: Catalogs) -> None:
    design = design_of(catalogs, repeat="always", seed=9)
    assert Design.from_json(design.to_json()) == design


def test_a_study_goes_on_only_with_the_same_design(
    catalogs: Catalogs, address: str, begin: Begin
) -> None:
    store = tables_of(open_store(address))
    people = People(store)
    people.begin(design_of(catalogs), CONSENT, 1.0)
    people.begin(design_of(catalogs, people=7), "You agree still.", 2.0)
    kept = people.design()
    assert kept is not None
    assert kept.people == 7
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
    asked: tuple[Callable[[], object], ...] = (
        lambda: progress(store),
        lambda: list(rows(store)),
        lambda: Conduct(Engine(catalogs, store)),
    )
    for ask in asked:
        with pytest.raises(NotFound, match="no study"):
            ask()
    with pytest.raises(StoreFailed), store.reading() as run:
        run("SELECT version FROM study_schema")
    store.close()


def test_only_the_text_that_was_read_is_consented_to(begin: Begin, file: str) -> None:
    study = begin(file, people=2)
    with pytest.raises(Conflict, match="changed"):
        study.conduct.join(digest("something else"))
    first = joined(study)
    joined(study)
    with pytest.raises(Conflict, match="As many people"):
        joined(study)
    study.conduct.withdraw(first)
    joined(study)
    assert study.conduct.people.counts() == (3, 1)
    assert [one.number for one in study.conduct.people.all()] == [1, 2]


def test_ranks_pages_and_times_are_recorded(catalogs: Catalogs, address: str, begin: Begin) -> None:
    clock = Clock()
    study = begin(address, clock)
    key = joined(study)
    id = session_of(study, key)
    clock.now = 1003.0
    shown = study.show(id)
    assert shown.belief is None
    trial = study.conduct.trials.of_session(id)
    assert trial is not None
    other = next(one for one in shown.page.ids if one != trial.target)
    clock.now = 1010.0
    after = study.click(id, other, "dislike", shown.page.ids, 0)
    assert after.belief is None
    clock.now = 1500.0
    study.show(id)
    clock.now = 1502.0
    study.undo(id, 1)
    steps = study.conduct.trials.steps(id)
    assert [step.number for step in steps] == [0, 1, 2]
    assert [step.act for step in steps] == ["dislike", "undo", None]
    assert [step.seconds for step in steps] == [7.0, 2.0, None]
    assert all(step.milliseconds is not None and step.milliseconds > 0.0 for step in steps)
    assert steps[0].item == other
    assert list(steps[0].shown) == shown.page.ids
    assert steps[0].page == steps[2].page == tuple(shown.page.ids)
    kept = study.conduct.engine.kept(id)
    catalog = catalogs.get(CATALOG)[1]
    for step, length in zip(steps, (1, 2, 3), strict=True):
        again = Session.replay(catalog, kept.events[:length])
        assert step.rank == rank_of(again.belief.log_posterior, trial.target_row)
        assert step.claimed == pytest.approx(again.belief.on_page)
        assert list(step.page) == again.page().ids
        assert [catalog.ids[row] for row in step.rows] == list(step.page)
        assert step.on_page == (trial.target in step.page)


def test_a_trial_ends_when_its_steps_are_used_up(begin: Begin, file: str) -> None:
    study = begin(file, strategies=("random",))
    key = joined(study)
    id = session_of(study, key)
    target = _target(study, id)
    name = Key(id, "the-last-click-of-a-trial", "what was said")
    for n in range(4):
        page = study.show(id).page.ids
        item = next(one for one in page if one != target)
        shown = study.click(id, item, "dislike", page, n, name if n == 3 else None)
    standing = study.conduct.standing(key)
    assert standing.current is None
    assert (standing.done, standing.used) == (1, 4)
    assert standing.trials[0].outcome == "steps used up"
    last = study.conduct.trials.steps(id)[-1]
    assert (last.number, last.page, last.on_page, last.claimed) == (4, (), False, None)
    again = study.click(id, item, "dislike", page, 3, name)
    assert again.step == shown.step == 4
    acts: tuple[Callable[[], object], ...] = (
        lambda: study.undo(id),
        lambda: study.redo(id),
        lambda: study.click(id, target, "like"),
        lambda: study.found(id, target),
    )
    for act in acts:
        with pytest.raises(Moved, match="over") as caught:
            act()
        assert caught.value.shown.belief is None
    assert len(study.conduct.engine.kept(id).events) == 5


def _target(study: Searching, id: str) -> str:
    trial = study.conduct.trials.of_session(id)
    assert trial is not None
    return trial.target


def _searched(study: Searching, key: str, pick: str, overlook: bool = False) -> str:
    """Search by disliking others until the target is on a page, in as many trials as it takes."""
    while True:
        id = session_of(study, key)
        target = _target(study, id)
        overlooked = False
        for _ in range(study.conduct.design.steps):
            page = study.show(id).page.ids
            if target in page and (overlooked or not overlook):
                if pick == "found":
                    study.found(id, target)
                else:
                    study.click(id, target, "like", page)
                return id
            overlooked = overlooked or target in page
            study.click(id, next(one for one in page if one != target), "dislike", page[:3])


@pytest.mark.parametrize("pick", ["found", "like"])
def test_a_trial_ends_when_the_target_is_picked(begin: Begin, file: str, pick: str) -> None:
    study = begin(file, steps=30, strategies=("random",))
    key = joined(study)
    id = _searched(study, key, pick)
    trial = study.conduct.trials.of_session(id)
    assert trial is not None
    assert trial.outcome == "found"
    steps = study.conduct.trials.steps(id)
    assert steps[-1].on_page
    assert steps[-1].picked(trial.target)
    assert not any(step.overlooked(trial.target) for step in steps)
    assert study.conduct.standing(key).current is None


def test_a_target_that_was_overlooked_is_told_from_one_that_was_not(
    begin: Begin, file: str
) -> None:
    study = begin(file, steps=60, repeat="always", strategies=("random",), seed=1)
    key = joined(study)
    id = _searched(study, key, "found", overlook=True)
    target = _target(study, id)
    steps = study.conduct.trials.steps(id)
    assert sum(step.overlooked(target) for step in steps) == 1
    assert steps[-1].act == "found"
    made = [row for row in rows(tables_of(study.conduct.engine.store)) if row["found"]]
    assert [row["step"] for row in made] == [steps[-1].number]
    counted = sum(cell.overlooked for cell in progress(_store(study)).cells)
    assert counted == sum(
        any(step.overlooked(trial.target) for step in study.conduct.trials.steps(trial.session))
        for trial in study.conduct.trials.all()
    )
    assert counted >= 1


def _store(study: Searching) -> SqliteStore:
    store = study.conduct.engine.store
    assert isinstance(store, SqliteStore)
    return store


def test_taking_another_item_for_the_target_is_counted(
    catalogs: Catalogs, begin: Begin, file: str
) -> None:
    study = begin(file)
    id = session_of(study, joined(study))
    target = _target(study, id)
    page = study.show(id).page.ids
    for _ in range(2):
        with pytest.raises(Moved, match="not the one") as caught:
            study.found(id, next(one for one in page if one != target))
        assert caught.value.shown.belief is None
    if target not in page:
        with pytest.raises(BadInput, match="not on the page"):
            study.found(id, target)
    with pytest.raises(BadInput, match="not on the page"):
        study.found(id, next(one for one in catalogs.get(CATALOG)[1].ids if one not in page))
    assert study.conduct.trials.steps(id)[0].mistaken == 2
    assert study.conduct.standing(joined(study)).used == 0


def test_only_the_page_can_be_judged(catalogs: Catalogs, begin: Begin, file: str) -> None:
    study = begin(file)
    id = session_of(study, joined(study))
    page = study.show(id).page.ids
    elsewhere = next(one for one in catalogs.get(CATALOG)[1].ids if one not in page)
    target = _target(study, id)
    with pytest.raises(BadInput, match="not on the page"):
        study.click(id, elsewhere, "like")
    item = next(one for one in page if one != target)
    with pytest.raises(BadInput, match="not on the page"):
        study.click(id, item, "like", [item, elsewhere])
    study.click(id, item, "like", page)
    # What was judged may be judged again or cleared, though it has left the page.
    study.click(id, item, "dislike")
    study.click(id, item, "clear")
    with pytest.raises(Moved) as caught:
        study.click(id, page[-1], "like", None, 0)
    assert caught.value.shown.belief is None
    assert [step.act for step in study.conduct.trials.steps(id)] == [
        "like",
        "dislike",
        "clear",
        None,
    ]
    with pytest.raises(NotFound):
        study.show("no-such-search-anywhere")


def test_a_search_of_somebody_else_in_the_same_store_is_not_the_studys(
    begin: Begin, file: str
) -> None:
    study = begin(file)
    own = study.conduct.engine.start(CATALOG)
    acts: tuple[Callable[[], object], ...] = (
        lambda: study.show(own.id),
        lambda: study.click(own.id, own.page.ids[0], "like"),
        lambda: study.undo(own.id),
        lambda: study.found(own.id, own.page.ids[0]),
    )
    for act in acts:
        with pytest.raises(NotFound, match="in this study"):
            act()


def test_giving_up_ends_a_trial(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    id = session_of(study, key)
    standing = study.stop(key, 0)
    assert (standing.done, standing.trials[0].outcome) == (1, "gave up")
    assert [step.act for step in study.conduct.trials.steps(id)] == ["gave up"]
    with pytest.raises(Conflict, match="over"):
        study.stop(key, 0)
    second = session_of(study, key)
    assert second != id
    assert session_of(study, key) == second
    study.stop(key, 1)
    session_of(study, key)
    study.stop(key, 2)
    with pytest.raises(Conflict, match="everything"):
        study.next(key)


def test_what_a_crash_left_unrecorded_is_made_up_for(
    catalogs: Catalogs, begin: Begin, file: str
) -> None:
    clock = Clock()
    study = begin(file, clock, strategies=("random",))
    key = joined(study)
    id = session_of(study, key)
    engine = study.conduct.engine
    target = _target(study, id)
    # The engine has kept the clicks, but the process ended before the study could record them.
    for _ in range(3):
        page = engine.show(id).page.ids
        engine.click(id, next(one for one in page if one != target), "dislike")
    assert [step.act for step in study.conduct.trials.steps(id)] == [None]
    study.show(id)
    steps = study.conduct.trials.steps(id)
    assert [step.act for step in steps] == ["dislike", "dislike", "dislike", None]
    catalog = catalogs.get(CATALOG)[1]
    for step in steps:
        again = Session.replay(catalog, engine.kept(id).events[: step.number + 1])
        assert (list(step.page), step.rank) == (again.page().ids, again.belief.rank(target))


def test_withdrawing_leaves_nothing_behind(address: str, begin: Begin) -> None:
    study = begin(address)
    key, other = joined(study), joined(study)
    mine, theirs = session_of(study, key), session_of(study, other)
    study.show(mine)
    study.show(theirs)
    study.conduct.withdraw(key)
    with pytest.raises(NotFound):
        study.conduct.standing(key)
    with pytest.raises(NotFound):
        study.show(mine)
    engine = study.conduct.engine
    assert engine.store.load(mine) is None
    assert study.conduct.trials.steps(mine) == []
    assert {row["trial"] for row in rows(tables_of(engine.store))} == {0}
    assert len({row["participant"] for row in rows(tables_of(engine.store))}) == 1
    assert study.show(theirs).id == theirs
    with pytest.raises(NotFound):
        study.conduct.withdraw(key)
    assert study.conduct.people.counts() == (2, 1)


def test_two_tabs_get_one_trial(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    person = study.conduct.people.of(key)
    id = session_of(study, key)
    # The other tab had drawn the same trial a moment later.
    late = study.conduct._begun(person.number, 0)
    assert not study.conduct.trials.add(late)
    assert session_of(study, key) == id
    assert late.target == _target(study, id)


def test_keys_are_not_kept(begin: Begin, tmp_path: Path) -> None:
    study = begin(str(tmp_path / "study.sqlite"))
    key = joined(study)
    study.conduct.engine.close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert key.encode() not in held
    assert digest(key).encode() in held


def test_progress_is_told_by_cell_and_without_identities(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    joined(study)
    session_of(study, key)
    study.stop(key, 0)
    session_of(study, key)
    one = progress(_store(study))
    assert (one.joined, one.withdrawn, one.finished) == (2, 0, 0)
    assert (one.trials, one.wanted) == (1, 6)
    assert sum(cell.gave_up for cell in one.cells) == 1
    assert sum(cell.under_way for cell in one.cells) == 1
    assert len(one.cells) == 4
    lines = list(told(one))
    label = study.conduct.people.of(key).label
    assert not any(label in line for line in lines)
    assert any("choice + random" in line for line in lines)


def test_a_store_that_fails_is_told_in_words(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    with _store(study).writing() as run:
        run("DROP TABLE study_steps")
        run("DROP TABLE study_trials")
    with pytest.raises(SeekerError, match="cannot be kept or read"):
        study.next(key)
