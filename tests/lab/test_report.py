"""From a bench file to rows to a report, through the commands people type."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import seeker
from benchmarks.lab.fashion import main as fashion_main
from seeker.cli import main
from seeker.errors import BadInput, NotFound
from seeker.lab import paper
from seeker.lab.baselines.base import joint_space
from seeker.lab.bench import attribute_vectors, open_bench
from seeker.lab.bench import main as bench_main
from seeker.lab.cli import evaluate, report
from seeker.lab.methods import ALL, choose_methods
from seeker.lab.outcomes import make_outcomes
from seeker.lab.results import read_rows
from seeker.types import Array

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of 240 items in two views, with senses of the same names as for pictures."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(12, 10))[rng.integers(12, size=240)] + 0.5 * rng.normal(
        size=(240, 10)
    )

    def seen(d: int) -> Array:
        return (hidden @ rng.normal(size=(10, d)) + 0.2 * rng.normal(size=(240, d))) / 3.0

    path = tmp_path_factory.mktemp("bench") / "small.npz"
    held: dict[str, Array] = {
        "ids": np.array([f"item {n}" for n in range(240)]),
        "view:image": seen(16),
        "metric:image": np.array("cosine"),
        "view:colour": seen(6),
        "metric:colour": np.array("euclidean"),
        "sense:deep": seen(12),
        "sense:layout": seen(5),
        "sense:label": np.array([f"kind {n % 4}" for n in range(240)]),
    }
    np.savez(path, **held)  # type: ignore[arg-type]
    return path


def call(command: object, *words: object) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])  # type: ignore[arg-type]
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def runs(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    few = ("--targets", 8, "--pages", 5, "--processes", 1, "--out", folder)
    methods = ("--method", "ours", "--method", "SOMHunter", "--method", "random")
    call(evaluate, bench, *few, *methods, "--person", "best + worst", "--person", "likes only")
    return folder


def test_the_report_is_one_page_that_needs_nothing_else(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    call(report, runs, "--out", out, "--command", "seeker evaluate <x>")
    text = out.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:|#)', text)
    for words in ("Leader board", "SOMHunter", "likes only", "item ", "48 searches"):
        assert words in text
    assert "seeker evaluate &lt;x&gt;" in text
    assert text.count("<svg") == 5
    assert sorted(file.name for file in tmp_path.glob("*.svg")) == [
        f"report-{name}.svg" for name in ("calibration", "progress", "rank", "recall", "steps")
    ]


def test_the_same_runs_give_the_same_report(runs: Path, tmp_path: Path) -> None:
    call(report, runs, "--out", tmp_path / "one.html", "--command", "x")
    call(report, runs, "--out", tmp_path / "two.html", "--command", "x")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_evaluating_prints_the_leader_board(runs: Path, bench: Path) -> None:
    result = call(
        evaluate,
        bench,
        "--targets",
        8,
        "--pages",
        5,
        "--processes",
        1,
        "--out",
        runs,
        "--method",
        "random",
        "--person",
        "likes only",
    )
    assert re.search(r"^random +0\.\d\d \(0\.\d\d–\d\.\d\d\)", result.output, re.MULTILINE)


def test_the_papers_experiment_runs_its_four_strategies_and_judges_its_claims(
    bench: Path, tmp_path: Path
) -> None:
    few = ("--targets", 6, "--pages", 4, "--processes", 1, "--out", tmp_path)
    result = call(evaluate, bench, "--paper", *few)
    done = make_outcomes(read_rows(tmp_path))
    assert done.methods == [
        f"paper, {name}" for name in ("Boltzmann", "epsilon-greedy", "noiseless", "random")
    ]
    assert len(done) == 24
    verdicts = [one.verdict for one in paper.claims(done)]
    assert len(verdicts) == 15
    assert set(verdicts) <= {"holds", "does not hold", "not decided"}
    assert "Boltzmann above random" in result.output
    settings = read_rows(tmp_path).column("method_settings").unique().to_pylist()
    assert all('"scale": "raw"' in one and '"repeat": "always"' in one for one in settings)
    call(report, tmp_path, "--out", tmp_path / "paper.html")
    assert "Recall: Boltzmann above random." in (tmp_path / "paper.html").read_text()


def test_the_papers_claims_are_judged_before_and_after_past_searches(
    bench: Path, tmp_path: Path
) -> None:
    few = ("--targets", 5, "--pages", 4, "--processes", 1, "--out", tmp_path)
    result = call(evaluate, bench, "--paper", "--learn-from", 0, "--learn-from", 40, *few)
    done = make_outcomes(read_rows(tmp_path))
    sets = [f"…, {how} after {count} searches" for how in ("again", "once") for count in (0, 40)]
    assert paper.strategy_sets(done) == sorted(sets)
    assert len(done) == 5 * 4 * len(sets)
    for one in sets:
        assert f"The paper's claims ({one}):" in result.output
        assert len(paper.claims(done, one)) == 15
    rows = read_rows(tmp_path).to_pylist()
    again = {row["method"]: '"repeat": "always"' in row["method_settings"] for row in rows}
    assert all(repeated == (", again after" in method) for method, repeated in again.items())
    models = {row["method"]: json.loads(row["method_settings"])["model"] for row in rows}
    assert models["random, once after 0 searches"] != models["random, once after 40 searches"]
    call(report, tmp_path, "--out", tmp_path / "paper.html")
    text = (tmp_path / "paper.html").read_text()
    assert text.count("Recall: Boltzmann above random.") == len(sets)


def test_a_bench_can_be_cut_to_some_views_and_items(bench: Path) -> None:
    whole = open_bench(bench)
    part = whole.with_views(["colour"]).sample(50, seed=3)
    assert len(part.catalog) == 50
    assert list(part.catalog.views) == ["colour"]
    row = whole.catalog.row(part.catalog.ids[7])
    np.testing.assert_array_equal(part.senses["deep"][7], whole.senses["deep"][row])
    with pytest.raises(NotFound, match="no view"):
        whole.with_views(["sound"])


def test_a_bench_can_have_the_view_that_a_build_makes_of_its_table(
    bench: Path, tmp_path: Path
) -> None:
    """Rivals have it, too, mixed evenly with the others; and it is the view of a real build."""
    with pytest.raises(NotFound, match="no view of attributes"):
        open_bench(bench, attributes=True)
    with np.load(bench) as file:
        arrays = dict(file)
    ids = arrays["ids"].tolist()
    said = [{"label": str(one), "size": str(n % 9)} for n, one in enumerate(arrays["sense:label"])]
    fit, vectors = attribute_vectors(ids, said)
    assert list(fit.descriptions) == ["label", "size"]
    assert vectors is not None
    lines = [f"{id},{one['label']},{one['size']}" for id, one in zip(ids, said, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["id,label,size", *lines]))
    built = seeker.build(tmp_path / "t.csv", tmp_path / "catalog")
    np.testing.assert_array_equal(vectors, built.views["attributes"].vectors)
    np.savez(tmp_path / "bench.npz", **arrays, attributes=vectors)
    assert list(open_bench(tmp_path / "bench.npz").catalog.views) == ["image", "colour"]
    catalog = open_bench(tmp_path / "bench.npz", attributes=True).catalog
    assert list(catalog.views) == ["image", "colour", "attributes"]
    assert joint_space(catalog).vectors.shape == (240, 16 + 6 + vectors.shape[1])
    few = ["--targets", "3", "--pages", "2", "--method", "Rocchio", "--person", "likes only"]
    out = ["--out", tmp_path / "runs", "--processes", 1]
    call(evaluate, tmp_path / "bench.npz", "--attributes", *few, *out)


def test_the_papers_metric_keeps_lengths_that_cosine_drops(bench: Path) -> None:
    lengths = np.linalg.norm(open_bench(bench, "euclidean").catalog.views["image"].vectors, axis=1)
    assert lengths.std() > 0.1
    unit = np.linalg.norm(open_bench(bench).catalog.views["image"].vectors, axis=1)
    np.testing.assert_allclose(unit, 1.0, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_a_compact_catalog_is_searched_by_the_vectors_that_it_stands_for(
    dtype: str, tmp_path: Path
) -> None:
    vectors = np.random.default_rng(0).normal(5.0, 2.0, size=(80, 6))
    np.save(tmp_path / "v.npy", vectors)
    seeker.build(tmp_path / "v.npy", tmp_path / dtype, dtype=dtype)
    held = open_bench(tmp_path / dtype).catalog.views["vectors"].vectors
    assert held.dtype == np.float32
    np.testing.assert_allclose(held, vectors, atol=0.1)


def test_people_can_see_in_several_ways_but_not_in_unknown_ones(bench: Path) -> None:
    whole = open_bench(bench)
    assert whole.perception("larger").settings()["senses"]["label"] == 0.5
    assert "image, distorted" in whole.perception("distorted").settings()["senses"]
    with pytest.raises(NotFound, match="no eyes"):
        whole.perception("third")
    with pytest.raises(NotFound, match="no sense"):
        whole.perception("strange")


@pytest.mark.parametrize(
    ("command", "package"),
    [("evaluate", "pyarrow"), ("report", "pyarrow"), ("report", "matplotlib")],
)
def test_without_the_packages_of_the_lab_it_says_what_to_install(
    command: str,
    package: str,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main([command, str(runs)]) == 3
    assert f"needs the package '{package}'. Install it: pip install 'seeker-search[lab]'." in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("items", [1, 10])
def test_a_catalog_that_one_page_shows_whole_is_not_evaluated(
    items: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(items, 3)))
    seeker.build(tmp_path / "v.npy", tmp_path / "few")
    assert main(["evaluate", str(tmp_path / "few"), "--out", str(tmp_path / "runs")]) == 2
    assert f"shows all {items} items: that is no search" in capsys.readouterr().err


def test_unknown_methods_and_reports_about_them_are_refused(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no method"):
        choose_methods(["alchemy"])
    assert set(choose_methods(["all"])) == set(ALL)
    result = CliRunner().invoke(report, [str(runs), "--ours", "alchemy", "--out", str(tmp_path)])
    assert isinstance(result.exception, NotFound)


def test_a_catalog_folder_can_be_evaluated_in_parallel(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "arrays.npz", image=rng.normal(size=(90, 6)).astype(np.float32))
    (tmp_path / "ids.txt").write_text("\n".join(f"thing {n}" for n in range(90)))
    source, folder = tmp_path / "arrays.npz", tmp_path / "catalog"
    assert (
        main(["build", str(source), "--out", str(folder), "--ids", str(tmp_path / "ids.txt")]) == 0
    )
    few = ["--targets", "30", "--pages", "3", "--method", "ours", "--person", "likes only"]
    runs = tmp_path / "runs"
    assert main(["evaluate", str(folder), "--out", str(runs), "--processes", "2", *few]) == 0
    assert len(make_outcomes(read_rows(runs))) == 30
    assert main(["report", str(runs), "--out", str(tmp_path / "report.html")]) == 0
    assert "thing " in (tmp_path / "report.html").read_text()


def test_the_commands_that_make_benches_fail_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    out = str(tmp_path / "bench.npz")
    done = CliRunner().invoke(bench_main, [str(tmp_path / "pictures"), out])
    assert done.exit_code == NotFound.exit_code
    assert "There are no pictures in" in done.output
    (tmp_path / "pictures" / "one.png").touch()
    (tmp_path / "labels.csv").write_text("picture,kind\none,hat\n")
    arguments = [str(tmp_path / "pictures"), out, str(tmp_path / "labels.csv")]
    done = CliRunner().invoke(bench_main, arguments)
    assert done.exit_code == BadInput.exit_code
    assert "must have the columns image and label" in done.output
    np.savez(tmp_path / "other.npz", pixels=np.zeros(3))
    done = CliRunner().invoke(fashion_main, [str(tmp_path / "other.npz"), out])
    assert done.exit_code == BadInput.exit_code
    assert "does not hold images and labels" in done.output
