"""A bench: one file with a catalog's views and with what simulated people see in it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from seeker.catalog import Catalog
from seeker.catalog.attributes import common_kind, fit_kind, kind_of
from seeker.catalog.build.fit_attributes import AttributeFit, fit_attributes
from seeker.catalog.build.plan import ATTRIBUTES_VIEW
from seeker.embedders.attributes import AttributesEmbedder
from seeker.errors import BadInput, NotFound
from seeker.lab.cli import LabCommand
from seeker.lab.perception import Crowd, Perception, Sense, distort
from seeker.lab.senses import LAYOUT_NUMBERS, colour_names
from seeker.types import Array, Floats

PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})

EYES: dict[str, dict[str, float]] = {
    "larger": {"deep": 0.6, "layout": 0.6, "label": 0.5},
    "strange": {"deep": 0.6, "histogram": 0.6, "label": 0.5},
    "handmade": {"edges": 0.6, "histogram": 0.6, "label": 0.5},
    "outline": {"edges": 0.6, "label": 0.5},
    "differing": {"deep": 0.6, "layout": 0.6, "label": 0.5},
}
"""Mixtures of senses that people may see with: the weight of each; differing: of their own."""

CROWD = 12
"""How many people with different eyes there are."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A catalog and senses, (items, d) or labels (items,), with which people see it."""

    catalog: Catalog
    senses: Mapping[str, Array]

    def perception(self, eyes: str = "larger", noise: float = 0.15) -> Perception:
        """Return what people see: a named mixture, or 'distorted' views where nothing else is."""
        if eyes == "distorted" or not self.senses:
            return Perception(self._distorted_senses(), noise)
        if eyes not in EYES:
            raise NotFound(
                f"There are no eyes called {eyes!r}.", f"Use one of {[*EYES, 'distorted']}."
            )
        missing = [name for name in EYES[eyes] if name not in self.senses]
        if missing:
            raise NotFound(
                f"The bench has no sense {missing[0]!r}.", f"It has {sorted(self.senses)}."
            )
        senses = [Sense(name, self.senses[name], weight) for name, weight in EYES[eyes].items()]
        return Crowd(senses, CROWD, noise) if eyes == "differing" else Perception(senses, noise)

    def _distorted_senses(self) -> list[Sense]:
        views = {name: view.vectors for name, view in self.catalog.views.items()}
        labels = [Sense(n, v, 0.5) for n, v in self.senses.items() if v.ndim == 1]
        return [*distort(views, seed=0), *labels]

    def with_views(self, views: Sequence[str]) -> Bench:
        """Return the same bench with some of the catalog's views."""
        unknown = [name for name in views if name not in self.catalog.views]
        if unknown:
            raise NotFound(
                f"There is no view '{unknown[0]}'.", f"The catalog has {list(self.catalog.views)}."
            )
        arrays = _view_arrays(self.catalog, views)
        return Bench(_make_catalog(self.catalog.ids, arrays, self.senses), self.senses)

    def with_axes(self, axes: int) -> Bench:
        """Return a bench whose views keep only their first principal axes, to be faster."""
        views = {}
        for name, view in self.catalog.views.items():
            centred = view.vectors.astype(np.float64) - view.mean
            main = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :axes]
            views[name] = ((centred @ main).astype(np.float32), "euclidean")
        return Bench(_make_catalog(self.catalog.ids, views, self.senses), self.senses)

    def sample(self, count: int, seed: int = 0) -> Bench:
        """Return a bench with this many items drawn evenly."""
        if count >= len(self.catalog):
            return self
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(len(self.catalog), count, replace=False))
        views = {
            name: (vectors[rows], metric)
            for name, (vectors, metric) in _view_arrays(
                self.catalog, list(self.catalog.views)
            ).items()
        }
        ids = [self.catalog.ids[row] for row in rows]
        senses = {name: values[rows] for name, values in self.senses.items()}
        return Bench(_make_catalog(ids, views, senses), senses)


def open_bench(path: Path, metric: str | None = None, attributes: bool = False) -> Bench:
    """Open a bench file (.npz), or a catalog folder, whose people then see distorted views.

    metric: instead of the views' own; only a bench file holds vectors as they were before.
    attributes: with the view of what a bench's table says of items; a catalog has it anyway.
    """
    if path.is_dir():
        catalog = Catalog.open(path)
        if all(view.vectors.dtype == np.float32 for view in catalog.views.values()):
            return Bench(catalog, {})
        # Baselines and eyes compute with plain vectors: those that a compact view stands for.
        plain = _view_arrays(catalog, list(catalog.views))
        return Bench(_make_catalog(catalog.ids, plain, {}), {})
    if path.suffix != ".npz" or not path.exists():
        raise NotFound(
            f"'{path}' is neither a catalog nor a bench file.",
            "Give a catalog folder, or an .npz file made with `python -m seeker.lab.bench`.",
        )
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    if "ids" not in arrays:
        raise BadInput(f"The file '{path}' is not a bench: it holds no ids.")
    views = {
        name: (vectors, metric or str(arrays[f"metric:{name}"]))
        for name, vectors in _with_prefix(arrays, "view:").items()
    }
    if attributes:
        if ATTRIBUTES_VIEW not in arrays:
            raise NotFound(
                f"The bench '{path}' has no view of attributes.",
                "Make it again with a table: `python -m seeker.lab.bench PICTURES OUT TABLE`.",
            )
        views[ATTRIBUTES_VIEW] = (arrays[ATTRIBUTES_VIEW], "euclidean")
    senses = _with_prefix(arrays, "sense:")
    return Bench(_make_catalog(arrays["ids"].tolist(), views, senses), senses)


_PICTURES_AT_A_TIME = 256


def make_bench(pictures: Path, table: Path | None, out: Path) -> list[str]:
    """Make a bench file from a folder of pictures and a table with the columns image and label.

    Its views are `image` and `colour`; the view that a build would make of the table is kept beside
    them. Return what that was made of, in sentences.
    """
    from tqdm import tqdm

    from seeker import embedders
    from seeker.embedders.pictures import open_picture
    from seeker.lab.senses import handmade_features, larger_network

    files = sorted(file for file in pictures.iterdir() if file.suffix.lower() in PICTURE_SUFFIXES)
    if not files:
        raise NotFound(f"There are no pictures in '{pictures}'.")
    rows = {} if table is None else _read_rows(table)
    see = larger_network()  # first of all, for its package may be missing
    views = {name: embedders.named(name) for name in ("image", "colour")}
    parts: dict[str, list[Array]] = {}
    with tqdm(total=len(files), unit=" pictures", disable=None, dynamic_ncols=True) as bar:
        for start in range(0, len(files), _PICTURES_AT_A_TIME):
            some = files[start : start + _PICTURES_AT_A_TIME]
            opened = [open_picture(file) for file in some]
            seen: dict[str, Array] = {
                **{f"view:{name}": one.embed(opened) for name, one in views.items()},
                **{f"sense:{name}": one for name, one in handmade_features(some).items()},
                "sense:deep": see(some),
            }
            for name, vectors in seen.items():
                parts.setdefault(name, []).append(vectors)
            bar.update(len(some))
    arrays: dict[str, Array] = {
        "ids": np.array([file.stem for file in files]),
        **{name: np.concatenate(of_name) for name, of_name in parts.items()},
        **{f"metric:{name}": np.array(one.metric) for name, one in views.items()},
    }
    notes = []
    if table is not None:
        said = [rows.get(file.stem, {}) for file in files]
        arrays["sense:label"] = np.array([one.get("label") or "" for one in said])
        fit, said_vectors = attribute_vectors(arrays["ids"].tolist(), said)
        if said_vectors is not None:
            arrays[ATTRIBUTES_VIEW] = said_vectors
        notes = fit.lines("attributes")
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return notes


def attribute_vectors(
    ids: Sequence[str], said: Sequence[Mapping[str, str | None]]
) -> tuple[AttributeFit, Floats | None]:
    """Return what a build makes of a table's cells, and the vectors of that view, (items, d)."""
    names = list(dict.fromkeys(name for one in said for name in one))
    cells = [{name: one[name] or None for name in one} for one in said]
    kinds = {
        name: common_kind({kind for one in cells if (kind := kind_of(one.get(name), loose=True))})
        for name in names
        if any(one.get(name) for one in cells)
    }
    items = [
        {name: fit_kind(name, one.get(name), kind, loose=True) for name, kind in kinds.items()}
        for one in cells
    ]
    fit = fit_attributes(items, kinds)
    if fit.encoding is None:
        return fit, None
    return fit, AttributesEmbedder(fit.encoding).embed(list(zip(ids, items, strict=True)))


def _with_prefix(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _read_rows(table: Path) -> dict[str, dict[str, str | None]]:
    """Return by picture what a table says of it."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if not {"image", "label"} <= set(rows.fieldnames or ()):
            raise BadInput(f"The table '{table}' must have the columns image and label.")
        columns = [name for name in rows.fieldnames or () if name != "image"]
        return {row["image"]: {name: row[name] for name in columns} for row in rows}


def _view_arrays(catalog: Catalog, views: Sequence[str]) -> dict[str, tuple[Array, str]]:
    return {
        name: (
            view.vectors
            if view.vectors.dtype == np.float32
            else view.rows(slice(None)).astype(np.float32),
            str(view.metric),
        )
        for name, view in ((name, catalog.views[name]) for name in views)
    }


def _make_catalog(
    ids: Sequence[str], views: Mapping[str, tuple[Array, str]], senses: Mapping[str, Array]
) -> Catalog:
    """Return a catalog with attributes for the words that people say: its labels and colours."""
    words = {"label": senses["label"].tolist()} if "label" in senses else {}
    if "layout" in senses and senses["layout"].shape[1] == LAYOUT_NUMBERS:
        words["colour"] = colour_names(senses["layout"])
    return Catalog.from_arrays(
        ids,
        {name: vectors for name, (vectors, _) in views.items()},
        attributes=words or None,
        metric={name: metric for name, (_, metric) in views.items()},  # type: ignore[misc]
    )


@click.command(cls=LabCommand)
@click.argument("pictures", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.argument(
    "table", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
def main(pictures: Path, out: Path, table: Path | None) -> None:
    """Make the bench file OUT of a folder of PICTURES and a TABLE (image, label and others)."""
    for line in make_bench(pictures, table, out):
        click.echo(line)
    click.echo(f"Wrote {out}.")


if __name__ == "__main__":
    main()
