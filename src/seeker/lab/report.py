"""One self-contained page about runs: who finds, how soon, for whom, and how surely."""

from __future__ import annotations

import html
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.errors import NotFound
from seeker.html_report import Album, ItemIds, html_page, html_section
from seeker.lab import figures, paper, results
from seeker.lab.compare import Comparison, compare_all
from seeker.lab.learning_curve import curves, own_curves
from seeker.lab.metrics import leader_board
from seeker.lab.outcomes import Outcomes, make_outcomes
from seeker.lab.paper import Claim
from seeker.lab.results import STUDY_SOURCE

if TYPE_CHECKING:
    import pyarrow as pa


_FIGURE_METHODS = 8
"""How many methods are drawn in one figure."""


def write_report(
    runs: Sequence[Path],
    out: Path,
    pictures: Path | None = None,
    ours: str | None = None,
    commands: Sequence[str] = (),
    title: str = "Does it find the thing?",
) -> None:
    """Write the report, and its figures beside it as SVG files."""
    table = results.read_rows(*runs)
    if not len(table):
        raise NotFound("There is no search with an end in these runs.")
    outcomes = make_outcomes(table)
    board = [line.method for line in leader_board(outcomes)]
    chosen = ours or (board[0] if "Seeker" not in board else "Seeker")
    if chosen not in board:
        raise NotFound(f"There is no method {chosen!r} in these runs.", f"There is {board}.")
    ids: dict[str, ItemIds] = {**results.study_item_ids(table)}
    ids |= results.read_item_ids(*(run for run in runs if run.is_dir()))
    svgs = _figures(outcomes, board, chosen)
    out.parent.mkdir(parents=True, exist_ok=True)
    for name, svg in svgs.items():
        (out.parent / f"{out.stem}-{name}.svg").write_text(svg, encoding="utf-8")
    parts = [
        _head(title, table, outcomes),
        html_section("Leader board", _board(outcomes, chosen), _BOARD_NOTE),
        html_section(
            f"{chosen} against each, person by person", _verdicts(outcomes, chosen, board)
        ),
        html_section("Found, by person and method", _heat(outcomes, board)),
        '<div class="pairs">',
        html_section("Found by page", svgs["progress"], _PROGRESS_NOTE),
        html_section("Recall at a normalised rank", svgs["recall"], _RECALL_NOTE),
        html_section("Steps until the target is ranked better", svgs["steps"], _STEPS_NOTE),
        html_section("The target's rank, page by page", svgs["rank"], _RANK_NOTE),
        "</div>",
        html_section("What it claims and what happens", svgs["calibration"], _CALIBRATION_NOTE),
    ]
    if points := curves(outcomes):
        drawn = figures.learning_figure(points)
        (out.parent / f"{out.stem}-learning.svg").write_text(drawn, encoding="utf-8")
        parts.insert(3, html_section("Found against past searches", drawn, _LEARNING_NOTE))
    if points := own_curves(outcomes):
        drawn = figures.learning_figure(points, "searches of one's own before, for other things")
        (out.parent / f"{out.stem}-returning.svg").write_text(drawn, encoding="utf-8")
        parts.insert(3, html_section("Found against how often people came", drawn, _OWN_NOTE))
    if results.STUDY_SOURCE in outcomes.people:
        parts.insert(
            3, html_section("What people did", participants_section(table), _PARTICIPANTS_NOTE)
        )
    for methods in paper.strategy_sets(outcomes):
        judged = _claims(paper.claims(outcomes, methods))
        parts.append(html_section(f"The paper's claims ({methods})", judged))
    study = outcomes.of(person=results.STUDY_SOURCE)
    parts += [
        html_section(
            f"The paper's claims, with people and the model {model}",
            _claims(paper.study_claims(study, model)),
            _CLAIMS_NOTE,
        )
        for model in paper.study_models(study)
    ]
    parts.append(
        html_section("Searches to look at", _strips(table, outcomes, chosen, ids, pictures))
    )
    commands = commands or [shlex.join(["seeker", *sys.argv[1:]])]
    listing = html.escape("\n".join(commands))
    parts.append(html_section("To repeat this", f"<pre>{listing}</pre>"))
    page = html_page(title, parts)
    out.write_text(page, encoding="utf-8")


def _figures(outcomes: Outcomes, board: list[str], ours: str) -> dict[str, str]:
    some = list(dict.fromkeys([ours, *board]))[:_FIGURE_METHODS]
    claiming = [m for m in some if not np.isnan(outcomes.of(m).claims).all()]
    return {
        name: draw(outcomes, claiming if name == "calibration" else some)
        for name, draw in figures.FIGURES.items()
    }


def _head(title: str, table: pa.Table, outcomes: Outcomes) -> str:
    def all_of(name: str) -> str:
        return ", ".join(sorted({str(one) for one in table.column(name).unique().to_pylist()}))

    participants = len(table.column("participant").drop_null().unique())
    kinds = len(outcomes.people)
    facts = [
        f"{len(outcomes):,} searches",
        f"{len(outcomes.methods)} methods",
        f"{kinds} kind{'s' * (kinds > 1)} of people ({all_of('source')})",
        *([f"{participants} participants"] if participants else []),
        f"catalog: {all_of('catalog')}",
        f"pages of {all_of('page_size')}, at most {all_of('pages')} of them",
        f"Seeker {all_of('version')}",
    ]
    items = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    return f'<header><h1>{html.escape(title)}</h1><ul class="facts">{items}</ul></header>'


def _board(outcomes: Outcomes, ours: str) -> str:
    head = "".join(
        f"<th>{name}</th>"
        for name in (
            "method",
            "found",
            "95 % interval",
            "worst person",
            "mean steps",
            "median",
            "recall @0.01",
            "area to 0.1",
            "log₁₀ rank",
            "ms a page",
        )
    )
    lines = []
    for line in leader_board(outcomes):
        cells = [
            html.escape(line.method),
            f'<span class="bar" style="--share:{line.found.value:.3f}">'
            f"{line.found.value:.3f}</span>",
            f"{line.found.low:.3f} – {line.found.high:.3f}",
            f"{line.worst:.2f} <small>{html.escape(line.worst_person)}</small>",
            f"{line.steps.value:.2f} <small>{line.steps.low:.1f} – {line.steps.high:.1f}</small>",
            f"{line.median_steps:.0f}",
            f"{line.recall_1:.2f}",
            f"{line.area:.3f}",
            f"{line.log_rank:.2f}",
            f"{line.milliseconds:.1f}",
        ]
        kind = ' class="ours"' if line.method == ours else ""
        lines.append(f"<tr{kind}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _verdicts(outcomes: Outcomes, ours: str, board: list[str]) -> str:
    others = [method for method in board if method != ours]
    if not others:
        return "<p>There is nothing to compare with in these runs.</p>"
    comparisons = compare_all(outcomes, ours, others)
    cells = {(one.theirs, one.person): one for one in comparisons}
    head = "".join(f"<th>{html.escape(person)}</th>" for person in outcomes.people)
    lines = []
    for theirs in others:
        row = "".join(_verdict(cells.get((theirs, person))) for person in outcomes.people)
        lines.append(f"<tr><td>{html.escape(theirs)}</td>{row}</tr>")
    note = (
        "Each cell: targets only we found : only they found, and pages saved on average. Exact "
        "McNemar test and sign-flip permutation test on the same targets and seeds, Holm's "
        f"correction over all {2 * len(comparisons)} tests; a colour means significant at 5 %."
    )
    if not all(one.paired for one in comparisons):
        note += (
            " Real people had targets of their own: their cells show how many searches were found "
            "with either, by Fisher's exact test and a permutation test over searches."
        )
    return (
        f'<p>{note}</p><div class="wide"><table class="verdicts"><tr><th>rival</th>{head}</tr>'
        f"{''.join(lines)}</table></div>"
    )


def _verdict(one: Comparison | None) -> str:
    if one is None:
        return "<td></td>"
    what = "pairs" if one.paired else "searches"
    tip = f"{one.pairs} {what}, adjusted p = {one.adjusted:.3g}"
    return (
        f'<td class="{one.verdict}" title="{tip}">{one.only_ours} : {one.only_theirs} '
        f"<small>{one.steps_saved:+.1f}</small></td>"
    )


def _heat(outcomes: Outcomes, board: list[str]) -> str:
    head = "".join(f"<th>{html.escape(person)}</th>" for person in outcomes.people)
    lines = []
    for method in board:
        row = ""
        for person in outcomes.people:
            some = outcomes.of(method, person)
            if not len(some):
                row += "<td></td>"
                continue
            share, steps = float(some.found.mean()), float(some.steps.mean())
            ink = "#fff" if share > 0.55 else "#1d2433"
            row += (
                f'<td class="heat" style="--share:{share:.3f};color:{ink}">{share:.2f} '
                f"<small>{steps:.1f}</small></td>"
            )
        lines.append(f"<tr><td>{html.escape(method)}</td>{row}</tr>")
    return (
        "<p>Share found, and mean pages.</p>"
        f'<div class="wide"><table><tr><th>method</th>{head}</tr>{"".join(lines)}</table></div>'
    )


def _claims(claims: Sequence[Claim]) -> str:
    lines = "".join(
        f'<tr><td>{html.escape(one.words)}</td><td class="{one.verdict.replace(" ", "-")}">'
        f"{one.verdict}</td><td>{html.escape(one.figures)}</td></tr>"
        for one in claims
    )
    return f"<table><tr><th>claim</th><th>here</th><th>figures</th></tr>{lines}</table>"


def _strips(
    table: pa.Table,
    outcomes: Outcomes,
    ours: str,
    ids: Mapping[str, ItemIds],
    pictures: Path | None,
) -> str:
    """Show a quick search, a usual one and one of the longest."""
    person = "best + worst" if "best + worst" in outcomes.people else outcomes.people[0]
    mine = outcomes.of(ours, person)
    order = np.argsort(mine.steps + ~mine.found, kind="stable")
    quick, usual, last = order[len(order) // 10], order[len(order) // 2], order[-1]
    import pyarrow.compute as pc

    strips = []
    for words, place in (("A quick one", quick), ("A usual one", usual), ("The hardest", last)):
        size, seed, target = (int(part) for part in str(mine.task[place]).split())
        keep = pc.and_(pc.equal(table["method"], ours), pc.equal(table["person"], person))
        for name, value in (("page_size", size), ("seed", seed), ("target", target)):
            keep = pc.and_(keep, pc.equal(table[name], value))
        steps: list[dict[str, Any]] = table.filter(keep).sort_by("step").to_pylist()
        end = f"found on page {mine.steps[place]}" if mine.found[place] else "not found"
        album = Album(ids.get(str(steps[0]["catalog"])), pictures)
        strips.append(f"<h3>{words}: {end}</h3>{_strip(steps, album)}")
    key = "<p>Green frame: liked. Red frame: disliked. Gold frame: what was looked for.</p>"
    return key + "".join(strips)


_BOARD_NOTE = (
    "Found: the target was on a page before the pages ran out, and real people picked it there; "
    "the mean over kinds of people, each counting alike, with a bootstrap interval over targets, "
    "or over participants. Steps: pages until then, all of them "
    "where it never was. Area: under recall@ρ up to ρ = 0.1. Log rank: mean over pages of log₁₀ of "
    "the normalised rank, lower is better."
)
_LEARNING_NOTE = (
    "The share found on average over people, after so many searches for other things than "
    "those that are sought here; bars are 95 % intervals over targets."
)
_OWN_NOTE = (
    "The share found on average over people, when each has searched so often before for other "
    "things; bars are 95 % intervals over targets."
)
_PROGRESS_NOTE = "The share of targets that were on a page by then, over all people."
_STEPS_NOTE = "Mean pages judged until the target was ranked better than ρ; all pages if never."
_RANK_NOTE = "The median over all searches; a search that has ended keeps its last rank."
_RECALL_NOTE = (
    "How often the target was ever ranked better than ρ times the size of the catalog, over all "
    "people; bands are 95 % bootstrap intervals."
)
_CLAIMS_NOTE = (
    "Differences between searches of different people for different targets; intervals redraw "
    "participants, p-values shuffle which search had which strategy."
)
_CALIBRATION_NOTE = (
    "When a method says that the target is on this page with 80 %, it should be there in 80 of "
    "100 cases. The error is the mean distance from the diagonal, pages counting alike; bins of "
    "fewer than 20 pages are not drawn."
)


def _strip(steps: Sequence[dict[str, Any]], album: Album, pages: int = 8) -> str:
    """Return one search: the target first, then page under page with what was clicked."""
    target = int(steps[0]["target"])
    lines = [
        '<div class="strip"><div class="page"><b>looked for</b>'
        f"{album.tile(target, 'target')}</div>"
    ]
    with_page = [step for step in steps if len(step["page"])]
    if len(with_page) > pages:
        with_page = [*with_page[: pages - 1], with_page[-1]]
    for step in with_page:
        tiles = []
        for row in step["page"]:
            mark = "target" if row == target else ""
            mark = "liked" if row in step["liked"] else mark
            mark = "disliked" if row in step["disliked"] else mark
            tiles.append(album.tile(int(row), mark))
        rank = f"{step['rank']:,.0f}" if step["step"] else "–"
        lines.append(
            f'<div class="page"><b>page {step["step"] + 1}</b>{"".join(tiles)}'
            f"<i>rank {rank}</i></div>"
        )
    return "\n".join([*lines, "</div>"])


_PARTICIPANTS_NOTE = (
    "Found: the person said of the target that this is it, or liked it, while it was on the page. "
    "On a page: it was on a page at all. Overlooked: it was on a page, and the person went on "
    "without it. Mistaken: another item was taken for it, per search. The last two columns are "
    "medians: seconds that a page was looked at before something was done, and all of a search."
)

_PARTICIPANT_COLUMNS = (
    "method",
    "people",
    "searches",
    "found",
    "on a page",
    "overlooked",
    "given up",
    "mistaken",
    "likes",
    "dislikes",
    "taken back",
    "s a page",
    "s a search",
)


def participants_section(table: pa.Table) -> str:
    """Return a table of what participants did."""
    import pyarrow.compute as pc

    study = table.filter(pc.equal(table["source"], STUDY_SOURCE))
    columns = [
        "method",
        "participant",
        "trial",
        "outcome",
        "found",
        "on_page",
        "overlooked",
        "mistaken",
        "act",
        "seconds",
    ]
    by_method: dict[str, dict[tuple[str, int], list[dict[str, Any]]]] = {}
    for row in study.select(columns).to_pylist():
        searches = by_method.setdefault(row["method"], {})
        searches.setdefault((row["participant"], row["trial"]), []).append(row)
    head = "".join(f"<th>{name}</th>" for name in _PARTICIPANT_COLUMNS)
    lines = "".join(_participants_line(method, by_method[method]) for method in sorted(by_method))
    return f'<div class="wide"><table><tr>{head}</tr>{lines}</table></div>'


def _participants_line(
    method: str, searches: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
) -> str:
    pages = [page for search in searches.values() for page in search]
    acts = [page["act"] for page in pages]
    looks = [page["seconds"] for page in pages if page["seconds"] is not None]
    durations = [
        sum(page["seconds"] or 0.0 for page in search if page["seconds"] is not None)
        for search in searches.values()
    ]

    def share(name: str) -> str:
        hits = sum(any(page[name] for page in search) for search in searches.values())
        return f"{hits} <small>{hits / len(searches):.0%}</small>"

    def each(*names: str) -> str:
        return f"{sum(act in names for act in acts) / len(searches):.1f}"

    cells = (
        html.escape(method),
        str(len({participant for participant, _ in searches})),
        str(len(searches)),
        share("found"),
        share("on_page"),
        share("overlooked"),
        str(sum(search[0]["outcome"] == "gave up" for search in searches.values())),
        f"{sum(page['mistaken'] for page in pages) / len(searches):.2f}",
        each("like"),
        each("dislike"),
        each("clear", "undo", "redo"),
        f"{np.median(looks):.1f}" if looks else "–",
        f"{np.median(durations):.0f}" if looks else "–",
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
