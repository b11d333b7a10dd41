"""Experiments: the same command gives the same rows, as it goes, in parallel and resumed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seeker.errors import BadInput, NotFound
from seeker.lab import Experiment, Perception, distort, results
from seeker.lab.baselines import Chance, Seeker, SOMHunter
from seeker.lab.outcomes import make_outcomes
from seeker.lab.people import BestAndWorst, Drifting, Null, SecondThoughts
from support.catalogs import random_catalog

pytest.importorskip("pyarrow")


def experiment(**changes: object) -> Experiment:
    catalog = random_catalog(items=200, dims=(8, 5))
    eyes = Perception(distort({n: v.vectors for n, v in catalog.views.items()}, seed=1))
    given: dict[str, object] = {
        "searchers": {"Seeker": Seeker(), "SOMHunter": SOMHunter()},
        "people": (BestAndWorst(), SecondThoughts()),
        "targets": 6,
        "pages": 4,
    }
    return Experiment(catalog, eyes, **{**given, **changes})  # type: ignore[arg-type]


def content(folder: Path) -> str:
    """Return all rows but for the time they took, as text, in which NaN equals NaN."""
    return str(results.read_rows(folder).drop_columns(["milliseconds"]).to_pylist())


def test_the_same_experiment_gives_the_same_rows_alone_or_in_parallel(tmp_path: Path) -> None:
    experiment().run(tmp_path / "alone", processes=1, progress=False)
    experiment().run(tmp_path / "parallel", processes=2, progress=False)
    assert content(tmp_path / "alone") == content(tmp_path / "parallel")


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = experiment().run(tmp_path, processes=1, progress=False)
    files = sorted(tmp_path.glob("*.parquet"))
    files[0].unlink()
    untouched = files[1].stat().st_mtime_ns
    again = experiment().run(tmp_path, processes=1, progress=False)
    assert files[1].stat().st_mtime_ns == untouched
    drop = ["milliseconds"]
    assert str(again.drop_columns(drop).to_pylist()) == str(whole.drop_columns(drop).to_pylist())


def test_other_settings_are_not_taken_for_the_same_run(tmp_path: Path) -> None:
    experiment().run(tmp_path, processes=1, progress=False)
    before = len(list(tmp_path.glob("*.parquet")))
    experiment(pages=3).run(tmp_path, processes=1, progress=False)
    assert len(list(tmp_path.glob("*.parquet"))) == 2 * before


def test_rows_say_what_happened_and_with_which_settings(tmp_path: Path) -> None:
    table = experiment().run(tmp_path, processes=1, progress=False)
    made_rows = table.to_pylist()
    assert {row["method"] for row in made_rows} == {"Seeker", "SOMHunter"}
    for row in made_rows:
        assert row["version"]
        assert '"sigma": 0.1' in row["method_settings"] or "choice" in row["method_settings"]
        assert '"noise": 0.15' in row["person_settings"]
        assert 1.0 <= row["rank"] <= 200.0
        assert len(row["page"]) == (12 if row["step"] < 4 else 0)
        assert row["on_page"] == (row["target"] in row["page"])


def test_all_methods_and_people_search_for_the_same_targets(tmp_path: Path) -> None:
    done = make_outcomes(experiment().run(tmp_path, processes=1, progress=False))
    assert len(done) == 24
    tasks = [set(done.of(m, p).task) for m in done.methods for p in done.people]
    assert all(one == tasks[0] for one in tasks)


def test_searches_end_when_the_target_is_on_the_page(tmp_path: Path) -> None:
    done = make_outcomes(
        experiment(targets=40, pages=16, people=(Null(),), searchers={"random": Chance()}).run(
            tmp_path, processes=1, progress=False
        )
    )
    # 16 pages of 12 different items leave 8 of the 200 unseen.
    assert done.found.mean() > 0.85
    assert done.steps.mean() == pytest.approx(8.5, abs=2.0)
    assert np.all(done.hits.sum(axis=1) <= 1)


def test_seeker_finds_more_than_chance_does_even_for_who_changes_their_mind(
    tmp_path: Path,
) -> None:
    done = make_outcomes(
        experiment(
            targets=30,
            pages=8,
            people=(BestAndWorst(), Drifting()),
            searchers={"Seeker": Seeker(), "random": Chance()},
        ).run(tmp_path, processes=1, progress=False)
    )
    for person in done.people:
        seeker, chance = done.of("Seeker", person), done.of("random", person)
        assert seeker.steps.mean() < chance.steps.mean()


def test_a_person_who_sees_another_number_of_items_is_refused() -> None:
    catalog = random_catalog(items=50)
    with pytest.raises(BadInput, match="catalog has 50"):
        Experiment(catalog, Perception(distort({"a": np.eye(40)}, seed=0)), {"S": Seeker()})


def test_an_empty_folder_has_no_runs(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no runs"):
        results.read_rows(tmp_path)
