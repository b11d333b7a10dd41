"""Qdrant, twice: the local mode of its Python client, and the engine embedded in this process.

Qdrant has questions for likes and dislikes of its own: the best score, the sum of scores, and
context pairs (the first like with the first dislike, and so on). The embedded engine leaves the
averaging of vectors to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.contest.base import PAGE, Contestant, Round, Way, average
from benchmarks.datasets import Vectors

BATCH = 2_000
GRAPH_DEGREE = 16
BUILD_EFFORT = 128
EFFORT = 128
NEVER = 2**40
"""Kilobytes below which no graph is made."""


class Local(Contestant):
    """The local mode of qdrant-client: numpy behind the interface of the server; always exact."""

    name = "qdrant-client local"
    packages = ("qdrant-client",)
    copies = True

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Upload all vectors."""
        import warnings

        from qdrant_client import QdrantClient, models

        warnings.simplefilter("ignore", UserWarning)  # it warns of collections as large as ours
        client = QdrantClient(":memory:")
        parameters = models.VectorParams(size=vectors.shape[1], distance=models.Distance.EUCLID)
        client.create_collection("items", vectors_config=parameters)
        client.upload_collection("items", vectors=vectors, ids=range(len(vectors)))

        def ask(query: Any) -> list[int]:
            return [int(one.id) for one in client.query_points("items", query, limit=PAGE).points]

        def recommended(strategy: Any) -> Callable[[Round], Any]:
            return lambda round: models.RecommendQuery(
                recommend=models.RecommendInput(
                    positive=vectors[round.likes].tolist(),
                    negative=vectors[round.dislikes].tolist(),
                    strategy=strategy,
                )
            )

        def context(round: Round) -> Any:
            likes, dislikes = vectors[round.likes].tolist(), vectors[round.dislikes].tolist()
            pairs = [
                models.ContextPair(positive=like, negative=dislike)
                for like, dislike in zip(likes, dislikes, strict=True)
            ]
            return models.ContextQuery(context=pairs)

        strategies = models.RecommendStrategy
        yield (
            "upload",
            [
                Way("average_vector", True, ask, recommended(strategies.AVERAGE_VECTOR)),
                Way("best_score", True, ask, recommended(strategies.BEST_SCORE)),
                Way("context", True, ask, context),
            ],
        )


class Embedded(Contestant):
    """Qdrant's engine in this process (qdrant-edge-py): exact, then with a graph."""

    name = "Qdrant embedded"
    packages = ("qdrant-edge-py",)
    copies = True

    def stages(self, vectors: Vectors, folder: Path) -> Iterator[tuple[str, list[Way]]]:
        """Upload all vectors; then make the graph."""
        import qdrant_edge as edge

        where = folder / "shard"
        where.mkdir()
        shard = edge.EdgeShard.create(str(where), self._config(vectors.shape[1], NEVER))
        for start in range(0, len(vectors), BATCH):
            points = [
                edge.Point(start + place, row)
                for place, row in enumerate(vectors[start : start + BATCH].tolist())
            ]
            shard.update(edge.UpdateOperation.upsert_points(points))
        shard.flush()
        shard.optimize()
        exact = self._ways(lambda: shard, vectors, True)
        yield "upload", exact

        shard.close()
        shard = edge.EdgeShard.load(str(where), self._config(vectors.shape[1], 1))
        shard.optimize()
        yield "graph", self._ways(lambda: shard, vectors, False)

    @staticmethod
    def _config(dimensions: int, indexed_from: int) -> Any:
        import qdrant_edge as edge

        return edge.EdgeConfig(
            vectors=edge.EdgeVectorParams(dimensions, edge.Distance.Euclid),
            hnsw_config=edge.HnswIndexConfig(GRAPH_DEGREE, BUILD_EFFORT, 1),
            optimizers=edge.EdgeOptimizersConfig(
                default_segment_number=1, indexing_threshold=indexed_from
            ),
        )

    @staticmethod
    def _ways(shard: Callable[[], Any], vectors: Vectors, exact: bool) -> list[Way]:
        import qdrant_edge as edge

        def asked(exactly: bool) -> Callable[[Any], list[int]]:
            parameters = edge.SearchParams(hnsw_ef=EFFORT, exact=exactly)

            def ask(query: Any) -> list[int]:
                request = edge.QueryRequest(limit=PAGE, query=query, params=parameters)
                return [int(one.id) for one in shard().query(request)]

            return ask

        def nearest(round: Round) -> Any:
            return edge.Query.Nearest(average(vectors, round).tolist())

        def recommended(question: Any) -> Callable[[Round], Any]:
            return lambda round: question(
                edge.RecommendQuery(vectors[round.likes].tolist(), vectors[round.dislikes].tolist())
            )

        def context(round: Round) -> Any:
            likes, dislikes = vectors[round.likes].tolist(), vectors[round.dislikes].tolist()
            return edge.Query.Context(
                edge.ContextQuery(
                    [edge.ContextPair(*pair) for pair in zip(likes, dislikes, strict=True)]
                )
            )

        questions = {
            "averaged vector": nearest,
            "best_score": recommended(edge.Query.RecommendBestScore),
            "sum_scores": recommended(edge.Query.RecommendSumScores),
            "context": context,
        }
        kind = "" if exact else ", HNSW"
        return [
            Way(
                name + kind,
                exact,
                asked(exact),
                question,
                None if exact else lambda round, q=question: asked(True)(q(round)),  # type: ignore[misc]
            )
            for name, question in questions.items()
        ]
