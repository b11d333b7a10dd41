"""The design of a study: what is fixed before the first participant and stays so."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from seeker.catalog import Catalog
from seeker.errors import BadInput
from seeker.session.events import REPEATS, Repeat
from seeker.study.cells import Cell, cells

LIMITS = {
    "page_size": ("The page size", 2, 100),
    "steps": ("The number of steps", 1, 1000),
    "trials": ("The number of targets for each person", 1, 100),
    "people": ("The number of people", 1, 1_000_000),
    "seed": ("The seed", 0, 2**53),
}


@dataclass(frozen=True)
class Design:
    """All that the drawing and the searches depend on.

    catalog: its name; content: which version of it. steps: K, the verdicts in one trial. trials:
    targets for each participant. people: how many may take part. repeat: whether items are shown
    again.
    """

    catalog: str
    content: str
    items: int
    models: tuple[str, ...]
    strategies: tuple[str, ...]
    page_size: int = 12
    steps: int = 15
    trials: int = 5
    people: int = 10_000
    repeat: Repeat = "never"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (words, least, most) in LIMITS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise BadInput(f"{words} is {value:,}, but must be from {least:,} to {most:,}.")
        if self.repeat not in REPEATS:
            raise BadInput(f"repeat is {self.repeat!r}.", f"Use one of {list(REPEATS)}.")
        if self.items <= self.page_size:
            raise BadInput(
                f"The catalog has {self.items:,} items, which all fit on one page.",
                "Use a larger catalog, or a smaller --page-size.",
            )
        if self.trials > self.items:
            raise BadInput("There are fewer items than targets for one person.")
        cells(self.models, self.strategies)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every model with every strategy."""
        return cells(self.models, self.strategies)

    def to_json(self) -> str:
        """Return the design as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, written: str) -> Design:
        """Return the design that `to_json` wrote."""
        values: dict[str, Any] = json.loads(written)
        for name in ("models", "strategies"):
            values[name] = tuple(values[name])
        return cls(**values)

    def differences(self, other: Design) -> list[str]:
        """Return in what two designs differ, in words; how many may take part does not count."""
        return [
            f"{one.name} is {_said(getattr(self, one.name))} there, "
            f"but {_said(getattr(other, one.name))} here"
            for one in fields(self)
            if one.name != "people" and getattr(self, one.name) != getattr(other, one.name)
        ]


def content_of(catalog: Catalog) -> str:
    """Return a name for exactly this content of a catalog."""
    return catalog.head.identity if catalog.head else f"{len(catalog)} items in memory"


def _said(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)
