"""What a request asks for, checked against this service's limits and made into objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from seeker import display, models
from seeker.errors import BadInput
from seeker.server.settings import Settings

Thing = TypeVar("Thing")

_MOST_NUMBERS = 256
"""Numbers in one setting of a model or strategy: each σ costs memory for every item."""

_LONGEST_FILTER = 10_000
_MOST_COMPARED = 1000
"""Items that are compared in pairs for one page: the time for it grows with their square."""


def parse_model(given: str | Mapping[str, Any] | None) -> models.Model:
    """Return the model that a request names or describes."""
    return _made(given, models.DEFAULT, models.named, models.from_json)


def parse_strategy(given: str | Mapping[str, Any] | None) -> display.Strategy:
    """Return the strategy that a request names or describes."""
    return _made(given, display.DEFAULT, display.named, display.from_json)


def check_length(name: str, given: float, limit: int) -> None:
    """Refuse what is more than this service's limit."""
    if given > limit:
        raise BadInput(f"{name} is {given:,}, but at most {limit:,} is served here.")


def check_text(name: str, text: str | None, settings: Settings) -> None:
    """Refuse a text that is longer than this service reads."""
    if text is not None:
        check_length(f"The length of {name}", len(text), settings.text_limit)


def check_filter(filter: Mapping[str, Any] | None) -> None:
    """Refuse a filter that is longer than what people choose: every answer tells it again."""
    check_length("The length of filter", len(json.dumps(filter)), _LONGEST_FILTER)


def check_strategy(strategy: display.Strategy, page_size: int) -> None:
    """Refuse a strategy that compares more items with one another than a service has time for."""
    if isinstance(strategy, display.Diverse):
        check_length("pool × page_size", strategy.pool * page_size, _MOST_COMPARED)


def _made(
    given: str | Mapping[str, Any] | None,
    usual: str,
    named: Callable[[str], Thing],
    described: Callable[[object], Thing],
) -> Thing:
    if given is None or isinstance(given, str):
        return named(given or usual)
    for name, value in given.items():
        if isinstance(value, list) and len(value) > _MOST_NUMBERS:
            raise BadInput(f"{name} holds {len(value):,} numbers, at most {_MOST_NUMBERS} may be.")
    if isinstance(given.get("sigmas"), list) and len(given["sigmas"]) > 16:
        raise BadInput("sigmas holds more than 16 numbers, which no session needs.")
    return described(given)
