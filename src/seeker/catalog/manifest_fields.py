"""The fields of a catalog.json that may come from anywhere: every one is checked before its use."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator
from typing import Any

from seeker.catalog.attributes import clean_text, is_unicode, shorten

MAX_BYTES = 16_000_000
"""How long a catalog.json may be."""

MAX_DEPTH = 32
"""How deeply lists and objects may be nested in it."""

VIEW_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What a view may be called; its files are named after it."""

_PART = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
_FILE = re.compile(rf"{_PART}(/{_PART}){{0,7}}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_NUMBER = 10**15


class BadField(ValueError):
    """What is wrong with a field, said so that 'catalog.json' can stand before it."""


class Fields:
    """A JSON object whose fields are taken out one by one, each as what it must be."""

    def __init__(self, value: object, where: str) -> None:
        """Take a value; where: its name in a sentence."""
        if not isinstance(value, dict):
            raise BadField(f"has {shorten(value)} as {where} instead of an object")
        self.value: dict[str, Any] = value
        self._where = where

    def whole(self, key: str, least: int) -> int:
        """Return a whole number."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._bad(key, "a whole number")
        if not least <= value <= _MAX_NUMBER:
            raise self._bad(key, f"a whole number from {least} to {_MAX_NUMBER:,}")
        return value

    def number(self, key: str, least: float, most: float) -> float:
        """Return a number within bounds; NaN is within none."""
        value = self._get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._bad(key, "a number")
        if not least <= value <= most:
            raise self._bad(key, f"a number from {least:g} to {most:g}")
        return float(value)

    def text(self, key: str, longest: int = 1000) -> str:
        """Return a text."""
        value = self._get(key)
        if not isinstance(value, str) or len(value) > longest:
            raise self._bad(key, f"a text of at most {longest:,} letters")
        return value

    def one_of(self, key: str, choices: Collection[str]) -> str:
        """Return one of some texts."""
        value = self._get(key)
        if not isinstance(value, str) or value not in choices:
            raise self._bad(key, f"one of {', '.join(choices)}")
        return value

    def file(self, key: str) -> str:
        """Return the name of a file in the folder."""
        value = self._get(key)
        if not isinstance(value, str) or not _FILE.fullmatch(value):
            raise self._bad(key, "the plain name of a file inside the catalog's folder")
        return value

    def sha256(self, key: str) -> str:
        """Return a checksum."""
        value = self._get(key)
        if not isinstance(value, str) or not _SHA256.fullmatch(value):
            raise self._bad(key, "a SHA-256 checksum in 64 digits")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._bad(key, "a list of texts")
        return tuple(value)

    def objects(self, key: str) -> list[dict[str, Any]]:
        """Return a list of objects; none if the field is not there."""
        value = self.value.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self._bad(key, "a list of objects")
        return value

    def fields(self, key: str) -> Fields:
        """Return an object."""
        return Fields(self._get(key), f"'{self._named(key)}'")

    def optional(self, key: str) -> Fields | None:
        """Return an object, or None for null and for nothing."""
        return None if self.value.get(key) is None else self.fields(key)

    def each(self) -> Iterator[tuple[str, Fields]]:
        """Yield all fields, which must be objects, by name."""
        for key in self.value:
            yield key, self.fields(key)

    def _get(self, key: str) -> Any:
        if key not in self.value:
            raise BadField(f"is not complete: it lacks '{self._named(key)}'")
        return self.value[key]

    def _named(self, key: str) -> str:
        name = key if key.isprintable() and len(key) <= 64 else shorten(key)
        return f"{self._where[1:-1]}.{name}" if self._where.startswith("'") else name

    def _bad(self, key: str, expected: str) -> BadField:
        value = shorten(self.value[key])
        return BadField(f"says that '{self._named(key)}' is {value}, which is not {expected}")


def decode(contents: bytes) -> Any:
    """Return what the bytes of a catalog.json say; BadField for what no JSON should hold."""
    if len(contents) > MAX_BYTES:
        raise BadField(f"is longer than {MAX_BYTES:,} bytes")
    try:
        value = json.loads(contents.decode("utf-8"), parse_constant=_no_number)
    except BadField:
        raise
    except (ValueError, RecursionError):
        raise BadField("is not JSON") from None
    check_plain(value)
    return value


def encode(value: Any) -> bytes:
    """Return the bytes of a catalog.json; BadField where no catalog with them could be opened."""
    check_plain(value)
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    contents = f"{text}\n".encode()
    if len(contents) > MAX_BYTES:
        raise BadField(f"would be longer than {MAX_BYTES:,} bytes")
    return contents


def check_plain(value: object) -> None:
    """Refuse values that are no JSON, or such as programs stumble over."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise BadField(f"holds lists or objects more than {MAX_DEPTH} deep")
        match one:
            case None | bool() | int():
                pass
            case str():
                if not is_unicode(one):
                    raise BadField("holds a text that is not Unicode")
            case float():
                if not math.isfinite(one):
                    raise BadField("holds a number that is not finite")
            case list() | tuple():
                waiting += [(part, depth + 1) for part in one]
            case dict():
                for key, part in one.items():
                    if not isinstance(key, str):
                        raise BadField(f"holds the name {shorten(key)}, which is no text")
                    waiting += [(key, depth + 1), (part, depth + 1)]
            case _:
                raise BadField(f"holds {shorten(one)}, which JSON has no form for")


def cleaned(value: Any) -> Any:
    """Return a value whose texts can all be written as UTF-8, such as the path of a source."""
    match value:
        case str():
            return clean_text(value)
        case list() | tuple():
            return [cleaned(part) for part in value]
        case dict():
            return {cleaned(key): cleaned(part) for key, part in value.items()}
    return value


def _no_number(constant: str) -> float:
    raise BadField(f"holds {constant}, which is not a number")
