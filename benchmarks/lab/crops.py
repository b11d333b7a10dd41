"""Does it help to look at the middle of photos once more? The thing, rather than what it lies on.

    python -P benchmarks/lab/crops.py clothing.npz clothing/images runs --targets 400 --seed 42

The view `image` as it is, and the sum of its vectors, of length one, with those of the middle of
each photo (three quarters of each side), searched by the same people for the same targets.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from tqdm import tqdm

from seeker.catalog import Catalog
from seeker.embedders import named
from seeker.embedders.pictures import open_picture
from seeker.lab.baselines import Seeker
from seeker.lab.bench import Bench, open_bench
from seeker.lab.cli import LabCommand
from seeker.lab.outcomes import Outcomes, make_outcomes
from seeker.lab.people import SIX
from seeker.lab.simulate import Experiment
from seeker.types import Array, Floats

SHARE = 0.75
BATCH = 32


def middle_vectors(ids: list[str], photos: Path) -> Floats:
    """Return what the `image` embedder sees in the middle of photos, (photos, d)."""
    embedder, vectors = named("image"), []
    border = (1.0 - SHARE) / 2.0
    for start in tqdm(range(0, len(ids), BATCH), unit=" batches"):
        middles = []
        for item in ids[start : start + BATCH]:
            picture = open_picture(photos / f"{item}.jpg")
            wide, high = picture.size
            box = (wide * border, high * border, wide * (1 - border), high * (1 - border))
            middles.append(picture.crop(tuple(map(int, box))))  # type: ignore[arg-type]
        vectors.append(embedder.embed(middles))
    return np.concatenate(vectors)


def unit(vectors: Array) -> Array:
    """Return vectors of length one, (n, d)."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def label_agreement(vectors: Array, labels: Array) -> float:
    """Return how often an item's nearest other has the same label."""
    near = vectors @ vectors.T
    np.fill_diagonal(near, -np.inf)
    return float(np.mean(labels == labels[near.argmax(axis=1)]))


def searches(outcomes: Outcomes) -> dict[tuple[str, str], tuple[float, float]]:
    """Return by person and task: whether it was found, and on which page."""
    places = range(len(outcomes))
    return {
        (outcomes.person[n], outcomes.task[n]): (outcomes.found[n], outcomes.steps[n])
        for n in places
    }


@click.command(cls=LabCommand)
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.argument("photos", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--targets", type=click.IntRange(1), default=60, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--axes", type=click.IntRange(1), default=128, show_default=True)
@click.option("--processes", type=click.IntRange(1), help="How many cores to use (default: all).")
def main(
    bench: Path,
    photos: Path,
    out: Path,
    targets: int,
    seed: int,
    axes: int,
    processes: int | None,
) -> None:
    """Compare both views of the photos of a bench file BENCH."""
    opened = open_bench(bench)
    ids, labels = list(opened.catalog.ids), opened.senses["label"]
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "middle.npy"
    if not kept.exists():
        np.save(kept, middle_vectors(ids, photos))
    whole = unit(opened.catalog.views["image"].vectors)
    views = {"as it is": whole, "with the middle": unit(whole + unit(np.load(kept)))}
    results = {}
    for name, image in views.items():
        colour = opened.catalog.views["colour"].vectors
        catalog = Catalog.from_arrays(ids, {"image": image, "colour": colour})
        small = Bench(catalog, opened.senses).with_axes(axes)
        eyes = opened.perception("larger")
        experiment = Experiment(
            small.catalog, eyes, {"Seeker": Seeker()}, SIX, targets, (12,), 15, (seed,)
        )
        rows = experiment.run(out / name.replace(" ", "-"), processes)
        mine = results[name] = searches(make_outcomes(rows))
        found, pages = np.mean(list(mine.values()), axis=0)
        before = results["as it is"]
        saved = np.array([np.subtract(mine[key], before[key]) for key in before])
        error = saved.std(axis=0, ddof=1) / np.sqrt(len(saved))
        click.echo(
            f"{name:>16}  label of the nearest {label_agreement(image, labels):.3f}  "
            f"found {found:.3f} ({saved[:, 0].mean():+.3f} ± {error[0]:.3f})  "
            f"pages {pages:.2f} ({saved[:, 1].mean():+.2f} ± {error[1]:.2f})"
        )


if __name__ == "__main__":
    main()
