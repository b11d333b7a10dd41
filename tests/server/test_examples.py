"""A picture of one's own over HTTP: in a form, as vectors, at the start; gone with its session."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

import seeker
from seeker import Client
from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.settings import Settings
from support.builds import jsonl, png_that_claims
from support.servers import serving, start

LIMIT = 300_000
Http: TypeAlias = Any
"""A client of the service in this process."""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of pictures of many colours, compared by colour and by vectors of their own."""
    place = tmp_path_factory.mktemp("gallery")
    rng = np.random.default_rng(2)
    rows = []
    for n in range(60):
        colour = tuple(int(one) for one in rng.integers(0, 256, 3))
        Image.new("RGB", (24, 24), colour).save(place / f"{n}.png")
        rows.append({"id": f"{n}", "picture": f"{n}.png", "shape": rng.normal(size=4).tolist()})
    seeker.build(
        jsonl(place / "rows.jsonl", rows),
        place / "shop",
        picture="picture",
        images=place,
        vectors=["shape"],
        views=["colour", "shape"],
    )
    return place / "shop"


@pytest.fixture(scope="module")
def http(gallery: Path) -> Iterator[Any]:
    settings = Settings(store="memory:", rate=0, picture_limit=LIMIT)
    app = create_app(settings, Catalogs({"shop": seeker.Catalog.open(gallery)}))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def png(gallery: Path, item: str) -> bytes:
    return (gallery.parent / f"{item}.png").read_bytes()


def send(http: Http, id: str, picture: bytes, status: int = 200, **said: Any) -> dict[str, Any]:
    answer = http.post(
        f"/v1/sessions/{id}/examples",
        files={"picture": ("mine.png", picture), "request": (None, json.dumps(said))},
    )
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def ids(shown: dict[str, Any]) -> list[str]:
    return [item["id"] for item in shown["page"]["items"]]


def test_a_picture_counts_and_its_thumbnail_goes_with_the_session(
    http: Http, gallery: Path
) -> None:
    id = start(http, seed=1, strategy="greedy")["id"]
    shown = send(http, id, png(gallery, "21"), step=0)
    assert "21" in ids(shown)[:3]
    (example,) = shown["examples"]
    assert shown["likes"] == [example["id"]]
    assert shown["history"] == [{"step": 1, "type": "example", "item": example["id"]}]
    answer = http.get(example["media"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert answer.headers["cache-control"] == "no-store"
    assert Image.open(io.BytesIO(answer.content)).size == (24, 24)

    share = http.post(f"/v1/sessions/{id}/share").json()["share"]
    looked = http.get(f"/v1/shared/{share}").json()
    assert id not in json.dumps(looked)
    assert http.get(looked["examples"][0]["media"]).content == answer.content
    fork = http.post(f"/v1/shared/{share}/fork").json()
    assert http.get(fork["examples"][0]["media"]).content == answer.content

    undone = http.post(f"/v1/sessions/{id}/undo").json()
    assert (undone["likes"], undone["examples"]) == ([], [])
    assert http.get(example["media"]).status_code == 404
    assert http.post(f"/v1/sessions/{id}/redo").json()["examples"] == [example]
    explained = http.get(f"/v1/sessions/{id}/explain/21").json()
    assert [share["item"] for share in explained["clicks"]] == [example["id"]]
    cleared = http.post(
        f"/v1/sessions/{id}/clicks", json={"item": example["id"], "verdict": "clear"}
    ).json()
    assert cleared["examples"] == []
    assert http.delete(f"/v1/sessions/{id}").status_code == 204
    assert http.get(example["media"]).status_code == 404


def test_vectors_count_like_the_picture_they_are_of(http: Http, gallery: Path) -> None:
    catalog = seeker.Catalog.open(gallery)
    vectors, _ = catalog.embed_picture(png(gallery, "5"))
    said = {name: vector.astype(np.float32).tolist() for name, vector in vectors.items()}
    id, other = (start(http, seed=3)["id"] for _ in range(2))
    by_picture = send(http, id, png(gallery, "5"))
    answer = http.post(f"/v1/sessions/{other}/examples", json={"vectors": said, "step": 0})
    assert answer.status_code == 200, answer.text
    assert ids(answer.json()) == ids(by_picture)
    assert answer.json()["likes"] == by_picture["likes"]
    assert answer.json()["examples"][0]["media"] is None


def test_a_session_begins_with_a_picture_with_vectors_or_with_items(
    http: Http, gallery: Path
) -> None:
    said = {"seed": 4, "page_size": 5, "strategy": "greedy"}
    answer = http.post(
        "/v1/sessions",
        files={"picture": png(gallery, "8"), "request": (None, json.dumps(said))},
    )
    assert answer.status_code == 201, answer.text
    begun = answer.json()
    assert (begun["step"], len(begun["examples"]), len(ids(begun))) == (1, 1, 5)
    assert "8" in ids(begun)[:3]
    id = start(http, **said)["id"]
    assert ids(send(http, id, png(gallery, "8"))) == ids(begun)

    liked = start(http, like=["8", "9"], **said)
    assert (liked["likes"], liked["step"], liked["examples"]) == (["8", "9"], 2, [])
    assert not {"8", "9"} & {*ids(liked)}
    by_vectors = start(http, vectors={"shape": [0.5] * 4}, **said)
    assert by_vectors["step"] == 1
    assert http.post("/v1/sessions", json={"like": ["nobody"]}).status_code == 404
    assert http.post("/v1/sessions", json={"like": "8"}).status_code == 422


def test_a_retry_does_nothing_twice_and_another_picture_is_another_request(
    http: Http, gallery: Path
) -> None:
    id = start(http, seed=5)["id"]
    key = {"Idempotency-Key": "the-same-picture-1"}
    address = f"/v1/sessions/{id}/examples"
    answers = [
        http.post(address, files={"picture": png(gallery, "3")}, headers=key) for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].json()["step"] == 1
    other = http.post(address, files={"picture": png(gallery, "4")}, headers=key)
    assert (other.status_code, other.json()["hint"]) == (
        422,
        "Use a new key for every new request.",
    )
    stale = http.post(
        address, files={"picture": png(gallery, "4"), "request": (None, '{"step":0}')}
    )
    assert stale.status_code == 409
    assert stale.json()["session"]["step"] == 1


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ({"picture": b"no picture"}, 422, "not a picture"),
        ({"picture": b""}, 422, "empty"),
        ({"picture": png_that_claims(30_000, 30_000)}, 422, "pixels"),
        ({"picture": png_that_claims(5_000, 5_000)}, 422, "pixels"),
        ({"photo": b"x"}, 400, "a part 'photo', but only `picture`"),
        ({"request": (None, "{}")}, 400, "no file called `picture`"),
        ({"picture": (None, "text")}, 400, "no file called `picture`"),
        ({"picture": b"x", "other": b"y"}, 400, "Too many files"),
        ({"picture": b"x", "request": (None, "{")}, 400, "not JSON"),
        ({"picture": b"x", "request": (None, '{"colour": 1}')}, 422, "colour"),
        ({"picture": b"x", "request": (None, '{"vectors": {"shape": [1]}}')}, 422, "not both"),
        ({"picture": bytes(LIMIT)}, 413, "longer"),
    ],
)
def test_what_is_no_picture_is_refused_in_words(
    http: Http, files: Any, status: int, words: str
) -> None:
    id = start(http)["id"]
    for address in (f"/v1/sessions/{id}/examples", "/v1/sessions"):
        answer = http.post(address, files=files)
        assert answer.status_code == status, answer.text
        problem = answer.json()
        assert words in problem["detail"] + problem["hint"]
    assert http.get(f"/v1/sessions/{id}").json()["step"] == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"vectors": {}}, 422),
        ({"vectors": {"shape": [1, 2]}}, 422),
        ({"vectors": {"sound": [1, 2]}}, 422),
        ({"vectors": {"shape": [1, 2, 3, "4"]}}, 422),
        ({"picture": "https://example.org/a.png"}, 422),
    ],
)
def test_an_example_needs_a_picture_or_vectors_that_fit(http: Http, body: Any, status: int) -> None:
    id = start(http)["id"]
    assert http.post(f"/v1/sessions/{id}/examples", json=body).status_code == status


def test_forms_are_for_pictures_only(http: Http, gallery: Path) -> None:
    id = start(http)["id"]
    for call in ("clicks", "say", "undo"):
        answer = http.post(f"/v1/sessions/{id}/{call}", files={"picture": png(gallery, "1")})
        assert answer.status_code == 422, answer.text
    broken = http.post(
        f"/v1/sessions/{id}/examples",
        content=b"--x\r\nnothing",
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert broken.status_code == 400
    nameless = http.post(
        f"/v1/sessions/{id}/examples",
        content=b"--x\r\nnothing",
        headers={"Content-Type": "multipart/form-data"},
    )
    assert nameless.status_code == 400


def test_catalogs_say_whether_they_read_pictures(http: Http) -> None:
    (one,) = http.get("/v1/catalogs").json()["catalogs"]
    assert (one["reads_pictures"], one["reads_text"]) == (True, False)


def test_a_client_sends_pictures_too(gallery: Path, tmp_path: Path) -> None:
    local = seeker.Catalog.open(gallery).session(seed=6)
    picture = Image.open(gallery.parent / "30.png")
    with (
        serving(gallery, tmp_path / "log", "--store", "memory:") as http,
        Client(str(http.base_url)) as client,
    ):
        for form in (gallery.parent / "30.png", picture, np.asarray(picture), png(gallery, "30")):
            remote = client.session(seed=6)
            remote.like_example(form)
            if not local.likes:
                local.like_example(picture)
            assert remote.likes == local.likes
            assert remote.page().ids == local.page().ids
        with pytest.raises(seeker.NotFound):
            remote.like_example("no such file.png")
        with pytest.raises(seeker.BadInput):
            remote.like_example(7)
        assert client.session(seed=6, like=["30"]).likes == ["30"]
