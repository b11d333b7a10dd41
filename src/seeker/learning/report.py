"""A page for whoever keeps a catalog: what past searches teach, and what it is worth."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from seeker import models
from seeker.catalog import Catalog
from seeker.files import atomic_write
from seeker.html_report import Album, html_page, html_section
from seeker.learning.fit import Learned
from seeker.learning.learn import LearningResult
from seeker.learning.proof import CLICKS, Proof, clustered_mean, mapped_view
from seeker.models import Model
from seeker.space import View
from seeker.types import Doubles, Rows

_STRIP_ITEMS = 12
_NEIGHBOURS = 9
_TITLE_LETTERS = 24
_MAX_COMPARED_ITEMS = 20_000

_GOES_BY = (
    "How much each view counts before the first click, and how near two things must be to seem "
    "alike; within a search both follow the person. A learned view stretches and turns all others "
    "together so that what people chose lies closer to what they found."
)
_RANKS = (
    "Searches that were not learned from, replayed click by click as they were: at which place the "
    "item that was found stood among all by then, on the (geometric) average, with 95 % intervals. "
    "Lower is better."
)
_STRIPS = (
    "The nearest items to some that were found in searches held aside, nearest first: by the views "
    "as they are in the upper row, by what was learned in the lower one."
)


def write_report(out: Path, catalog: Catalog, result: LearningResult) -> None:
    """Write the page; catalog: in the version before."""
    name = catalog.folder.resolve().name if catalog.folder else "the catalog"
    title = f"What searches in {name} teach"
    parts = [_head(title, catalog, result)]
    proof, learned = result.proof, result.learned
    if proof is not None and learned is not None:
        usual = models.named(models.DEFAULT)
        raw = list(catalog.with_views(None).views)
        ways = {"before": (usual, raw), "after": (learned.model, list(learned.views))}
        parts += [
            html_section("Is it found sooner?", _rank_figure(proof) + _rank_table(proof), _RANKS),
            html_section("For which searches", _kinds_table(proof)),
            html_section("What people go by", _views_table(ways), _GOES_BY),
            html_section("What is near what", _strips(catalog, learned, ways, result), _STRIPS),
        ]
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(out) as file:
        file.write(html_page(title, parts).encode())


def _head(title: str, catalog: Catalog, result: LearningResult) -> str:
    facts = [f"{len(catalog):,} items", f"version {catalog.version}"]
    if result.read is not None:
        facts.append(result.read.sentence)
    if result.proof is not None:
        facts.append(f"{len(result.proof):,} held aside to try it")
    listed = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    verdict = "It is taken." if result.taken else "Nothing changes."
    return (
        f'<h1>{html.escape(title)}</h1><ul class="facts">{listed}</ul>'
        f"<p><b>{verdict}</b> {html.escape(result.reason)}</p>"
    )


def _mean_ranks(proof: Proof, ranks: Doubles) -> list[tuple[float, float, float, int] | None]:
    """Return the geometric mean rank after so many clicks, its interval, and of how many."""
    means: list[tuple[float, float, float, int] | None] = []
    for column in range(len(CLICKS)):
        known = np.isfinite(ranks[:, column])
        if known.sum() < 2:
            means.append(None)
            continue
        people = [proof.people[place] for place in np.flatnonzero(known).tolist()]
        mean, error = clustered_mean(np.log(ranks[known, column]), proof.weights[known], people)
        low, high = math.exp(mean - 1.96 * error), math.exp(mean + 1.96 * error)
        means.append((math.exp(mean), low, high, int(known.sum())))
    return means


_SERIES = (("before", "#8a93a3", -7.0), ("after", "#2a6f97", 7.0))
_WIDE, _HIGH, _LEFT, _TOP, _BOTTOM = 560, 280, 64, 16, 44


def _rank_figure(proof: Proof) -> str:
    """Draw the ranks before and after with their intervals, on a logarithmic scale."""
    series = {"before": _mean_ranks(proof, proof.before), "after": _mean_ranks(proof, proof.after)}
    points = [one for means in series.values() for one in means if one is not None]
    if not points:
        return ""
    low = math.floor(math.log10(max(1.0, min(one[1] for one in points))))
    high = max(low + 1, math.ceil(math.log10(max(one[2] for one in points))))

    def y(rank: float) -> float:
        share = (math.log10(max(rank, 1.0)) - low) / (high - low)
        return _HIGH - _BOTTOM - share * (_HIGH - _BOTTOM - _TOP)

    def x(column: int) -> float:
        return _LEFT + (column + 0.5) * (_WIDE - _LEFT) / len(CLICKS)

    lines = []
    for power in range(low, high + 1):
        at = y(10.0**power)
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDE}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e3e7ee"/>'
            f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:,}</text>'
        )
    for column, clicks in enumerate(CLICKS):
        lines.append(
            f'<text x="{x(column):.1f}" y="{_HIGH - _BOTTOM + 20}" text-anchor="middle">'
            f"{clicks}</text>"
        )
    lines.append(
        f'<text x="{(_LEFT + _WIDE) / 2}" y="{_HIGH - 6}" text-anchor="middle">clicks</text>'
    )
    for place, (name, colour, shift) in enumerate(_SERIES):
        for column, one in enumerate(series[name]):
            if one is None:
                continue
            at = x(column) + shift
            lines.append(
                f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(one[1]):.1f}" y2="{y(one[2]):.1f}" '
                f'stroke="{colour}" stroke-width="2"/>'
                f'<circle cx="{at:.1f}" cy="{y(one[0]):.1f}" r="5" fill="{colour}">'
                f"<title>{name}: {one[0]:,.1f} ({one[1]:,.1f} to {one[2]:,.1f})</title></circle>"
            )
        at = _WIDE - 150 + 80 * place
        lines.append(
            f'<circle cx="{at}" cy="{_TOP}" r="5" fill="{colour}"/>'
            f'<text x="{at + 10}" y="{_TOP + 4}">{name}</text>'
        )
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" role="img" '
        'aria-label="rank of the found item by clicks, before and after" '
        f'font-size="12" fill="#4a5364">{"".join(lines)}</svg>'
    )


def _rank_table(proof: Proof) -> str:
    before, after = _mean_ranks(proof, proof.before), _mean_ranks(proof, proof.after)
    rows = []
    for clicks, old, new in zip(CLICKS, before, after, strict=True):
        if old is not None and new is not None:
            rows.append(
                f"<tr><td>{clicks}</td><td>{old[3]:,}</td><td>{_interval(*old[:3])}</td>"
                f"<td>{_interval(*new[:3])}</td></tr>"
            )
    head = "<tr><th>clicks</th><th>searches</th><th>rank before</th><th>rank after</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:,.1f} <small>{low:,.1f} to {high:,.1f}</small>"


def _kinds_table(proof: Proof) -> str:
    """Say for every kind of search how many times as probable the found item is held."""
    every = {"all": np.ones(len(proof), bool), **proof.kinds}
    rows = []
    for name, chosen in every.items():
        if not chosen.any():
            continue
        mean, error = proof.gain(chosen)
        if math.isfinite(error):
            low, high = math.exp(mean - 1.96 * error), math.exp(mean + 1.96 * error)
            text = f"× {math.exp(mean):.2f} <small>{low:.2f} to {high:.2f}</small>"
        else:
            text = f"× {math.exp(mean):.2f} <small>too few for an interval</small>"
        rows.append(
            f"<tr><td>{html.escape(name)}</td><td>{int(chosen.sum()):,}</td><td>{text}</td></tr>"
        )
    head = "<tr><th>searches</th><th>how many</th><th>what was found is held</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def view_shares(model: Model, views: Sequence[str]) -> tuple[dict[str, float], float]:
    """Return how much each view counts before any click, and the noise level, geometric mean."""
    grid = model.grid(views)
    prior = np.exp(grid.log_weights)
    prior = (prior / prior.sum()).reshape(len(grid.mixtures), -1)
    shares = prior.sum(axis=1) @ grid.mixtures
    noise = float(np.exp(prior.sum(axis=0) @ np.log(grid.sigmas))) if len(grid.sigmas) else 0.0
    return dict(zip(views, shares.tolist(), strict=True)), noise


def _views_table(ways: Mapping[str, tuple[Model, Sequence[str]]]) -> str:
    shares = {when: view_shares(*way) for when, way in ways.items()}
    names = dict.fromkeys(name for views, _ in shares.values() for name in views)
    rows = []
    for name in names:
        cells = [
            f'<td><span class="bar" style="--share:{views.get(name, 0.0):.3f}">'
            f"{views.get(name, 0.0):.0%}</span></td>"
            for views, _ in shares.values()
        ]
        rows.append(f"<tr><td>{html.escape(name)}</td>{''.join(cells)}</tr>")
    noise = "".join(f"<td>{noise:.2f}</td>" for _, noise in shares.values())
    slips = "".join(f"<td>{getattr(model, 'slip', 0.0):.0%}</td>" for model, _ in ways.values())
    rows += [f"<tr><td>noise σ</td>{noise}</tr>", f"<tr><td>slips</td>{slips}</tr>"]
    head = "<tr><th></th><th>before</th><th>after</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def _strips(
    catalog: Catalog,
    learned: Learned,
    ways: Mapping[str, tuple[Model, Sequence[str]]],
    result: LearningResult,
) -> str:
    """Show the neighbours of a dozen items before and after."""
    items = result.examples[:_STRIP_ITEMS]
    rows = np.arange(len(catalog))
    if len(catalog) > _MAX_COMPARED_ITEMS:
        rows = np.random.default_rng(0).choice(len(catalog), _MAX_COMPARED_ITEMS, replace=False)
    chosen = np.array([catalog.row(item) for item in items], np.int64)
    rows = np.union1d(rows, chosen)
    mapped = {one.name: mapped_view(catalog, one, rows) for one in learned.maps}
    near = {
        when: _nearest(catalog.views, mapped, rows, chosen, view_shares(*way)[0])
        for when, way in ways.items()
    }
    every = {int(row) for rows in near.values() for some in rows for row in some}
    shown = sorted({*every, *chosen.tolist()})
    known = dict(zip(shown, catalog.items(shown), strict=True))
    ids = {row: item.id for row, item in known.items()}
    titles = {row: item.title[:_TITLE_LETTERS] for row, item in known.items()}
    album, lines = Album(ids, catalog.folder, titles), []
    for place, row in enumerate(chosen.tolist()):
        lines.append('<div class="strip">')
        for when in ways:
            tiles = "".join(album.tile(int(one), "") for one in near[when][place])
            first = album.tile(row, "target")
            lines.append(f'<div class="page"><b>{when}</b>{first}{tiles}</div>')
        lines.append("</div><br>")
    return "\n".join(lines)


def _nearest(
    views: Mapping[str, View],
    mapped: Mapping[str, View],
    rows: Rows,
    chosen: Rows,
    shares: Mapping[str, float],
) -> list[list[int]]:
    """Return the nearest of some rows to each of the chosen ones, by views that count so much."""
    total = np.zeros((len(chosen), len(rows)))
    places = np.searchsorted(rows, chosen)
    for name, share in shares.items():
        if name in mapped:
            vectors, scale = mapped[name].rows(slice(None)), mapped[name].scale
        else:
            vectors, scale = views[name].rows(rows), views[name].scale
        squares = (vectors**2).sum(axis=1)
        some = vectors[places]
        apart = squares[places, None] + squares - 2.0 * (some @ vectors.T)
        total += share * apart / scale
    total[np.arange(len(chosen)), places] = np.inf
    order = np.argsort(total, axis=1, kind="stable")[:, :_NEIGHBOURS]
    return [rows[some].tolist() for some in order]
