"""What a session takes: memory, and no compiling once it has begun."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np

from seeker import Catalog, display
from seeker.models import Choice
from seeker.session import Event
from seeker.session.events import Click, fold
from seeker.session.start import Start


def test_a_session_is_light_and_says_so() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 8)).astype(np.float32)
    catalog = Catalog.from_arrays([str(n) for n in range(20_000)], {"x": x, "y": x[:, :4].copy()})
    for model in ("choice", "pairwise"):
        session = catalog.session(model=model)
        for _ in range(6):
            page = session.page().ids
            session.like(page[0])
            session.dislike(page[1], shown=page)
            session.refresh()
        assert session.nbytes <= 20_000 * 64 + 8_300_000


def test_a_long_session_does_not_grow_with_the_square_of_its_length() -> None:
    start = Start(Choice(), display.named("boltzmann"), page_size=25, seed=1)
    shown = [[f"item {25 * n + k}" for k in range(25)] for n in range(400)]
    clicked: list[Event] = [Click(some[0], "like", tuple(some)) for some in shown]
    tracemalloc.start()
    try:
        state = fold([start, *clicked])
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(state.history) == 400
    assert taken < 20_000_000


_NOTHING_NEW = """
import numpy as np, seeker
from numba.core.dispatcher import Dispatcher
from seeker.models import Bipartite, Choice, Pairwise, Relative

x = np.random.default_rng(0).normal(size=(20_000, 19))
catalog = seeker.Catalog.from_arrays([str(n) for n in range(20_000)], {"x": x, "y": x[:, :5]})

def compiled():
    from seeker.kernels import columns, likelihood, noise, posterior
    return sum(
        len(one.signatures)
        for module in (columns, likelihood, noise, posterior)
        for one in vars(module).values()
        if isinstance(one, Dispatcher)
    )

for model in (Choice(), Relative(), Pairwise(), Pairwise(scale="raw"), Bipartite()):
    session = catalog.session(model=model)
    page = session.page().ids
    before = compiled()
    session.like(page[0]); session.page()
    session.dislike(page[1], shown=page); session.page(); session.refresh()
    session.like(session.page().ids[2]); session.page()
    session.belief.entropy, session.belief.views, session.belief.on_page
    session.say(np.ones(19)); session.page(); session.undo(); session.page()
    session.more(0, 2000); session.explain(page[0])
    assert compiled() == before, (model, compiled() - before)
"""


def test_nothing_is_compiled_during_a_click() -> None:
    subprocess.run([sys.executable, "-c", _NOTHING_NEW], check=True)
