"""The setting of the paper's experiment."""

from __future__ import annotations

from typing import TypedDict

from seeker import display, models
from seeker.session.events import Repeat


class PaperSetting(TypedDict):
    """The keywords of the paper's own setting."""

    model: models.Model
    strategy: display.Strategy
    page_size: int
    repeat: Repeat


PAPER: PaperSetting = {
    "model": models.Pairwise(alpha=1.0, scale="raw"),
    "strategy": display.Boltzmann(score="log", first="ranked"),
    "page_size": 12,
    "repeat": "always",
}
"""The setting of the paper's experiment: catalog.session(**PAPER)."""
