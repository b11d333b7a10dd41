"""Items changed over HTTP: durable when answered, and seen by people who are searching."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

import seeker
from seeker import BadInput, Catalog, NotFound
from seeker.catalog.verify import find_problems
from seeker.server.auth import make_key
from support.builds import png_that_claims
from support.catalogs import build_folder
from support.servers import TIMEOUT_SECONDS, serving, until


class Shop:
    """A served catalog of things, and a key that may change them."""

    def __init__(self, http: httpx.Client, folder: Path, key: str) -> None:
        self.http, self.folder, self.key = http, folder, key
        self.headers = {"Authorization": f"Bearer {key}"}

    def call(self, method: str, item: str, body: object) -> httpx.Response:
        return self.http.request(method, f"/v1/items/shop/{item}", json=body, headers=self.headers)

    def lines(self, *lines: object) -> dict[str, Any]:
        content = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
        headers = {**self.headers, "Content-Type": "application/x-ndjson"}
        answer = self.http.post("/v1/items/shop", content=content, headers=headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def stored(self, item: str) -> seeker.Item:
        return Catalog.open(self.folder).item(item)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    place = tmp_path_factory.mktemp("changes")
    folder, keys = build_folder(place / "shop", 40), str(place / "keys")
    key = make_key("keeper", "admin", keys)
    flags = ("--keys", keys, "--store", "memory:", "--rate", "0")
    with serving(folder, place / "log", *flags) as http:
        yield Shop(http, folder, key)


def test_a_changed_price_is_on_disk_when_answered_and_on_the_next_page(shop: Shop) -> None:
    start = shop.http.post("/v1/sessions", json={"seed": 3}, headers=shop.headers).json()
    first = start["page"]["items"][0]
    answer = shop.call("PATCH", first["id"], {"attributes": {"price": 99.5}})
    assert (answer.status_code, answer.json()["result"]) == (200, "changed")
    stored = shop.stored(first["id"])
    assert stored.attributes == {**first["attributes"], "price": 99.5}
    assert (stored.title, stored.media) == (
        first["title"],
        Catalog.open(shop.folder).item(first["id"]).media,
    )
    again = shop.call("PATCH", first["id"], {"attributes": {"price": 99.5}})
    assert again.json() == {**answer.json(), "result": "unchanged"}
    click = {"item": start["page"]["items"][3]["id"], "verdict": "like"}
    session = f"/v1/sessions/{start['id']}"
    assert shop.http.post(f"{session}/clicks", json=click).status_code == 200

    def shown() -> bool:
        item = shop.http.get(f"/v1/items/shop/{first['id']}").json()
        return bool(item["attributes"]["price"] == 99.5)

    until(shown)
    assert shop.http.get(session).json()["likes"] == [click["item"]]
    every = shop.http.get(f"{session}/items", params={"limit": 100}).json()["items"]
    assert next(one for one in every if one["id"] == first["id"])["attributes"]["price"] == 99.5


def test_an_item_that_has_left_says_so_and_nobody_else_suffers(shop: Shop) -> None:
    start = shop.http.post("/v1/sessions", json={"seed": 4}, headers=shop.headers).json()
    ids = [item["id"] for item in start["page"]["items"]]
    session = f"/v1/sessions/{start['id']}"
    address = f"/v1/items/shop/{ids[0]}"
    assert shop.http.delete(address, headers=shop.headers).status_code == 204

    def click(item: str) -> httpx.Response:
        body = {"item": item, "verdict": "like", "shown": ids, "step": 0}
        return shop.http.post(f"{session}/clicks", json=body)

    answer = click(ids[0])
    assert (answer.status_code, answer.json()["title"]) == (410, "Gone")
    assert "has left this catalog" in answer.json()["detail"]
    assert "still counts" in answer.json()["hint"]
    assert shop.http.get(address).status_code == 410
    assert shop.http.post(f"{session}/found", json={"item": ids[0]}).status_code == 410
    # It was on screen when the other was chosen, and that counts.
    liked = click(ids[1])
    assert (liked.status_code, liked.json()["likes"]) == (200, [ids[1]])
    (_, event) = shop.http.get(f"{session}/events").json()["events"]
    assert event["shown"] == ids
    with seeker.Client(str(shop.http.base_url)) as client, pytest.raises(NotFound, match="left"):
        client.open(start["id"]).like(ids[0], shown=ids)


def test_put_makes_an_item_just_this(shop: Shop) -> None:
    vector = [float(n) for n in range(12)]
    answer = shop.call("PUT", "brand new", {"title": "New", "vectors": {"vector": vector}})
    assert (answer.status_code, answer.json()["result"]) == (201, "new")
    assert shop.call("PUT", "brand new", {"title": "New"}).json()["result"] == "unchanged"
    shop.call("PATCH", "brand new", {"attributes": {"price": 3, "size": "L"}, "text": "red"})
    stored = shop.stored("brand new")
    assert (stored.title, stored.attributes) == ("New", {"price": 3, "size": "L"})
    assert shop.call("PUT", "brand new", {"attributes": {"size": None}}).status_code == 200
    stored = shop.stored("brand new")
    assert (stored.title, stored.attributes) == ("brand new", {})
    catalog = Catalog.open(shop.folder)
    assert catalog.views["vector"].vectors[catalog.row("brand new")].tolist() == vector


@pytest.mark.parametrize(
    ("method", "item", "body", "status", "says"),
    [
        ("PATCH", "nowhere", {"title": "x"}, 404, "no item 'nowhere'"),
        ("PUT", "nowhere", {"title": "x"}, 422, "No vector"),
        ("PUT", "nowhere", {"vectors": {"vector": [1.0]}}, 422, "1 numbers instead of 12"),
        ("PATCH", "item-1", {"attributes": {"price": "dear"}}, 422, "keeps it as a number"),
        ("PATCH", "item-1", {"picture": "/etc/passwd"}, 422, "picture"),
        ("PATCH", "item-1", {"media": "media/x.webp"}, 422, "media"),
        ("PATCH", "item-1", {"attributes": {"a": {"b": 1}}}, 422, "attributes"),
    ],
)
def test_what_cannot_be_taken_is_said_and_changes_nothing(
    shop: Shop, method: str, item: str, body: object, status: int, says: str
) -> None:
    version = Catalog.open(shop.folder).version
    answer = shop.call(method, item, body)
    assert answer.status_code == status
    assert says in answer.text
    assert Catalog.open(shop.folder).version == version


def test_nobody_else_changes_items(shop: Shop) -> None:
    for method, address in (("PUT", "/x"), ("PATCH", "/item-1"), ("POST", "")):
        address = f"/v1/items/shop{address}"
        assert shop.http.request(method, address, json={}).status_code == 401


def test_every_line_has_its_verdict(shop: Shop) -> None:
    before = Catalog.open(shop.folder)
    vector = [0.5] * 12
    answer = shop.lines(
        {"id": "item-3", "attributes": {"price": 1}},
        {"id": "made", "title": "Made", "vectors": {"vector": vector}},
        "{not json",
        {"id": "item-4", "remove": True},
        {"id": "item-3", "title": "again"},
        {"id": "bad", "title": "without a vector"},
        {"id": "gone long ago", "remove": True},
        {"title": "without an id"},
        {"id": "item-5"},
    )
    assert answer["version"] == before.version + 1
    assert [(one["line"], one["id"], one["result"]) for one in answer["lines"]] == [
        (1, "item-3", "changed"),
        (2, "made", "new"),
        (3, None, "refused"),
        (4, "item-4", "removed"),
        (5, "item-3", "refused"),
        (6, "bad", "refused"),
        (7, "gone long ago", "not found"),
        (8, None, "refused"),
        (9, "item-5", "unchanged"),
    ]
    assert "No vector" in answer["lines"][5]["problem"]
    after = Catalog.open(shop.folder)
    assert list(after.ids) == [*(id for id in before.ids if id != "item-4"), "made"]
    assert find_problems(shop.folder) == []


def test_changes_that_come_together_share_a_version_and_none_is_lost(shop: Shop) -> None:
    ids = [id for id in Catalog.open(shop.folder).ids if id.startswith("item-")]
    before = Catalog.open(shop.folder).version

    def change(n: int) -> int:
        body = {"attributes": {"price": 1000 + n}}
        return shop.call("PATCH", ids[n % len(ids)], body).status_code

    count = 2 * len(ids)
    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(change, range(count))) == {200}
    after = Catalog.open(shop.folder)
    prices = {id: after.item(id).attributes["price"] for id in ids}
    assert all(prices[id] in (1000 + n, 1000 + n + len(ids)) for n, id in enumerate(ids))
    assert after.version - before < count, "one version each would be too many"
    assert find_problems(shop.folder) == []


def test_the_client_has_the_same_verbs(shop: Shop) -> None:
    url = str(shop.http.base_url)
    with seeker.Client(url, key=shop.key, timeout=TIMEOUT_SECONDS) as client:
        vectors = {"vector": [1.0] * 12}
        assert client.put("mine", "Mine", attributes={"price": 2}, vectors=vectors) == "new"
        assert client.patch("mine", attributes={"price": 3}) == "changed"
        verdicts = client.update([{"id": "mine", "title": "Ours"}, {"id": "x", "remove": True}])
        assert [one["result"] for one in verdicts] == ["changed", "not found"]
        assert shop.stored("mine").title == "Ours"
        client.delete("mine")
        with pytest.raises(NotFound):
            client.item("mine")
        with pytest.raises(NotFound):
            client.patch("mine", title="x")
        with pytest.raises(BadInput, match="No vector"):
            client.put("mine")


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Pictures of many colours, compared by colour, of a shop that takes small ones only."""
    place = tmp_path_factory.mktemp("gallery")
    pictures = place / "pictures"
    pictures.mkdir()
    for n in range(12):
        (pictures / f"{n}.png").write_bytes(plain(n, 20 * n, 99))
    seeker.build(pictures, place / "shop", views=["colour"])
    keys = str(place / "keys")
    key = make_key("keeper", "admin", keys)
    flags = ("--keys", keys, "--store", "memory:", "--rate", "0", "--picture-limit", "100000")
    few = str(build_folder(place / "few", 12))
    with serving(place / "shop", place / "log", few, *flags) as http:
        yield Shop(http, place / "shop", key)


def plain(*colour: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (24, 24), colour).save(file, "PNG")
    return file.getvalue()


def send(
    shop: Shop, method: str, item: str, picture: bytes, **said: Any
) -> tuple[int, dict[str, Any]]:
    files: Any = {"picture": ("mine.png", picture), "request": (None, json.dumps(said))}
    address = f"/v1/items/shop/{item}"
    answer = shop.http.request(method, address, files=files, headers=shop.headers)
    return answer.status_code, dict(answer.json())


def test_a_picture_in_a_form_is_embedded_and_shown(gallery: Shop) -> None:
    red = plain(250, 10, 10)
    status, answer = send(gallery, "PUT", "red", red, title="Red", attributes={"price": 3})
    assert (status, answer["result"]) == (201, "new")
    catalog = Catalog.open(gallery.folder)
    vectors, thumbnail = catalog.embed_picture(red)
    stored = catalog.item("red")
    assert (stored.title, stored.attributes) == ("Red", {"price": 3})
    row = catalog.row("red")
    np.testing.assert_allclose(catalog.views["colour"].vectors[row], vectors["colour"], atol=1e-6)
    assert stored.media is not None
    assert (gallery.folder / stored.media).read_bytes() == thumbnail

    def served() -> bool:
        return gallery.http.get("/v1/items/shop/red").status_code == 200

    until(served)
    shown = gallery.http.get(gallery.http.get("/v1/items/shop/red").json()["media"])
    assert (shown.status_code, shown.content) == (200, thumbnail)

    assert send(gallery, "PATCH", "red", red)[1] == {**answer, "result": "unchanged"}
    assert gallery.call("PATCH", "red", {"attributes": {"price": 4}}).status_code == 200
    stored = gallery.stored("red")
    assert (gallery.folder / (stored.media or "")).read_bytes() == thumbnail
    assert send(gallery, "PATCH", "red", plain(10, 10, 250))[1]["result"] == "changed"
    changed = Catalog.open(gallery.folder)
    assert changed.item("red").title == "Red"
    assert not np.allclose(changed.views["colour"].vectors[row], vectors["colour"], atol=1e-2)
    assert find_problems(gallery.folder) == []


def test_pictures_that_cannot_be_taken_change_nothing(gallery: Shop) -> None:
    version = Catalog.open(gallery.folder).version
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><image href='http://x/y.png'/></svg>"
    for picture in (b"no picture", plain(1, 2, 3)[:60], png_that_claims(60_000, 60_000), svg, b""):
        status, answer = send(gallery, "PUT", "bad", picture)
        assert (status, answer["detail"].split(" (")[0]) == (422, "Broken picture")
    assert send(gallery, "PUT", "bad", bytes(200_000))[0] == 413
    address = "/v1/items/shop/bad"
    forms: Any = (
        {"picture": (None, "/etc/hostname")},
        {"picture": (None, "http://localhost/x.png")},
        {"request": (None, '{"title": "x"}')},
        {"picture": ("x", plain(1, 1, 1)), "other": ("y", plain(1, 1, 1))},
        {"picture": ("x", plain(1, 1, 1)), "title": (None, "said in a part of its own")},
    )
    for form in forms:
        refused = gallery.http.put(address, files=form, headers=gallery.headers)
        assert refused.status_code == 400
    assert "has a part 'title'" in refused.json()["detail"]
    assert "`request`" in refused.json()["hint"]
    files = {"picture": ("x.png", plain(1, 1, 1))}
    assert gallery.http.put(address, files=files).status_code == 401
    assert gallery.call("PUT", "bad", {"title": "without a picture"}).status_code == 422
    assert Catalog.open(gallery.folder).version == version


def test_the_client_sends_pictures(gallery: Shop, tmp_path: Path) -> None:
    file = tmp_path / "green.png"
    file.write_bytes(plain(10, 250, 10))
    with seeker.Client(str(gallery.http.base_url), key=gallery.key) as client:
        assert client.put("green", "Green", picture=file) == "new"
        assert client.patch("green", picture=file.read_bytes()) == "unchanged"
        assert client.patch("green", picture=Image.new("RGB", (8, 8), (9, 9, 9))) == "changed"
        with pytest.raises(BadInput, match="Broken picture"):
            client.patch("green", picture=b"no picture")
    assert gallery.stored("green").title == "Green"


def test_who_asks_for_what_cannot_be_done_takes_nobody_with_them(gallery: Shop) -> None:
    """The last item cannot be removed; whoever asks for that, all others were removed."""
    ids = list(Catalog.open(gallery.folder.with_name("few")).ids)

    def remove(id: str) -> int:
        address = f"/v1/items/few/{id}"
        return gallery.http.delete(address, headers=gallery.headers).status_code

    with ThreadPoolExecutor(len(ids)) as threads:
        answers = [*threads.map(remove, ids)]
    assert sorted(answers) == [204] * (len(ids) - 1) + [422]
    left = Catalog.open(gallery.folder.with_name("few"))
    assert list(left.ids) == [ids[answers.index(422)]]


def test_a_folder_that_is_moved_away_ends_no_search_and_takes_no_change(tmp_path: Path) -> None:
    folder, keys = build_folder(tmp_path / "shop", 20), str(tmp_path / "keys")
    headers = {"Authorization": f"Bearer {make_key('keeper', 'admin', keys)}"}
    flags = ("--keys", keys, "--store", str(tmp_path / "sessions.sqlite"), "--rate", "0")
    with serving(folder, tmp_path / "log", *flags) as http:
        start = http.post("/v1/sessions", json={"seed": 3}, headers=headers).json()
        folder.rename(tmp_path / "moved")
        until(lambda: "folder of a catalog gone" in (tmp_path / "log").read_text())
        session, (item, *_) = f"/v1/sessions/{start['id']}", start["page"]["items"]
        click = {"item": item["id"], "verdict": "like"}
        assert http.post(f"{session}/clicks", json=click).json()["likes"] == [item["id"]]
        body = {"attributes": {"price": 5}}
        answer = http.patch(f"/v1/items/shop/{item['id']}", json=body, headers=headers)
        assert (answer.status_code, str(tmp_path) in answer.text) == (409, False)
        assert "not where it was" in answer.json()["detail"]
    with serving(tmp_path / "moved", tmp_path / "log", *flags) as http:
        after = http.get(session).json()
        assert (after["catalog"], after["likes"]) == ("moved", [item["id"]])
        answer = http.patch(f"/v1/items/moved/{item['id']}", json=body, headers=headers)
        assert answer.json()["result"] == "changed"
