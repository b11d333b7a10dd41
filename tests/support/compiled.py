"""Compile the kernels for this machine, once for all processes that run tests.

    python tests/support/compiled.py        # `make test` does so beside the checks

Kernels are compiled when they are first used, which takes most of a minute for all of them, and are
kept then. Without this, each process would do it at its start, and all at the same time. So would
the processes of a Ray node compile what they import, and a node gives up if they take too long.
"""

from __future__ import annotations

import gc
import importlib
from typing import Any

import numpy as np

from seeker import Catalog, display, learning, models
from seeker.models.scores import Limits

VIEWS = ("image", "colour")
RAY = ("ray.dashboard.agent", "ray._private.runtime_env.agent.main", "ray.util.client")
MODELS = (models.Choice(), models.Pairwise(), models.Bipartite(), models.Relative())


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


def learned(catalog: Catalog) -> None:
    """Learn from searches in which the first item of a page is the nearest."""
    rng = np.random.default_rng(1)
    past = []
    for _ in range(20):
        pages = rng.permuted(np.arange(40).reshape(5, 8), axis=1).tolist()
        clicks = [(liked, page) for page in pages for liked in (True, False)]
        past.append((int(rng.integers(len(catalog))), 1.0, clicks))
    rows = np.arange(len(catalog))
    samples = {name: learning.ViewSample.of(view, rows) for name, view in catalog.views.items()}
    learning.fit(samples, learning.Observations.of(past), seed=1)


def main() -> None:
    """Search in small catalogs of all kinds, by all models, and learn from a few searches."""
    gc.disable()  # numba makes millions of objects and keeps them: looking for others took a sixth
    rng = np.random.default_rng(0)
    vectors = {name: rng.normal(size=(300, d)) for name, d in zip(VIEWS, (24, 9), strict=True)}
    ids, kinds = [str(n) for n in range(300)], {"kind": ["a", "b", "c"] * 100}
    for dtype in ("float32", "float16", "int8"):
        catalog = Catalog.from_arrays(ids, vectors, attributes=kinds, dtype=dtype)
        for model in MODELS:
            searched(catalog, model=model, strategy=display.Boltzmann())
        searched(catalog, strategy=display.Boltzmann(score="probability"), prior=rng.random(300))
        searched(catalog, strategy=display.Diverse())
        searched(catalog, strategy=display.Informative())
    catalog.limits = Limits(session_bytes=0)
    for model in MODELS[:2]:
        searched(catalog, model=model)
    # Distances that single precision does not hold well.
    heavy_tails = {name: one**7 for name, one in vectors.items()}
    catalog = Catalog.from_arrays(ids, heavy_tails, attributes=kinds)
    for model in MODELS:
        searched(catalog, model=model)
    learned(catalog)
    for name in RAY:
        importlib.import_module(name)


if __name__ == "__main__":
    main()
