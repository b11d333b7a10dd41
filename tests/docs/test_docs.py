"""The documentation says what is so: its code runs, figures were measured, links lead on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import pages as figure_pages
from seeker.cli import cli
from seeker.server.settings import read_settings
from support.documents import ROOT, Reader, blocks, pages
from support.stores import NewStore

# Decisions, the lab's and the benchmarks' pages are records: they quote what was run then.
PAGES = list(
    pages(
        *("README.md", "CONTRIBUTING.md", "docs/index.md", "docs/architecture.md"),
        *("docs/tutorial", "docs/how-to", "docs/reference", "docs/explanation"),
    )
)
LANGUAGES = {
    *("python", "sh", "bash", "json", "jsonl", "toml"),
    *("html", "js", "css", "nginx", "ini", "diff", "text"),
}
OTHERS_RUN_IT = {"docs/reference/http.md", "docs/how-to/shards-on-ray.md"}
"""Pages with tests of their own, which need more than a folder."""

HOUSES = ("src", "tests", "benchmarks", "docs", "examples")
"""Folders with files that the documentation names."""

MAX_TOUCHED_FILES = 5
"""Files that a new kind of anything may touch."""

QUOTING = ("why-choice", "exploration", "belief", "limits")
"""Explanations that quote what was measured."""


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def with_blocks(*languages: str) -> list[Path]:
    """Return the pages that have blocks in one of some languages."""
    return [page for page in PAGES if {block.language for block in blocks(page)} & {*languages}]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{_name(page)}, line {block.line}: {block.language!r}"


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in with_blocks("python", "sh", "bash", "json", "jsonl")
        if _name(page) not in OTHERS_RUN_IT
    ],
    ids=_name,
)
def test_code_runs(page: Path, tmp_path: Path, new_store: NewStore) -> None:
    environment = {}
    if "$DATABASE" in page.read_text(encoding="utf-8"):
        environment["DATABASE"] = new_store("postgres")
    if page.name == "README.md":
        _things_at_hand(tmp_path)
    with Reader(tmp_path, environment) as reader:
        for block in blocks(page):
            reader.do(block, f"{_name(page)}, line {block.line}")


def test_adding_something_touches_few_files() -> None:
    diffs = [one.code for one in blocks(ROOT / "CONTRIBUTING.md") if one.language == "diff"]
    assert diffs
    touched = [len(re.findall(r"^\+\+\+ ", diff, re.MULTILINE)) for diff in diffs]
    assert max(touched) <= MAX_TOUCHED_FILES, touched


def _things_at_hand(folder: Path) -> None:
    """Make what a reader of the README is supposed to have: photos and a table."""
    from PIL import Image

    (folder / "photos").mkdir()
    for n in range(15):
        Image.new("RGB", (40, 40), (15 * n, 90, 255 - 15 * n)).save(folder / f"photos/{n}.jpg")
    rows = [f"{n},A book about {word}" for n, word in enumerate(["foxes", "tea", "snow"] * 5)]
    (folder / "books.csv").write_text("\n".join(["id,title", *rows]))


@pytest.mark.parametrize("page", with_blocks("toml"), ids=_name)
def test_settings_files_are_understood(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml":
            file = tmp_path / "seeker.toml"
            file.write_text(block.code, encoding="utf-8")
            read_settings({}, {}, str(file))


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
@pytest.mark.parametrize("name", ["nginx-and-api-keys", "run-it"])
def test_nginx_understands_the_configuration(name: str, tmp_path: Path) -> None:
    page = ROOT / f"docs/how-to/{name}.md"
    (found,) = (block.code for block in blocks(page) if block.language == "nginx")
    if found.startswith("location"):
        found = f"server {{ listen 443 ssl;\n{found} }}"
    # Certificates and the port are this machine's matter; all the rest is as documented.
    served = re.sub(r"^\s*ssl_certificate.*\n", "", found, flags=re.MULTILINE)
    served = served.replace("listen 443 ssl;", f"listen unix:{tmp_path}/socket;")
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/errors; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {tmp_path}/a; proxy_temp_path {tmp_path}/b;"
        f" fastcgi_temp_path {tmp_path}/c; uwsgi_temp_path {tmp_path}/d;"
        f" scgi_temp_path {tmp_path}/e;\n{served} }}"
    )
    done = subprocess.run(
        ["nginx", "-t", "-e", str(tmp_path / "early"), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


RUNNING = ROOT / "docs/how-to/run-it.md"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    for block in blocks(RUNNING):
        if block.language == "ini":
            assert block.saved_as is not None
            # The program is not where it would be; all the rest is as documented.
            unit = block.code.replace(
                "ExecStart=/opt/seeker/bin/seeker", f"ExecStart={sys.executable}"
            )
            (tmp_path / block.saved_as).write_text(unit)
    units = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_all_phrases_of_the_log_that_matter_are_told() -> None:
    told = {
        phrase
        for row in re.findall(
            r"^\| (`[a-z ]+`(?:, `[a-z ]+`)*) \|", RUNNING.read_text(), re.MULTILINE
        )
        for phrase in re.findall(r"`([a-z ]+)`", row)
    } - {"message"}
    call = re.compile(r'_?LOGGER\.(?:warning|error|exception)\(\s*"([^"]+)"')
    written = {
        phrase for file in (ROOT / "src").rglob("*.py") for phrase in call.findall(file.read_text())
    }
    assert told == written


def test_boards_and_alerts_use_figures_that_there_are() -> None:
    from seeker.server.metrics import Metrics

    metrics = Metrics()
    metrics.answered("GET", "/", 200, 0.1)
    there = {*re.findall(r"^(seeker_\w+)", metrics.text(1).decode(), re.MULTILINE)}
    there |= {"seeker_shards", "seeker_shards_silent"}  # only where there are any
    board = json.loads((ROOT / "examples/service/grafana.json").read_text())
    panels = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = re.findall(
        r"^ +expr: (.*)$", (ROOT / "examples/service/alerts.yml").read_text(), re.MULTILINE
    )
    assert len(panels) > 10
    assert len(rules) == 6
    for expression in (*panels, *rules):
        assert {*re.findall(r"\bseeker_\w+", expression)} <= there, expression
        for route in re.findall(r'call="([^"]+)"', expression):
            assert f"`POST {route}`" in (ROOT / "docs/reference/http.md").read_text()


def test_the_container_runs_commands_that_there_are() -> None:
    text = (ROOT / "examples/service/Containerfile").read_text()
    (command,) = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    program, verb, *flags = json.loads(command)
    assert (program, verb) == ("seeker", "serve")
    known = {flag for option in cli.commands[verb].params for flag in option.opts}
    assert {flag for flag in flags if flag.startswith("--")} <= known
    for file in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)[0].split():
        assert (ROOT / file).is_file()
    (code,) = re.findall(r'python -c "(.*)"$', text, re.MULTILINE)
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/explanation/{name}.md" for name in QUOTING)]
)
def test_figures_are_those_that_were_measured(page: str) -> None:
    records = pages("docs/lab", "docs/decisions", "docs/benchmarks")
    measured = {float(one) for record in records for one in _decimals(record)}
    # 0.05 and the like are settings, not results; two decimals may be a rounded third.
    quoted = [one for one in _decimals(ROOT / page) if float(one) > 0.05]
    digits = {one: len(one.partition(".")[2]) for one in quoted}
    unknown = [
        one
        for one in quoted
        if not any(abs(value - float(one)) <= 0.5001 * 10.0 ** -digits[one] for value in measured)
    ]
    assert unknown == []


def _decimals(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", text)


def test_every_table_of_the_lab_names_the_commit_it_was_measured_at() -> None:
    sections = figure_pages.sections(ROOT / "docs" / "lab" / "README.md")
    assert len(sections) > 6
    assert [heading for heading, commit in sections.items() if commit is None] == []


def test_links_between_pages_lead_somewhere() -> None:
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]*)?\)")
    lost = []
    for page in pages("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in link.finditer(text):
            target = match[1]
            outside = target.startswith(("http:", "https:", "mailto:"))
            if not outside and not (page.parent / target).exists():
                lost.append(f"{_name(page)}: {target}")
    assert lost == []


def test_files_that_are_named_are_there() -> None:
    files = [path.as_posix() for folder in HOUSES for path in (ROOT / folder).rglob("*.*")]
    lost = []
    for page in pages("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs"):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.(?:py|js))\b[^`]*`", text):
            own = name in {block.saved_as for block in blocks(page)}
            if not own and not any(file.endswith(f"/{name}") for file in files):
                lost.append(f"{_name(page)}: {name}")
    assert lost == []


def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*.html")}
    assert {Path("index.html"), Path("tutorial/photos.html"), Path("reference/cli.html")} <= made
