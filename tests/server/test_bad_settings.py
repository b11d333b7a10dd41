"""Settings and files that nobody would give a service on purpose: one sentence for each."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from seeker import Catalog
from seeker.engine import Catalogs
from seeker.errors import BadInput, SeekerError
from seeker.server.app import create_app
from seeker.server.auth import ApiKeys, make_key
from seeker.server.runner import serve
from seeker.server.settings import Settings, read_settings
from seeker.stores import StoreError, open_existing, open_store
from support.servers import TIMEOUT_SECONDS


@pytest.mark.parametrize(
    "contents", [b"\xff\xfe\0", b"name start short\n", b"name king " + b"0" * 64]
)
def test_a_file_of_keys_that_is_none(tmp_path: Path, contents: bytes) -> None:
    file = tmp_path / "keys"
    file.write_bytes(contents)
    with pytest.raises(BadInput, match="keys"):
        ApiKeys.read(str(file))


def test_a_key_is_not_added_to_what_is_no_file_of_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_bytes(b"\xff\xfe\0")
    with pytest.raises(BadInput, match="is not a file of keys"):
        make_key("somebody", "start", str(file))
    assert file.read_bytes() == b"\xff\xfe\0"


@pytest.mark.parametrize("name", ["", "a b", "a\nb start", "é", "a" * 65, "../x", "#"])
def test_names_of_keys_that_would_spoil_the_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="cannot name a key"):
        make_key(name, "admin", str(tmp_path / "keys"))
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("request_timeout", "nan"),
        ("request_timeout", 0),
        ("rate", -math.inf),
        ("burst", 0),
        ("workers", "1.5"),
        ("belief_cache", "-1MB"),
        ("belief_cache", "1e400"),
        ("session_days", "inf"),
        ("open_metrics", "perhaps"),
        ("log_level", "loud"),
        ("root", "search"),
        ("root", "/se arch"),
        ("root", "/../x"),
        ("root", '/"><script>'),
        ("frame", "shop.example"),
        ("frame", "https://shop.example; script-src *"),
    ],
)
def test_settings_that_make_no_sense(name: str, value: object) -> None:
    with pytest.raises(BadInput):
        read_settings({name: value}, environment={})


@pytest.mark.parametrize("host", ["no such host", "a\nb", "999.999.999.999"])
def test_a_host_that_is_none(host: str, folder: Path) -> None:
    def tell(address: str) -> None:
        raise AssertionError(address)

    settings = Settings(catalogs=(str(folder),), host=host, port=0, store="memory:")
    with pytest.raises(SeekerError, match="Nothing can listen") as told:
        serve(settings, tell)
    assert "Unknown error" not in str(told.value)


def test_an_application_opens_nothing_before_it_starts(tmp_path: Path, small: Catalog) -> None:
    file = tmp_path / "s.sqlite"
    before = set(threading.enumerate())
    app = create_app(Settings(store=str(file), rate=0), Catalogs({"shop": small}))
    assert not file.exists()
    assert set(threading.enumerate()) == before
    for _ in range(2):
        with TestClient(app, base_url="http://localhost") as http:
            assert http.post("/v1/sessions", json={}).status_code == 201
    store = open_existing(str(file))
    assert store.count() == 2
    store.close()


FAILING = """
from dataclasses import replace
from seeker.server.app import create_app
from seeker.server.runner import serve
from seeker.server.settings import Settings

def make(settings, catalogs):
    return create_app(replace(settings, store="nowhere/s.sqlite"), catalogs)

try:
    serve(Settings(catalogs=({folder!r},), port=0, store="memory:"), print, make)
except ValueError as error:
    print(error)
"""


def test_a_service_that_cannot_start_says_why(folder: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FAILING.format(folder=str(folder))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIMEOUT_SECONDS,
    )
    assert run.stdout.endswith(
        "The folder 'nowhere' for the store is not there. "
        "Make it, or name another file with --store.\n"
    ), run.stderr


def test_stores_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no database at all" * 100)
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(StoreError):
            open_store(str(place))
    with pytest.raises(BadInput):
        open_store(str(tmp_path / "nowhere" / "s.sqlite"))
    with pytest.raises(SeekerError, match="There is no store"):
        open_existing(str(tmp_path / "s.sqlite"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file"]
