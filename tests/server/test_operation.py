"""A server as its keeper meets it: keys, limits, logs, a clean stop, and what cannot be served."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from seeker.server.app import create_app
from seeker.server.auth import Role, make_key
from seeker.server.settings import Settings
from support.servers import TIMEOUT_SECONDS, Server, log_lines, seeker_output, serving, until


def test_keys_limits_and_logs(folder: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    starter = seeker_output("keys", "site", "--file", str(keys)).strip()
    admin = seeker_output("keys", "boss", "--role", "admin", "--file", str(keys)).strip()
    assert starter not in keys.read_text()
    assert os.stat(keys).st_mode & 0o077 == 0
    log = tmp_path / "log"
    config = tmp_path / "seeker.toml"
    config.write_text('sessions-per-key = 3\ncors = ["https://shop.example"]\nrate = 0.001\n')
    flags = ("--config", str(config), "--store", "memory:", "--keys", str(keys), "--burst", "40")
    with serving(f"first={folder}", log, *flags) as http:

        def as_(key: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {key}"}

        assert http.post("/v1/sessions", json={}).status_code == 401
        assert http.post("/v1/sessions", json={}, headers=as_("wrong")).status_code == 401
        asked = {"query": "a very secret wish", "catalog": "first"}
        mine = http.post("/v1/sessions", json=asked, headers=as_(starter))
        assert mine.status_code == 201
        for _ in range(2):
            http.post("/v1/sessions", json={}, headers=as_(starter))
        assert http.post("/v1/sessions", json={}, headers=as_(starter)).status_code == 429
        assert http.get("/metrics").status_code == 401
        assert http.get("/metrics", headers=as_(starter)).status_code == 403
        assert http.get("/metrics", headers=as_(admin)).status_code == 200
        exported = http.get("/v1/export", headers=as_(admin))
        assert len(exported.text.splitlines()) == 3
        assert mine.json()["id"] not in exported.text
        origin = {"Origin": "https://shop.example"}
        opened = http.get("/v1/catalogs", headers=origin)
        assert opened.headers["access-control-allow-origin"] == "https://shop.example"
        id = mine.json()["id"]
        assert http.get(f"/v1/sessions/{id}").status_code == 200
        assert http.get("/v1/catalogs").status_code == 200
        until(lambda: http.get("/v1/catalogs").status_code == 429)
    text = log.read_text()
    for secret in (id, starter, admin, "secret wish"):
        assert secret not in text
    calls = {line.get("call") for line in log_lines(log)}
    assert {"/v1/sessions", "/v1/sessions/{id}", "/metrics"} <= calls
    assert all("request" in line for line in log_lines(log) if line["message"] == "answered")


def test_a_stop_lets_requests_finish(folder: Path, tmp_path: Path) -> None:
    server = Server(folder, "--store", str(tmp_path / "s.sqlite")).start(tmp_path / "log").ready()
    assert server.process is not None
    address = httpx.URL(server.url)
    body = b'{"page_size": 3}'
    head = f"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection(
        (address.host, address.port), timeout=TIMEOUT_SECONDS
    ) as half_way:
        half_way.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body[:5])
        # Once another request has been answered, the beginning of this one has been read.
        assert httpx.get(f"{server.url}/healthz", timeout=TIMEOUT_SECONDS).status_code == 200
        server.process.send_signal(signal.SIGTERM)
        until(lambda: _refuses(address))
        half_way.sendall(body[5:])
        assert half_way.recv(100).startswith(b"HTTP/1.1 201")
    assert server.stop() in (0, -signal.SIGTERM)
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert not list(tmp_path.glob("*-wal")), "the log is folded into the file at the end"


def _refuses(address: httpx.URL) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=5).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("nowhere",), "no catalog"),
        ((), "no catalog"),
        (("{folder}", "--port", "many"), "port"),
        (("{folder}", "--belief-cache", "much"), "size"),
        (("{folder}", "--store", "postgresql://127.0.0.1:1/x"), "PostgreSQL"),
        (("{folder}", "--config", "nowhere.toml"), "settings file"),
        (("{folder}", "--keys", "nowhere"), "keys"),
        (("{folder}", "--workers", "2", "--store", "memory:"), "memory"),
        (("{folder}", "--host", "203.0.113.1"), "listen"),
        (("{folder}", "--allowed-host", "https://shop.example"), "without https://"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    flags: tuple[str, ...], said: str, folder: Path, tmp_path: Path
) -> None:
    given = [flag.format(folder=folder) for flag in flags]
    command = [sys.executable, "-m", "seeker", "serve", *given]
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=TIMEOUT_SECONDS
    )
    assert run.returncode != 0
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def app_client(folder: Path, **settings: Any) -> TestClient:
    """Return a client of a service in this process."""
    given = Settings(catalogs=(f"first={folder}",), store="memory:", no_refresh=True, **settings)
    return TestClient(create_app(given), base_url="http://localhost")


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_an_admin_key_alone_locks_nobody_out(folder: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "keys")
    admin = make_key("boss", "admin", file)
    with app_client(folder, keys=file) as http:
        assert http.post("/v1/sessions", json={}).status_code == 201
        assert http.post("/v1/sessions", json={}, headers=bearer("unknown")).status_code == 401
        assert http.get("/v1/export").status_code == 401
        assert len(http.get("/v1/export", headers=bearer(admin)).text.splitlines()) == 1
    with app_client(folder, keys=file, private=True) as http:
        assert http.post("/v1/sessions", json={}).status_code == 401
        assert http.post("/v1/sessions", json={}, headers=bearer(admin)).status_code == 201
    with app_client(folder, private=True) as http:
        assert http.post("/v1/sessions", json={}).status_code == 401


def test_a_users_sessions_are_deleted_over_http(folder: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "keys")
    roles: dict[str, Role] = {"shop": "start", "club": "start", "boss": "admin"}
    keys = {name: bearer(make_key(name, role, file)) for name, role in roles.items()}
    with app_client(folder, keys=file) as http:

        def begin(key: str, user: str) -> str:
            answer = http.post("/v1/sessions", json={"user": user}, headers=keys[key])
            return f"/v1/sessions/{answer.json()['id']}"

        def delete(key: str, **params: str) -> Any:
            return http.delete("/v1/sessions", params=params, headers=keys.get(key, {}))

        ann = [begin("shop", "ann") for _ in range(2)]
        bob, other = begin("shop", "bob"), begin("club", "ann")
        assert delete("nobody", user="ann").status_code == 401
        assert delete("shop").status_code == 422
        assert delete("shop", user="ann", owner="club").status_code == 403
        assert delete("shop", user="ann").json() == {"deleted": 2}
        assert [http.get(one).status_code for one in (*ann, bob, other)] == [404, 404, 200, 200]
        assert delete("boss", user="ann").json() == {"deleted": 0}
        assert delete("boss", user="ann", owner="club").json() == {"deleted": 1}
        assert http.get(other).status_code == 404


def test_it_lives_below_a_path_of_another_site(folder: Path) -> None:
    with app_client(folder, root="/search") as http:
        for prefix in ("/search", ""):  # a proxy may have taken it off
            assert http.get(f"{prefix}/v1/catalogs").status_code == 200
            assert http.get(f"{prefix}/healthz").status_code == 200
            assert http.get(f"{prefix}/nothing").status_code == 404
        start = http.post("/search/v1/sessions", json={}).json()
        item = next(one for one in start["page"]["items"] if one["media"])
        assert http.get(f"/search{item['media']}").status_code == 200
        assert http.get("/searching/v1/catalogs").status_code == 404
        page = http.get("/search")
        assert page.text == http.get("/search/").text == http.get("/").text
        addresses = re.findall(r'(?:href|src)="([^"]+)"', page.text)
        assert {".css", ".js", ".svg"} <= {Path(one).suffix for one in addresses}
        for address in (*addresses, *re.findall(r'href="(/[^"]+)"', http.get("/docs").text)):
            assert address.startswith("/search/")
            assert http.get(address).status_code == 200
        assert http.get("/openapi.json").json()["servers"] == [{"url": "/search"}]


def test_who_may_frame_it_is_a_setting(folder: Path) -> None:
    with app_client(folder) as http:
        alone = http.get("/").headers
        assert "frame-ancestors 'none'" in alone["content-security-policy"]
        assert alone["x-frame-options"] == "DENY"
    with app_client(folder, frame=("https://shop.example", "https://*.club.example")) as http:
        framed = http.get("/").headers
        policy = "frame-ancestors https://shop.example https://*.club.example"
        assert framed["content-security-policy"].endswith(policy)
        assert "x-frame-options" not in framed
