"""The numbered steps that bring a store's tables from any version to the present one.

Each file is plain SQL that both SQLite and PostgreSQL understand. A published step never changes:
what needs changing is a new step.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def steps() -> tuple[tuple[int, str], ...]:
    """Return number and SQL of every step, in order."""
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".sql")]
    return tuple(
        (int(file.name.split("_")[0]), file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda one: one.name)
    )


def newest() -> int:
    """Return the number of the last step."""
    return steps()[-1][0]


def statements(script: str) -> list[str]:
    """Return the statements of a step; they hold no semicolons inside."""
    return [part.strip() for part in script.split(";") if part.strip()]
