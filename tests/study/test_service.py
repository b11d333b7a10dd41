"""A whole study against a running server: from consent to export to report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from seeker.cli import cli
from seeker.lab.outcomes import make_outcomes
from seeker.lab.results import read_rows, run_schema, study_schema
from study.parts import StudyServer
from support.servers import log_lines, tcp_segments

pytest.importorskip("pyarrow")
STEPS, TRIALS, PAGE = 6, 3, 8
HIDDEN = re.compile(r"pairwise|choice|boltzmann|\"random|alpha|noise", re.IGNORECASE)


def flags_of(store: str) -> tuple[str, ...]:
    return (
        *("--store", store, "--models", "pairwise,choice", "--strategies", "boltzmann,random"),
        *("--steps", str(STEPS), "--targets-per-person", str(TRIALS), "--page-size", str(PAGE)),
        *("--people", "12", "--rate", "0"),
    )


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    file = str(tmp_path_factory.mktemp("keys") / "keys")
    made = CliRunner().invoke(cli, ["keys", "organiser", "--role", "admin", "--file", file])
    return file, made.output.strip()


@pytest.fixture(scope="module")
def http(
    folder: Path, store: str, admin: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Two workers, so that nothing can rely on what one of them remembers."""
    log = tmp_path_factory.mktemp("log") / "log"
    server = StudyServer(folder, *flags_of(store), "--keys", admin[0], "--workers", "2")
    with server.running(log), server.client() as client:
        yield client
    assert not any(line["level"] == "ERROR" for line in log_lines(log)), log.read_text()


def test_a_study_sends_an_answer_in_one_piece(http: httpx.Client) -> None:
    assert tcp_segments(http, "/v1/study") == 1


class Participant:
    """Somebody who takes part over HTTP and keeps every answer."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.answers: list[str] = []
        about = self.ask("GET", "")
        joined = self.ask("POST", "/participants", {"consent": about["digest"]}, 201)
        self.key = joined["key"]
        self.path = f"/participants/{self.key}"

    def ask(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        answer = self.http.request(method, f"/v1/study{path}", json=body)
        assert answer.status_code == status, answer.text
        self.answers.append(answer.text)
        return answer.json() if answer.content else None

    def act(self, session: str, verb: str, body: object, status: int = 200) -> Any:
        answer = self.http.post(f"/v1/sessions/{session}/{verb}", json=body)
        assert answer.status_code == status, answer.text
        self.answers.append(answer.text)
        return answer.json()

    def search(self, notice: bool = True) -> dict[str, Any]:
        """Search once: pick the target when it is there, unless it goes unnoticed."""
        current = self.ask("POST", f"{self.path}/trials")["current"]
        session, target = current["session"], current["target"]["id"]
        shown = self.http.get(f"/v1/sessions/{session}").json()
        self.answers.append(json.dumps(shown))
        while True:
            page = [item["id"] for item in shown["page"]["items"]]
            if target in page and notice:
                self.act(session, "found", {"item": target, "step": shown["step"]})
                break
            item = next(one for one in page if one != target)
            click = {"item": item, "verdict": "dislike", "step": shown["step"], "shown": page}
            shown = self.act(session, "clicks", click)
            if self.ask("GET", self.path)["current"] is None:
                break
        return dict(self.ask("GET", self.path)["last"])


@pytest.fixture(scope="module")
def person(http: httpx.Client) -> Participant:
    """Somebody who has done everything."""
    one = Participant(http)
    for number in range(TRIALS):
        last = one.search()
        assert last["number"] == number
        assert last["outcome"] in ("found", "steps used up")
    return one


def test_nothing_gives_away_what_is_hidden(person: Participant, http: httpx.Client) -> None:
    assert person.ask("GET", person.path)["done"] == TRIALS
    person.ask("POST", f"{person.path}/trials", status=409)
    person.ask("GET", f"{person.path}/records")
    held = [answer for answer in person.answers if HIDDEN.search(answer)]
    assert held == []
    for answer in map(json.loads, person.answers):
        assert answer.get("belief") is None
    for file in ("", *(f"web/study/{name}.js" for name in ("study", "screens", "api", "strings"))):
        found = http.get(f"/{file}")
        assert found.status_code == 200
        assert not HIDDEN.search(_of_the_study(found.text))


def _of_the_study(text: str) -> str:
    """Return of a script with all that it imports what is a study's own; all of anything else."""
    start, *parts = re.split(r"^// (\S+\.js)$", text, flags=re.MULTILINE)
    own = [code for name, code in zip(parts[::2], parts[1::2], strict=True) if "study/" in name]
    assert bool(own) == bool(parts)
    return "".join([start, *own])


def test_whatever_tells_more_than_the_page_is_not_there(
    http: httpx.Client, person: Participant
) -> None:
    one = Participant(http)
    session = one.ask("POST", f"{one.path}/trials")["current"]["session"]
    here = f"/v1/sessions/{session}"
    for path in ("events", "items?offset=0&limit=50", "explain/item-1"):
        assert http.get(f"{here}/{path}").status_code == 404
    for verb in ("say", "unsay", "text", "share", "fork", "filter", "explore"):
        assert http.post(f"{here}/{verb}", json={}).status_code == 404
    assert http.delete(here).status_code == 405
    assert http.post("/v1/sessions", json={}).status_code in (404, 405)
    refused = http.post(f"{here}/undo", json={"count": 2})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    shown = http.get(here).json()
    stale = http.post(
        f"{here}/clicks",
        json={"item": shown["page"]["items"][0]["id"], "verdict": "like", "step": 3},
    )
    assert stale.status_code == 409
    assert stale.json()["session"]["belief"] is None
    wrong = next(
        item["id"]
        for item in shown["page"]["items"]
        if item["id"] != one.ask("GET", one.path)["current"]["target"]["id"]
    )
    claimed = http.post(f"{here}/found", json={"item": wrong})
    assert claimed.status_code == 409
    assert "not the one" in claimed.json()["detail"]
    assert claimed.json()["session"] == shown


def test_what_is_asked_wrongly_is_refused_in_words(http: httpx.Client) -> None:
    nobody = "A" * 22
    digest = http.get("/v1/study").json()["digest"]
    for method, path, body, status in (
        ("GET", f"/participants/{nobody}", None, 404),
        ("GET", "/participants/short", None, 404),
        ("DELETE", f"/participants/{nobody}", None, 404),
        ("POST", f"/participants/{nobody}/trials", None, 404),
        ("POST", f"/participants/{nobody}/trials/0/stop", None, 404),
        ("POST", "/participants", {"consent": "0" * 64}, 409),
        ("POST", "/participants", {"consent": "yes"}, 422),
        ("POST", "/participants", {"consent": digest, "name": "Ann"}, 422),
        ("POST", "/participants", {}, 422),
        ("GET", "/progress", None, 401),
    ):
        answer = http.request(method, f"/v1/study{path}", json=body)
        assert answer.status_code == status, (path, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]


def test_a_participant_can_leave_and_come_back(http: httpx.Client) -> None:
    one = Participant(http)
    current = one.ask("POST", f"{one.path}/trials")["current"]
    here = f"/v1/sessions/{current['session']}"
    page = [item["id"] for item in http.get(here).json()["page"]["items"]]
    item = next(id for id in page if id != current["target"]["id"])
    after = one.act(current["session"], "clicks", {"item": item, "verdict": "dislike"})
    again = one.ask("POST", f"{one.path}/trials")["current"]
    assert again == {**current, "used": 1}
    assert http.get(here).json() == after
    stopped = one.ask("POST", f"{one.path}/trials/0/stop")
    assert stopped["last"] == {"number": 0, "outcome": "gave up", "used": 1}
    records = one.ask("GET", f"{one.path}/records")
    assert [page["act"] for page in records["trials"][0]["pages"]] == ["dislike", "gave up"]
    assert records["trials"][0]["pages"][0]["shown"] == page


def test_a_study_is_open_as_long_as_people_are_wanted(folder: Path, tmp_path: Path) -> None:
    flags = (*flags_of(str(tmp_path / "study.sqlite")), "--people", "1")
    server = StudyServer(folder, *flags)
    with server.running(tmp_path / "log"), server.client() as http:
        assert http.get("/v1/study").json()["open"] is True
        one = Participant(http)
        about = http.get("/v1/study").json()
        assert about["open"] is False
        late = http.post("/v1/study/participants", json={"consent": about["digest"]})
        assert late.status_code == 409
        assert late.json()["detail"].startswith("As many people take part")
        one.ask("DELETE", one.path, status=204)
        assert http.get("/v1/study").json()["open"] is True


def test_withdrawing_deletes(http: httpx.Client) -> None:
    one = Participant(http)
    session = one.ask("POST", f"{one.path}/trials")["current"]["session"]
    assert http.get(f"/v1/sessions/{session}").status_code == 200
    one.ask("DELETE", one.path, status=204)
    one.ask("GET", one.path, status=404)
    assert http.get(f"/v1/sessions/{session}").status_code == 404


def test_the_organiser_sees_progress(
    http: httpx.Client, person: Participant, admin: tuple[str, str], store: str
) -> None:
    one = http.get("/v1/study/progress", headers={"Authorization": f"Bearer {admin[1]}"}).json()
    assert one["finished"] >= 1
    assert sum(cell["done"] for cell in one["cells"]) == one["trials"] >= TRIALS
    told = CliRunner().invoke(cli, ["study", "progress", "--store", store])
    assert told.exit_code == 0
    assert "choice + random" in told.output
    assert person.key not in told.output


def test_the_export_is_rows_of_the_lab_and_the_report_reads_them(
    http: httpx.Client, person: Participant, store: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    other = Participant(http)
    for _ in range(2):
        other.search(notice=False)
    files = [tmp_path / "study.parquet", tmp_path / "study.jsonl"]
    for file in files:
        done = CliRunner().invoke(cli, ["study", "export", "-o", str(file), "--store", store])
        assert done.exit_code == 0, done.output
    table = read_rows(files[0])
    assert table.schema.names == [*run_schema().names, *study_schema().names]
    assert read_rows(files[1]).to_pylist() == table.to_pylist()
    text = files[1].read_text(encoding="utf-8")
    assert person.key not in text
    rows = [json.loads(line) for line in text.splitlines()]
    mine = [row for row in rows if row["outcome"] is not None]
    assert len({(row["participant"], row["trial"]) for row in mine}) == len(make_outcomes(table))
    assert {row["method"] for row in mine} <= {
        f"{model} + {strategy}"
        for model in ("pairwise", "choice")
        for strategy in ("boltzmann", "random")
    }
    for row in mine:
        assert (row["target"] in row["page"]) == row["on_page"]
        assert len(row["page"]) == len(row["page_ids"])
        assert not (row["found"] and row["overlooked"])
        assert 1 <= row["rank"] <= row["items"] == 120
    done_by = make_outcomes(table)
    for place, unit in enumerate(done_by.unit):
        found = [row["found"] for row in mine if row["participant"] == unit]
        assert done_by.found[place] <= any(found)
    report = tmp_path / "report.html"
    made = CliRunner().invoke(cli, ["report", str(files[0]), "--out", str(report)])
    assert made.exit_code == 0, made.output
    page = report.read_text(encoding="utf-8")
    for words in ("What people did", "Overlooked", "Fisher", "choice + "):
        assert words in page
    assert any(row["target_id"] in page for row in mine)


def test_a_study_goes_on_after_a_crash(folder: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "study.sqlite")
    server = StudyServer(folder, *flags_of(store))
    with server.running(tmp_path / "log"):
        with server.client() as http:
            one = Participant(http)
            session = one.ask("POST", f"{one.path}/trials")["current"]["session"]
            shown = http.get(f"/v1/sessions/{session}").json()
            target = one.ask("GET", one.path)["current"]["target"]["id"]
            item = next(i["id"] for i in shown["page"]["items"] if i["id"] != target)
            after = one.act(session, "clicks", {"item": item, "verdict": "like"})
        server.kill()
        server.start(tmp_path / "log").ready()
        with server.client() as http:
            one.http = http
            assert http.get(f"/v1/sessions/{session}").json() == after
            assert one.ask("GET", one.path)["current"]["used"] == 1
    another = CliRunner().invoke(
        cli, ["study", str(folder), *flags_of(store), "--steps", str(STEPS + 1)]
    )
    assert isinstance(another.exception, Exception)
    assert "another design" in str(another.exception)
