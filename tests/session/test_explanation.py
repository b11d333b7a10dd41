"""Why an item is there: parts that add up, whatever the order of the clicks, and by which view."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from seeker import Catalog, Session, models
from support.catalogs import random_catalog

CLICKS = (("item 3", "like"), ("item 40", "like"), ("item 77", "dislike"), ("item 120", "like"))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return random_catalog(items=300, dims=(16, 6), seed=9)


def clicked(catalog: Catalog, order: tuple[int, ...]) -> Session:
    session = catalog.session(seed=1)
    for place in order:
        item, verdict = CLICKS[place]
        screen = [f"item {200 + 12 * place + k}" for k in range(11)]
        session.click(item, verdict, [item, *screen])  # type: ignore[arg-type]
    return session


def test_reasons_do_not_depend_on_the_order_of_the_clicks(catalog: Catalog) -> None:
    told = []
    for order in permutations(range(len(CLICKS))):
        why = clicked(catalog, order).explain("item 8")
        told.append({one.item: (one.log_likelihood, one.pull) for one in why.clicks})
    for one in told[1:]:
        for item, numbers in one.items():
            assert numbers == pytest.approx(told[0][item], abs=1e-9)


def test_reasons_add_up_to_the_whole_and_views_to_each(catalog: Catalog) -> None:
    session = clicked(catalog, (0, 1, 2, 3))
    scores = session.belief.log_posterior
    sample = np.linspace(0, len(catalog) - 1, 256).astype(np.int64)
    for row in (0, 8, 150):
        why = session.explain(f"item {row}")
        parts = sum(one.log_likelihood for one in why.clicks)
        assert why.prior + why.text + parts == pytest.approx(why.score, abs=1e-5)
        beyond = scores[row] - scores[sample].mean()
        assert sum(one.pull for one in why.clicks) == pytest.approx(beyond, abs=1e-4)
        for one in why.clicks:
            assert sum(one.views.values()) == pytest.approx(one.pull, abs=1e-9)
            assert {*one.views} == {"image", "colour"}


@pytest.mark.parametrize("view", ["form", "hue"])
def test_a_reason_says_by_which_view_it_came(view: str) -> None:
    """Purple boots that were liked are named for orange boots, and for purple shirts, too."""
    rng = np.random.default_rng(2)
    form = np.repeat(np.eye(5), 40, axis=0) + 0.05 * rng.normal(size=(200, 5))
    hue = np.tile(np.eye(4), (50, 1)) + 0.05 * rng.normal(size=(200, 4))
    catalog = Catalog.from_arrays([str(n) for n in range(200)], {"form": form, "hue": hue})
    # 0 is liked among things of other forms and hues; then something else is, which is neither.
    session = catalog.session()
    session.like("0", shown=["0", *(str(n) for n in range(41, 200, 17) if n % 4)])
    session.like("45", shown=["45", *(str(n) for n in range(82, 200, 13))])
    alike = "2" if view == "form" else "164"  # the same form and another hue, or the other way
    other = {"form": "hue", "hue": "form"}[view]
    (boots, _) = session.explain(alike).clicks
    assert boots.item == "0"
    assert boots.pull > 0.1
    assert boots.views[view] > 0.9 * boots.pull > boots.views[other]


@pytest.mark.parametrize("model", [models.Pairwise(), models.Bipartite(), models.Relative()])
def test_every_model_tells_by_which_view(catalog: Catalog, model: models.Model) -> None:
    session = catalog.session(model=model)
    session.like("item 5")
    session.dislike("item 9")
    for one in session.explain("item 6").clicks:
        assert sum(one.views.values()) == pytest.approx(one.pull, abs=1e-9)
