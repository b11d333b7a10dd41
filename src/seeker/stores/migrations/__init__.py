"""The numbered steps that bring a store's tables from any version to the present one.

Each file is plain SQL that both SQLite and PostgreSQL understand. A published step never changes:
what needs changing is a new step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from seeker.errors import BadInput


@cache
def steps(package: str = __package__) -> tuple[tuple[int, str], ...]:
    """Return number and SQL of every step in a package, in order."""
    files = [file for file in resources.files(package).iterdir() if file.name.endswith(".sql")]
    return tuple(
        (int(file.name.split("_")[0]), file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda one: one.name)
    )


def newest(package: str = __package__) -> int:
    """Return the number of the last step."""
    return steps(package)[-1][0]


def statements(script: str) -> list[str]:
    """Return the statements of a step; they hold no semicolons inside."""
    return [part.strip() for part in script.split(";") if part.strip()]


def bring_up(
    run: Callable[..., Any],
    what: str,
    table: str,
    package: str = __package__,
) -> None:
    """Take all steps of a package that were not taken yet, in the transaction that runs.

    what: whose tables these are, and table: where it is noted which steps were taken.
    """
    run(f"CREATE TABLE IF NOT EXISTS {table} (version INTEGER NOT NULL)")
    found = run(f"SELECT max(version) FROM {table}").fetchall()[0][0] or 0
    last = newest(package)
    if found > last:
        raise BadInput(
            f"{what} has schema {found}, but this Seeker knows schemas up to {last}.",
            "Use the version of Seeker that wrote it, or a newer one.",
        )
    for number, script in steps(package):
        if found < number <= last:
            for statement in statements(script):
                run(statement)
            run(f"INSERT INTO {table} (version) VALUES (?)", number)
