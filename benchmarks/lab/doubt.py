"""How much an example is doubted beside words: what the target gets from one that is like it.

    python -P benchmarks/lab/doubt.py clothes clothing.npz --targets 30 --seed 7

clothes: the catalog of `benchmarks/words.py`; clothing.npz: the bench of the same photos. A session
begins with an item drawn among the 30 nearest of a target, as a larger network and the layout of
colours have it (`like=[item]`); then the target's label or colour is said, or a wrong label. Told
are the mean log-probability of the target and how often it is on the page, by doubt.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from tqdm import tqdm

from seeker import Catalog, Session
from seeker.lab.bench import open_bench
from seeker.session import Example
from seeker.types import Array, Doubles

DOUBTS = (0.0, 0.1, 0.3, 0.6, 1.0)
NEAREST = 30


@click.command()
@click.argument("catalog", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("bench", type=click.Path(exists=True, path_type=Path))
@click.option("--targets", default=30, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(catalog: Path, bench: Path, targets: int, seed: int) -> None:
    """Say what doubts do, with the items of CATALOG and the senses of BENCH."""
    opened, senses = Catalog.open(catalog), open_bench(bench)
    ids, items = [*opened.ids], opened.items(range(len(opened)))
    places = {Path(item).stem: place for place, item in enumerate(senses.catalog.ids)}
    rows = np.array([places[item] for item in ids])
    deep = senses.senses["deep"][rows]
    seen = [
        deep / np.linalg.norm(deep, axis=1, keepdims=True),
        senses.senses["layout"][rows],
    ]
    labels = sorted({str(item.attributes["label"]) for item in items})
    rng = np.random.default_rng(seed)
    told: dict[tuple[float, str], list[tuple[float, bool]]] = {}
    for _ in tqdm(range(targets), unit=" targets"):
        target = int(rng.integers(len(ids)))
        order = np.argsort(sum(_distances(one, target) for one in seen))
        near = order[order != target][rng.integers(NEAREST)]
        label = str(items[target].attributes["label"])
        other = labels.index(label) + 1 + int(rng.integers(len(labels) - 1))
        words = {
            "label": label.lower(),
            "colour": f"in {items[target].attributes['colour']}",
            "wrong label": labels[other % len(labels)].lower(),
        }
        start, example = opened.session(seed=1, like=[ids[near]]).events
        assert isinstance(example, Example)
        for kind, said in words.items():
            for doubt in DOUBTS:
                how = replace(example.comparison, doubt=doubt)
                session = Session.replay(opened, [start, replace(example, comparison=how)])
                session.say(said)
                score = float(session.belief.log_posterior[target])
                told.setdefault((doubt, kind), []).append(
                    (score, ids[target] in session.page().ids)
                )
    for (doubt, kind), results in told.items():
        score, found = np.mean(results, axis=0)
        click.echo(f"doubt {doubt:.1f}  {kind:<11}  {score:7.3f}  on the page {found:.3f}")


def _distances(vectors: Array, row: int) -> Doubles:
    """Return squared distances of all items to one, in units of their mean, (items,)."""
    spread = 2.0 * ((vectors - vectors.mean(axis=0)) ** 2).sum(axis=1).mean()
    return np.asarray(((vectors - vectors[row]) ** 2).sum(axis=1) / spread)


if __name__ == "__main__":
    main()
