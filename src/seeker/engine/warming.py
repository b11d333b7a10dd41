"""What every first click on a catalog would wait for, done before anybody clicks."""

from __future__ import annotations

from seeker.catalog import Catalog
from seeker.engine.shown import Summary


def warm(catalog: Catalog) -> None:
    """Go once through a click, so that kernels are compiled or loaded, here and in shards."""
    session = catalog.session()
    session.like(session.page().ids[0])
    session.page()
    Summary.of(session.belief)
