"""What was left out of a catalog and why."""

from __future__ import annotations

from collections import Counter
from typing import Any

from seeker.catalog.building.record import Problem
from seeker.catalog.values import short
from seeker.errors import BadInput

_EXAMPLES = 5


class Report:
    """Counts problems by kind and keeps the first few of each as examples.

    rows: how many the source has had so far, good ones and bad ones.
    """

    def __init__(self, strict: bool = False) -> None:
        """Start with nothing; strict: the first problem is an error."""
        self._strict = strict
        self.rows = 0
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self._told: dict[str, str] = {}

    def add(self, problem: Problem) -> None:
        """Count a problem."""
        said = short_place(problem.place)
        if self._strict:
            detail = f" ({problem.detail})" if problem.detail else ""
            raise BadInput(
                f"{problem.what.capitalize()}: {said}{detail}.",
                "Mend it, or leave out --strict (strict=True) to skip such rows.",
            )
        self.counts[problem.what] += 1
        kept = self.examples.setdefault(problem.what, [])
        if len(kept) < _EXAMPLES:
            # Whatever is wrong with many rows is said once.
            new = problem.detail and problem.detail != self._told.get(problem.what)
            kept.append(f"{said} ({problem.detail})" if new else said)
            self._told[problem.what] = problem.detail

    def lines(self) -> list[str]:
        """Return the report in lines for people; empty if all went well."""
        if not self.counts:
            return []
        return [f"Left out {self.counts.total():,} of {self.rows:,} rows:", *self._kinds()]

    def sentence(self) -> str:
        """Return what was wrong as one line."""
        return "; ".join(line.strip() for line in self._kinds()) + "."

    def _kinds(self) -> list[str]:
        lines = []
        for what, count in self.counts.most_common():
            more = ", …" if count > len(self.examples[what]) else ""
            lines.append(f"  {count:,} × {what}: {', '.join(self.examples[what])}{more}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            what: {"count": count, "examples": self.examples[what]}
            for what, count in self.counts.most_common()
        }


def short_place(place: str) -> str:
    """Return a place in a source as one short printable line."""
    return place if place.isprintable() and len(place) <= 120 else short(place, 120)
