"""Draws the pictures of the explanations: real sessions on small catalogs, and measurements.

    python docs/make/pictures.py            # writes docs/explanation/*.svg

Everything is seeded: the same Seeker draws the same pictures.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import seeker
from seeker import Catalog, Session
from seeker.display import Greedy
from seeker.models import Choice, Pairwise

matplotlib.use("Agg")
from matplotlib import pyplot

OUT = Path(__file__).parent.parent / "explanation"
LIKED, DISLIKED, SHOWN, TARGET = "#2a8c4a", "#c0392b", "#1f5fbf", "black"


def plane(items: int = 500, seed: int = 2) -> tuple[Catalog, Any]:
    """Return a catalog of points in clusters, and the points, (items, 2)."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-2.2, 2.2, size=(9, 2))
    points = middles[rng.integers(9, size=items)] + 0.45 * rng.normal(size=(items, 2))
    return Catalog.from_arrays([str(n) for n in range(items)], {"plane": points}), points


def closest(points: Any, ids: list[str], target: int) -> str:
    """Return the item of a page that is nearest to the target."""
    rows = [int(one) for one in ids]
    return str(rows[int(np.argmin(((points[rows] - points[target]) ** 2).sum(axis=1)))])


def farthest(points: Any, ids: list[str], target: int) -> str:
    """Return the item of a page that is farthest from the target."""
    rows = [int(one) for one in ids]
    return str(rows[int(np.argmax(((points[rows] - points[target]) ** 2).sum(axis=1)))])


def show(axis: Any, points: Any, session: Session, target: int, title: str) -> None:
    """Draw items by how probable they are, the page, the clicks and the target."""
    belief = session.belief.log_posterior
    order = np.argsort(belief)
    shade = np.clip((belief - belief.max()) / 8.0 + 1.0, 0.05, 1.0)
    axis.scatter(*points[order].T, c=shade[order], cmap="Oranges", vmin=0, vmax=1.1, s=12)
    page = [int(one) for one in session.page().ids]
    axis.scatter(*points[page].T, s=60, facecolors="none", edgecolors=SHOWN, linewidths=1.2)
    for ids, colour, marker in ((session.likes, LIKED, "P"), (session.dislikes, DISLIKED, "X")):
        if ids:
            axis.scatter(*points[[int(one) for one in ids]].T, s=70, c=colour, marker=marker)
    axis.scatter(*points[target], s=150, facecolors="none", edgecolors=TARGET, marker="D")
    count = session.belief.candidates
    axis.set_title(f"{title}\nabout {count:.0f} candidates", fontsize=9)
    axis.set(xticks=[], yticks=[])


def converging() -> Any:
    """A search in four pages: what is believed after each click."""
    catalog, points = plane()
    target = 42
    session = catalog.session(seed=5)
    figure, axes = pyplot.subplots(1, 4, figsize=(12, 3.4))
    show(axes[0], points, session, target, "the first page covers the catalog")
    titles = ("one like", "a like and a dislike", "two likes and a dislike")
    for axis, title, liked in zip(axes[1:], titles, (True, False, True), strict=True):
        page = session.page().ids
        if liked:
            session.like(closest(points, page, target), shown=page)
        else:
            session.dislike(farthest(points, page, target), shown=page)
        show(axis, points, session, target, title)
    return figure


def field(model: Any) -> tuple[Any, Any]:
    """Return what one like out of twelve says about every place of the plane, and the page.

    The catalog is a fine grid of places with the page's items among them.
    """
    side = np.linspace(-2.5, 2.5, 90)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    page = np.random.default_rng(11).uniform(-2.0, 2.0, size=(12, 2))
    points = np.concatenate([page, grid])
    catalog = Catalog.from_arrays([str(n) for n in range(len(points))], {"plane": points})
    session = catalog.session(model=model, strategy=Greedy())
    session.like("0", shown=[str(n) for n in range(12)])
    return session.belief.log_posterior[12:].reshape(90, 90), page


def one_click() -> Any:
    """What the same click tells the paper's model and ours."""
    figure, axes = pyplot.subplots(1, 2, figsize=(8.4, 4.2))
    models = {
        "pairwise: nearer than the average item": Pairwise(alpha=4.0),
        "choice: nearer than the other eleven": Choice(),
    }
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        belief, page = field(model)
        axis.imshow(
            np.exp(belief - belief.max()),
            extent=(-2.5, 2.5, -2.5, 2.5),
            origin="lower",
            cmap="Oranges",
        )
        axis.scatter(*page[1:].T, s=40, facecolors="white", edgecolors=SHOWN)
        axis.scatter(*page[0], s=110, c=LIKED, marker="P")
        axis.set_title(title, fontsize=10)
        axis.set(xticks=[], yticks=[])
    return figure


def exploring() -> Any:
    """The same belief, and the page with more and more exploration."""
    catalog, points = plane()
    target = 42
    base = catalog.session(seed=5)
    for liked in (True, False):
        page = base.page().ids
        chosen = (closest if liked else farthest)(points, page, target)
        base.click(chosen, "like" if liked else "dislike", page)
    figure, axes = pyplot.subplots(1, 3, figsize=(9.6, 3.5))
    for axis, level in zip(axes, (0.0, 1.0, 6.0), strict=True):
        session = Session.replay(catalog, base.events)
        session.explore(level)
        word = {0.0: "none: the most probable", 1.0: "usual", 6.0: "six times as much"}[level]
        show(axis, points, session, target, f"exploration: {word}")
    return figure


def believing() -> Any:
    """How the belief narrows over a search, and whether its claims hold."""
    catalog, points = plane(items=2000, seed=4)
    rng = np.random.default_rng(0)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.2, 3.4))
    claimed, happened = [], []
    for search in range(60):
        target = int(rng.integers(len(points)))
        session = catalog.session(seed=search)
        counts = [session.belief.candidates]
        for turn in range(8):
            page = session.page().ids
            claimed.append(session.belief.on_page)
            happened.append(str(target) in page)
            if happened[-1]:
                break
            noisy = points + 0.15 * rng.normal(size=points.shape)
            noisy[target] = points[target]
            if turn % 2 == 0:
                session.like(closest(noisy, page, target), shown=page)
            else:
                session.dislike(farthest(noisy, page, target), shown=page)
            counts.append(session.belief.candidates)
        left.plot(range(len(counts)), counts, color="tab:orange", alpha=0.35, lw=1)
    left.set(yscale="log", xlabel="clicks", ylabel="candidates (e to the entropy)")
    left.set_title("sixty searches among 2,000 items", fontsize=10)
    claims, hits = np.array(claimed), np.array(happened)
    edges = np.quantile(claims, np.linspace(0, 1, 7))
    for low, high in pairwise(edges):
        inside = (claims >= low) & (claims <= high)
        right.plot(claims[inside].mean(), hits[inside].mean(), "o", color="tab:blue")
    right.plot([0, 0.5], [0, 0.5], color="grey", lw=1)
    right.set(xlabel="claimed: the target is on the page", ylabel="happened")
    right.set_title("claims and what happened", fontsize=10)
    return figure


def capacity() -> Any:
    """What a click over shards takes, by how many there are: the way grows, the work shrinks."""
    sys.path.append(str(OUT.parent.parent))
    from benchmarks.capacity import MEASURED, Model

    model = Model.of(json.loads(MEASURED.read_text()), "choice")
    shards = np.geomspace(1, 512, 60)
    figure, axis = pyplot.subplots(figsize=(6.4, 3.6))
    for items, name in ((10**7, "ten million"), (10**8, "100 million"), (10**9, "a billion")):
        times = np.array([model.way.at(s) + model.page.at(items / s) for s in shards])
        axis.plot(shards, times, label=f"{name} items")
        axis.plot(shards[times.argmin()], times.min(), "o", color=axis.lines[-1].get_color())
    axis.plot(shards, [model.way.at(s) for s in shards], ":", color="grey", label="the way alone")
    axis.set(xscale="log", yscale="log", xlabel="shards", ylabel="milliseconds for a page")
    axis.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
    axis.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axis.minorticks_off()
    axis.legend(fontsize=8)
    return figure


PICTURES = {
    "converging": converging,
    "one-click": one_click,
    "exploring": exploring,
    "believing": believing,
    "capacity": capacity,
}


def main() -> None:
    """Draw all pictures."""
    matplotlib.rcParams["svg.hashsalt"] = "seeker"
    matplotlib.rcParams["svg.fonttype"] = "none"
    for name, draw in PICTURES.items():
        figure = draw()
        figure.tight_layout()
        figure.savefig(OUT / f"{name}.svg", metadata={"Date": None}, transparent=False)
        pyplot.close(figure)
        print(f"{name}.svg, Seeker {seeker.__version__}")


if __name__ == "__main__":
    main()
