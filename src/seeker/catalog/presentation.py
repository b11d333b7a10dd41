"""Which attributes are for whom: what people see of them, and which items everybody may see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from seeker.catalog.attributes import Kind, shorten
from seeker.catalog.filters import Attribute, sql_condition
from seeker.errors import BadInput

_CURRENCY = re.compile(r"[A-Z]{3}")
_MAX_LETTERS = 100
_MAX_DECIMALS = 6


@dataclass(frozen=True)
class AttributeFormat:
    """How people see one attribute.

    label: its name for people. currency: of an amount of money, as in EUR. unit: what stands
    behind a number. decimals: how many digits stand behind the point. hidden: it is not shown.
    card: it stands on cards. link: it is the address of the item's own page.
    """

    label: str = ""
    currency: str = ""
    unit: str = ""
    decimals: int | None = None
    hidden: bool = False
    card: bool = False
    link: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what is not as usual."""
        usual = AttributeFormat()
        return {name: one for name, one in asdict(self).items() if one != getattr(usual, name)}

    @classmethod
    def of(cls, name: str, value: object) -> AttributeFormat:
        """Return what a mapping says; BadInput for what cannot be."""
        if not isinstance(value, Mapping):
            raise _bad(name, f"is {shorten(value)}", 'Write it like {"label": "Price"}.')
        known = [one.name for one in fields(cls)]
        for key in value:
            if key not in known:
                raise _bad(name, f"has {shorten(key)}", f"Known are {', '.join(known)}.")
        for key in ("hidden", "card", "link"):
            if not isinstance(value.get(key, False), bool):
                raise _bad(name, f"has {key} {shorten(value[key])}", "Give true or false.")
        for key in ("label", "unit"):
            text = value.get(key, "")
            if not isinstance(text, str) or len(text) > _MAX_LETTERS or not text.isprintable():
                raise _bad(
                    name, f"has {key} {shorten(text)}", f"Give at most {_MAX_LETTERS} letters."
                )
        currency = value.get("currency", "")
        if not isinstance(currency, str) or (currency and not _CURRENCY.fullmatch(currency)):
            raise _bad(name, f"has currency {shorten(currency)}", "Give three letters, as in EUR.")
        decimals = value.get("decimals")
        whole = isinstance(decimals, int) and not isinstance(decimals, bool)
        if decimals is not None and (not whole or not 0 <= decimals <= _MAX_DECIMALS):
            raise _bad(name, f"has decimals {shorten(decimals)}", f"Give 0 to {_MAX_DECIMALS}.")
        style = cls(**value)
        if style.hidden and (style.card or style.link):
            raise _bad(name, "is both hidden and shown", "Leave out one of them.")
        return style


@dataclass(frozen=True)
class Presentation:
    """How people see a catalog. only: a filter that every search keeps to, beside its own."""

    attributes: Mapping[str, AttributeFormat] = field(default_factory=dict)
    only: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        formats = {name: one.to_json() for name, one in self.attributes.items()}
        return {"attributes": formats, "only": self.only}

    @classmethod
    def of(cls, attributes: object, only: object) -> Presentation:
        """Return what was given, checked as far as it can be without a catalog."""
        if not isinstance(attributes, Mapping):
            raise BadInput("What attributes look like is not a mapping of their names.")
        formats = {str(name): AttributeFormat.of(name, one) for name, one in attributes.items()}
        links = [name for name, one in formats.items() if one.link]
        if len(links) > 1:
            raise BadInput(
                f"Both {links[0]!r} and {links[1]!r} are the address of an item's page.",
                "An item has one.",
            )
        if only is not None and not isinstance(only, Mapping):
            raise BadInput(
                "What everybody is shown only is not a filter.", 'Write {"stock": {"gt": 0}}.'
            )
        return cls(formats, dict(only) if only else None)

    def check(self, kinds: Mapping[str, Kind]) -> None:
        """Refuse what does not fit a catalog with these attributes."""
        for name in self.names():
            if name not in kinds:
                raise BadInput(
                    f"There is no attribute {shorten(name)} to be shown or hidden.",
                    f"There are {sorted(kinds)}." if kinds else "There are none at all.",
                )
        attributes = {name: Attribute(name, kind, 0) for name, kind in kinds.items()}
        sql_condition(self.only, attributes)

    def names(self) -> Iterator[str]:
        """Yield the attributes that something is said of."""
        yield from self.attributes
        yield from self.only or ()

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """The attributes that people see nothing of."""
        return tuple(name for name, one in self.attributes.items() if one.hidden)

    def of_known(self, kinds: Mapping[str, Kind]) -> Presentation:
        """Return what is said of attributes that a new version of the catalog still has."""
        formats = {name: one for name, one in self.attributes.items() if name in kinds}
        return Presentation(formats, self.only)

    def with_currencies(
        self, currencies: Mapping[str, str], kinds: Mapping[str, Kind]
    ) -> Presentation:
        """Return it with currencies of numbers of which nothing else is said: no unit, no other."""
        formats = dict(self.attributes)
        for name, currency in currencies.items():
            own = formats.get(name, AttributeFormat())
            if kinds.get(name) == "number" and not own.currency and not own.unit:
                formats[name] = replace(own, currency=currency)
        return Presentation(formats, self.only)


NO_PRESENTATION = Presentation()


def _bad(name: object, what: str, hint: str) -> BadInput:
    return BadInput(f"The presentation of the attribute {shorten(name)} {what}.", hint)
