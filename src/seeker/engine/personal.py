"""What is known of a person from their last session, as the prior of their next."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from seeker import models
from seeker.catalog import Catalog
from seeker.engine.repository import Rebuilder, catalog_id
from seeker.errors import Conflict
from seeker.stores import DamagedSession, Store

UNIFORM_SHARE = 0.2
"""How much of a person's prior stays even: people change, and nothing may become impossible."""

_PAST_SESSIONS = 8


def personal_model(
    store: Store,
    rebuilder: Rebuilder,
    name: str,
    catalog: Catalog,
    model: models.Model,
    person: str,
    owner: str | None,
) -> models.Model:
    """Return the model with weights learned from a person's last session with clicks.

    Only the choice model leaves weights open, and only sessions with the same catalog and grid
    tell about them; otherwise the model is returned as it is.
    """
    if not isinstance(model, models.Choice) or isinstance(model.weights, tuple):
        return model
    for id in islice(store.find(person, owner, newest=True), _PAST_SESSIONS):
        try:
            stored = store.load(id)
        except DamagedSession:
            continue
        if stored is None or stored.length < 2:
            continue
        if stored.catalog != name and (catalog_id(stored.events) or None) != catalog.id:
            continue
        try:
            last = rebuilder.session(catalog, stored.events, id)
        except (Conflict, DamagedSession):
            continue  # The catalog has changed since; an older session may still tell.
        theirs = last.state.start.model
        if not isinstance(theirs, models.Choice) or not last.state.ratings:
            continue
        if type(theirs) is not type(model) or theirs.sigmas != model.sigmas:
            continue
        settings = last.belief.settings.reshape(-1)
        weights = (1.0 - UNIFORM_SHARE) * settings + UNIFORM_SHARE / settings.size
        # Rounded, so that the start event stays short; a replay reads the same rounded numbers.
        return replace(model, weights=tuple(float(one) for one in np.round(weights, 6)))
    return model
