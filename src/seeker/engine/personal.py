"""What is known of a person from their past searches, as the start of their next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from seeker import models
from seeker.catalog import Catalog
from seeker.engine.repository import Rebuilder, catalog_id
from seeker.errors import Conflict
from seeker.learning.personal import personal_prior
from seeker.learning.searches import SearchReader
from seeker.stores import DamagedSession, Store, StoredSession
from seeker.types import Doubles

UNIFORM_SHARE = 0.2
"""How much of a person's prior stays even: people change, and nothing may become impossible."""

_LOOKED_AT = 64
_PAST_SEARCHES = 24
_PAST_SESSIONS = 8
"""How many sessions of a person a start looks at, learns from, and replays at most."""


@dataclass(frozen=True, eq=False)
class PersonalStart:
    """How a person's next session begins; vectors: c of φ(c, x), by learned view, if there are."""

    model: models.Model
    vectors: dict[str, Doubles] | None = None


class Personaliser:
    """Knows people by their sessions in a store, and keeps nothing of its own of them."""

    def __init__(self, store: Store, rebuilder: Rebuilder) -> None:
        self._store = store
        self._rebuilder = rebuilder

    def start(
        self,
        name: str,
        catalog: Catalog,
        model: models.Model,
        views: Sequence[str] | None,
        person: str,
        owner: str | None,
    ) -> PersonalStart:
        """Return how a person's session in a catalog begins; model, views: everybody's.

        What they found tells most; without that, their last session with clicks does. Only the
        choice model leaves weights open.
        """
        if not isinstance(model, models.Choice):
            return PersonalStart(model)
        past = self._sessions(name, catalog.id, person, owner)
        sessions = list(islice(past, _PAST_SEARCHES))
        return self._from_found(catalog, name, model, views, sessions) or PersonalStart(
            self._from_last(catalog, model, views, sessions[:_PAST_SESSIONS])
        )

    def _sessions(
        self, name: str, catalog: str, person: str, owner: str | None
    ) -> Iterator[StoredSession]:
        """Yield a person's sessions in a catalog in which something happened, the newest first.

        name: as it is served, catalog: its id, by which it is known under other names, too.
        """
        for id in islice(self._store.find(person, owner, newest=True), _LOOKED_AT):
            try:
                stored = self._store.load(id)
            except DamagedSession:
                continue
            if stored is None or stored.length < 2:
                continue
            if stored.catalog == name or (catalog_id(stored.events) or None) == catalog:
                yield stored

    def _from_found(
        self,
        catalog: Catalog,
        name: str,
        model: models.Choice,
        views: Sequence[str] | None,
        sessions: Sequence[StoredSession],
    ) -> PersonalStart | None:
        compared = catalog.with_views(views)
        if not all(view.fast for view in compared.views.values()):
            return None
        reader = SearchReader(catalog, name)
        for stored in sessions:
            reader.read({"events": list(stored.events)}, stored.id)
        if not reader.searches:
            return None
        prior = personal_prior(compared, model, reader.searches)
        # Rounded, so that the start event stays short; a replay reads the same rounded numbers.
        rounded = {view: np.round(c, 2) for view, c in prior.vectors.items()}
        vectors = {view: c for view, c in rounded.items() if (c != 1.0).any()}
        return PersonalStart(_with_weights(model, prior.weights), vectors or None)

    def _from_last(
        self,
        catalog: Catalog,
        model: models.Choice,
        views: Sequence[str] | None,
        sessions: Sequence[StoredSession],
    ) -> models.Model:
        for stored in sessions:
            try:
                last = self._rebuilder.session(catalog, stored.events, stored.id)
            except (Conflict, DamagedSession):
                continue  # The catalog has changed since; an older session may still tell.
            start, theirs = last.state.start, last.state.start.model
            if not isinstance(theirs, models.Choice) or not last.state.ratings:
                continue
            if type(theirs) is not type(model) or theirs.sigmas != model.sigmas:
                continue
            if list(start.views or ()) != list(views or ()):
                continue
            settings = last.belief.settings.reshape(-1)
            even: Doubles = np.full(settings.size, 1.0 / settings.size)
            if isinstance(model.weights, tuple):
                even = np.exp(model.grid(list(catalog.with_views(views).views)).log_weights)
            return _with_weights(model, (1.0 - UNIFORM_SHARE) * settings + UNIFORM_SHARE * even)
        return model


def _with_weights(model: models.Choice, weights: Doubles) -> models.Model:
    return replace(model, weights=tuple(float(one) for one in np.round(weights, 6)))
