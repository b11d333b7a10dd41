"""A trial from its beginning to its end, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seeker.engine import Catalogs, StaleStepError
from seeker.errors import BadInput, Conflict, NotFound
from seeker.lab.simulate import rank_of
from seeker.session import Click, Found, Redo, Session, Undo
from seeker.stores import IdempotencyKey
from seeker.study.export import count_progress, study_rows
from seeker.study.study import Study
from seeker.study.tables import tables_of
from study.parts import CATALOG, Begin, Clock, joined, session_of, target_in


def test_ranks_pages_and_times_are_recorded(catalogs: Catalogs, address: str, begin: Begin) -> None:
    clock = Clock()
    study = begin(address, clock)
    key = joined(study)
    id = session_of(study, key)
    clock.now = 1003.0
    shown = study.show(id)
    assert shown.belief is None
    trial = study.trials.by_session(id)
    assert trial is not None
    other = next(one for one in shown.page.ids if one != trial.target)
    clock.now = 1010.0
    after = study.act(id, Click(other, "dislike", shown.page.ids), 0)
    assert after.belief is None
    clock.now = 1500.0
    study.show(id)
    clock.now = 1502.0
    study.act(id, Undo(), 1)
    steps = study.trials.steps(id)
    assert [step.number for step in steps] == [0, 1, 2]
    assert [step.act for step in steps] == ["dislike", "undo", None]
    assert [step.seconds for step in steps] == [7.0, 2.0, None]
    assert all(step.milliseconds is not None and step.milliseconds > 0.0 for step in steps)
    assert steps[0].item == other
    assert list(steps[0].shown) == shown.page.ids
    assert steps[0].page == steps[2].page == tuple(shown.page.ids)
    kept = study.engine.stored(id)
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
    target = target_in(study, id)
    name = IdempotencyKey(id, "the-last-click-of-a-trial", "what was said")
    for n in range(4):
        page = study.show(id).page.ids
        item = next(one for one in page if one != target)
        shown = study.act(id, Click(item, "dislike", page), n, name if n == 3 else None)
    progress = study.progress(key)
    assert progress.current is None
    assert (progress.done, progress.used) == (1, 4)
    assert progress.trials[0].outcome == "steps used up"
    last = study.trials.steps(id)[-1]
    assert (last.number, last.page, last.on_page, last.claimed) == (4, (), False, None)
    again = study.act(id, Click(item, "dislike", page), 3, name)
    assert again.step == shown.step == 4
    acts: tuple[Callable[[], object], ...] = (
        lambda: study.act(id, Undo()),
        lambda: study.act(id, Redo()),
        lambda: study.act(id, Click(target, "like")),
        lambda: study.act(id, Found(target)),
    )
    for act in acts:
        with pytest.raises(StaleStepError, match="over") as caught:
            act()
        assert caught.value.snapshot.belief is None
    assert len(study.engine.stored(id).events) == 5


def searched(study: Study, key: str, pick: str, overlook: bool = False) -> str:
    """Search by disliking others until the target is on a page, in as many trials as it takes."""
    while True:
        id = session_of(study, key)
        target = target_in(study, id)
        overlooked = False
        for _ in range(study.design.steps):
            page = study.show(id).page.ids
            if target in page and (overlooked or not overlook):
                if pick == "found":
                    study.act(id, Found(target))
                else:
                    study.act(id, Click(target, "like", page))
                return id
            overlooked = overlooked or target in page
            study.act(id, Click(next(one for one in page if one != target), "dislike", page[:3]))


@pytest.mark.parametrize("pick", ["found", "like"])
def test_a_trial_ends_when_the_target_is_picked(begin: Begin, file: str, pick: str) -> None:
    study = begin(file, steps=30, strategies=("random",))
    key = joined(study)
    id = searched(study, key, pick)
    trial = study.trials.by_session(id)
    assert trial is not None
    assert trial.outcome == "found"
    steps = study.trials.steps(id)
    assert steps[-1].on_page
    assert steps[-1].picked(trial.target)
    assert not any(step.overlooked(trial.target) for step in steps)
    assert study.progress(key).current is None


def test_a_target_that_was_overlooked_is_told_from_one_that_was_not(
    begin: Begin, file: str
) -> None:
    study = begin(file, steps=60, repeat="always", strategies=("random",), seed=1)
    key = joined(study)
    id = searched(study, key, "found", overlook=True)
    target = target_in(study, id)
    steps = study.trials.steps(id)
    assert sum(step.overlooked(target) for step in steps) == 1
    assert steps[-1].act == "found"
    made = [row for row in study_rows(tables_of(study.engine.store)) if row["found"]]
    assert [row["step"] for row in made] == [steps[-1].number]
    counted = sum(cell.overlooked for cell in count_progress(tables_of(study.engine.store)).cells)
    assert counted == sum(
        any(step.overlooked(trial.target) for step in study.trials.steps(trial.session))
        for trial in study.trials.all()
    )
    assert counted >= 1


def test_taking_another_item_for_the_target_is_counted(
    catalogs: Catalogs, begin: Begin, file: str
) -> None:
    study = begin(file)
    id = session_of(study, joined(study))
    target = target_in(study, id)
    page = study.show(id).page.ids
    for _ in range(2):
        with pytest.raises(StaleStepError, match="not the one") as caught:
            study.act(id, Found(next(one for one in page if one != target)))
        assert caught.value.snapshot.belief is None
    if target not in page:
        with pytest.raises(BadInput, match="not on the page"):
            study.act(id, Found(target))
    with pytest.raises(BadInput, match="not on the page"):
        study.act(id, Found(next(one for one in catalogs.get(CATALOG)[1].ids if one not in page)))
    assert study.trials.steps(id)[0].mistaken == 2
    assert study.progress(joined(study)).used == 0


def test_only_the_page_can_be_judged(catalogs: Catalogs, begin: Begin, file: str) -> None:
    study = begin(file)
    id = session_of(study, joined(study))
    page = study.show(id).page.ids
    elsewhere = next(one for one in catalogs.get(CATALOG)[1].ids if one not in page)
    target = target_in(study, id)
    with pytest.raises(BadInput, match="not on the page"):
        study.act(id, Click(elsewhere, "like"))
    item = next(one for one in page if one != target)
    with pytest.raises(BadInput, match="not on the page"):
        study.act(id, Click(item, "like", [item, elsewhere]))
    study.act(id, Click(item, "like", page))
    # What was judged may be judged again or cleared, though it has left the page.
    study.act(id, Click(item, "dislike"))
    study.act(id, Click(item, "clear"))
    with pytest.raises(StaleStepError) as caught:
        study.act(id, Click(page[-1], "like", None), 0)
    assert caught.value.snapshot.belief is None
    assert [step.act for step in study.trials.steps(id)] == [
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
    own = study.engine.start(CATALOG)
    acts: tuple[Callable[[], object], ...] = (
        lambda: study.show(own.id),
        lambda: study.act(own.id, Click(own.page.ids[0], "like")),
        lambda: study.act(own.id, Undo()),
        lambda: study.act(own.id, Found(own.page.ids[0])),
    )
    for act in acts:
        with pytest.raises(NotFound, match="in this study"):
            act()


def test_giving_up_ends_a_trial(begin: Begin, file: str) -> None:
    study = begin(file)
    key = joined(study)
    id = session_of(study, key)
    progress = study.stop(key, 0)
    assert (progress.done, progress.trials[0].outcome) == (1, "gave up")
    assert [step.act for step in study.trials.steps(id)] == ["gave up"]
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
    engine = study.engine
    target = target_in(study, id)
    # The engine has kept the clicks, but the process ended before the study could record them.
    for _ in range(3):
        page = engine.show(id).page.ids
        engine.act(id, Click(next(one for one in page if one != target), "dislike"))
    assert [step.act for step in study.trials.steps(id)] == [None]
    study.show(id)
    steps = study.trials.steps(id)
    assert [step.act for step in steps] == ["dislike", "dislike", "dislike", None]
    catalog = catalogs.get(CATALOG)[1]
    for step in steps:
        again = Session.replay(catalog, engine.stored(id).events[: step.number + 1])
        assert (list(step.page), step.rank) == (again.page().ids, again.belief.rank(target))
