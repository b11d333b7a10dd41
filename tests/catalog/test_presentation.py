"""Which attributes are for whom: hidden ones, formats, and what every search keeps to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

import seeker
from seeker import BadInput, Catalog, SeekerError
from seeker.catalog.build import update
from seeker.cli import main
from seeker.engine import Catalogs
from seeker.server.app import create_app
from seeker.server.settings import Settings
from support.builds import jsonl

OPTIONS = [
    *("--views", "attributes", "--attribute", "price:currency=EUR,decimals=2,label=Our price,card"),
    *("--attribute", "stock:hidden", "--attribute", "page:link", "--only", "stock>0"),
]
IN_STOCK = {str(n) for n in range(60) if n % 3}


def rows(stock: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "id": str(n),
            "title": f"thing {n}",
            "price": n / 2,
            "stock": n % 3 + stock,
            "kind": f"kind {n % 4}",
            "page": f"https://shop.example/{n}",
        }
        for n in range(60)
    ]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    source = jsonl(tmp_path / "rows.jsonl", rows())
    assert main(["build", str(source), "--out", str(tmp_path / "shop"), "--quiet", *OPTIONS]) == 0
    return tmp_path / "shop"


def test_every_search_keeps_to_what_is_in_stock(shop: Path) -> None:
    """Whatever else it filters by, and after that is taken back or a search begins anew."""
    session = Catalog.open(shop).session()

    def all_items() -> set[str]:
        return {*session.more(0, 60).ids}

    assert all_items() == IN_STOCK
    assert session.page().total == len(IN_STOCK)
    session.filter({"price": {"lt": 10}})
    assert all_items() == {one for one in IN_STOCK if int(one) < 20}
    with pytest.raises(BadInput, match="No item passes the filter"):
        session.filter({"stock": 0})
    session.undo()
    assert all_items() == IN_STOCK
    session.filter(None)
    assert all_items() == IN_STOCK
    session.say("thing")
    session.like(session.page().ids[0])
    assert all_items() <= IN_STOCK
    assert seeker.Session.replay(Catalog.open(shop), session.events).page() == session.page()


def test_it_stays_when_a_catalog_changes(shop: Path, tmp_path: Path) -> None:
    before = Catalog.open(shop).presentation
    update.update(shop, jsonl(tmp_path / "change.jsonl", [{"id": "0", "stock": 5}]))
    assert Catalog.open(shop).presentation == before
    assert {*Catalog.open(shop).session().more(0, 60).ids} == IN_STOCK | {"0"}
    source = jsonl(tmp_path / "anew.jsonl", rows(stock=1))
    again = seeker.build(source, shop, views=["attributes"], replace=True)
    assert again.presentation == before
    assert again.session().page().total == 60
    other = seeker.build(
        source, shop, views=["attributes"], replace=True, presentation={}, only={"stock": [1]}
    )
    assert not other.presentation.attributes
    assert other.session().page().total == 20


def test_hidden_attributes_do_not_leave_the_service(shop: Path) -> None:
    catalog = Catalog.open(shop)
    assert catalog.item("1").attributes["stock"] == 1
    app = create_app(Settings(store="memory:"), Catalogs({"shop": catalog}))
    with TestClient(app, base_url="http://localhost") as http:
        start = http.post("/v1/sessions", json={}).json()
        answers = [
            http.get("/v1/items/shop/1"),
            http.get(f"/v1/sessions/{start['id']}"),
            http.get(f"/v1/sessions/{start['id']}/items?offset=0&limit=48"),
            http.get("/v1/catalogs/shop"),
        ]
    assert "stock" not in json.dumps([start, *(one.json() for one in answers)])
    assert answers[0].json()["attributes"]["price"] == 0.5
    details = answers[-1].json()
    assert details["attributes"] == {
        "price": {"currency": "EUR", "decimals": 2, "label": "Our price", "card": True},
        "page": {"link": True},
    }
    facets = {one["name"]: one for one in details["facets"]}
    assert facets["kind"]["known"] == len(IN_STOCK)


@pytest.mark.parametrize(
    ("presentation", "only", "message"),
    [
        ({"prce": {"card": True}}, None, "None of the first 1,000 items has the attribute 'prce'"),
        ({}, {"stok": 1}, "None of the first 1,000 items has the attribute 'stok'"),
        ({"price": {"colour": "red"}}, None, "'price' has 'colour'"),
        ({"price": "card"}, None, "'price' is 'card'"),
        ({"price": {"currency": "euro"}}, None, "currency 'euro'"),
        ({"price": {"decimals": 20}}, None, "decimals 20"),
        ({"price": {"card": "yes"}}, None, "card 'yes'"),
        ({"price": {"label": "x" * 200}}, None, "label 'xxx"),
        ({"price": {"hidden": True, "card": True}}, None, "both hidden and shown"),
        ({"page": {"link": True}, "kind": {"link": True}}, None, "An item has one"),
        ({}, ["stock"], "not a filter"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(
    tmp_path: Path, presentation: Any, only: Any, message: str
) -> None:
    source = jsonl(tmp_path / "rows.jsonl", rows())
    with pytest.raises(SeekerError, match=message):
        seeker.build(source, tmp_path / "shop", presentation=presentation, only=only)
    assert not (tmp_path / "shop").exists()


def test_a_filter_that_does_not_fit_what_is_in_a_column_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = jsonl(tmp_path / "rows.jsonl", rows())
    command = ["build", str(source), "--out", str(tmp_path / "shop"), "--views", "attributes"]
    assert main([*command, "--only", "kind>3"]) == 2
    assert "kind" in capsys.readouterr().err
    assert main([*command, "--attribute", "price"]) == 2
    assert "price:currency=EUR,card" in capsys.readouterr().err
    assert not (tmp_path / "shop").exists()


def test_arrays_have_none() -> None:
    catalog = Catalog.from_arrays(["a", "b"], {"x": np.eye(2)}, attributes=[{"n": 1}, {"n": 2}])
    assert catalog.only is None
    assert catalog.item("a").visible == {"n": 1}
