"""`seeker study`, `seeker study progress` and `seeker study export`."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seeker.errors import BadInput
from seeker.server.cli import setting_options
from seeker.server.settings import PREFIX, Settings, read_settings

if TYPE_CHECKING:
    from seeker.stores.sql import SqlStore

STORE = "seeker-study.sqlite"
DEMO = "demo"
_MAX_CONSENT_CHARACTERS = 20_000
"""Nobody would read a longer text."""

_store = click.option(
    "--store",
    default=STORE,
    show_default=True,
    envvar=f"{PREFIX}STORE",
    metavar="STORE",
    help="Where the study is kept: a file, or postgresql://…",
)


class StudyGroup(click.Group):
    """A group in which whatever is not the name of a command is a catalog to run a study on."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take whatever begins otherwise for a study to run, options first or last."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=StudyGroup,
    short_help="Run the paper's experiment with people.",
    subcommand_metavar="CATALOG [OPTIONS] | progress | export",
)
def study() -> None:
    """Run the paper's experiment with people: serve it, look at it, export it.

    `seeker study CATALOG` serves it; `seeker study run --help` lists its options. A folder called
    `progress`, `export` or `run` is given as ./progress.
    """


@study.command("run", short_help="Serve a study on a catalog.")
@click.argument("catalog", metavar="[NAME=]CATALOG")
@click.option(
    "--strategies",
    default="boltzmann,greedy,epsilon,random",
    show_default=True,
    help="Strategies to draw from, with settings like epsilon:epsilon=0.2.",
)
@click.option(
    "--models",
    default="pairwise,choice",
    show_default=True,
    help="Models to draw from, like pairwise:alpha=10; 'paper' is the paper's own setting.",
)
@click.option("--page-size", type=int, default=12, show_default=True, help="Items on a page (M).")
@click.option("--steps", type=int, default=15, show_default=True, help="Steps in a search (K).")
@click.option(
    "--targets-per-person",
    "trials",
    type=int,
    default=5,
    show_default=True,
    help="Searches for each participant.",
)
@click.option(
    "--people", type=int, default=10_000, show_default=True, help="How many may take part."
)
@click.option(
    "--repeat",
    type=click.Choice(["never", "unrated", "always"]),
    default="never",
    show_default=True,
    help="Whether items are shown again once they were on screen.",
)
@click.option("--study-seed", "seed", type=int, default=0, show_default=True, help="Of all draws.")
@click.option("--consent", metavar="FILE", help="Text that participants consent to, in UTF-8.")
@click.option("--config", envvar=f"{PREFIX}CONFIG", metavar="FILE", help="TOML file of settings.")
@setting_options
def run(
    catalog: str,
    strategies: str,
    models: str,
    page_size: int,
    steps: int,
    trials: int,
    people: int,
    repeat: Any,
    seed: int,
    consent: str | None,
    config: str | None,
    **flags: Any,
) -> None:
    """Serve a study on CATALOG until stopped; the same command goes on with it.

    `demo` is the built-in catalog of emoji.

    Every participant is shown one target after the other and looks for it by liking and disliking.
    Model and strategy are drawn for every search, evenly, and hidden.
    """
    from seeker.engine import Catalogs
    from seeker.server.runner import serve
    from seeker.stores import open_store
    from seeker.study.app import SESSION_DAYS, study_app
    from seeker.study.design import Design, content_of
    from seeker.study.tables import ParticipantTable, tables_of

    address = _demo_catalog() if catalog == DEMO and not Path(DEMO).exists() else catalog
    settings = read_settings(
        {**flags, "catalogs": (address,), "session_days": SESSION_DAYS}, file=config
    )
    if not flags.get("store") and settings.store == Settings().store:
        # A study does not go where people's own searches are kept and forgotten after some days.
        settings = replace(settings, store=STORE)
    name, opened_catalog = Catalogs.open(settings.catalogs).get()
    design = Design(
        catalog=name,
        content=content_of(opened_catalog),
        items=len(opened_catalog),
        models=tuple(one.strip() for one in models.split(",")),
        strategies=tuple(one.strip() for one in strategies.split(",")),
        page_size=page_size,
        steps=steps,
        trials=trials,
        people=people,
        repeat=repeat,
        seed=seed,
    )
    store = open_store(settings.store, settings.store_timeouts)
    try:
        ParticipantTable(tables_of(store)).begin(design, consent_text(consent), time.time())
    finally:
        store.close()

    def tell(address: str) -> None:
        click.echo(f"Seeker is at {address} (stop it with Ctrl-C)")
        click.echo(f"Participants open {address}; {len(design.cells)} combinations are compared.")
        # The address of a database may hold a password.
        where = "…" if "://" in settings.store else shlex.quote(settings.store)
        click.echo(f"How far it has come: seeker study progress --store {where}")

    serve(settings, tell, study_app, "seeker.study.app:from_environment")


# What a study keeps, it keeps until somebody withdraws, and its participants have no API keys.
run.params = [one for one in run.params if one.name not in ("session_days", "sessions_per_key")]
for option in run.params:
    if isinstance(option, click.Option) and option.name == "store":
        option.help = f"Where the study is kept: a file, or postgresql://… [default: {STORE}]"


@study.command(short_help="Tell how far a study has come.")
@_store
def progress(store: str) -> None:
    """Tell how many take part, and how many searches are done and found by combination."""
    from seeker.study.export import count_progress, describe_progress

    tables = _open_tables(store)
    try:
        for line in describe_progress(count_progress(tables)):
            click.echo(line)
    finally:
        tables.close()


@study.command(short_help="Write a study as rows.")
@click.option("-o", "--out", required=True, metavar="FILE", help="A .parquet or .jsonl file.")
@_store
def export(out: str, store: str) -> None:
    """Write a study as rows that `seeker report` reads, one for every page of every search."""
    from seeker.lab.results import write_study
    from seeker.study.export import study_rows

    tables = _open_tables(store)
    try:
        rows = list(study_rows(tables))
    finally:
        tables.close()
    write_study(Path(out), rows)
    searches = {(row["participant"], row["trial"]) for row in rows}
    click.echo(f"{len(rows):,} pages of {len(searches):,} searches are in '{out}'.")


def _demo_catalog() -> str:
    """Return the built-in catalog, which is built the first time."""
    from seeker.demo import demo_catalog, demo_folder

    demo_catalog(click.echo, progress=True)
    return f"emoji={demo_folder()}"


def consent_text(file: str | None) -> str:
    """Return the organiser's consent text, or the usual one."""
    if file is None:
        from importlib.resources import files

        return files("seeker.study").joinpath("consent.txt").read_text(encoding="utf-8").strip()
    try:
        text = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadInput(f"The consent text '{file}' cannot be read: {reason}.") from None
    if not text or len(text) > _MAX_CONSENT_CHARACTERS:
        raise BadInput(
            f"The consent text '{file}' has {len(text):,} letters.",
            f"It must have some, and at most {_MAX_CONSENT_CHARACTERS:,}.",
        )
    return text


def _open_tables(store: str) -> SqlStore:
    """Open the tables of a store that is there."""
    from seeker.stores import open_existing
    from seeker.study.tables import tables_of

    return tables_of(open_existing(store))
