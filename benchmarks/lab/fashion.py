"""A bench of 70,000 small grey pictures (fashion-MNIST) from its .npz file.

python -P benchmarks/lab/fashion.py fashion-mnist.npz fashion.npz
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from seeker.errors import BadInput
from seeker.lab.cli import LabCommand
from seeker.types import Array, Doubles, Floats

AXES = 64
_CHUNK_ITEMS = 4096


def make_bench(source: Path, out: Path) -> None:
    """Make a bench: the system sees principal axes of the pixels, people see edges and labels.

    source: a file with `images`, (items, 28, 28) uint8, and `labels`, (items,).
    """
    with np.load(source, allow_pickle=False) as file:
        if not {"images", "labels"} <= set(file.files):
            raise BadInput(f"The file '{source}' does not hold images and labels.")
        images, labels = file["images"], file["labels"]
    arrays: dict[str, Array] = {
        "ids": np.array([f"{place:05d}" for place in range(len(images))]),
        "view:image": principal_axes(images),
        "metric:image": np.array("euclidean"),
        "sense:edges": edge_histograms(images),
        "sense:label": np.array([str(label) for label in labels]),
    }
    np.savez(out, **arrays)  # type: ignore[arg-type]


def principal_axes(images: Array) -> Floats:
    """Return pictures along the principal axes of their pixels, (items, 64) float32."""
    pixels = images.reshape(len(images), -1).astype(np.float32) / np.float32(255.0)
    centred = pixels - pixels.mean(axis=0)
    sample = centred[:: max(1, len(centred) // 20_000)].astype(np.float64)
    axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1][:, :AXES]
    return np.asarray(centred @ axes.astype(np.float32), np.float32)


def edge_histograms(images: Array) -> Floats:
    """Return the directions of edges in 7 × 7 fields of 4 × 4 pixels, (items, 392) float32."""
    histograms = np.empty((len(images), 392), np.float32)
    for start in range(0, len(images), _CHUNK_ITEMS):
        light = images[start : start + _CHUNK_ITEMS].astype(np.float64) / 255.0
        down, across = np.gradient(light, axis=(1, 2))
        strength = np.hypot(across, down)
        direction = (np.arctan2(down, across) % np.pi / np.pi * 8).astype(np.int64) % 8
        fields: Doubles = np.zeros((len(light), 7, 7, 8))
        for turn in range(8):
            part = np.where(direction == turn, strength, 0.0)
            fields[..., turn] = part.reshape(len(light), 7, 4, 7, 4).sum(axis=(2, 4))
        flat = fields.reshape(len(light), -1)
        histograms[start : start + _CHUNK_ITEMS] = np.sqrt(
            flat / (flat.sum(axis=1, keepdims=True) + 1e-9)
        )
    return histograms


@click.command(cls=LabCommand)
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
def main(source: Path, out: Path) -> None:
    """Make the bench file OUT of SOURCE, an .npz file with images and labels."""
    make_bench(source, out)
    click.echo(f"Wrote {out}.")


if __name__ == "__main__":
    main()
