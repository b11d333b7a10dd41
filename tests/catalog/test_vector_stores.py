"""Collections of vector databases are sources as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker.errors import BadInput

COUNT = 300
"""More than are asked for at once."""
LOOKS = np.random.default_rng(0).normal(size=(COUNT, 4)).astype(np.float32)


def said(n: int) -> dict[str, Any]:
    more = {} if n % 3 else {"rare": "yes"}
    return {"title": f"thing {n}", "price": n % 7 + 0.5, "kind": "ab"[n % 2], **more}


def a_qdrant(place: Path) -> Any:
    from qdrant_client import QdrantClient  # not above: it takes more than a second
    from qdrant_client import models as qdrant

    client = QdrantClient(path=str(place / "qdrant"))
    sizes = {"looks": 4, "shape": 2}
    client.create_collection(
        "things",
        vectors_config={
            name: qdrant.VectorParams(size=size, distance=qdrant.Distance.EUCLID)
            for name, size in sizes.items()
        },
    )
    points = [
        qdrant.PointStruct(
            id=n, vector={"looks": LOOKS[n].tolist(), "shape": [n, 1.0]}, payload=said(n)
        )
        for n in range(COUNT)
    ]
    client.upsert("things", points)
    return client, "things"


def a_chroma(place: Path) -> Any:
    chroma = pytest.importorskip("chromadb", reason="its packages would double what tests install")
    collection = chroma.PersistentClient(str(place / "chroma")).create_collection("things")
    collection.add(
        ids=[str(n) for n in range(COUNT)],
        embeddings=LOOKS,
        metadatas=[said(n) for n in range(COUNT)],
        documents=[f"about {n}" for n in range(COUNT)],
    )
    return collection


def a_lance(place: Path) -> Any:
    lance = pytest.importorskip("lancedb", reason="a database of 60 MB that nothing else needs")
    rows = [{"id": str(n), "vector": LOOKS[n], "rare": None, **said(n)} for n in range(COUNT)]
    return lance.connect(str(place / "lance")).create_table("things", rows)


@pytest.mark.parametrize(
    ("make", "view"), [(a_qdrant, "looks"), (a_chroma, "vector"), (a_lance, "vector")]
)
def test_a_collection_is_a_source(tmp_path: Path, make: Callable[[Path], Any], view: str) -> None:
    catalog = seeker.build(make(tmp_path), tmp_path / "shop", views=[view])
    assert sorted(catalog.ids, key=int) == [str(n) for n in range(COUNT)]
    for n in (0, 1, COUNT - 1):
        item = catalog.item(str(n))
        expected = said(n)
        assert item.title == expected.pop("title")
        assert item.attributes == expected
        row = catalog.row(str(n))
        np.testing.assert_allclose(catalog.views[view].vectors[row], LOOKS[n], rtol=1e-6)
    assert catalog.session(seed=1).page().total == COUNT


def test_a_collection_can_change_a_catalog(tmp_path: Path) -> None:
    client, name = a_qdrant(tmp_path)
    catalog = seeker.build((client, name), tmp_path / "shop", views=["looks", "shape"])
    assert [*catalog.views] == ["looks", "shape"]
    client.set_payload(name, {"price": 99.0}, points=[3])
    client.delete(name, points_selector=[7])
    report = seeker.update(catalog, (client, name))
    assert (report.new, report.changed, report.unchanged, report.refused) == (0, 1, COUNT - 2, 0)
    assert report.catalog.item("3").attributes["price"] == 99.0
    assert "7" in report.catalog, "a source says nothing of what it does not have"


def test_what_is_no_collection_is_refused(tmp_path: Path) -> None:
    from qdrant_client import QdrantClient
    from qdrant_client import models as qdrant

    for wrong in ((1, "things"), ("x", "y"), object()):
        with pytest.raises(BadInput, match="is not a source"):
            seeker.build(wrong, tmp_path / "shop")
    client = QdrantClient(":memory:")
    client.create_collection(
        "empty", vectors_config=qdrant.VectorParams(size=2, distance=qdrant.Distance.DOT)
    )
    with pytest.raises(BadInput):
        seeker.build((client, "empty"), tmp_path / "shop")
