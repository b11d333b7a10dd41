"""A table of PostgreSQL with a pgvector column, on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

import seeker
from seeker import BadInput
from support.stores import NewStore

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def address(new_store: NewStore) -> str:
    """A database with a table of things, of which one has no vector."""
    address = new_store("postgres")
    with psycopg.connect(address, autocommit=True) as connection:
        run = connection.execute
        run("CREATE EXTENSION vector")
        run('CREATE SCHEMA "my shop"')
        run(
            'CREATE TABLE "my shop"."Things" (sku text PRIMARY KEY, title text, price numeric,'
            " tags text[], new boolean, made date, embedding vector(3))"
        )
        run(
            """INSERT INTO "my shop"."Things" VALUES
            ('b', 'Hat', 9.5, '{wool,red}', true, '2020-01-02', '[1,2,3]'),
            ('a', 'Cap', NULL, NULL, false, NULL, '[4,5,6.5]'),
            ('c', 'Without', 1, NULL, false, NULL, NULL)"""
        )
    return address


def test_a_table_becomes_a_catalog(address: str, tmp_path: Path) -> None:
    told: list[str] = []
    catalog = seeker.build(address, tmp_path / "catalog", table="my shop.Things", tell=told.append)
    assert list(catalog.ids) == ["a", "b"]
    assert catalog.views["embedding"].vectors.tolist() == [[4, 5, 6.5], [1, 2, 3]]
    assert catalog.item("b").title == "Hat"
    assert catalog.item("b").attributes == {
        "price": 9.5,
        "tags": ["wool", "red"],
        "new": True,
        "made": "2020-01-02",
    }
    assert "1 × no vector: row 3" in "\n".join(told)
    assert catalog.matching({"price": {"lt": 10}}).tolist() == [False, True]


def test_what_the_server_refuses_is_one_sentence(address: str, tmp_path: Path) -> None:
    for table, says in (
        (None, "--table"),
        ("nothing", "does not exist"),
        ('x"; DROP TABLE "my shop"."Things"; --', "does not exist"),
    ):
        with pytest.raises(BadInput, match=says):
            seeker.build(address, tmp_path / "x", table=table)
    with pytest.raises(BadInput, match="no column 'z'"):
        seeker.build(address, tmp_path / "x", table="my shop.Things", id="z")


def test_passwords_are_neither_told_nor_kept(tmp_path: Path) -> None:
    secret = "postgresql://me:hunter2@127.0.0.1:1/none"
    with pytest.raises(BadInput, match="cannot be reached") as caught:
        seeker.build(secret, tmp_path / "x", table="t")
    assert "hunter2" not in str(caught.value)


def test_the_head_names_the_database_without_the_password(address: str, tmp_path: Path) -> None:
    seeker.build(address, tmp_path / "catalog", table="my shop.Things")
    written = (tmp_path / "catalog" / "catalog.json").read_text()
    assert '"kind": "postgresql"' in written
    assert "postgres:" not in written
