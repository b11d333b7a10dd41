"""What is believed before any click: by numbers, by words searched for, and by the filter."""

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
    """What of a state the prior depends on: keywords, and what must hold of items.

    words: only those of sessions in which they are no terms.
    """

    words: tuple[str, ...]
    filter: Mapping[str, Any] | None


def prior_inputs(state: State) -> PriorInputs:
    """Return what of a state makes its prior; as long as it is the same, so is the prior."""
    words = [one.text for one in state.texts if one.view is None and one.search is None]
    if state.query is not None and state.start.query is None:
        words.insert(0, state.query)
    return PriorInputs(tuple(words), state.filter)


def log_prior(
    catalog: SearchableCatalog, base: Doubles | None, inputs: PriorInputs
) -> Doubles | None:
    """Return the log-prior, (items,), or None where all is open.

    base: log-probabilities that the session began with, (items,).
    """
    if base is not None and base.shape != (len(catalog),):
        raise BadInput(
            f"The session's prior has {base.size} numbers for {len(catalog)} items.",
            "Open the session with the catalog it was made with.",
        )
    prior = base
    for words in inputs.words:
        prior = catalog.keyword_prior(words) + (0.0 if prior is None else prior)
    for filter in (catalog.only, inputs.filter):
        if filter:
            passing = catalog.matching(filter)
            prior = np.where(passing, 0.0 if prior is None else prior, -np.inf)
            if not np.isfinite(prior).any():
                raise BadInput(
                    "No item passes the filter.",
                    "Loosen it, or leave it out.",
                    code="nothing-passes",
                )
    return None if prior is None else np.asarray(prior - np.logaddexp.reduce(prior))
