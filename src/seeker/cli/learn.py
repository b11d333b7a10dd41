"""`seeker learn`: what past searches teach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from seeker.cli.build import shows_bar
from seeker.errors import BadInput
from seeker.server.settings import PREFIX, Settings


@click.command(short_help="Learn from past searches what people go by.")
@click.argument("catalog", metavar="[NAME=]CATALOG")
@click.option(
    "--store",
    envvar=f"{PREFIX}STORE",
    metavar="STORE",
    help=f"Where sessions are kept: a file, or postgresql://…  [default: {Settings().store}]",
)
@click.option("--sessions", metavar="FILE", help="An export of sessions instead of a store.")
@click.option("--dry-run", is_flag=True, help="Only say what would come of it.")
@click.option("--forget", is_flag=True, help="Take back what was learned before.")
@click.option("--report", metavar="FILE", help="Show it on a page, such as learned.html.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of chance.")
def learn(
    catalog: str,
    store: str | None,
    sessions: str | None,
    dry_run: bool,
    forget: bool,
    report: str | None,
    seed: int,
) -> None:
    """Learn from searches in CATALOG that ended with *found*, and publish it if it helps.

    What was learned must prove itself on searches that were held aside; otherwise nothing changes.
    Searches that are under way go on as they began. NAME: under which the catalog is served.
    """
    import seeker
    from seeker.engine.catalogs import split_place

    if sessions is not None and store is not None:
        raise BadInput("There are both a store and a file of sessions.", "Name one of them.")
    name, folder = split_place(catalog)
    result = seeker.learn(
        folder,
        sessions or store or Settings().store,
        name=name,
        seed=seed,
        dry_run=dry_run,
        forget=forget,
        report=report,
        bars=_bars if shows_bar() else None,
    )
    if result.read is not None:
        click.echo(result.read.sentence)
        for note in result.read.notes:
            click.echo(f"Left out {note}", err=True)
    click.echo(result.reason)
    if result.taken and dry_run:
        click.echo("Nothing was changed: this was a dry run.")
    elif result.taken:
        version = result.catalog.version if result.catalog else 0
        click.echo(f"New searches in '{folder}' begin with it: version {version}.")
    if report is not None:
        click.echo(f"The report is in '{report}'.")


@contextmanager
def _bars(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    from tqdm import tqdm

    with tqdm(desc=what, total=total, unit="", dynamic_ncols=True, leave=False) as bar:

        def advance(count: int) -> None:
            bar.update(count)

        yield advance
