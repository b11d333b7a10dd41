"""All that searches, under one contract, on data whose answer is known; Qdrant beside itself."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.lab.variants import NOISES, VARIANTS, most_telling
from seeker import Catalog, models
from seeker.lab.baselines import (
    BASELINES,
    AverageVector,
    Baseline,
    BestScore,
    Chance,
    Context,
    Discovery,
    Feedback,
    NoFeedback,
    PicHunter,
    Searcher,
    Seeker,
    SOMHunter,
    SubPerceptions,
    SumScores,
)
from seeker.lab.baselines.base import joint_space
from seeker.types import Rows
from support.catalogs import random_catalog

SEARCHERS: tuple[Searcher, ...] = (*BASELINES, Seeker(), Seeker(models.Pairwise()))
LISTENING = [s for s in SEARCHERS if not isinstance(s, NoFeedback | Chance)]
by_name = pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda s: s.settings()["name"])


@pytest.fixture(scope="module")
def clusters() -> Catalog:
    """Ten well separated clusters of 20 items each, item by item in turn."""
    rng = np.random.default_rng(0)
    centres = 4.0 * rng.normal(size=(10, 8))
    vectors = np.concatenate([centres] * 20) + 0.3 * rng.normal(size=(200, 8))
    return Catalog.from_arrays([f"{n}" for n in range(200)], {"image": vectors})


def judged(page: Rows, cluster: int) -> Feedback:
    inside = [int(row) for row in page if row % 10 == cluster]
    outside = [int(row) for row in page if row % 10 != cluster]
    return Feedback(tuple(inside[:2]), tuple(outside[:2]), tuple(map(int, page)))


@by_name
def test_pages_are_full_new_and_the_same_for_the_same_seed(
    searcher: Searcher, clusters: Catalog
) -> None:
    runs = []
    for _ in range(2):
        search, pages = searcher.begin(clusters, 12, 7), []
        for _ in range(4):
            page = search.page()
            pages.append(page.tolist())
            search.feedback(judged(page, 3))
        runs.append(pages)
    assert runs[0] == runs[1]
    shown = [row for page in runs[0] for row in page]
    assert len(set(shown)) == 48


@by_name
def test_every_searcher_begins_with_the_same_page(searcher: Searcher, clusters: Catalog) -> None:
    first = Seeker().begin(clusters, 12, 5).page()
    np.testing.assert_array_equal(searcher.begin(clusters, 12, 5).page(), first)


@pytest.mark.parametrize("searcher", LISTENING, ids=lambda s: s.settings()["name"])
def test_who_listens_ranks_the_like_of_the_liked_higher(
    searcher: Searcher, clusters: Catalog
) -> None:
    for seed in range(5):
        search = searcher.begin(clusters, 12, seed)
        cluster = int(search.page()[0]) % 10
        search.feedback(judged(search.page(), cluster))
        scores = search.scores()
        assert scores.shape == (200,)
        mine = np.arange(200) % 10 == cluster
        assert scores[mine].mean() > scores[~mine].mean()


@by_name
def test_undo_brings_back_the_scores_from_before(searcher: Searcher, clusters: Catalog) -> None:
    search = searcher.begin(clusters, 12, 1)
    search.feedback(judged(search.page(), 2))
    before = search.scores().copy()
    search.feedback(judged(search.page(), 5))
    search.undo()
    np.testing.assert_allclose(search.scores(), before)


@by_name
def test_a_page_without_clicks_is_followed_by_another(
    searcher: Searcher, clusters: Catalog
) -> None:
    search = searcher.begin(clusters, 12, 1)
    first = search.page().tolist()
    search.feedback(Feedback((), (), tuple(first)))
    assert not set(first) & set(search.page().tolist())


@pytest.mark.parametrize(
    "searcher", [SOMHunter(), PicHunter(), SubPerceptions(), Seeker()], ids=lambda s: s.name
)
def test_claims_are_probabilities(searcher: Searcher, clusters: Catalog) -> None:
    search = searcher.begin(clusters, 12, 1)
    assert search.on_page() == pytest.approx(12 / 200)
    search.feedback(judged(search.page(), 2))
    assert 12 / 200 < search.on_page() <= 1.0


def test_dislikes_do_not_move_somhunter_but_do_move_seeker(clusters: Catalog) -> None:
    for searcher, moves in ((SOMHunter(), False), (Seeker(), True)):
        search = searcher.begin(clusters, 12, 1)
        page = tuple(search.page().tolist())
        search.feedback(Feedback((), (page[3],), page))
        assert bool(np.ptp(search.scores()) > 1e-6) == moves


def test_the_softmin_update_is_the_published_one(clusters: Catalog) -> None:
    space, shown = joint_space(clusters), (4, 17, 23, 61)
    scores = SOMHunter(sigma=0.2).values(space, (Feedback((17,), (), shown),))
    near = np.exp(-(1.0 - space.directions @ space.directions[list(shown)].T) / 0.2)
    expected = np.log(near[:, 1] / near.sum(axis=1))
    np.testing.assert_allclose(scores, expected - expected.max(), atol=1e-4)


def test_sub_perceptions_go_by_the_view_that_foretells_the_person() -> None:
    rng = np.random.default_rng(3)
    seen, unseen = rng.normal(size=(2, 300, 4))
    catalog = Catalog.from_arrays([f"{n}" for n in range(300)], {"a": seen, "b": unseen})
    search, target = SubPerceptions().begin(catalog, 12, 4), 123
    for _ in range(4):
        page = search.page()
        order = page[np.argsort(((seen[page] - seen[target]) ** 2).sum(axis=1))].tolist()
        search.feedback(Feedback((order[0],), (order[-1],), tuple(page.tolist())))
    likely = np.argsort(-search.scores())[:10]
    near = ((seen[likely] - seen[target]) ** 2).sum(axis=1).mean()
    assert near < 0.5 * ((seen - seen[target]) ** 2).sum(axis=1).mean()
    other = ((unseen[likely] - unseen[target]) ** 2).sum(axis=1).mean()
    assert other > 0.5 * ((unseen - unseen[target]) ** 2).sum(axis=1).mean()


# Qdrant's own local mode on the same vectors -------------------------------------------------


def qdrant_order(
    catalog: Catalog, baseline: Baseline, likes: list[int], dislikes: list[int]
) -> list[int]:
    """Return the order in which qdrant-client's local mode ranks what is not an example."""
    client_module = pytest.importorskip("qdrant_client")
    q = client_module.models
    client = client_module.QdrantClient(":memory:")
    vectors = joint_space(catalog).vectors.astype(np.float64)
    client.create_collection(
        "items",
        vectors_config=q.VectorParams(size=vectors.shape[1], distance=q.Distance.COSINE),
    )
    points = [q.PointStruct(id=n, vector=vector.tolist()) for n, vector in enumerate(vectors)]
    client.upsert("items", points)
    pairs = [q.ContextPair(positive=i, negative=j) for i in likes for j in dislikes]
    if isinstance(baseline, Context):
        query = q.ContextQuery(context=pairs)
    elif isinstance(baseline, Discovery):
        query = q.DiscoverQuery(discover=q.DiscoverInput(target=likes[-1], context=pairs))
    else:
        strategy = q.RecommendStrategy(baseline.name.removeprefix("Qdrant "))
        query = q.RecommendQuery(
            recommend=q.RecommendInput(positive=likes, negative=dislikes, strategy=strategy)
        )
    answer = client.query_points("items", query=query, limit=len(catalog))
    client.close()
    return [point.id for point in answer.points]


@pytest.mark.parametrize(
    "baseline",
    [AverageVector(), BestScore(), SumScores(), Context(), Discovery()],
    ids=lambda baseline: baseline.name,
)
def test_our_qdrant_ranks_as_qdrant_does(baseline: Baseline) -> None:
    catalog = random_catalog(items=120, dims=(12,), seed=4)
    rng = np.random.default_rng(8)
    for _ in range(3):
        examples = [int(row) for row in rng.choice(120, 5, replace=False)]
        likes, dislikes = examples[:2], examples[2:]
        theirs = qdrant_order(catalog, baseline, likes, dislikes)
        feedback = Feedback(tuple(likes), tuple(dislikes), tuple(examples))
        ours = baseline.values(joint_space(catalog), (feedback,))
        ranked = ours[theirs]
        # Equal scores may come in any order, so the scores along their order must only not rise.
        assert np.all(np.diff(ranked) <= 2e-6)
        assert set(theirs) >= set(range(120)) - set(examples)


@pytest.mark.parametrize("name", sorted({*VARIANTS, *NOISES}))
def test_every_variant_searches_new_items(name: str, two_views: Catalog) -> None:
    search, shown = {**VARIANTS, **NOISES}[name].begin(two_views, 12, 3), []
    for _ in range(3):
        page = search.page()
        shown += page.tolist()
        search.feedback(Feedback((int(page[1]),), (int(page[5]),), tuple(page.tolist())))
        assert np.isfinite(search.scores()).all()
    assert len(set(shown)) == 36


def test_the_most_telling_items_split_the_candidates() -> None:
    # Two groups of targets; items 0 and 1 draw clicks from one group each, 2 and 3 from neither.
    near = np.array([[9.0, 9.0, 0.1, 0.1], [0.1, 0.1, 9.0, 9.0], [1.0] * 4, [1.0] * 4])
    assert set(most_telling(near, np.full(4, 0.25), 2).tolist()) == {0, 1}
