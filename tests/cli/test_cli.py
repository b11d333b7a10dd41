"""The command line: what it prints, and with which code it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seeker import Catalog, __version__
from seeker.cli import cli, main
from seeker.kernels import COMPILE_NOTICE
from support.builds import SHIRTS, jsonl


@pytest.fixture
def catalog(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    out = tmp_path / "catalog"
    rows = [*SHIRTS, {"id": "two\nlines", "title": "Odd", "vector": [1, 1, 1]}]
    assert main(["build", str(jsonl(tmp_path / "s.jsonl", rows)), "--out", str(out)]) == 0
    capsys.readouterr()
    return str(out)


def test_the_version_is_that_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"Seeker {__version__}\n"


def test_build_tells_what_it_guessed_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = jsonl(tmp_path / "s.jsonl", [*SHIRTS, SHIRTS[0]])
    assert main(["build", str(source), "--out", str(tmp_path / "c")]) == 8
    printed = capsys.readouterr()
    place = tmp_path / "c"
    assert printed.out == f"4 items are in '{place}'. Next: seeker serve {place}\n"
    assert "vectors     vector (3)" in printed.err
    assert "1 × duplicate id: line 5 ('a')" in printed.err
    assert main(["build", str(source), "--out", str(tmp_path / "d"), "--quiet"]) == 8
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Left out 1")


def test_options_reach_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1,Cats,[1 2]\n2,Dogs,[3 4]\n")
    options = ["--id", "b", "--title", "a", "--vectors", "c", "--attributes", "a"]
    options += ["--metric", "cosine", "--views", "c"]
    assert main(["build", str(tmp_path / "t.csv"), "--out", str(tmp_path / "c"), *options]) == 0
    catalog = Catalog.open(tmp_path / "c")
    assert list(catalog.ids) == ["Cats", "Dogs"]
    assert catalog.item("Cats").attributes == {"a": 1}
    assert catalog.views["c"].metric == "cosine"


def test_info_search_and_verify(catalog: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", catalog]) == 0
    said = capsys.readouterr().out
    assert "5 items, version 1" in said
    assert "vector: 3 × float32, euclidean" in said
    assert "price: number, 3 items, from 20 to 80" in said
    assert main(["info", catalog, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["count"] == 5
    assert main(["search", catalog, "striped", "shirt", "--where", "price<30"]) == 0
    assert capsys.readouterr().out.split()[1:] == ["a", "Striped", "shirt"]
    assert main(["search", catalog, "odd"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert main(["search", catalog, "odd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "two\nlines"
    assert main(["search", catalog, "--where", "price>30"]) == 0
    assert capsys.readouterr().out.splitlines() == ["b  Plain shirt", "c  Skirt"]
    assert main(["search", catalog, "--where", "price>30", "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "b"
    assert main(["search", catalog, "--where", "price>300"]) == 0
    assert capsys.readouterr().err == "Nothing passes the conditions.\n"
    assert main(["verify", catalog]) == 0
    assert "is whole" in capsys.readouterr().out
    view = Path(catalog) / "views" / "vector.npy"
    view.write_bytes(view.read_bytes()[:-1] + b"\x01")
    assert main(["verify", catalog]) == 1
    assert "checksum" in capsys.readouterr().err


def test_update_remove_and_tidy(
    catalog: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = jsonl(tmp_path / "more.jsonl", [{"id": "a,b", "price": 3, "vector": [0, 0, 0]}])
    assert main(["update", catalog, str(more)]) == 0
    assert "6 items" in capsys.readouterr().out
    assert main(["remove", catalog, "--ids", "a,b"]) == 0
    assert "Removed 1 item; 5 left, version 3" in capsys.readouterr().out
    assert main(["remove", catalog, "--ids", "a,b"]) == 0
    assert "Removed 2 items; 3 left" in capsys.readouterr().out
    (tmp_path / "ids").write_text("c\n")
    assert main(["remove", catalog, "--ids-file", str(tmp_path / "ids")]) == 0
    assert main(["remove", catalog, "--where", '{"brand": "striped"}']) == 0
    assert list(Catalog.open(catalog).ids) == ["two\nlines"]
    assert main(["info", catalog]) == 0
    assert "vectors of 5 removed items are kept" in capsys.readouterr().out
    assert main(["tidy", catalog]) == 0
    assert capsys.readouterr().out.startswith("Freed ")
    assert main(["tidy", catalog, "--forget-removed", "1"]) == 0
    assert capsys.readouterr().out == "Forgot 0 removed items.\nFreed 0 bytes.\n"
    assert main(["tidy", catalog, "--forget-removed", "0"]) == 0
    assert capsys.readouterr().out.startswith("Forgot 5 removed items.\nFreed ")
    assert main(["info", catalog]) == 0
    assert "removed" not in capsys.readouterr().out


def test_help_lists_every_command_once_where_people_look_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    listed = re.findall(r"^  ([a-z]+)  ", capsys.readouterr().out, flags=re.MULTILINE)
    assert sorted(listed) == sorted(cli.commands)
    assert listed[:3] == ["demo", "build", "info"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build", "nowhere", "--out", "x"], 3, "There is no file or folder 'nowhere'"),
        (["info", "nowhere"], 3, "no catalog at 'nowhere'"),
        (["search", "CATALOG", "x", "--where", "cost=3"], 3, "no attribute 'cost'"),
        (["search", "CATALOG", "x", "--where", "price=cheap"], 2, "'cheap' is none"),
        (["search", "CATALOG", "x", "--where", "new=maybe"], 2, "neither"),
        (["search", "CATALOG", "x", "--where", "price"], 2, "not a condition"),
        (["search", "CATALOG", "x", "--where", "{price"], 2, "begins like JSON"),
        (["search", "CATALOG", "x", "--where", "price=3", "--where", "price<3"], 2, "both"),
        (["remove", "CATALOG"], 2, "Nothing says"),
        (["remove", "CATALOG", "--ids-file", "nowhere"], 3, "There is no file or folder 'nowhere'"),
        (["build"], 2, "Missing argument"),
        (["dance"], 2, "No such command"),
    ],
)
def test_failures_are_one_sentence_and_a_code(
    catalog: str,
    arguments: list[str],
    code: int,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [catalog if one == "CATALOG" else one for one in arguments]
    assert main(given) == code
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    assert re.search(says, printed)


def test_a_file_where_a_folder_should_be_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = jsonl(tmp_path / "s.jsonl", SHIRTS)
    assert main(["build", str(source), "--out", str(source / "c")]) == 1
    assert "operating system refused" in capsys.readouterr().err


def test_a_mistake_of_ours_is_one_sentence_and_a_file_to_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("what nobody foresaw")

    monkeypatch.setattr("seeker.build", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["build", "a", "--out", "b"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("seeker: This is a mistake in Seeker, not yours: KeyError.")
    (kept,) = tmp_path.glob("seeker-*.txt")
    assert str(kept) in said
    assert "what nobody foresaw" in kept.read_text()


def test_stopping_a_build_says_that_it_can_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "s.jsonl"
    jsonl(source, SHIRTS)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("seeker.build", stop)
    assert main(["build", str(source), "--out", str(tmp_path / "c")]) == 130
    assert "Run the same command again" in capsys.readouterr().err


def test_help_is_quick_and_names_every_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "seeker", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in ("build", "update", "remove", "info", "search", "verify", "tidy"):
        assert f"\n  {name} " in ran.stdout
    for heavy in (
        "numba",
        "PIL",
        "onnxruntime",
        "pyarrow",
        "psycopg",
        "tqdm",
        "fastapi",
        "uvicorn",
    ):
        assert f" {heavy}\n" not in ran.stderr


def test_a_reader_that_has_had_enough_is_no_failure(catalog: str) -> None:
    code = (
        "import sys; from seeker.cli import main;"
        "sys.stdout.close(); import os; r, w = os.pipe(); os.close(r);"
        "os.dup2(w, 1); sys.stdout = os.fdopen(1, 'w'); sys.exit(main(sys.argv[1:]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "info", catalog], capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 1)
    assert ran.stderr == ""


def test_compiling_is_announced_where_it_has_not_been_done(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "s.jsonl", SHIRTS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    build = [sys.executable, "-m", "seeker", "build", str(source), "--out"]
    with subprocess.Popen(
        [*build, str(tmp_path / "a")], env=environment, stderr=subprocess.PIPE, text=True
    ) as first:
        assert first.stderr is not None
        assert any(COMPILE_NOTICE in line for line in first.stderr)
        first.kill()  # for compiling takes a while
    (kept,) = (tmp_path / "kept").glob("kernels_*")
    (kept / "kernel.nbi").touch()
    again = subprocess.run(
        [*build, str(tmp_path / "b")], env=environment, check=True, capture_output=True, text=True
    )
    assert COMPILE_NOTICE not in again.stderr
