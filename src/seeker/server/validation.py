"""What a request asks for, checked against this service's limits and made into objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from seeker import display, models
from seeker.errors import BadInput
from seeker.server.settings import Settings

Parsed = TypeVar("Parsed")

_MAX_NUMBERS = 256
"""Numbers in one setting of a model or strategy: each σ costs memory for every item."""

_MAX_FILTER_CHARACTERS = 10_000
_MAX_COMPARED_ITEMS = 1000
"""Items that are compared in pairs for one page: the time for it grows with their square."""


def is_form(content_type: str | None) -> bool:
    """Whether a body of this type is a form, in which files may be sent."""
    return (content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"


def parse_model(model: str | Mapping[str, Any] | None) -> models.Model:
    """Return the model that a request names or describes."""
    return _parse(model, models.DEFAULT, models.named, models.from_json)


def parse_strategy(strategy: str | Mapping[str, Any] | None) -> display.Strategy:
    """Return the strategy that a request names or describes."""
    return _parse(strategy, display.DEFAULT, display.named, display.from_json)


def check_length(name: str, length: float, limit: int) -> None:
    """Refuse what is more than this service's limit."""
    if length > limit:
        raise BadInput(f"{name} is {length:,}, but at most {limit:,} is served here.")


def check_text(name: str, text: str | None, settings: Settings) -> None:
    """Refuse a text that is longer than this service reads."""
    if text is not None:
        check_length(f"The length of {name}", len(text), settings.text_limit)


def check_filter(filter: Mapping[str, Any] | None) -> None:
    """Refuse a filter that is longer than what people choose: every answer tells it again."""
    check_length("The length of filter", len(json.dumps(filter)), _MAX_FILTER_CHARACTERS)


def check_strategy(strategy: display.Strategy, page_size: int) -> None:
    """Refuse a strategy that compares more items with one another than a service has time for."""
    if isinstance(strategy, display.Diverse):
        check_length("pool × page_size", strategy.pool * page_size, _MAX_COMPARED_ITEMS)


def _parse(
    description: str | Mapping[str, Any] | None,
    default: str,
    by_name: Callable[[str], Parsed],
    from_json: Callable[[object], Parsed],
) -> Parsed:
    if description is None or isinstance(description, str):
        return by_name(description or default)
    for name, value in description.items():
        if isinstance(value, list) and len(value) > _MAX_NUMBERS:
            raise BadInput(f"{name} holds {len(value):,} numbers, at most {_MAX_NUMBERS} may be.")
    if isinstance(description.get("sigmas"), list) and len(description["sigmas"]) > 16:
        raise BadInput("sigmas holds more than 16 numbers, which no session needs.")
    return from_json(description)
