"""Compile the kernels for this machine, once for all processes that run tests.

    python tests/support/compiled.py        # `make test` does so beside the checks

Kernels are compiled when they are first used, which takes most of a minute for all of them, and are
kept then. Without this, each process would do it at its start, and all at the same time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seeker import Catalog, display, models
from seeker.models.scores import Limits

VIEWS = ("image", "colour")


def searched(catalog: Catalog, **start: Any) -> None:
    """Do in a session whatever computes something."""
    session = catalog.session(seed=1, **start)
    for click in (session.like, session.dislike, session.like):
        click(session.page().ids[0])
        session.refresh()
    session.say(np.ones(catalog.views[VIEWS[0]].dimensions), view=VIEWS[0])
    session.filter({"kind": "a"})
    session.page()
    session.explain(session.page().ids[0])
    session.belief.rank(session.page().ids[0])
    _ = session.belief.entropy, session.belief.on_page, session.belief.views


def main() -> None:
    """Search in small catalogs of all kinds, by all models."""
    rng = np.random.default_rng(0)
    vectors = {name: rng.normal(size=(300, d)) for name, d in zip(VIEWS, (24, 9), strict=True)}
    ids, kinds = [str(n) for n in range(300)], {"kind": ["a", "b", "c"] * 100}
    for dtype in ("float32", "float16", "int8"):
        catalog = Catalog.from_arrays(ids, vectors, attributes=kinds, dtype=dtype)
        for model in (models.Choice(), models.Pairwise(), models.Bipartite(), models.Relative()):
            searched(catalog, model=model, strategy=display.Boltzmann())
        searched(catalog, strategy=display.Boltzmann(score="probability"), prior=rng.random(300))
        searched(catalog, strategy=display.Diverse())
    catalog.limits = Limits(session_bytes=0)
    for model in (models.Choice(), models.Pairwise()):
        searched(catalog, model=model)


if __name__ == "__main__":
    main()
