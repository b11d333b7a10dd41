"""Settings objects that can be asked for by name and written as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar, cast

from seeker.errors import BadInput, short

Thing = TypeVar("Thing")


class Registry(Generic[Thing]):
    """The dataclasses of one kind (models, strategies), each known by its `name`."""

    def __init__(self, kind: str, base: type[Any], classes: Iterable[type[Thing]]) -> None:
        self.kind = kind
        self.base = base
        self.classes: dict[str, type[Thing]] = {one.name: one for one in classes}  # type: ignore[attr-defined]

    def named(self, thing: str | Thing) -> Thing:
        """Return the thing itself, or a new one with its usual settings if given a name."""
        if isinstance(thing, self.base):
            return cast(Thing, thing)
        if isinstance(thing, str) and thing in self.classes:
            return self.classes[thing]()
        raise BadInput(
            f"{short(thing)} is not a {self.kind}.",
            f"Use one of {sorted(self.classes)} or an object of these classes.",
        )

    def to_json(self, thing: Thing) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        if self.classes.get(thing.name) is not type(thing) or not is_dataclass(thing):  # type: ignore[attr-defined]
            raise BadInput(
                f"A {self.kind} of the class {type(thing).__name__} cannot be written as JSON.",
                f"Only {sorted(self.classes)} can.",
            )
        values = {field.name: getattr(thing, field.name) for field in fields(thing)}
        written = {
            key: self.to_json(value) if isinstance(value, self.base) else _plain(value)
            for key, value in values.items()
        }
        return {"name": type(thing).name, **written}  # type: ignore[attr-defined]

    def from_json(self, written: object) -> Thing:
        """Return the thing that `to_json` wrote."""
        name = written.get("name") if isinstance(written, Mapping) else None
        if (
            not isinstance(written, Mapping)
            or not isinstance(name, str)
            or name not in self.classes
        ):
            raise BadInput(
                f"{short(written)} does not describe a {self.kind}.",
                f"It must be an object whose 'name' is one of {sorted(self.classes)}.",
            )
        one = self.classes[name]
        known = {field.name for field in fields(one)}  # type: ignore[arg-type]
        settings = {
            key: self.from_json(value)
            if isinstance(value, Mapping)
            else tuple(value)
            if isinstance(value, list)
            else value
            for key, value in written.items()
            if key != "name"
        }
        unknown = sorted(set(settings) - known)
        if unknown:
            raise BadInput(
                f"The {self.kind} '{name}' has no setting {short(unknown[0])}.",
                f"It has {sorted(known)}.",
            )
        try:
            return one(**settings)
        except TypeError:
            raise BadInput(
                f"The settings {short(settings)} do not fit the {self.kind} '{name}'."
            ) from None


def _plain(value: object) -> object:
    """Return JSON values; JSON has no infinity, so it is written as a word."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return "inf" if value == math.inf else value
