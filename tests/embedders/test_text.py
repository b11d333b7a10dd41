"""The `text` embedder: meanings that are near, and vectors that depend on their text alone."""

from __future__ import annotations

import numpy as np
import pytest

from seeker.embedders import named
from seeker.embedders.base import Embedder
from seeker.errors import BadInput


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return named("text")


def test_what_means_the_same_is_near(embedder: Embedder) -> None:
    cat, kitten, money, market = embedder.embed(
        [
            "a cat sits on the mat",
            "A kitten is resting on a rug.",
            "the share prices fell sharply",
            "a crash of the stock market",
        ]
    )
    assert cat @ kitten > cat @ money + 0.4
    assert money @ market > kitten @ market + 0.3


def test_vectors_have_length_one_and_are_those_of_the_published_model(embedder: Embedder) -> None:
    vectors = embedder.embed(["That is a happy person", "That is a very happy person"])
    assert vectors.shape == (2, embedder.dimensions) == (2, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    # The full-precision model gives 0.943 for this pair, which its page has as an example.
    assert vectors[0] @ vectors[1] == pytest.approx(0.943, abs=0.01)


def test_a_vector_depends_on_its_text_alone(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["red", "a long red dress with sleeves", "x " * 300, "", "naïve café ☕", "日本"]
    together = embedder.embed(texts)
    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in texts]))
    assert np.array_equal(together, embedder.embed(texts[::-1])[::-1])
    assert np.isfinite(together).all()
    assert np.array_equal(together, embedder.embed_text(texts))
    for cores in (1, 5):
        monkeypatch.setattr("seeker.embedders.onnx.cores", lambda cores=cores: cores)
        assert np.array_equal(together, embedder.embed(texts))


def test_case_and_accents_do_not_matter(embedder: Embedder) -> None:
    plain, marked = embedder.embed(["cafe creme", "Café Crème"])
    assert np.array_equal(plain, marked)


def test_only_the_beginning_of_a_very_long_text_is_read(embedder: Embedder) -> None:
    beginning = "striped shirt " * 200
    long, longer = embedder.embed([beginning, beginning + "banana " * 2_000_000])
    assert np.array_equal(long, longer)


def test_nothing_gives_no_vectors_and_wrong_things_are_refused(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 384)
    with pytest.raises(BadInput, match="single text"):
        embedder.embed("one text")
    with pytest.raises(BadInput, match="was given None"):
        embedder.embed(["one", None])
