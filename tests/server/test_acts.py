"""All that can be done in a session, over HTTP, with both durable stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.servers import serving, start


@pytest.fixture(scope="module")
def http(
    folder: Path, store: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    log = tmp_path_factory.mktemp("acts") / "log"
    with serving(folder, log, "--store", store, "--rate", "0", "--workers", "2") as client:
        yield client


def do(
    http: httpx.Client, session: dict[str, Any], call: str, status: int = 200, **body: Any
) -> dict[str, Any]:
    answer = http.post(f"/v1/sessions/{session['id']}/{call}", json=body)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def ids(shown: dict[str, Any]) -> list[str]:
    return [item["id"] for item in shown["page"]["items"]]


def test_history_tells_all_that_is_in_effect(http: httpx.Client) -> None:
    shown = start(http, query="red", filter={"price": {"lt": 16}}, seed=1)
    assert (shown["query"], shown["filter"]) == ("red", {"price": {"lt": 16}})
    assert (shown["said"], shown["exploration"], shown["found"]) == ([], 1.0, None)
    assert (shown["undone"], shown["history"]) == (0, [])
    first, second = ids(shown)[:2]
    shown = do(http, shown, "clicks", item=first, verdict="like", step=0)
    shown = do(http, shown, "clicks", item=second, verdict="dislike", step=1)
    shown = do(http, shown, "clicks", item=second, verdict="clear", step=2)
    shown = do(http, shown, "text", text="a blue thing", step=3)
    shown = do(http, shown, "unsay", text="red", step=4)
    shown = do(http, shown, "filter", filter={"price": {"gt": 2}}, step=5)
    shown = do(http, shown, "explore", level=3, step=6)
    shown = do(http, shown, "found", item=first, step=7)
    assert shown["history"] == [
        {"step": 1, "type": "click", "item": first, "verdict": "like"},
        {"step": 2, "type": "click", "item": second, "verdict": "dislike"},
        {"step": 3, "type": "click", "item": second, "verdict": "clear"},
        {"step": 4, "type": "say", "text": "a blue thing"},
        {"step": 5, "type": "unsay", "text": "red"},
        {"step": 6, "type": "filter", "filter": {"price": {"gt": 2}}},
        {"step": 7, "type": "explore", "level": 3.0},
        {"step": 8, "type": "found", "item": first},
    ]
    assert (shown["query"], shown["said"]) == (None, ["a blue thing"])
    assert (shown["filter"], shown["exploration"]) == ({"price": {"gt": 2}}, 3.0)
    assert (shown["found"], shown["likes"], shown["dislikes"]) == (first, [first], [])
    assert http.get(f"/v1/sessions/{shown['id']}").json() == shown


def test_words_that_were_not_understood_are_told(http: httpx.Client) -> None:
    shown = start(http, query="red things", seed=1)
    assert shown["words"] == [
        {
            "text": "red things",
            "unknown": [],
            "corrections": {},
            "letters": True,
            "meaning": False,
            "nearest": {},
        }
    ]
    shown = do(http, shown, "text", text="geren sneakers")
    assert shown["words"][1] == {
        "text": "geren sneakers",
        "unknown": ["sneakers"],
        "corrections": {"geren": "green"},
        "letters": True,
        "meaning": False,
        "nearest": {},
    }
    shown = do(http, shown, "say", text="sneakers")
    assert not shown["words"][2]["letters"] | shown["words"][2]["meaning"]
    assert len(do(http, shown, "unsay", text="sneakers")["words"]) == 2
    about = http.get("/v1/catalogs").json()["catalogs"][0]
    assert (about["reads_text"], about["reads_words"]) == (False, True)


def test_what_was_undone_can_be_redone_until_something_new_is_done(http: httpx.Client) -> None:
    shown = start(http, seed=2)
    seen = [shown]
    for n in range(4):
        shown = do(http, shown, "clicks", item=ids(shown)[n], verdict="like", step=n)
        seen.append(shown)
    back = do(http, shown, "undo", count=3, step=4)
    assert back == {**seen[1], "undone": 3}
    assert do(http, back, "redo") == {**seen[2], "undone": 2}
    assert do(http, back, "redo", count=2, step=2) == seen[4]
    too_far = do(http, back, "redo", 409)
    assert too_far["session"] == seen[4]
    assert do(http, back, "undo", 409, count=5)["session"] == seen[4]
    do(http, back, "undo", count=2)
    new = do(http, back, "clicks", item=ids(seen[2])[5], verdict="dislike", step=2)
    assert new["undone"] == 0
    assert do(http, back, "redo", 409)["session"] == new


def test_a_filter_shows_what_passes_and_likes_outside_it_still_count(http: httpx.Client) -> None:
    shown = start(http, seed=3)
    liked = ids(shown)[0]
    liked_price = shown["page"]["items"][0]["attributes"]["price"]
    shown = do(http, shown, "clicks", item=liked, verdict="like")
    narrowed = do(http, shown, "filter", filter={"price": {"gt": liked_price}})
    prices = [item["attributes"]["price"] for item in narrowed["page"]["items"]]
    assert min(prices) > liked_price
    assert narrowed["likes"] == [liked]
    assert narrowed["page"]["total"] < shown["page"]["total"]
    wide = do(http, shown, "filter", filter=None)
    assert wide["page"]["total"] == shown["page"]["total"]
    assert wide["filter"] is None
    do(http, shown, "filter", 422, filter={"price": {"lt": -5}})
    do(http, shown, "filter", 404, filter={"nothing": 1})
    do(http, shown, "filter", 422)
    assert http.get(f"/v1/sessions/{shown['id']}").json() == wide


def test_exploration_stays_until_it_is_changed(http: httpx.Client) -> None:
    click: dict[str, Any] = {"item": "item-1", "verdict": "like"}
    click["shown"] = ["item-1", "item-2", "item-3"]
    shown = do(http, start(http, seed=4), "clicks", **click)
    best = do(http, shown, "explore", level=0)
    greedy = do(http, start(http, seed=5, strategy="greedy"), "clicks", **click)
    assert best["page"] == greedy["page"]
    assert best["page"] != do(http, shown, "explore", level=100)["page"]
    do(http, shown, "undo")
    calm = do(http, shown, "clicks", item=ids(best)[0], verdict="like")
    assert calm["exploration"] == 0.0
    for level in (-0.1, 100.5, "much", None):
        do(http, shown, "explore", 422, level=level)


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("undo", {}),
        ("redo", {}),
        ("text", {"text": "red"}),
        ("unsay", {"text": "red"}),
        ("filter", {"filter": None}),
        ("explore", {"level": 2}),
        ("found", {"item": "item-1"}),
        ("fork", {}),
    ],
)
def test_what_was_asked_of_a_page_that_has_passed_is_a_409(
    http: httpx.Client, call: str, body: dict[str, Any]
) -> None:
    shown = start(http)
    now = do(http, shown, "clicks", item=ids(shown)[0], verdict="like")
    refused = do(http, shown, call, 409, **body, step=0)
    assert refused["session"] == now
    assert http.get(f"/v1/sessions/{shown['id']}").json() == now


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("text", {"text": "red"}),
        ("filter", {"filter": {"price": {"gt": 3}}}),
        ("explore", {"level": 2}),
        ("found", {"item": "item-1"}),
        ("undo", {}),
        ("fork", {}),
    ],
)
def test_a_retry_does_nothing_twice(http: httpx.Client, call: str, body: dict[str, Any]) -> None:
    shown = start(http)
    do(http, shown, "clicks", item=ids(shown)[0], verdict="like")
    do(http, shown, "clicks", item=ids(shown)[1], verdict="like")
    headers = {"Idempotency-Key": "this-very-request-once"}
    address = f"/v1/sessions/{shown['id']}"
    answers = [http.post(f"{address}/{call}", json=body, headers=headers) for _ in range(3)]
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].is_success
    kept = http.get(f"{address}/events").json()["events"]
    assert len(kept) == (3 if call == "fork" else 4)


def test_a_fork_goes_its_own_way(http: httpx.Client) -> None:
    shown = start(http, seed=5, user="ann")
    shown = do(http, shown, "clicks", item=ids(shown)[0], verdict="like")
    forked = do(http, shown, "fork", 201, step=1)
    assert forked == {**shown, "id": forked["id"]}
    assert forked["id"] != shown["id"]
    there = do(http, forked, "clicks", item=ids(forked)[2], verdict="dislike", step=1)
    assert http.get(f"/v1/sessions/{shown['id']}").json() == shown
    assert do(http, forked, "undo", count=2)["step"] == 0
    http.delete(f"/v1/sessions/{shown['id']}")
    assert do(http, forked, "redo", count=2) == there


def test_a_shared_session_can_be_looked_at_and_nothing_else(http: httpx.Client) -> None:
    shown = start(http, seed=6, user="a person")
    shown = do(http, shown, "clicks", item=ids(shown)[0], verdict="like")
    share = do(http, shown, "share")["share"]
    assert do(http, shown, "share") == {"share": share}
    address = f"/v1/shared/{share}"
    looked = http.get(address)
    assert looked.json() == {**shown, "id": share}
    assert shown["id"] not in looked.text
    mine = f"/v1/sessions/{shown['id']}"
    more = {"offset": 12, "limit": 7}
    assert http.get(f"{address}/items", params=more).json() == (
        http.get(f"{mine}/items", params=more).json()
    )
    why = http.get(f"{address}/explain/item-1")
    assert why.json() == http.get(f"{mine}/explain/item-1").json()
    for call in ("clicks", "undo", "text", "share"):
        assert http.post(f"{address}/{call}", json={}).status_code == 404
        assert http.post(f"/v1/sessions/{share}/{call}", json={}).status_code in (404, 422)
    assert http.get(f"{address}/events").status_code == 404
    assert http.delete(address).status_code == 405
    headers = {"Idempotency-Key": "go-on-from-there-once"}
    forks = [http.post(f"{address}/fork", headers=headers) for _ in range(2)]
    assert forks[0].status_code == 201
    assert forks[0].json() == forks[1].json()
    theirs = forks[0].json()
    assert theirs == {**shown, "id": theirs["id"]}
    kept = http.get(f"/v1/sessions/{theirs['id']}/events")
    assert kept.json()["user"] is None
    assert "a person" not in kept.text
    assert http.delete(f"{mine}/share").status_code == 204
    assert http.delete(f"{mine}/share").status_code == 404
    assert http.get(address).status_code == 404
    assert http.get(f"/v1/sessions/{theirs['id']}").status_code == 200
    again = do(http, shown, "share")["share"]
    assert again != share
    http.delete(mine)
    assert http.get(f"/v1/shared/{again}").status_code == 404
    assert http.post(f"/v1/shared/{again}/fork").status_code == 404


def test_a_person_begins_with_what_their_last_session_taught(http: httpx.Client) -> None:
    last = start(http, user="bea", seed=7)
    for n in range(5):
        verdict = "like" if n % 2 else "dislike"
        last = do(http, last, "clicks", item=ids(last)[n], verdict=verdict)
    known = start(http, user="bea", seed=8, personalise=True)
    plain = start(http, user="bea", seed=8)
    assert known["belief"]["noise"] != plain["belief"]["noise"]
    noise = 0.8 * last["belief"]["noise"] + 0.2 * plain["belief"]["noise"]
    assert known["belief"]["noise"] == pytest.approx(noise, abs=1e-4)
    stranger = start(http, user="somebody else", seed=8, personalise=True)
    assert stranger["belief"] == plain["belief"]
