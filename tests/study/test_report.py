"""The lab reads studies: what counts as found, what is compared with what, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seeker.errors import BadInput, NotFound
from seeker.html_report import Album
from seeker.lab import report, results
from seeker.lab.compare import compare, compare_all, fisher, permutation_test
from seeker.lab.metrics import leader_board
from seeker.lab.outcomes import make_outcomes
from seeker.lab.paper import study_claims, study_models
from seeker.lab.report import participants_section
from seeker.lab.results import study_item_ids, study_schema, write_study
from support.catalogs import build_folder

pytest.importorskip("pyarrow")
ITEMS, PAGES = 100, 4


def search(
    method: str,
    participant: str,
    trial: int,
    found: int | None,
    overlooked: tuple[int, ...] = (),
    outcome: str | None = "found",
    rank: float = 20.0,
) -> list[dict[str, Any]]:
    """Make the rows of a search that found its target on a page, from 0, or never did."""
    last = PAGES if found is None else found
    seed = sum(map(ord, f"{method}{participant}")) * 100 + trial
    return [
        {
            "schema": 1,
            "version": "0",
            "catalog": "shop",
            "items": ITEMS,
            "source": "people",
            "person": "people",
            "person_settings": "{}",
            "method": method,
            "method_settings": "{}",
            "page_size": 3,
            "pages": PAGES,
            "seed": seed,
            "target": trial,
            "step": step,
            "rank": rank - step,
            "on_page": step == found or step in overlooked,
            "claimed": None if step == PAGES else 0.25,
            "likes": step,
            "dislikes": 0,
            "milliseconds": None,
            "page": [] if step == PAGES else [trial, 50, 51],
            "liked": [],
            "disliked": [],
            "participant": participant,
            "trial": trial,
            "outcome": outcome if found is not None else outcome and "steps used up",
            "found": step == found,
            "overlooked": step in overlooked,
            "mistaken": int(step == 0),
            "act": None if step == PAGES else "found" if step == found else "like",
            "item": None,
            "shown": [],
            "seconds": None if step == PAGES else 2.0 + step,
            "elapsed": 3.0 * step,
            "target_id": f"item {trial}",
            "page_ids": [] if step == PAGES else [f"item {trial}", "item 50", "item 51"],
        }
        for step in range(last + 1)
    ]


def study(*searches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for one in searches for row in one]


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """Two methods, of which one finds and the other does not, ten times each."""
    rows = []
    for who in range(10):
        rows.append(search("choice + greedy", f"p{who}", 0, 1))
        rows.append(search("pairwise + greedy", f"p{who}", 1, None, overlooked=(2,)))
    file = tmp_path / "study.parquet"
    write_study(file, study(*rows))
    return file


def test_found_is_what_the_person_picked_not_what_was_on_the_page(some: Path) -> None:
    done = make_outcomes(results.read_rows(some))
    assert done.from_study
    finds, fails = done.of("choice + greedy"), done.of("pairwise + greedy")
    assert finds.found.all()
    assert (finds.steps == 2).all()
    assert not fails.found.any()
    assert (fails.steps == PAGES).all()
    assert fails.hits.any(axis=1).all()
    assert (done.unit == [f"p{n}" for n in range(10)] * 2).all()


def test_searches_that_were_left_do_not_count(tmp_path: Path) -> None:
    left = search("choice + greedy", "p1", 1, None, outcome=None)
    write_study(tmp_path / "a.jsonl", study(search("choice + greedy", "p1", 0, 2), left))
    assert len(make_outcomes(results.read_rows(tmp_path / "a.jsonl"))) == 1
    write_study(tmp_path / "b.jsonl", left)
    with pytest.raises(NotFound, match="no search with an end"):
        report.write_report([tmp_path / "b.jsonl"], tmp_path / "report.html")
    write_study(tmp_path / "c.jsonl", [])
    with pytest.raises(NotFound, match="no search with an end"):
        report.write_report([tmp_path / "c.jsonl"], tmp_path / "report.html")


def test_people_are_compared_unpaired(some: Path) -> None:
    done = make_outcomes(results.read_rows(some))
    one = compare(done, "choice + greedy", "pairwise + greedy", "people")
    assert not one.paired
    assert (one.pairs, one.only_ours, one.only_theirs) == (20, 10, 0)
    assert one.found_p == pytest.approx(2 / 184756)
    assert (one.steps_saved, one.found_lead) == (2.0, 1.0)
    (judged,) = compare_all(done, "choice + greedy", ["pairwise + greedy"])
    assert judged.verdict == "better"
    (judged,) = compare_all(done, "pairwise + greedy", ["choice + greedy"])
    assert judged.verdict == "worse"


def test_fishers_test_is_exact() -> None:
    # Fisher's own example: a lady who tastes tea.
    assert fisher(3, 1, 1, 3) == pytest.approx(34 / 70)
    assert fisher(4, 0, 0, 4) == pytest.approx(2 / 70)
    assert fisher(5, 0, 7, 0) == 1.0
    assert fisher(0, 3, 0, 9) == 1.0


def test_shuffling_finds_no_difference_where_there_is_none() -> None:
    rng = np.random.default_rng(0)
    chances = [
        permutation_test(rng.normal(size=12), rng.normal(size=15), seed=n) for n in range(20)
    ]
    assert 0.25 < np.mean(chances) < 0.75
    assert permutation_test(np.arange(9.0), np.arange(9.0) + 8.0) < 0.01


def test_intervals_are_drawn_over_participants(tmp_path: Path) -> None:
    # One participant finds everything, the other nothing: there are two people, not forty.
    rows = [search("choice + greedy", "p1", trial, 0) for trial in range(20)]
    rows += [search("choice + greedy", "p2", trial, None) for trial in range(20)]
    write_study(tmp_path / "a.parquet", study(*rows))
    (line,) = leader_board(make_outcomes(results.read_rows(tmp_path / "a.parquet")))
    assert (line.found.value, line.found.low, line.found.high) == (0.5, 0.0, 1.0)


def test_what_people_did_is_told(some: Path) -> None:
    section = participants_section(results.read_rows(some))
    assert "choice + greedy" in section
    assert "10 <small>100%</small>" in section
    # Nothing of one method was overlooked, and all of the other.
    finds, fails = sorted(section.split("<tr>")[2:])
    assert "0 <small>0%</small>" in finds
    assert fails.count("10 <small>100%</small>") == 2
    assert "2.5" in finds  # the median of 2 and 3 seconds


def test_the_papers_claims_are_held_against_people(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    rows = []
    for who in range(12):
        for trial, (strategy, rank) in enumerate(
            (("boltzmann", 8.0), ("greedy", 13.0), ("epsilon", 13.0), ("random", 22.0))
        ):
            one = rank + float(rng.integers(-1, 2))
            rows.append(search(f"paper + {strategy}", f"p{who}", trial, None, rank=one))
    rows.append(search("choice + greedy", "p1", 5, 1))
    file = tmp_path / "study.jsonl"
    write_study(file, study(*rows))
    done = make_outcomes(results.read_rows(file))
    assert study_models(done) == ["paper"]
    verdicts = {one.words: one.verdict for one in study_claims(done, "paper")}
    assert len(verdicts) == 15
    for name in ("greedy", "epsilon", "random"):
        assert verdicts[f"Recall: Boltzmann above {name}."] == "holds"
        assert verdicts[f"Steps: Boltzmann faster than {name}."] == "holds"
    assert verdicts["Greedy and epsilon perform alike."] in ("holds", "not decided")
    # Turned round, what was said to be above is below.
    turned = [
        {**row, "method": row["method"].replace("boltzmann", "x").replace("random", "boltzmann")}
        for row in study(*rows)
    ]
    for row in turned:
        row["method"] = row["method"].replace("+ x", "+ random")
    write_study(file, turned)
    verdicts = {
        o.words: o.verdict for o in study_claims(make_outcomes(results.read_rows(file)), "paper")
    }
    assert verdicts["Recall: Boltzmann above random."] == "does not hold"
    out = tmp_path / "report.html"
    report.write_report([file], out)
    text = out.read_text(encoding="utf-8")
    assert "with people and the model paper" in text
    assert "12 participants" in text


def test_items_are_known_by_their_ids(some: Path) -> None:
    assert study_item_ids(results.read_rows(some)) == {
        "shop": {0: "item 0", 1: "item 1", 50: "item 50", 51: "item 51"}
    }


def test_a_catalog_lends_its_pictures(tmp_path: Path) -> None:
    album = Album({3: "item-3", 9: "gone"}, build_folder(tmp_path / "shop", 12))
    assert 'src="data:image/webp;base64,' in album.tile(3, "liked")
    for row in (9, 11):
        assert "<img" not in album.tile(row, "")
    assert "item 11" in album.tile(11, "")


def test_simulated_runs_have_none_of_what_people_add(tmp_path: Path) -> None:
    plain = search("choice + greedy", "p1", 0, 2)
    for row in plain:
        row["source"], row["person"] = "simulated", "best + worst"
        for name in study_schema().names:
            del row[name]
    results.write_rows(tmp_path / "run.parquet", plain)
    table = results.read_rows(tmp_path)
    assert table["participant"].null_count == len(table) == 3
    assert study_item_ids(table) == {}
    done = make_outcomes(table)
    assert not done.from_study
    assert (done.unit == done.task).all()
    assert done.found.tolist() == [True]


def test_studies_and_runs_stand_in_one_report(some: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "runs"
    folder.mkdir()
    plain = study(*(search("choice + greedy", "p", trial, 2) for trial in range(6)))
    for row in plain:
        row["source"], row["person"] = "simulated", "best + worst"
        for name in study_schema().names:
            del row[name]
    results.write_rows(folder / "run.parquet", plain)
    out = tmp_path / "report.html"
    report.write_report([some, folder], out)
    text = out.read_text(encoding="utf-8")
    for words in ("best + worst", "people", "What people did", "26 searches"):
        assert words in text


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.jsonl", "{}\n", "lacks"),
        ("a.jsonl", "nonsense\n", "Line 1"),
        ("a.jsonl", "[1]\n", "Line 1"),
        ("a.jsonl", json.dumps({"schema": "one"}) + "\n", "not a run"),
        ("a.parquet", "nonsense", "neither Parquet nor"),
    ],
)
def test_files_that_are_no_runs_are_refused(
    tmp_path: Path, file: str, content: str, sentence: str
) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=sentence):
        results.read_rows(tmp_path / file)


def test_a_study_is_written_as_parquet_or_lines_only(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither"):
        write_study(tmp_path / "study.csv", [])
    assert list(tmp_path.iterdir()) == []
