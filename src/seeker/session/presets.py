"""How sessions begin: the options that there are, and those of the paper's experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from seeker import display, models
from seeker.session.events import Repeat


class SessionOptions(TypedDict, total=False):
    """The keywords of `Catalog.session`, for whoever hands them on."""

    model: str | models.Model | None
    strategy: str | display.Strategy
    page_size: int
    seed: int
    prior: object
    filter: Mapping[str, Any] | None
    user: object
    repeat: Repeat
    views: Sequence[str] | None
    query: str | None
    like: Sequence[str]


class PaperSetting(TypedDict):
    """The keywords of the paper's own setting."""

    model: models.Model
    strategy: display.Strategy
    page_size: int
    repeat: Repeat


PAPER: PaperSetting = {
    "model": models.Pairwise(alpha=1.0, scale="raw", words="paper"),
    "strategy": display.Boltzmann(score="log", first="ranked"),
    "page_size": 12,
    "repeat": "always",
}
"""The setting of the paper's experiment: catalog.session(**PAPER)."""
