"""Settings objects that can be asked for by name and written as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar, cast

from seeker.errors import BadInput, short_repr

Entry = TypeVar("Entry")

LATER = {"later": True}
"""Metadata of settings that came later: they are written only where they are not the usual ones, so
that what was written before stays as it was."""


class Registry(Generic[Entry]):
    """The dataclasses of one kind (models, strategies), each known by its `name`."""

    def __init__(self, kind: str, base: type[Any], classes: Iterable[type[Entry]]) -> None:
        self.kind = kind
        self.base = base
        self.classes: dict[str, type[Entry]] = {kind.name: kind for kind in classes}  # type: ignore[attr-defined]

    def named(self, entry: str | Entry) -> Entry:
        """Return an entry as it is, or by its name a new one with its usual settings."""
        if isinstance(entry, self.base):
            return cast(Entry, entry)
        if isinstance(entry, str) and entry in self.classes:
            return self.classes[entry]()
        raise BadInput(
            f"{short_repr(entry)} is not a {self.kind}.",
            f"Use one of {sorted(self.classes)} or an object of these classes.",
        )

    def to_json(self, entry: Entry) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        if self.classes.get(entry.name) is not type(entry) or not is_dataclass(entry):  # type: ignore[attr-defined]
            raise BadInput(
                f"A {self.kind} of the class {type(entry).__name__} cannot be written as JSON.",
                f"Only {sorted(self.classes)} can.",
            )
        values = {
            field.name: value
            for field in fields(entry)
            if (value := getattr(entry, field.name)) != field.default or not field.metadata
        }
        settings = {
            key: self.to_json(value) if isinstance(value, self.base) else _plain(value)
            for key, value in values.items()
        }
        return {"name": type(entry).name, **settings}  # type: ignore[attr-defined]

    def from_json(self, data: object) -> Entry:
        """Return the entry that `to_json` wrote."""
        name = data.get("name") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(name, str) or name not in self.classes:
            raise BadInput(
                f"{short_repr(data)} does not describe a {self.kind}.",
                f"It must be an object whose 'name' is one of {sorted(self.classes)}.",
            )
        kind = self.classes[name]
        names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        settings = {
            key: self.from_json(value)
            if isinstance(value, Mapping)
            else tuple(value)
            if isinstance(value, list)
            else value
            for key, value in data.items()
            if key != "name"
        }
        unknown = sorted(set(settings) - names)
        if unknown:
            raise BadInput(
                f"The {self.kind} '{name}' has no setting {short_repr(unknown[0])}.",
                f"It has {sorted(names)}.",
            )
        try:
            return kind(**settings)
        except TypeError:
            raise BadInput(
                f"The settings {short_repr(settings)} do not fit the {self.kind} '{name}'."
            ) from None


def _plain(value: object) -> object:
    """Return JSON values; JSON has no infinity, so it is written as a word."""
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
    return "inf" if value == math.inf else value
