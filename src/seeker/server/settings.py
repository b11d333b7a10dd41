"""The settings of the service: one table, filled by flags, the environment or a TOML file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from seeker.errors import BadInput
from seeker.stores import Timeouts

PREFIX = "SEEKER_"
_ROOT = re.compile(r"(/[A-Za-z0-9_~.-]*[A-Za-z0-9_~-])*")
_ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.*-]+(:\d+)?|https?://\[[0-9a-fA-F:]+\](:\d+)?")
LEARN_SECONDS = {"hourly": 3600.0, "daily": 86_400.0, "weekly": 604_800.0}
"""How often a service may learn by itself."""

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3}


def _setting(default: Any, help: str, size: bool = False, least: float = 0) -> Any:
    return field(default=default, metadata={"help": help, "size": size, "least": least})


@dataclass(frozen=True)
class Settings:
    """All settings; each is a flag, a variable SEEKER_… and a key of the TOML file."""

    catalogs: tuple[str, ...] = _setting((), "Catalogs to serve: FOLDER or NAME=FOLDER.")
    host: str = _setting("127.0.0.1", "Address to listen at; 0.0.0.0 for all.")
    root: str = _setting("", "Path below which it lives on a site, such as /search; none: at /.")
    port: int = _setting(8000, "Port to listen at; 0 for any that is free.")
    workers: int = _setting(1, "Processes.", least=1)
    threads: int = _setting(0, "Threads per process; 0 for one more than there are cores.")
    queue: int = _setting(64, "Requests that may wait for a thread before others are refused.")
    queue_timeout: float = _setting(
        10.0, "Seconds that a request may wait for a thread or its turn.", least=0.1
    )
    stop_timeout: float = _setting(
        30.0, "Seconds within which a stop ends, whatever hangs.", least=1
    )
    store: str = _setting(
        "seeker-sessions.sqlite", "Where sessions are kept: a file, or postgresql://…"
    )
    store_timeout: float = _setting(
        10.0, "Seconds that the store may take to read or write something.", least=0.1
    )
    store_lock_timeout: float = _setting(
        5.0, "Seconds to wait for others who write to the store.", least=0.1
    )
    store_connect_timeout: float = _setting(
        5.0, "Seconds to wait for a connection to PostgreSQL; at least 2.", least=2
    )
    store_start_timeout: float = _setting(
        60.0, "Seconds to wait at the start for another process that upgrades the store.", least=0.1
    )
    belief_cache: int = _setting(
        0,
        "Memory for sessions, per process; 0 for an eighth of the machine's, divided by the "
        "processes, and at least 512MB.",
        size=True,
    )
    no_refresh: bool = _setting(
        False, "Leave out the work between clicks that makes pages of large catalogs cheaper."
    )
    session_days: float = _setting(30.0, "Days without a click after which a session is forgotten.")
    learn: str = _setting(
        "", "Learn from searches that were found: hourly, daily or weekly; none: not by itself."
    )
    compact_after: float = _setting(
        60.0,
        "Seconds without a change after which a catalog with many is written anew; 0: never.",
    )
    keys: str = _setting(
        "", "File with API keys, made by `seeker keys`; without a start key, anybody may start."
    )
    private: bool = _setting(
        False, "Let nobody start a session without a key, even if there is no start key."
    )
    sessions_per_key: int = _setting(0, "Sessions that one API key may have; 0 for any number.")
    rate: float = _setting(100.0, "Requests per second and client, per process; 0 for any number.")
    burst: int = _setting(200, "Requests that a client may make at once.", least=1)
    cors: tuple[str, ...] = _setting((), "Origins whose pages may call the service.")
    frame: tuple[str, ...] = _setting(
        (), "Origins whose pages may show the page in a frame; * for any; none: nobody."
    )
    allowed_host: tuple[str, ...] = _setting(
        (), "Names that the service answers to, besides addresses and localhost; * for any."
    )
    proxies: tuple[str, ...] = _setting((), "Addresses of proxies whose word on clients counts.")
    cluster: str = _setting(
        "", "Search in shards on Ray: local, ray://HOST:10001, or HOST:6379; none: in this process."
    )
    shards: int = _setting(2, "Shards that every catalog is split into, on a cluster.", least=1)
    partial_ok: bool = _setting(
        False, "Answer from the shards that do answer, and say so, where some do not."
    )
    shard_timeout: float = _setting(10.0, "Seconds to wait for a shard's answer.", least=0.1)
    shard_copies: str = _setting(
        "", "Folder on the shards' machines for copies of catalogs; none: a temporary one."
    )
    request_timeout: float = _setting(
        30.0, "Seconds within which a request must have arrived.", least=0.1
    )
    body_limit: int = _setting(64_000, "Length of a request's body.", size=True, least=1024)
    lines_limit: int = _setting(
        16_000_000,
        "Length of a body of JSON Lines, which changes many items.",
        size=True,
        least=1024,
    )
    picture_limit: int = _setting(
        10_000_000, "Length of a body with a picture, or with vectors.", size=True, least=1024
    )
    text_limit: int = _setting(1000, "Letters in a text that a person types.", least=1)
    page_limit: int = _setting(200, "Items on a page.", least=1)
    shown_limit: int = _setting(500, "Items in the list of what was on screen.", least=1)
    open_metrics: bool = _setting(False, "Let anybody read /metrics, not only admin keys.")
    log_texts: bool = _setting(False, "Write the texts that people type into the logs.")
    log_level: str = _setting("info", "What is logged: debug, info, warning or error.")

    @property
    def store_timeouts(self) -> Timeouts:
        """How long the store is waited for."""
        return Timeouts(
            self.store_connect_timeout,
            self.store_lock_timeout,
            self.store_timeout,
            self.store_start_timeout,
        )

    def to_json(self) -> str:
        """Return the settings as text, for worker processes."""
        return json.dumps({one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Return the settings that `to_json` wrote."""
        return _build(json.loads(text))


def read_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str] = os.environ, file: str | None = None
) -> Settings:
    """Return the settings: flags before the environment before the file before the defaults."""
    values: dict[str, Any] = {}
    if file:
        values |= _check_names(_toml(Path(file)), file)
    for one in fields(Settings):
        variable = environment.get(PREFIX + one.name.upper())
        if variable is not None:
            is_list = isinstance(one.default, tuple)
            values[one.name] = variable.split(",") if is_list else variable
    values |= {name: value for name, value in flags.items() if value not in (None, ())}
    return _build(values)


def parse_size(size: object) -> int:
    """Return a number of bytes that may be written like 512MB."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B)?\s*", str(size).upper())
    if match is None:
        raise BadInput(f"{size!r} is not a size.", "Write it like 512MB.")
    return int(float(match[1]) * _UNITS[match[2] or ""])


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"There is no settings file '{path}'.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"The settings file '{path}' is not TOML: {error}.") from None


def _check_names(values: Mapping[str, Any], file: str) -> dict[str, Any]:
    names = {one.name for one in fields(Settings)}
    renamed = {name.replace("-", "_"): value for name, value in values.items()}
    unknown = sorted(set(renamed) - names)
    if unknown:
        raise BadInput(
            f"The settings file '{file}' has an unknown key {unknown[0]!r}.",
            f"Known are {sorted(names)}.",
        )
    return renamed


def _build(values: Mapping[str, Any]) -> Settings:
    parsed = {
        one.name: _value(one.name, values[one.name], one.default, one.metadata)
        for one in fields(Settings)
        if one.name in values
    }
    settings = Settings(**parsed)
    settings = replace(settings, root=_root(settings.root))
    for origin in settings.frame:
        if not _ORIGIN.fullmatch(origin):
            raise BadInput(
                f"The setting frame has {origin!r}, which is no origin.",
                "Write it like https://shop.example, without a path.",
            )
    if settings.learn and settings.learn not in LEARN_SECONDS:
        raise BadInput(f"learn is {settings.learn!r}.", f"Use one of {', '.join(LEARN_SECONDS)}.")
    if settings.log_level not in ("debug", "info", "warning", "error"):
        raise BadInput(
            f"log_level is {settings.log_level!r}.", "Use debug, info, warning or error."
        )
    return settings


def _root(path: str) -> str:
    """Return a path below which the service lives, without a slash at its end."""
    path = path.rstrip("/")
    if not _ROOT.fullmatch(path):
        raise BadInput(f"The setting root is {path!r}, which is no path.", "Write it like /search.")
    return path


def _value(name: str, value: Any, default: Any, about: Mapping[str, Any]) -> Any:
    """Return a value of the kind that its default has."""
    try:
        if isinstance(default, tuple):
            values = [value] if isinstance(value, str) else value
            return tuple(str(one).strip() for one in values if str(one).strip())
        if isinstance(default, bool):
            return value if isinstance(value, bool) else _SWITCH[str(value).lower()]
        if about["size"]:
            number: float = parse_size(value)
        elif isinstance(default, int | float):
            number = type(default)(value)
        else:
            return str(value)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        kind = type(default).__name__
        raise BadInput(f"The setting {name} is {value!r}, which is no {kind}.") from None
    if not about["least"] <= number < float("inf"):
        raise BadInput(f"The setting {name} is {value!r}, but must be at least {about['least']}.")
    return number


_SWITCH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
