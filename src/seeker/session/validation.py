"""Checks of what a session is given: seeds, filters, priors, people, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.errors import BadInput, NotFound, short_repr
from seeker.models import Model
from seeker.session.protocol import SearchableCatalog
from seeker.space import View
from seeker.types import Array, Doubles
from seeker.validation import check_number, check_vector, within_range

if TYPE_CHECKING:
    from seeker.session.words import Say


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


def check_prior(prior: object, count: int) -> Doubles | None:
    """Return log-probabilities, (items,), if there are any."""
    if prior is None:
        return None
    if isinstance(prior, str):
        raise BadInput(f"The prior is {short_repr(prior)}.", "Give words as query=….")
    logs = check_vector("The prior", prior, count)
    if np.isnan(logs).any() or (logs == np.inf).any():
        raise BadInput("The prior holds NaN or +infinity.", "Use −infinity for impossible items.")
    if not np.isfinite(logs).any():
        raise BadInput("The prior rules out every item.", "Leave at least one possible.")
    return logs


def check_query(query: object) -> str:
    """Return the words that a session begins with."""
    if not isinstance(query, str):
        raise BadInput(f"The query is {short_repr(query)}.", "Say something in words.")
    return query


def check_likes(like: object) -> tuple[str, ...]:
    """Return the ids of items that a session begins with, each once."""
    if isinstance(like, str) or not isinstance(like, Iterable):
        raise BadInput(f"like is {short_repr(like)}, but it must be a list of item ids.")
    ids: list[Any] = [getattr(item, "id", item) for item in like]
    if not all(isinstance(item, str) and item for item in ids):
        raise BadInput("like must be a list of item ids, which are texts.")
    return tuple(dict.fromkeys(ids))


MAX_FOCUS = 1e6
"""A view that matters more than this is all that matters."""


def check_focus(catalog: SearchableCatalog, model: Model, views: object) -> Mapping[str, float]:
    """Return by view how much more it matters than usual, without those that matter as usual."""
    if not isinstance(views, Mapping):
        raise BadInput(
            f"What matters is {short_repr(views)}.", "Name views with factors, as {'colour': 0}."
        )
    parts = {name: catalog.view_shares(name) for name in catalog.views}
    known = list(dict.fromkeys([*catalog.views, *(one for made in parts.values() for one in made)]))
    for name, factor in views.items():
        if name not in known:
            raise BadInput(f"There is no view {short_repr(name)} here.", f"There is {known}.")
        check_number(f"The factor of view '{name}'", factor, 0.0)
        if factor > MAX_FOCUS:
            raise BadInput(f"The factor of view '{name}' can be at most {MAX_FOCUS:g}.")
    mixtures = model.grid(list(catalog.views)).mixtures
    if views and len(mixtures) < 2:
        raise BadInput(
            "This search compares items in one way only, so nothing can matter more or less.",
            "It takes several views, and a model that weighs them, such as 'choice'.",
        )
    gone = [any(views.get(one) == 0 for one in (name, *made)) for name, made in parts.items()]
    if not (mixtures[:, gone] == 0.0).all(axis=1).any():
        raise BadInput("Something must matter.", "Leave at least one view a factor above 0.")
    return {str(name): float(factor) for name, factor in views.items() if factor != 1}


def check_user(user: object, views: Mapping[str, View]) -> str | dict[str, Doubles] | None:
    """Return a person's name, or their vectors by view."""
    if user is None or isinstance(user, str):
        return user
    vectors = user if isinstance(user, Mapping) else {next(iter(views)): user}
    if not isinstance(user, Mapping) and len(views) > 1:
        raise BadInput(
            "The catalog has several views, so a user vector must say which one it is for.",
            f"Give {{view: vector}} with views from {list(views)}.",
        )
    unknown = [name for name in vectors if name not in views]
    if unknown:
        raise NotFound(f"There is no view '{unknown[0]}'.", f"The catalog has {list(views)}.")
    return {
        name: check_vector(f"The user vector for view '{name}'", c, views[name].dimensions)
        for name, c in vectors.items()
    }


def check_say_vector(
    catalog: SearchableCatalog, vector: Array | Sequence[float], view: str | None
) -> tuple[str, tuple[float, ...]]:
    """Return a view and a vector r, (d,), in it, checked: the first one unless named."""
    views = list(catalog.views)
    name = views[0] if view is None else view
    if name not in views:
        raise BadInput(f"There is no view {name!r}.", f"The catalog has {views}.")
    numbers = check_vector("The vector", vector, catalog.views[name].dimensions)
    if not within_range(numbers):
        raise BadInput("The vector must hold finite numbers, and none beyond 1e100.")
    return name, tuple(map(float, numbers))


def view_of(catalog: SearchableCatalog, text: Say) -> int:
    """Return the place of the view in which a text lies, if the catalog still has it."""
    view = catalog.views.get(text.view or "")
    if view is None or view.dimensions != len(text.vector):
        raise BadInput(
            f"The session has words in view {text.view!r} of {len(text.vector)} dimensions, "
            "which this catalog does not have.",
            "Open it with the catalog it was made with, or a later version of it.",
        )
    return list(catalog.views).index(view.name)
