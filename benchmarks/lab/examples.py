"""A picture of one's own: how often a changed copy of a photo brings the photo to the first page.

    python -P benchmarks/lab/examples.py my-catalog photos --photos 300 --seed 0

my-catalog: a catalog built from the pictures in the folder photos. Of some photos by chance, a crop
(four fifths of each side, anywhere), a mirrored copy and a darker one (brightness 0.6) are given as
examples in sessions of their own; standard errors are those of shares.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from PIL import ImageEnhance, ImageOps
from PIL.Image import Image
from tqdm import tqdm

from seeker import Catalog
from seeker.embedders.pictures import FORMAT_SUFFIXES, open_picture

Change = Callable[[Image, np.random.Generator], Image]

CROP_SHARE = 0.8
DARKER = 0.6


def crop(picture: Image, rng: np.random.Generator) -> Image:
    """Return a part of a picture, anywhere in it."""
    wide, high = picture.size
    left, top = rng.uniform(0, 1 - CROP_SHARE, 2) * [wide, high]
    right, bottom = left + CROP_SHARE * wide, top + CROP_SHARE * high
    return picture.crop((int(left), int(top), int(right), int(bottom)))


CHANGES: dict[str, Change] = {
    "crop": crop,
    "flip": lambda picture, rng: ImageOps.mirror(picture),
    "darker": lambda picture, rng: ImageEnhance.Brightness(picture).enhance(DARKER),
}


@click.command()
@click.argument("catalog", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("photos", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--photos", "count", default=300, show_default=True, help="How many photos.")
@click.option("--seed", default=0, show_default=True)
def main(catalog: Path, photos: Path, count: int, seed: int) -> None:
    """Say how often the photo is on the first page, by kind of change."""
    opened = Catalog.open(catalog)
    files = {one.stem: one for one in photos.rglob("*") if one.suffix.lower() in FORMAT_SUFFIXES}
    ids = [item for item in opened.ids if Path(item).stem in files]
    rng = np.random.default_rng(seed)
    chosen = [ids[row] for row in rng.choice(len(ids), min(count, len(ids)), replace=False)]
    hits: dict[str, list[bool]] = {name: [] for name in CHANGES}
    for number, item in enumerate(tqdm(chosen, unit=" photos")):
        picture = open_picture(files[Path(item).stem])
        for name, change in CHANGES.items():
            session = opened.session(seed=number)
            session.like_example(change(picture, rng))
            hits[name].append(item in session.page().ids)
    click.echo(f"{len(opened):,} items, {len(chosen)} photos; on the first page of 12:")
    for name, found in hits.items():
        share = float(np.mean(found))
        error = np.sqrt(share * (1 - share) / len(found))
        click.echo(f"{name:>8}  {share:.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()
