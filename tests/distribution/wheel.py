"""What `pip install seeker-search` gives: built, installed where nothing is, and tried out.

    python tests/distribution/wheel.py [--python python3.12]…      # `make wheel-test`

For every Python from 3.11 to 3.13 that this machine has, or those that are named: a wheel and an
sdist are built and hold the page; the wheel goes into an empty virtual environment, far from the
checkout; there a tiny catalog is built, served, searched over HTTP, and the page is opened. Says
how many packages and megabytes were installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

SUPPORTED = (11, 12, 13)
ROOT = Path(__file__).resolve().parents[2]
PAGE = sorted(
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src/seeker/web").rglob("*")
    if path.is_file() and path.suffix != ".pyc"
)
DRAWING = """
import struct, sys, zlib
from pathlib import Path

def png(path, colour):
    rows = b"".join(b"\\0" + bytes(colour) * 32 for _ in range(32))
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    head = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    path.write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head)
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

Path("photos").mkdir()
for n in range(30):
    png(Path("photos") / f"picture {n}.png", (8 * n, 255 - 8 * n, (40 * n) % 256))
"""


def pythons() -> list[str]:
    """Return one Python of each version that is supported and found here."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {sys.version_info[:2]: sys.executable}
    for minor in SUPPORTED:
        named = shutil.which(f"python3.{minor}")
        places = [named] if named else []
        places += [str(one / "bin" / "python") for one in sorted(kept.glob(f"3.{minor}.*"))]
        for place in places:
            asked = [place, "-c", "import sys; print(sys.version_info[1])"]
            told = subprocess.run(asked, capture_output=True, text=True)
            if told.returncode == 0 and told.stdout.strip() == str(minor):
                found.setdefault((3, minor), place)
    return [found[version] for version in sorted(found)]


def build(out: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it, as pip would; return wheel and sdist."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    """See that both hold every file of the page, and nothing of the workshop."""
    with zipfile.ZipFile(wheel) as opened:
        inside = set(opened.namelist())
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for file in PAGE:
        need(file in inside, f"{file} is not in the wheel")
        need(f"src/{file}" in names, f"{file} is not in the sdist")
    strangers = [name for name in inside if not name.startswith(("seeker/", "seeker_search-"))]
    need(not strangers, f"the wheel holds {strangers[:3]}")
    need(any(name.endswith("py.typed") for name in inside), "the wheel says nothing of types")


def try_out(wheel: Path, python: str, place: Path) -> str:
    """Install the wheel into an empty environment and use it; return what was found."""
    subprocess.run([python, "-m", "venv", str(place / "venv")], check=True)
    inside = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    before = _size(place / "venv")
    subprocess.run(
        [str(inside / "python"), "-m", "pip", "install", "--quiet", str(wheel)],
        check=True,
        cwd=place,
        stderr=subprocess.DEVNULL,
    )
    megabytes = (_size(place / "venv") - before) / 1e6
    listed = subprocess.run(
        [str(inside / "python"), "-m", "pip", "list", "--format=json"],
        check=True,
        cwd=place,
        capture_output=True,
        text=True,
    ).stdout
    packages = [
        one["name"] for one in json.loads(listed) if one["name"] not in ("pip", "setuptools")
    ]
    version = subprocess.run(
        [str(inside / "python"), "--version"], check=True, capture_output=True, text=True
    ).stdout.strip()
    # Neither the checkout nor what this process has in its environment may help.
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    environment["PATH"] = f"{inside}{os.pathsep}{environment['PATH']}"
    work = place / "work"
    work.mkdir()
    subprocess.run([str(inside / "python"), "-c", DRAWING], check=True, cwd=work, env=environment)
    seeker = str(inside / "seeker")
    for command in (
        [seeker, "--version"],
        [seeker, "build", "photos", "--out", "catalog", "--quiet"],
        [seeker, "verify", "catalog"],
    ):
        subprocess.run(command, check=True, cwd=work, env=environment, stdout=subprocess.DEVNULL)
    _serve_and_search(seeker, work, environment)
    return f"{version}: {len(packages)} packages, {megabytes:,.0f} MB; built, served, searched"


def _serve_and_search(seeker: str, work: Path, environment: dict[str, str]) -> None:
    with (work / "server.log").open("w+") as log:
        server = subprocess.Popen(
            [seeker, "serve", "catalog", "--port", "0"],
            cwd=work,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            address = _address(server, work / "server.log")
            page = _call(address + "/")
            need("<seeker-search" in page, "the page is not served")
            for script in re.findall(r'(?:src|href)="(/web-[^"]+)"', page):
                need(len(_call(address + script)) > 0, f"{script} is not served")
            session = json.loads(_call(address + "/v1/sessions", {}))
            first = session["page"]["items"][0]
            click = {"item": first["id"], "verdict": "like", "step": session["step"]}
            after = json.loads(_call(f"{address}/v1/sessions/{session['id']}/clicks", click))
            need(after["likes"] == [first["id"]], "the click was not heard")
            need(len(after["page"]["items"]) == 12, "the page after the click is not whole")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"Seeker is at (\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise SystemExit(f"The server does not start:\n{log.read_text()}")


def _call(address: str, body: dict[str, Any] | None = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return str(answer.read().decode())
        except ConnectionError:
            # Its address is told as soon as it can be called; the first calls may still wait.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def need(fact: bool, otherwise: str) -> None:
    """End with what is wrong, unless it is not."""
    if not fact:
        raise SystemExit(f"Not as it should be: {otherwise}.")


def main() -> None:
    """Build, look inside, install and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="a Python to try; may be repeated")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seeker-wheel-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        wheel, sdist = build(place / "dist")
        check_contents(wheel, sdist)
        size = (wheel.stat().st_size / 1e6, sdist.stat().st_size / 1e6)
        print(f"wheel {size[0]:.2f} MB, sdist {size[1]:.2f} MB; both hold the page", flush=True)
        for number, python in enumerate(given.python or pythons()):
            (place / str(number)).mkdir()
            print(try_out(wheel, python, place / str(number)), flush=True)


if __name__ == "__main__":
    main()
