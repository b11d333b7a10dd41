"""What is believed before any click: by given numbers, by words searched for, and by the filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seeker.errors import BadInput
from seeker.session.protocol import SearchableCatalog
from seeker.session.state import State
from seeker.types import Doubles


@dataclass(frozen=True)
class PriorInputs:
    """What of a state the prior depends on: words searched for, and what must hold of items."""

    words: tuple[str, ...]
    filter: Mapping[str, Any] | None


def prior_inputs(state: State) -> PriorInputs:
    """Return what is assumed in a state; as long as it is the same, so is the prior."""
    said = tuple(text.text for text in state.texts if text.view is None)
    return PriorInputs(said if state.query is None else (state.query, *said), state.filter)


def log_prior(
    catalog: SearchableCatalog, given: Doubles | None, assumed: PriorInputs
) -> Doubles | None:
    """Return the log-prior, (items,), or None where all is open.

    given: log-probabilities that the session began with, (items,).
    """
    if given is not None and given.shape != (len(catalog),):
        raise BadInput(
            f"The session's prior has {given.size} numbers for {len(catalog)} items.",
            "Open the session with the catalog it was made with.",
        )
    prior = given
    for words in assumed.words:
        prior = catalog.keyword_prior(words) + (0.0 if prior is None else prior)
    if assumed.filter:
        passing = catalog.matching(assumed.filter)
        prior = np.where(passing, 0.0 if prior is None else prior, -np.inf)
        if not np.isfinite(prior).any():
            raise BadInput("No item passes the filter.", "Loosen it, or leave it out.")
    return None if prior is None else np.asarray(prior - np.logaddexp.reduce(prior))
