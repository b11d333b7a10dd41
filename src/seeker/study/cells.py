"""Cells of a study: a model and a strategy, drawn for a search and hidden from the person."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seeker import display, models
from seeker.errors import BadInput
from seeker.server.asking import model_of, strategy_of
from seeker.session import PAPER
from seeker.session.events import Repeat

PAPER_MODEL = "paper"
"""A word for the paper's own setting: its model, strategies that begin as it does, repetition."""

MOST = 32
"""Cells beyond which no study could fill them."""


@dataclass(frozen=True)
class Cell:
    """A model and a strategy, as the organiser wrote them."""

    model: str
    strategy: str

    @property
    def method(self) -> str:
        """The name under which the cell is reported."""
        return f"{self.model} + {self.strategy}"

    def made(self, repeat: Repeat) -> tuple[models.Model, display.Strategy, Repeat]:
        """Return what a search of this cell is started with."""
        strategy = strategy_of(_described(self.strategy))
        if self.model != PAPER_MODEL:
            return model_of(_described(self.model)), strategy, repeat
        if hasattr(strategy, "first"):
            strategy = replace(strategy, first="ranked")  # type: ignore[type-var]
        return PAPER["model"], strategy, PAPER["repeat"]

    def settings(self, repeat: Repeat) -> str:
        """Return all that the search depends on, as JSON."""
        model, strategy, again = self.made(repeat)
        return json.dumps(
            {
                "model": models.to_json(model),
                "strategy": display.to_json(strategy),
                "repeat": again,
            },
            sort_keys=True,
        )


def cells(some_models: Sequence[str], strategies: Sequence[str]) -> tuple[Cell, ...]:
    """Return every model with every strategy; each must be one that can be made."""
    made = tuple(Cell(model, strategy) for model in some_models for strategy in strategies)
    if not made:
        raise BadInput("A study needs a model and a strategy.", "Name at least one of each.")
    if len(set(made)) < len(made):
        raise BadInput("A model or a strategy is named twice.", "Name each of them once.")
    if len(made) > MOST:
        raise BadInput(
            f"These are {len(made)} combinations of models and strategies, at most {MOST} may be."
        )
    for cell in made:
        cell.made("never")
    return made


def _described(words: str) -> Mapping[str, Any]:
    """Return settings from words such as "pairwise" or "pairwise:alpha=10:scale=raw"."""
    name, *settings = words.split(":")
    described: dict[str, Any] = {"name": name.strip()}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadInput(
                f"{setting!r} in {words!r} is not a setting.", "Write it like pairwise:alpha=10."
            )
        described[key.strip()] = _value(value.strip())
    return described


def _value(written: str) -> object:
    try:
        return json.loads(written)
    except ValueError:
        return written
