"""One contract for all models, and each against its formula in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seeker
from seeker import Catalog, Session
from seeker.kernels import reference
from seeker.models import Bipartite, Choice, Model, Pairwise, Relative
from seeker.types import Doubles
from support.catalogs import random_catalog
from support.formulas import rate, twin

MODELS: list[Model] = [
    Pairwise(),
    Pairwise(alpha=10.0),
    Pairwise(alpha=1.0, scale="raw"),
    Bipartite(),
    Bipartite(alpha1=2.0, alpha2=5.0, scale="raw"),
    Choice(),
    Choice(sigmas=(0.3,), slip=0.0),
    Choice(sigmas=(0.07, 0.2, 0.9), slip=0.2),
    Relative(),
    Relative(sigmas=(0.3,), slip=0.0, floor=0.5),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@each_model
@pytest.mark.parametrize(("likes", "dislikes"), [(0, 0), (3, 0), (0, 3), (1, 1), (4, 7), (15, 15)])
@pytest.mark.parametrize("dims", [(24,), (24, 9)], ids=["one view", "two views"])
def test_log_posterior_is_the_formula(
    model: Model, likes: int, dislikes: int, dims: tuple[int, ...]
) -> None:
    session = random_catalog(dims=dims).session(model=model)
    rate(session, likes, dislikes)
    np.testing.assert_allclose(session.belief.log_posterior, twin(session), rtol=0, atol=1e-4)


@each_model
def test_vectors_far_from_the_origin_lose_nothing(model: Model) -> None:
    rng = np.random.default_rng(5)
    near = (rng.normal(size=(200, 19)) * 4).round() / 4
    ids = [str(n) for n in range(200)]
    here = Catalog.from_arrays(ids, {"x": near}).session(model=model)
    there = Catalog.from_arrays(ids, {"x": near + 4096.0}).session(model=model)
    for session in (here, there):
        rate(session, 4, 4)
    np.testing.assert_allclose(
        here.belief.log_posterior, there.belief.log_posterior, rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("model", [Pairwise(), Bipartite(), Choice()], ids=lambda m: m.name)
def test_a_person_is_an_elementwise_product(model: Model) -> None:
    rng = np.random.default_rng(2)
    c, e = rng.uniform(0.1, 2.0, 24), rng.uniform(0.1, 2.0, 9)
    catalog = random_catalog(dims=(24, 9))
    session = catalog.session(model=model, user={"image": c, "colour": e})
    rate(session, 4, 4)
    np.testing.assert_allclose(
        session.belief.log_posterior, twin(session, [c, e]), rtol=0, atol=1e-4
    )


@each_model
def test_text_follows_the_paper(model: Model) -> None:
    catalog = random_catalog()
    session = catalog.session(model=model)
    rate(session, 2, 3)
    plain = session.belief.log_posterior
    r1, r2 = np.random.default_rng(3).normal(size=(2, 24))
    session.say(r1)
    session.say(r2, view="image")
    view = catalog.views["image"]
    x = view.vectors.astype(np.float64)
    unit = 1.0 if getattr(model, "scale", "unit") == "raw" else view.scale
    along = x @ (r1 + r2) / unit
    if isinstance(model, Pairwise):
        likes = [catalog.row(one) for one in session.likes]
        dislikes = [catalog.row(one) for one in session.dislikes]
        d = reference.distances(x, range(len(x)), unit)
        expected = sum(
            reference.log_sigmoid(model.alpha * (d[j] - d[i] + along[i] - along[j]))
            for i in likes
            for j in dislikes
        )
    else:
        expected = plain
    expected = expected + reference.log_sigmoid(along)
    expected = expected - np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("model", [Pairwise(), Bipartite(), Choice()], ids=lambda m: m.name)
def test_text_that_counts_for_thousands_of_nats(model: Model) -> None:
    rng = np.random.default_rng(6)
    x = (rng.normal(size=(100, 3)) + 4096.0).astype(np.float32)
    catalog = Catalog.from_arrays([str(n) for n in range(100)], {"x": x})
    session = catalog.session(model=model)
    r = -rng.uniform(1.0, 2.0, 3)
    session.say(r)
    along = x.astype(np.float64) @ r / catalog.views["x"].scale
    assert along.max() < -2048.0
    expected = reference.log_sigmoid(along)
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-4)
    session.like("0", shown=["0", "1"])
    session.dislike("5", shown=["5", "6"])
    again = catalog.session(model=model)
    again.dislike("5", shown=["5", "6"])
    again.like("0", shown=["0", "1"])
    again.say(r)
    np.testing.assert_array_equal(again.belief.log_posterior, session.belief.log_posterior)


@each_model
def test_a_prior_is_added_and_impossible_items_stay_out(model: Model) -> None:
    catalog = random_catalog()
    logs = np.log(np.random.default_rng(4).uniform(size=len(catalog)))
    logs[::3] = -np.inf
    session = catalog.session(model=model, prior=logs)
    even = catalog.session(model=model)
    for one in (session, even):
        rate(one, 3, 3)
    expected = even.belief.log_posterior + logs
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-9)
    walked = session.more(0, len(catalog)).ids
    assert len(walked) == np.count_nonzero(logs > -np.inf)
    assert not {catalog.row(one) for one in walked} & set(range(0, len(catalog), 3))


@each_model
def test_clear_and_undo_restore_to_the_bit(model: Model) -> None:
    session = random_catalog(dims=(24, 9)).session(model=model)
    ids = session.catalog.ids  # type: ignore[attr-defined]
    rate(session, 3, 3)
    before, page = session.belief.log_posterior, session.page()
    session.like(ids[7], ids[:12])
    assert not np.array_equal(session.belief.log_posterior, before)
    session.clear(ids[7])
    np.testing.assert_array_equal(session.belief.log_posterior, before)
    session.undo()
    session.undo()
    np.testing.assert_array_equal(session.belief.log_posterior, before)
    assert session.page() == page
    for _ in range(6):
        session.undo()
    assert (session.belief.log_posterior == session.belief.log_posterior[0]).all()


@each_model
def test_the_order_of_independent_clicks_does_not_matter(model: Model) -> None:
    catalog = random_catalog()
    ids = catalog.ids
    clicks: list[Callable[[Session], None]] = [
        lambda s: s.like(ids[0], ids[0:10]),
        lambda s: s.dislike(ids[15], ids[10:20]),
        lambda s: s.like(ids[22], ids[20:30]),
        lambda s: s.dislike(ids[38], ids[30:40]),
    ]
    forth, back = catalog.session(model=model), catalog.session(model=model)
    for click in clicks:
        click(forth)
        forth.refresh()
    for click in reversed(clicks):
        click(back)
    np.testing.assert_array_equal(forth.belief.log_posterior, back.belief.log_posterior)


@each_model
def test_an_explanation_adds_up(model: Model) -> None:
    catalog = random_catalog(dims=(24, 9))
    prior = np.linspace(-3.0, 0.0, len(catalog))
    session = catalog.session(model=model, prior=prior)
    rate(session, 3, 2)
    session.say(np.ones(9), view="colour")
    for item in catalog.ids[:5]:
        why = session.explain(item)
        assert [one.item for one in why.clicks] == [*session.likes, *session.dislikes]
        parts = why.prior + why.text + sum(one.log_likelihood for one in why.clicks)
        assert parts == pytest.approx(why.score, abs=1e-6)
    scores = {item: session.explain(item).score for item in catalog.ids[:5]}
    logs = session.belief.log_posterior
    for item, score in scores.items():
        offset = scores[catalog.ids[0]] - logs[0]
        assert score - offset == pytest.approx(logs[catalog.row(item)], abs=1e-9)


@each_model
def test_a_like_pulls_what_is_near_and_a_dislike_pushes_it(model: Model) -> None:
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal(0, 0.1, (50, 8)), rng.normal(3, 0.1, (50, 8))])
    catalog = Catalog.from_arrays([str(n) for n in range(100)], {"x": vectors})
    shown = ["0", "1", "60", "61"]
    liked = catalog.session(model=model)
    liked.like("0", shown)
    assert max(map(liked.belief.rank, map(str, range(2, 50)))) <= 50
    assert liked.explain("5").clicks[0].pull > 0 > liked.explain("70").clicks[0].pull
    disliked = catalog.session(model=model)
    disliked.dislike("0", shown)
    assert min(map(disliked.belief.rank, map(str, range(2, 50)))) > 50


def test_bad_settings_are_refused() -> None:
    for bad in (
        lambda: Pairwise(alpha=-1.0),
        lambda: Pairwise(alpha=float("nan")),
        lambda: Pairwise(scale="big"),  # type: ignore[arg-type]
        lambda: Bipartite(alpha2=float("inf")),
        lambda: Choice(sigmas=()),
        lambda: Choice(sigmas=(0.1, 0.1)),
        lambda: Choice(sigmas=(0.0,)),
        lambda: Choice(sigmas="wide"),  # type: ignore[arg-type]
        lambda: Choice(sigmas=range(1, 10**12)),  # type: ignore[arg-type]
        lambda: Choice(sigmas=(1j,)),  # type: ignore[arg-type]
        lambda: Choice(weights=range(10**12)),  # type: ignore[arg-type]
        lambda: random_catalog().session(model=Pairwise(views=range(10**12))),  # type: ignore[arg-type]
        lambda: Choice(slip=1.0),
        lambda: random_catalog().session(model="nearest"),
        lambda: random_catalog().session(model=Choice(weights=(1.0, 2.0))),
        lambda: random_catalog().session(model=Pairwise(views=("smell",))),
    ):
        with pytest.raises(seeker.SeekerError) as caught:
            bad()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "callable"])
@pytest.mark.parametrize("model", [Pairwise(), Bipartite(), Choice()], ids=lambda m: m.name)
def test_other_metrics_plug_in(metric: str, model: Model) -> None:
    def measured(query: Doubles, vectors: Doubles) -> Doubles:
        return np.asarray(np.abs(vectors - query).max(axis=1))

    catalog = random_catalog(120, metric=measured if metric == "callable" else metric)
    x = catalog.views["image"].vectors.astype(np.float64)
    measures: dict[str, Callable[[Doubles, Doubles], float]] = {
        "cosine": lambda a, b: ((a - b) ** 2).sum(),
        "manhattan": lambda a, b: np.abs(a - b).sum() ** 2,
        "callable": lambda a, b: np.abs(a - b).max() ** 2,
    }
    raw = measures[metric]
    d = np.array([[raw(a, b) for b in x] for a in x])
    d /= d.mean()
    assert catalog.views["image"].scale == pytest.approx(
        np.mean([[raw(a, b) for b in x] for a in x]), rel=1e-6
    )
    session = catalog.session(model=model)
    rate(session, 4, 3)
    ratings = list(session.state.ratings.values())
    likes = d[[catalog.row(one.item) for one in ratings if one.liked]]
    dislikes = d[[catalog.row(one.item) for one in ratings if not one.liked]]
    if isinstance(model, Pairwise):
        expected = reference.pairwise(likes, dislikes, d.mean(axis=0), 1.0)
    elif isinstance(model, Bipartite):
        expected = reference.bipartite(likes, dislikes, d.mean(axis=0), 1.0, 1.0)
    else:
        clicks = [
            (catalog.row(one.item), one.liked, [catalog.row(k) for k in one.among])
            for one in ratings
        ]
        expected = reference.choice([d], clicks, np.ones((1, 1)), Choice().sigmas, 0.05)
    expected = expected - np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-4)
    assert len(set(session.more(0, 120).ids)) == 120


def test_cosine_sees_directions_only() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 6))
    ids = [str(n) for n in range(80)]
    one = Catalog.from_arrays(ids, {"x": x}, metric="cosine").session()
    other = Catalog.from_arrays(
        ids, {"x": x * rng.uniform(1, 9, (80, 1))}, metric="cosine"
    ).session()
    for session in (one, other):
        rate(session, 3, 3)
    np.testing.assert_allclose(
        one.belief.log_posterior, other.belief.log_posterior, rtol=0, atol=1e-4
    )


def test_the_view_that_explains_the_clicks_gains_weight() -> None:
    catalog = random_catalog(400, dims=(16, 16))
    session = catalog.session(model="choice")
    target = 17
    d = reference.distances(catalog.views["colour"].vectors, [target])[0]
    rng = np.random.default_rng(0)
    for _ in range(8):
        rows = rng.choice(400, 12, replace=False)
        shown = [catalog.ids[row] for row in rows]
        session.like(catalog.ids[rows[np.argmin(d[rows])]], shown)
    views = session.belief.views
    assert views["colour"] > 0.8
    assert sum(views.values()) == pytest.approx(1.0)
    noise = session.belief.noise
    assert noise is not None
    assert 0.05 <= noise < 0.4


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6))
def test_any_likes_and_dislikes_match_the_formula(seed: int, likes: int, dislikes: int) -> None:
    session = random_catalog(90, dims=(5, 11), seed=seed % 7).session()
    rate(session, likes, dislikes, seed)
    np.testing.assert_allclose(session.belief.log_posterior, twin(session), rtol=0, atol=1e-4)
