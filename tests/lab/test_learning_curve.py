"""Found against past searches: nothing that is searched for was learned from."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from seeker.errors import BadInput
from seeker.lab import Experiment, Perception, results
from seeker.lab.baselines import Seeker
from seeker.lab.cli import evaluate, report
from seeker.lab.figures import learning_figure
from seeker.lab.learning_curve import (
    OwnSearches,
    PastSearches,
    curves,
    learning_curve,
    observations_of,
    open_searches,
    own_curves,
    returning_curve,
)
from seeker.lab.outcomes import make_outcomes
from seeker.lab.people import BestAndWorst, LikesOnly
from seeker.lab.perception import Crowd, Sense, who_searches
from seeker.lab.simulate import draw_targets
from support.catalogs import random_catalog

pytest.importorskip("pyarrow")


def blurred_experiment() -> Experiment:
    """People who see two of the twelve axes that the catalog has, and the catalog not which."""
    catalog = random_catalog(items=160, dims=(12,))
    (view,) = catalog.views.values()
    eyes = Perception([Sense("two axes", np.array(view.vectors[:, :2]))], 0.1)
    people = (BestAndWorst(), LikesOnly())
    return Experiment(
        catalog, eyes, {"Seeker": Seeker()}, people, targets=30, page_sizes=(6,), pages=8
    )


def past_of(experiment: Experiment, count: int) -> PastSearches:
    return PastSearches(
        experiment.catalog,
        experiment.perception,
        experiment.searchers,
        experiment.people,
        experiment.targets,
        experiment.page_sizes,
        experiment.pages,
        count=count,
    )


def tasks_of(past: PastSearches) -> set[tuple[str, int, int]]:
    return {
        (batch.person.name, task.target, task.seed)
        for batch in past.batches()
        for task in batch.tasks
    }


def test_past_searches_are_for_other_targets_and_more_of_them_go_on_where_fewer_ended() -> None:
    experiment = blurred_experiment()
    few, many = tasks_of(past_of(experiment, 7)), tasks_of(past_of(experiment, 61))
    assert (len(few), len(many)) == (7, 61)
    assert few < many
    sought = set(draw_targets(160, 30, 0).tolist())
    assert not sought & {target for _, target, _ in many}
    people = [batch.person.name for batch in past_of(experiment, 61).batches()]
    every = len(experiment.people)
    assert len({*people[:every]}) == every, "all have searched when a run is stopped"
    with pytest.raises(BadInput, match="All items are searched for"):
        tasks_of(past_of(replace(experiment, targets=160), 7))


def test_observations_are_the_clicks_of_found_searches(tmp_path: Path) -> None:
    experiment = blurred_experiment()
    table = past_of(experiment, 20).run(tmp_path, processes=1, progress=False)
    outcomes = make_outcomes(table)
    seen = observations_of(table, experiment, 20)
    clicked = outcomes.found & (outcomes.steps > 1)  # found on the first page: nothing was clicked
    assert len(seen) == clicked.sum() > 0
    clicks = sum(len(row["liked"]) + len(row["disliked"]) for row in found_rows(table))
    assert seen.clicks == clicks
    assert len(observations_of(table, experiment, 6)) <= 6
    given_up = open_searches(table, experiment, 20)
    assert len(given_up) == (~outcomes.found).sum() > 0
    assert all(6 >= len(click.among) >= 5 for one in given_up for click in one.clicks)
    for start, end in zip(seen.offsets[:-1], seen.offsets[1:], strict=True):
        among = seen.shown[start:end].tolist()
        assert 5 <= len(among) == len(set(among)) <= 6


def found_rows(table: Any) -> list[dict[str, Any]]:
    rows = table.to_pylist()
    found = {(row["person"], row["seed"]) for row in rows if row["on_page"]}
    return [row for row in rows if (row["person"], row["seed"]) in found]


def test_more_is_found_after_past_searches(tmp_path: Path) -> None:
    table = learning_curve(
        blurred_experiment(), {"Seeker": Seeker()}, (0, 200), tmp_path, processes=1, progress=False
    )
    (points,) = curves(make_outcomes(table)).values()
    (none, before), (some, after) = points
    assert (none, some) == (0, 200)
    assert after.value > before.value + 0.05
    drawn = learning_figure({"Seeker": points})
    assert drawn.startswith("<svg")
    assert {"past searches, for other things", "0", "200"} <= texts(drawn)
    again = results.read_rows(tmp_path)
    assert len(again) == len(table), "the past searches are kept apart"


def texts(drawn: str) -> set[str]:
    return set(re.findall(r">([^<>]+)</text>", drawn))


def test_people_of_a_crowd_differ_and_stay_who_they_are() -> None:
    rng = np.random.default_rng(0)
    senses = [Sense("a", rng.normal(size=(50, 3)), 0.7), Sense("b", rng.normal(size=(50, 4)), 0.3)]
    crowd = Crowd(senses, 5)
    assert [sum(s.weight for s in one.senses) for one in crowd.people] == pytest.approx([1.0] * 5)
    who = [crowd.of_search(seed) for seed in range(200)]
    assert {id(one) for one in who} == {id(one) for one in crowd.people}
    assert who == [crowd.of_search(seed) for seed in range(200)]
    assert len({one.senses[0].weight for one in crowd.people}) == 5
    again = Crowd(senses, 5)
    assert [one.settings() for one in again.people] == [one.settings() for one in crowd.people]


def crowded_experiment() -> Experiment:
    """Two people, of whom each sees one of two views of the catalog."""
    catalog = random_catalog(items=400, dims=(8, 8))
    senses = [Sense(name, np.array(view.vectors)) for name, view in catalog.views.items()]
    crowd = Crowd(senses, 2, 0.1)
    crowd.people = [Perception([sense], 0.1) for sense in senses]
    return Experiment(
        catalog, crowd, {"Seeker": Seeker()}, (BestAndWorst(),), 60, page_sizes=(6,), pages=3
    )


def test_own_searches_are_by_each_person_for_other_targets() -> None:
    experiment = crowded_experiment()
    own = OwnSearches(**{**vars(experiment), "count": 5})
    sought = set(draw_targets(400, 60, 0).tolist())
    batches = list(own.batches())
    assert [len(batch.tasks) for batch in batches] == [5, 5]
    for person, batch in enumerate(batches):
        assert {who_searches(task.seed, 2) for task in batch.tasks} == {person}
        assert not sought & {task.target for task in batch.tasks}
    assert len({task.seed for batch in batches for task in batch.tasks}) == 10


def test_people_who_come_back_are_known(tmp_path: Path) -> None:
    table = returning_curve(
        crowded_experiment(), "Seeker", (0, 8), tmp_path, processes=1, progress=False
    )
    points = own_curves(make_outcomes(table))
    assert {name: [count for count, _ in curve] for name, curve in points.items()} == {
        "Seeker, one's own prior of θ": [0, 8],
        "Seeker, and one's own eyes": [0, 8],
    }
    before, after = points["Seeker, one's own prior of θ"]
    assert after[1].value > before[1].value + 0.05
    assert curves(make_outcomes(table)) == {}
    settings = {json.loads(one)["people"] for one in table["method_settings"].to_pylist()}
    assert len(settings) == 2, "without a learned view there is nothing to see with"
    with pytest.raises(BadInput, match="differing"):
        returning_curve(blurred_experiment(), "Seeker", (1,), tmp_path)


def test_the_curve_on_the_command_line(tmp_path: Path, folder: Path) -> None:
    out = tmp_path / "runs"
    flags = ["--targets", "4", "--pages", "3", "--page-size", "6", "--processes", "1"]
    flags += ["--person", "likes only", "--learn-from", "0", "--learn-from", "60"]
    told = CliRunner().invoke(evaluate, [str(folder), "--out", str(out), *flags])
    assert told.exit_code == 0, told.output
    assert "Seeker after 0 searches" in told.output
    assert "Seeker after 60 searches" in told.output
    assert "SOMHunter" not in told.output
    page = tmp_path / "report.html"
    assert CliRunner().invoke(report, [str(out), "--out", str(page)]).exit_code == 0
    assert "Found against past searches" in page.read_text()
    assert (tmp_path / "report-learning.svg").exists()


def test_only_what_searches_with_what_was_learned_is_asked_after_past_searches(
    tmp_path: Path, folder: Path
) -> None:
    flags = ["--out", str(tmp_path), "--learn-from", "60", "--method", "Seeker"]
    for other in ("SOMHunter", "pairwise, Boltzmann"):
        told = CliRunner().invoke(evaluate, [str(folder), *flags, "--method", other])
        assert isinstance(told.exception, BadInput), told.output
        assert told.exception.message == f"{other} does not search with what was learned."
    assert not list(tmp_path.rglob("*.parquet"))
