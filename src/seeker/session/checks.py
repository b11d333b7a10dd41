"""Checks of what a session is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seeker.errors import BadInput, NotFound
from seeker.numbers import numbers
from seeker.space import View
from seeker.types import Doubles


def check_seed(seed: object) -> int:
    """Return the seed if it is a whole number of at least 0 and below 2**128."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**128:  # type: ignore[operator]
        raise BadInput(f"seed is {seed!r}, but it must be a whole number from 0 to 2**128 − 1.")
    return int(seed)  # type: ignore[call-overload,no-any-return]


def check_filter(filter: object) -> Mapping[str, Any] | None:
    """Return the filter, or None where there is nothing in it."""
    if filter is not None and not isinstance(filter, Mapping):
        raise BadInput(
            f"The filter is {filter!r}.", "It must name attributes, as {'colour': 'red'}."
        )
    return filter or None


def check_prior(prior: object, count: int) -> Doubles | str | None:
    """Return log-probabilities, (items,), or the words to search for."""
    if prior is None or isinstance(prior, str):
        return prior
    logs = numbers("The prior", prior, count)
    if np.isnan(logs).any() or (logs == np.inf).any():
        raise BadInput("The prior holds NaN or +infinity.", "Use −infinity for impossible items.")
    if not np.isfinite(logs).any():
        raise BadInput("The prior rules out every item.", "Leave at least one possible.")
    return logs


def check_user(user: object, views: Mapping[str, View]) -> str | dict[str, Doubles] | None:
    """Return a person's name, or their vectors by view."""
    if user is None or isinstance(user, str):
        return user
    given = user if isinstance(user, Mapping) else {next(iter(views)): user}
    if not isinstance(user, Mapping) and len(views) > 1:
        raise BadInput(
            "The catalog has several views, so a user vector must say which one it is for.",
            f"Give {{view: vector}} with views from {list(views)}.",
        )
    unknown = [name for name in given if name not in views]
    if unknown:
        raise NotFound(f"There is no view '{unknown[0]}'.", f"The catalog has {list(views)}.")
    return {
        name: numbers(f"The user vector for view '{name}'", c, views[name].dimensions)
        for name, c in given.items()
    }
