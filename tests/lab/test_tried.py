"""The figure of what was tried: its table, its lines from runs, its drawing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.lab.tried import MethodResult, figure, main, merge, read_table, write_table
from seeker import Catalog
from seeker.errors import BadInput
from seeker.lab import Experiment, Perception, Sense
from seeker.lab.baselines import Seeker
from seeker.lab.people import BestAndWorst, LikesOnly, Person

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

LINE = MethodResult("variant", "engine", "C = 0.7", 200, 0.7, 0.6, 0.8, 9.0, 8.5, 9.5)
DOCS = Path(__file__).parents[2] / "docs" / "lab"


def run(folder: Path, people: list[Person]) -> Experiment:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(120, 5))
    catalog = Catalog.from_arrays([str(row) for row in range(120)], {"image": vectors})
    eyes = Perception([Sense("own", vectors.astype(np.float32))], 0.1)
    made = Experiment(catalog, eyes, {"Seeker": Seeker()}, people, 12, (6,), 5, (1,))
    made.run(folder, 1)
    return made


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    lines = [LINE, replace(LINE, kind="ceiling", where="scratch", name="own, with a comma")]
    write_table(tmp_path / "table.csv", lines)
    assert read_table(tmp_path / "table.csv") == lines


def test_a_new_line_takes_the_place_of_the_old_one_of_its_name_and_origin() -> None:
    newer, scratch = replace(LINE, found=0.72), replace(LINE, where="scratch")
    assert merge([LINE, scratch], [newer]) == [newer, scratch]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind,name\n", "must have the columns"),
        ("whole,engine,a,1,0,0,0,0,0,0\n", "Line 2"),
        ("variant,elsewhere,a,1,0,0,0,0,0,0\n", "Line 2"),
        ("variant,engine,a,1,much,0,0,0,0,0\n", "Line 2"),
        ("variant,engine,a,1\n", "Line 2"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "table.csv"
    write_table(table, [])
    table.write_text(text if text.startswith("kind") else table.read_text() + text)
    with pytest.raises(BadInput, match=said):
        read_table(table)


def test_the_figure_names_every_line_and_stays_the_same() -> None:
    lines = [LINE, replace(LINE, kind="default", name="Seeker", found=0.8)]
    drawn = figure(lines)
    assert drawn == figure(lines[::-1])
    assert all(line.name in drawn for line in lines)


def test_a_run_becomes_lines_of_the_table(tmp_path: Path) -> None:
    run(tmp_path / "runs", [BestAndWorst(), LikesOnly()])
    table, drawing = tmp_path / "table.csv", tmp_path / "figure.svg"
    arguments = [str(table), str(drawing), str(tmp_path / "runs")]
    done = CliRunner().invoke(main, [*arguments, "--kind", "ceiling", "--name", "own space"])
    assert done.exit_code == 0, done.output
    (line,) = read_table(table)
    assert (line.kind, line.where, line.name, line.targets) == (
        "ceiling",
        "engine",
        "own space",
        12,
    )
    assert 0.5 < line.found <= 1.0
    assert line.found_low <= line.found <= line.found_high
    assert line.steps_low <= line.steps <= line.steps_high
    assert "own space" in drawing.read_text(encoding="utf-8")


def test_a_run_without_the_person_whose_pages_are_drawn_is_refused_in_a_sentence(
    tmp_path: Path,
) -> None:
    run(tmp_path / "runs", [LikesOnly()])
    arguments = [str(tmp_path / name) for name in ("table.csv", "figure.svg", "runs")]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == BadInput.exit_code
    assert "no search by 'best + worst'" in done.output
    assert "Traceback" not in done.output


def test_the_drawing_in_the_docs_is_that_of_its_table() -> None:
    drawn = (DOCS / "tried.svg").read_text(encoding="utf-8")
    assert all(_escaped(line.name) in drawn for line in read_table(DOCS / "tried.csv"))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
