"""`seeker build`, `update` and `learn`: what makes a version of a catalog."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from seeker.cli.errors import resumable
from seeker.cli.formatting import format_count
from seeker.errors import BadInput, SeekerError
from seeker.server.settings import PREFIX, Settings

if TYPE_CHECKING:
    from seeker import Catalog


MAX_LOSS = 0.05
"""Which share of its rows a source may lose and still be said to have been taken."""


class RowsLostError(SeekerError):
    """What was asked for has been done, but for too many rows that could not be used."""

    exit_code = 8


def _names(_: object, __: object, value: str | None) -> tuple[str, ...] | None:
    """Return names that were typed with commas between them."""
    if value is None:
        return None
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _weights(_: object, __: object, value: str | None) -> dict[str, float] | None:
    """Return columns that were typed with commas between them, some with =WEIGHT."""
    columns = {}
    for part in _names(None, None, value) or ():
        name, equals, weight = part.rpartition("=")
        try:
            columns[name if equals else part] = float(weight) if equals else 1.0
        except ValueError:
            raise click.BadParameter(f"{weight!r} is not a number, as in price=0.5.") from None
    return columns if value is not None else None


def _formats(_: object, __: object, value: tuple[str, ...]) -> dict[str, dict[str, Any]] | None:
    """Return what was typed of attributes, such as stock:hidden or price:card,label=Price."""
    formats: dict[str, dict[str, Any]] = {}
    for one in value:
        name, colon, words = one.partition(":")
        if not colon or not name:
            raise click.BadParameter(f"{one!r} is not like price:currency=EUR,card.")
        known = formats.setdefault(name, {})
        for word in _names(None, None, words) or ():
            key, equals, text = word.partition("=")
            known[key] = text if equals else True
        if str(known.get("decimals", "")).isdecimal():
            known["decimals"] = int(known["decimals"])
    return formats or None


def _sizes(_: object, __: object, value: str | None) -> tuple[int, ...] | None:
    """Return whole numbers that were typed with commas between them."""
    try:
        return None if value is None else tuple(map(int, _names(None, None, value) or ()))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not like 320,640.") from None


def _several(option: str, help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(option, metavar="NAME,…", callback=_names, help=help)


_SOURCE_OPTIONS = (
    click.option("--images", metavar="DIR", help="Folder that a table's picture paths are in."),
    click.option("--id", metavar="COLUMN", help="Column with the ids."),
    click.option("--title", metavar="COLUMN", help="Column with the titles."),
    _several("--text", "Columns with texts."),
    click.option("--picture", metavar="COLUMN", help="Column with paths of pictures."),
    _several("--attributes", "Columns to keep; all the others if not given."),
    _several("--vectors", "Columns with ready-made vectors."),
    click.option("--ids", metavar="FILE", help="File with the ids of arrays, one per line."),
    click.option(
        "--table", metavar="TABLE", help="Of a database; or a file about a folder's pictures."
    ),
    click.option("--encoding", default="utf-8-sig", show_default=True, help="Of a CSV file."),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Of a CSV file: whether 12,50 is a number (,) or a text (.).",
    ),
    click.option("--strict", is_flag=True, help="Refuse bad rows instead of leaving them out."),
    click.option("--quiet", is_flag=True, help="Say nothing while it goes well."),
)


def _source_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_SOURCE_OPTIONS):
        command = option(command)
    return command


@click.command(short_help="Make a catalog from pictures, a table or arrays.")
@click.argument("source")
@click.option("--out", required=True, metavar="CATALOG", help="Folder to make.")
@_several(
    "--views", "Views to make: image, colour, text, attributes, attributes:COLUMN, NAME=EMBEDDER."
)
@click.option(
    "--attributes-view",
    metavar="COLUMN[=WEIGHT],…",
    callback=_weights,
    help="Columns that the view `attributes` is made of; chosen by what is in them if not given.",
)
@click.option("--no-attributes-view", is_flag=True, help="Make no view of what the table says.")
@click.option(
    "--attribute",
    "presentation",
    multiple=True,
    metavar="NAME:HOW,…",
    callback=_formats,
    help="How people see it: hidden, card, link, label=…, currency=EUR, unit=…, decimals=2.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="CONDITION",
    help="What every search keeps to, such as 'stock>0'; may be repeated.",
)
@click.option(
    "--picture-sizes",
    metavar="PIXELS,…",
    callback=_sizes,
    help="Sizes in which pictures are kept for screens; 320,512 if not given.",
)
@click.option("--metric", metavar="METRIC", help="For ready-made vectors: euclidean, cosine, …")
@click.option(
    "--dtype",
    default="auto",
    show_default=True,
    help="How vectors are stored: float32, float16, int8; auto goes by their size.",
)
@click.option("--replace", is_flag=True, help="Make a new version of a catalog that is there.")
@_source_options
@resumable()
def build(
    source: str,
    out: str,
    quiet: bool,
    attributes_view: dict[str, float] | None,
    no_attributes_view: bool,
    only: tuple[str, ...],
    **options: Any,
) -> None:
    """Make a catalog from SOURCE.

    SOURCE is a folder of pictures, a table (.csv, .tsv, .jsonl, .parquet), arrays (.npy, .npz) or
    the address of a PostgreSQL database. A build that was interrupted goes on where it was.
    """
    import seeker
    from seeker.cli.catalogs import parse_filter
    from seeker.kernels import COMPILE_NOTICE, compiled_before

    if no_attributes_view and attributes_view is not None:
        raise click.UsageError("--attributes-view and --no-attributes-view exclude each other.")
    catalog = seeker.build(
        source,
        out,
        attributes_view=False if no_attributes_view else attributes_view,
        only=parse_filter(only, None),
        tell=_tell(quiet),
        progress=shows_bar(quiet),
        **options,
    )
    if not compiled_before():
        # Here a person expects to wait, and not at the first click.
        _tell(quiet)(COMPILE_NOTICE)
        catalog.session()
    if not quiet:
        click.echo(f"{_are_in(catalog, out)}. Next: seeker serve {shlex.quote(out)}")
    left_out = catalog.manifest.source.get("left out", {}) if catalog.manifest else {}
    _check_loss(sum(one["count"] for one in left_out.values()), len(catalog))


@click.command(short_help="Add items to a catalog, or change them.")
@click.argument("catalog")
@click.argument("source")
@click.option(
    "--trust", is_flag=True, help="Load embedders that the catalog names and Seeker does not know."
)
@_source_options
@resumable()
def update(catalog: str, source: str, quiet: bool, **options: Any) -> None:
    """Add the items of SOURCE to CATALOG, and change those that are there, as a new version of it.

    Items are told by their ids. Columns that SOURCE does not have stay as they are; pictures and
    texts that have not changed are not embedded again. Whoever has the catalog open keeps the old
    version.
    """
    import seeker

    report = seeker.update(catalog, source, tell=_tell(quiet), progress=shows_bar(quiet), **options)
    if not quiet:
        version = f"version {report.catalog.version}"
        click.echo(f"{report.sentence} {_are_in(report.catalog, catalog)}, {version}.")
    _check_loss(report.refused, report.new + report.changed + report.unchanged)


def _check_loss(lost: int, taken: int) -> None:
    """Let no script take for a success what has lost more than a few rows."""
    if lost > MAX_LOSS * (lost + taken):
        raise RowsLostError(
            f"The catalog is there, but without {lost:,} of {lost + taken:,} rows.",
            "Mend them, or go on from here if that is as it should be.",
        )


def _are_in(catalog: Catalog, place: str) -> str:
    return (
        f"{format_count(len(catalog), 'item')} {'is' if len(catalog) == 1 else 'are'} in '{place}'"
    )


def _tell(quiet: bool) -> Callable[[str], None]:
    """Return what prints lines; if quiet, only from the report of what was left out on."""
    silent = quiet

    def tell(line: str) -> None:
        nonlocal silent
        silent = silent and not line.startswith("Left out")
        if not silent:
            click.echo(line, err=True)

    return tell


def shows_bar(quiet: bool = False) -> bool:
    """Return whether a bar is shown: to people, and not in files."""
    return not quiet and sys.stderr.isatty()


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
