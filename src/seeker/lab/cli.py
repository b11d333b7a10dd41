"""The lab on the command line: `seeker evaluate` and `seeker report`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from seeker.errors import BadInput, NotFound, SeekerError, missing_package


class LabCommand(click.Command):
    """A command outside of `seeker`, such as `python -m seeker.lab.bench`: it fails as they do."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SeekerError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)


@click.command(short_help="Let simulated people search a catalog, and see who finds.")
@click.argument("catalog", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder for the rows, one Parquet file per finished batch.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("board",),
    show_default=True,
    help="A method or a set (ours, board, scaled, paper, all); may be repeated.",
)
@click.option(
    "--person",
    "people",
    multiple=True,
    default=("six",),
    show_default=True,
    help="A person or a set (six, all); may be repeated.",
)
@click.option(
    "--targets",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Different targets per seed, the same for all methods and people.",
)
@click.option(
    "--page-size",
    "page_sizes",
    type=click.IntRange(1),
    multiple=True,
    default=(12,),
    show_default=True,
    help="Items on a page; may be repeated.",
)
@click.option(
    "--pages",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="Pages until a search is given up.",
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(0),
    multiple=True,
    default=(0,),
    show_default=True,
    help="Seed of targets and searches; may be repeated.",
)
@click.option(
    "--eyes",
    default="larger",
    show_default=True,
    help="What people see with: larger, strange, handmade, outline, differing, distorted.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0.0, 10.0),
    default=0.15,
    show_default=True,
    help="Log-normal noise of what people see.",
)
@click.option("--view", "views", multiple=True, help="Use only this view; may be repeated.")
@click.option(
    "--attributes", is_flag=True, help="With the view of what a bench's table says of its items."
)
@click.option(
    "--axes", type=click.IntRange(1), help="Keep only so many principal axes of every view."
)
@click.option("--items", type=click.IntRange(2), help="Use only so many items of the catalog.")
@click.option(
    "--learn-from",
    "learn_from",
    type=click.IntRange(0),
    multiple=True,
    help="After so many past searches, for other things; may be repeated, for a curve.",
)
@click.option(
    "--returning",
    type=click.IntRange(0),
    multiple=True,
    help="People who came so often before, for other things; may be repeated, for a curve.",
)
@click.option(
    "--paper",
    is_flag=True,
    help="The paper's own experiment, in its own setting where no other is given; with "
    "--learn-from its strategies with Seeker's model.",
)
@click.option("--processes", type=click.IntRange(1), help="How many cores to use (default: all).")
def evaluate(
    catalog: Path,
    out: Path,
    methods: tuple[str, ...],
    people: tuple[str, ...],
    targets: int,
    page_sizes: tuple[int, ...],
    pages: int,
    seeds: tuple[int, ...],
    eyes: str,
    noise: float,
    views: tuple[str, ...],
    attributes: bool,
    items: int | None,
    axes: int | None,
    learn_from: tuple[int, ...],
    returning: tuple[int, ...],
    paper: bool,
    processes: int | None,
) -> None:
    """Let simulated people search CATALOG with many methods, and see who finds.

    CATALOG is a catalog folder, or a bench file made with `python -m seeker.lab.bench`. The same
    command gives the same rows; a run that was interrupted goes on where it stopped.
    """
    _check_installed("pyarrow")
    from seeker.lab import paper as paper_setting
    from seeker.lab.baselines import Seeker
    from seeker.lab.bench import open_bench
    from seeker.lab.learning_curve import learning_curve, returning_curve
    from seeker.lab.methods import OURS, PAPER, PAPER_LEARNED, choose_methods, learning_methods
    from seeker.lab.metrics import leader_board
    from seeker.lab.outcomes import make_outcomes
    from seeker.lab.people import ALL, SIX, BestAndWorst, Person, named
    from seeker.lab.simulate import Experiment

    persons: list[Person] = []
    for name in people:
        persons += SIX if name == "six" else ALL if name == "all" else (named(name),)
    searchers = choose_methods(methods)
    bench = open_bench(catalog, "euclidean" if paper and not learn_from else None, attributes)
    if paper:
        views = views or (() if learn_from else (next(iter(bench.catalog.views)),))
        items = items or paper_setting.ITEMS
        persons, searchers = [BestAndWorst()], PAPER
        targets = targets if _was_given("targets") else paper_setting.TARGETS
        page_sizes = page_sizes if _was_given("page_sizes") else (paper_setting.PAGE,)
        pages = pages if _was_given("pages") else paper_setting.PAGES
    if views:
        bench = bench.with_views(views)
    if axes:
        bench = bench.with_axes(axes)
    if items:
        bench = bench.sample(items)
    if len(bench.catalog) <= max(page_sizes):
        raise BadInput(
            f"A page of {max(page_sizes)} shows all {len(bench.catalog)} items: that is no search.",
            "Evaluate a larger catalog, or smaller pages (--page-size).",
        )
    experiment = Experiment(
        bench.catalog,
        bench.perception(eyes, noise),
        searchers,
        persons,
        targets,
        page_sizes,
        pages,
        seeds,
    )
    name = f"{OURS} with attributes" if attributes else OURS
    if returning:
        learned = max(learn_from, default=0)
        rows = returning_curve(experiment, name, sorted({*returning}), out, learned, processes)
    elif learn_from:
        chosen = searchers if _was_given("methods") else {OURS: Seeker()}
        learners = PAPER_LEARNED if paper else learning_methods(chosen, attributes)
        rows = learning_curve(experiment, learners, sorted({*learn_from}), out, processes)
    else:
        rows = experiment.run(out, processes)
    outcomes = make_outcomes(rows)
    click.echo(f"{len(outcomes):,} searches in {out}; found, mean steps, recall at 1 %:")
    for line in leader_board(outcomes):
        click.echo(f"{line.method:26s} {line.found}  {line.steps.value:5.1f}  {line.recall_1:.2f}")
    for name_of_set in paper_setting.strategy_sets(outcomes) if paper else ():
        click.echo(f"The paper's claims ({name_of_set}):")
        for claim in paper_setting.claims(outcomes, name_of_set):
            click.echo(f"{claim.verdict:14s} {claim.words} {claim.figures}")


@click.command(short_help="Write an HTML page about runs and studies.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The HTML file; figures are written beside it as SVG.",
)
@click.option(
    "--pictures",
    type=click.Path(exists=True, path_type=Path),
    help="A catalog, or a folder with a picture for each id, to show pages as pictures.",
)
@click.option("--ours", default=None, help="The method that is compared with the others.")
@click.option("--command", "commands", multiple=True, help="A command to print as made by it.")
@click.option("--title", default="Does it find the thing?", show_default=True)
def report(
    runs: tuple[Path, ...],
    out: Path,
    pictures: Path | None,
    ours: str | None,
    commands: tuple[str, ...],
    title: str,
) -> None:
    """Write one self-contained HTML page about RUNS: folders of `evaluate` or of a study."""
    _check_installed("pyarrow", "matplotlib")
    from seeker.lab.report import write_report

    write_report(list(runs), out, pictures, ours, list(commands), title)
    click.echo(f"Wrote {out}.")


def _was_given(option: str) -> bool:
    """Return whether an option of the command that runs was typed, rather than left as it is."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not ParameterSource.DEFAULT


def _check_installed(*packages: str) -> None:
    """Say which package is missing before any work is done, rather than at its end."""
    for package in packages:
        if find_spec(package) is None:
            raise missing_package("The lab", package, "lab", NotFound)
