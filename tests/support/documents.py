"""Pages of the documentation as tests see them: their blocks of code, and how these are run."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"[Ss]ave (?:this|it) as\s+`([^`]+)`")
_SERVER = re.compile(
    r"^(seeker (serve|study(?! export| progress)|demo)\b(?!.*--(no-serve|help))"
    r"|python -m http\.server)"
)
_PORTS = re.compile(r"\b(8000|8080)\b")
_WORKER = """
import json, sys, traceback
answers, sys.stdout = sys.stdout, sys.stderr
names = {"__name__": "__main__"}
for line in sys.stdin:
    block = json.loads(line)
    try:
        exec(compile(block["code"], block["where"], "exec"), names)
        trouble = ""
    except BaseException:
        trouble = traceback.format_exc()
    print(json.dumps(trouble), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its code, its line, and the file it is to be saved as."""

    language: str
    code: str
    line: int
    saved_as: str | None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; 'Save this as `name`' just before one makes it a file."""
    text = page.read_text(encoding="utf-8")
    fences = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()].rstrip().rsplit("\n\n", 1)[-1]
        named = _SAVED.search(before) if not before.startswith("```") else None
        indent = len(match[1])
        code = "".join(line[indent:] for line in match[4].splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 1
        fences.append(Block(match[3].strip(), code, line, named[1] if named else None))
    return fences


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Reader:
    """Somebody who does what a page says, in a folder of their own.

    Python blocks of a page share their names; shell blocks stop at the first failure; servers stay
    up until the page is done or the same port is served again. Documented ports are exchanged for
    free ones. Installing and `make` are checked against pyproject.toml and the Makefile, not run.
    """

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONWARNINGS": "error",
            **(environment or {}),
        }
        self._ports = {"8000": str(free_port()), "8080": str(free_port())}
        self._servers: dict[str, subprocess.Popen[str]] = {}
        self._logs: list[IO[str]] = []
        self._python: subprocess.Popen[str] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for port in list(self._servers):
            self._stop(port)
        self._end_python()
        for log in self._logs:
            log.close()

    def do(self, block: Block, where: str) -> None:
        """Do what a block says; where: what to call it in a message."""
        code = _PORTS.sub(lambda port: self._ports[port[0]], block.code)
        if block.saved_as is not None:
            (self.folder / block.saved_as).write_text(code, encoding="utf-8")
        elif block.language == "python":
            self._run_python(code, where)
        elif block.language in ("sh", "bash"):
            self._run_shell(code, where)
        elif block.language == "diff":
            self._apply(code, where)
        elif block.language == "json":
            json.loads(code)
        elif block.language == "jsonl":
            for line in code.splitlines():
                json.loads(line)

    def _apply(self, code: str, where: str) -> None:
        """Apply a change to a copy of the sources, which Python uses from then on."""
        copy = self.folder / "src"
        if not copy.exists():
            shutil.copytree(ROOT / "src", copy)  # with what was compiled: that is slow to make
            self.environment["PYTHONPATH"] = str(copy)
        self._end_python()
        done = subprocess.run(
            ["git", "apply", "-C1", "-"],
            cwd=self.folder,
            input=code,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{where}\n{done.stderr}"

    def _end_python(self) -> None:
        if self._python is not None:
            assert self._python.stdin is not None
            assert self._python.stdout is not None
            self._python.stdin.close()
            self._python.wait(120)
            self._python.stdout.close()
            self._python = None

    def _run_python(self, code: str, where: str) -> None:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self.folder,
                env=self.environment,
                text=True,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        print(json.dumps({"code": code, "where": where}), file=self._python.stdin, flush=True)
        trouble = json.loads(self._python.stdout.readline() or '"Python has ended."')
        assert not trouble, f"{where}\n{trouble}"

    def _run_shell(self, code: str, where: str) -> None:
        lines: list[str] = []
        for line in code.splitlines():
            command = line.strip()
            if command.startswith("pip install "):
                _check_extras(command)
            elif command.startswith("make "):
                _check_target(command)
            elif command.startswith(".venv/bin/"):
                _check_files(command)
            elif _SERVER.match(command):
                self._finish(lines, where)
                lines = []
                self._serve(command, where)
            else:
                lines.append(line)
        self._finish(lines, where)

    def _finish(self, lines: list[str], where: str) -> None:
        code = "\n".join(lines)
        if not code.strip():
            return
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{where}\n{code}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, f"{where}\n{done.stderr}"

    def _serve(self, command: str, where: str) -> None:
        port = self._ports["8080" if "http.server" in command else "8000"]
        self._stop(port)
        command = re.sub(r"\s+#.*$", "", command)
        if command.startswith("seeker") and port not in command:
            command = f"{command} --port {port}"
        log = (self.folder / f"server-{port}-{len(self._logs)}.log").open("w+")
        self._logs.append(log)
        environment = {**self.environment, "PYTHONWARNINGS": "default"}
        server = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._servers[port] = server
        deadline = time.monotonic() + 120
        while not _listens(int(port)):
            if server.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                raise AssertionError(f"{where}: {command} does not listen\n{log.read()}")
            time.sleep(0.05)

    def _stop(self, port: str) -> None:
        server = self._servers.pop(port, None)
        if server is not None:
            # Not SIGINT, as from a keyboard: who runs the tests in the background ignores it.
            server.terminate()
            server.wait(120)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _check_extras(command: str) -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "seeker[" not in command, f"it is installed as seeker-search: {command}"
    for named in re.findall(r"(?:seeker-search|\.)\[([^\]]+)\]", command):
        for extra in named.split(","):
            assert extra in extras, f"there is no extra {extra!r}: {command}"


def _check_target(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE), (
        f"the Makefile has no {target!r}"
    )


def _check_files(command: str) -> None:
    for named in re.findall(r"\b(?:tests|benchmarks|docs)/[\w/.]+", command):
        assert (ROOT / named).exists(), f"there is no {named}: {command}"


def pages(*places: str) -> Iterator[Path]:
    """Yield the pages at some places of the repository: files, or all of a folder."""
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path]
