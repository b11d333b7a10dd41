"""The design of a study, its cells, and what is drawn for a participant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from seeker import display, models
from seeker.catalog import Catalog
from seeker.errors import BadInput
from seeker.server.requests import parse_model, parse_strategy
from seeker.session import PAPER
from seeker.session.start import REPEATS, Repeat

PAPER_MODEL = "paper"
"""A word for the paper's own setting: its model, strategies that begin as it does, repetition."""

MAX_CELLS = 32
"""More of them no study could fill."""


@dataclass(frozen=True)
class Cell:
    """A model and a strategy, as the organiser wrote them."""

    model: str
    strategy: str

    @property
    def method(self) -> str:
        """The name under which the cell is reported."""
        return f"{self.model} + {self.strategy}"

    def start_settings(self, repeat: Repeat) -> tuple[models.Model, display.Strategy, Repeat]:
        """Return what a search of this cell is started with."""
        strategy = parse_strategy(_parse_settings(self.strategy))
        if self.model != PAPER_MODEL:
            return parse_model(_parse_settings(self.model)), strategy, repeat
        if hasattr(strategy, "first"):
            strategy = replace(strategy, first="ranked")  # type: ignore[type-var]
        return PAPER["model"], strategy, PAPER["repeat"]

    def settings(self, repeat: Repeat) -> str:
        """Return all that the search depends on, as JSON."""
        model, strategy, repeat = self.start_settings(repeat)
        return json.dumps(
            {
                "model": models.to_json(model),
                "strategy": display.to_json(strategy),
                "repeat": repeat,
            },
            sort_keys=True,
        )


def parse_cells(some_models: Sequence[str], strategies: Sequence[str]) -> tuple[Cell, ...]:
    """Return every model with every strategy; each must be one that can be made."""
    cells = tuple(Cell(model, strategy) for model in some_models for strategy in strategies)
    if not cells:
        raise BadInput("A study needs a model and a strategy.", "Name at least one of each.")
    if len(set(cells)) < len(cells):
        raise BadInput("A model or a strategy is named twice.", "Name each of them once.")
    if len(cells) > MAX_CELLS:
        raise BadInput(
            f"These are {len(cells)} combinations of models and strategies, "
            f"at most {MAX_CELLS} may be."
        )
    for cell in cells:
        cell.start_settings("never")
    return cells


def _parse_settings(words: str) -> Mapping[str, Any]:
    """Return settings from words such as "pairwise" or "pairwise:alpha=10:scale=raw"."""
    name, *assignments = words.split(":")
    settings: dict[str, Any] = {"name": name.strip()}
    for setting in assignments:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadInput(
                f"{setting!r} in {words!r} is not a setting.", "Write it like pairwise:alpha=10."
            )
        settings[key.strip()] = _parse_value(value.strip())
    return settings


def _parse_value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


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
        parse_cells(self.models, self.strategies)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every model with every strategy."""
        return parse_cells(self.models, self.strategies)

    def to_json(self) -> str:
        """Return the design as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Design:
        """Return the design that `to_json` wrote."""
        values: dict[str, Any] = json.loads(text)
        for name in ("models", "strategies"):
            values[name] = tuple(values[name])
        return cls(**values)

    def differences(self, other: Design) -> list[str]:
        """Return in what two designs differ, in words; how many may take part does not count."""
        return [
            f"{field.name} is {_text(getattr(self, field.name))} there, "
            f"but {_text(getattr(other, field.name))} here"
            for field in fields(self)
            if field.name != "people" and getattr(self, field.name) != getattr(other, field.name)
        ]


def content_of(catalog: Catalog) -> str:
    """Return a name for exactly this content of a catalog."""
    return catalog.manifest.identity if catalog.manifest else f"{len(catalog)} items in memory"


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


_CELL_STREAM, _TARGET_STREAM, _SEED_STREAM = range(3)


def cell_of(cells: Sequence[Cell], seed: int, person: int, trial: int, trials: int) -> Cell:
    """Return the cell of a person's trial: chance, but balanced.

    All trials of all people stand in one row; each run of as many trials as there are cells holds
    every cell once, in an order of its own. So at any time the cells differ by one trial at most,
    as far as people complete theirs.
    """
    slot = person * trials + trial
    block, place = divmod(slot, len(cells))
    order = np.random.default_rng([seed, _CELL_STREAM, block]).permutation(len(cells))
    return cells[int(order[place])]


def target_of(items: int, seed: int, person: int, trial: int, trials: int) -> int:
    """Return the row of the target of a person's trial: drawn evenly, none twice for a person."""
    rng = np.random.default_rng([seed, _TARGET_STREAM, person])
    return int(rng.choice(items, min(trials, items), replace=False)[trial])


def seed_of(seed: int, person: int, trial: int) -> int:
    """Return the seed of the search of a person's trial."""
    return int(np.random.default_rng([seed, _SEED_STREAM, person, trial]).integers(2**53))
