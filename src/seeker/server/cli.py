"""`seeker serve`, `seeker keys` and `seeker sessions`. What they need is loaded when they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seeker.errors import BadInput, NotFound, SeekerError
from seeker.server.settings import PREFIX, Settings, read_settings

if TYPE_CHECKING:
    from seeker.server.backup import Backup

_STORE = click.option(
    "--store",
    default=Settings().store,
    show_default=True,
    envvar=f"{PREFIX}STORE",
    metavar="STORE",
    help="Where sessions are kept: a file, or postgresql://…",
)


def setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for every setting of the table but the catalogs."""
    for one in reversed(fields(Settings)):
        if one.name == "catalogs":
            continue
        flag, help = f"--{one.name.replace('_', '-')}", one.metadata["help"]
        if isinstance(one.default, bool):
            option = click.option(flag, one.name, is_flag=True, default=None, help=help)
        elif isinstance(one.default, tuple):
            option = click.option(flag, one.name, multiple=True, metavar="TEXT", help=help)
        else:
            default = one.default if one.default != "" else "none"
            if one.metadata["size"]:
                default = f"{one.default / 1e6:g}MB"
            help = f"{help} [default: {default}]"
            option = click.option(flag, one.name, metavar="VALUE", help=help)
        command = option(command)
    return command


@click.command(short_help="Serve catalogs over HTTP.")
@click.argument("catalogs", nargs=-1, metavar="[NAME=]CATALOG…")
@click.option("--config", envvar=f"{PREFIX}CONFIG", metavar="FILE", help="TOML file of settings.")
@setting_options
def serve(catalogs: tuple[str, ...], config: str | None, **flags: Any) -> None:
    """Serve CATALOGs over HTTP until stopped.

    Every setting may also be given as a variable such as SEEKER_PORT, or in the TOML file; flags
    win over variables, and these over the file.
    """
    settings = read_settings({"catalogs": catalogs, **flags}, file=config)
    if not settings.catalogs:
        raise BadInput("There is no catalog to serve.", "Name one: seeker serve CATALOG.")
    from seeker.kernels import COMPILE_NOTICE, compiled_before
    from seeker.server.runner import serve as run

    def tell(address: str) -> None:
        if not compiled_before():
            click.echo(COMPILE_NOTICE, err=True)
        click.echo(f"Seeker is at {address} (stop it with Ctrl-C)")

    run(settings, tell)


@click.command(short_help="Make an API key for the service.")
@click.argument("name")
@click.option("--role", type=click.Choice(["start", "admin"]), default="start", show_default=True)
@click.option("--file", required=True, metavar="FILE", help="File of keys; made if not there.")
def keys(name: str, role: Any, file: str) -> None:
    """Make an API key called NAME and show it, once; FILE keeps only a hash of it."""
    from seeker.server.auth import make_key

    click.echo(make_key(name, role, file))


@click.command(short_help="Copy sessions and catalogs while they are used.")
@click.argument("out", metavar="FOLDER")
@click.argument("catalogs", nargs=-1, metavar="[NAME=]CATALOG…")
@click.option("--config", envvar=f"{PREFIX}CONFIG", metavar="FILE", help="TOML file of settings.")
@click.option("--store", metavar="STORE", help="Where sessions are kept, if not as settings say.")
@click.option("--no-store", is_flag=True, help="Leave the sessions out.")
@click.option("--quiet", is_flag=True, help="Show no bar.")
def backup(
    out: str,
    catalogs: tuple[str, ...],
    config: str | None,
    store: str | None,
    no_store: bool,
    quiet: bool,
) -> None:
    """Copy the sessions and CATALOGs of a service to a new FOLDER, while it goes on.

    What is not named is taken from the settings of the service: the TOML file, or variables such
    as SEEKER_CATALOGS.
    """
    settings = read_settings({"catalogs": catalogs, "store": store}, file=config)
    from seeker.engine.catalogs import catalog_folders
    from seeker.server.backup import write_backup

    with _bytes_bar(quiet) as progress:
        backup = write_backup(
            Path(out),
            None if no_store else settings.store,
            catalog_folders(settings.catalogs),
            progress,
        )
    _tell_contents(backup, out, Path(out))


@click.command(short_help="Bring sessions and catalogs back from a backup.")
@click.argument("folder", metavar="FOLDER")
@click.option("--store", metavar="FILE", help="Where the sessions go; not given: nowhere.")
@click.option("--catalogs", metavar="PLACE", help="The folder that the catalogs' folders go to.")
@click.option("--quiet", is_flag=True, help="Show no bar.")
def restore(folder: str, store: str | None, catalogs: str | None, quiet: bool) -> None:
    """Bring back what `seeker backup` has copied to FOLDER, after comparing all checksums.

    Nothing that is there already is replaced.
    """
    from seeker.server.backup import restore_backup

    place = None if catalogs is None else Path(catalogs)
    with _bytes_bar(quiet) as progress:
        backup = restore_backup(Path(folder), store, place, progress)
    _tell_contents(backup, store, place)


def _tell_contents(backup: Backup, store: str | None, catalogs: Path | None) -> None:
    """Say what was copied, and to where."""
    if store is not None and backup.sessions is not None:
        click.echo(f"{backup.sessions:,} sessions are in '{store}'.")
    for name, count in backup.catalogs.items() if catalogs is not None else ():
        click.echo(f"The catalog '{name}', {count:,} items, is in '{catalogs}'.")


@contextmanager
def _bytes_bar(quiet: bool) -> Iterator[Callable[[int], object]]:
    """Give what shows how many bytes were copied."""
    from tqdm import tqdm

    with tqdm(unit="B", unit_scale=True, disable=quiet or None, dynamic_ncols=True) as bar:
        yield bar.update


@click.group(short_help="Look at sessions that are kept.")
def sessions() -> None:
    """Look at sessions that are kept, export them, delete them."""


@sessions.command("export", short_help="Write sessions to a file.")
@click.argument("out", metavar="FILE")
@_STORE
@click.option("--user", help="Only sessions of this user.")
@click.option("--owner", help="The API key that the user's sessions were started with.")
@click.option("--ids", is_flag=True, help="Name sessions by the ids that open them.")
def export(out: str, store: str, user: str | None, owner: str | None, ids: bool) -> None:
    """Write sessions to FILE: .jsonl has one per line, .parquet one event per row.

    Sessions are named by pseudonyms, which open nothing. With --ids, whoever has the file can open
    all of them: for `seeker sessions import` only.
    """
    from seeker.server.export import write_export
    from seeker.stores import DamagedSession, open_existing

    damaged: list[DamagedSession] = []
    source = open_existing(store)
    try:
        count = write_export(source, Path(out), damaged.append, user, owner, ids)
    finally:
        source.close()
    click.echo(f"{count:,} sessions are in '{out}'.")
    if damaged:
        for one in damaged:
            click.echo(f"{one.message} ({one.reason})", err=True)
        raise SeekerError(
            f"{len(damaged):,} damaged sessions were left out.",
            "Bring the store back from a backup, or delete them with `seeker sessions delete ID`.",
        )


@sessions.command("report", short_help="Say what people did, and what they found.")
@click.argument("out", metavar="FILE")
@click.argument("catalogs", nargs=-1, metavar="[NAME=]CATALOG…")
@click.option("--config", envvar=f"{PREFIX}CONFIG", metavar="FILE", help="TOML file of settings.")
@click.option("--store", metavar="STORE", help="Where sessions are kept, if not as settings say.")
@click.option("--days", type=click.FloatRange(0, min_open=True), help="Of the last so many days.")
@click.option("--quiet", is_flag=True, help="Show no bar.")
def report(
    out: str,
    catalogs: tuple[str, ...],
    config: str | None,
    store: str | None,
    days: float | None,
    quiet: bool,
) -> None:
    """Write a report of all searches to FILE: .html is a page with figures, .json the figures.

    How many searches were found, given up and where, after how many clicks; words without a match;
    what was opened, and what nobody ever finds. CATALOGs give titles and pictures; what is not
    named is taken from the settings of the service.
    """
    import time

    from tqdm import tqdm

    from seeker.catalog import Catalog
    from seeker.engine.catalogs import catalog_folders
    from seeker.server.export import export_lines
    from seeker.server.usage import Usage, write_usage
    from seeker.stores import open_existing

    settings = read_settings({"catalogs": catalogs, "store": store}, file=config)
    served = {name: Catalog.open(at) for name, at in catalog_folders(settings.catalogs).items()}
    source = open_existing(settings.store)
    try:
        usage = Usage(time.time())
        since = float("-inf") if days is None else usage.now - days * 86_400.0
        damaged: list[object] = []
        lines = export_lines(source, damaged.append)
        for line in tqdm(lines, total=source.count(), unit=" sessions", disable=quiet or None):
            if line["began"] >= since:
                usage.read(line)
        usage.unread += len(damaged)
    finally:
        source.close()
    report = usage.to_json(served)
    write_usage(Path(out), report, served)
    unread = f" {usage.unread:,} could not be read." if usage.unread else ""
    click.echo(f"A report of {usage.searches:,} searches is in '{out}'.{unread}")


@sessions.command("import", short_help="Read sessions from a file.")
@click.argument("file", metavar="FILE")
@_STORE
def import_(file: str, store: str) -> None:
    """Put the sessions of FILE into a store; `seeker sessions export FILE.jsonl --ids` wrote them.

    This moves sessions between SQLite and PostgreSQL, and to an older Seeker whose store has
    another form. Sessions that are in the store already stay as they are. What was shared is no
    longer.
    """
    from seeker.server.export import import_lines
    from seeker.stores import open_store

    path = Path(file)
    if not path.is_file():
        raise NotFound(f"There is no file '{file}'.")
    target = open_store(store)
    try:
        with path.open("rb") as lines:
            new = list(import_lines(target, lines))
    finally:
        target.close()
    there = len(new) - sum(new)
    beside = f" {there:,} were there already." if there else ""
    click.echo(f"{sum(new):,} sessions were put into '{store}'.{beside}")


@sessions.command("show", short_help="Tell a session's story.")
@click.argument("session")
@_STORE
def show(session: str, store: str) -> None:
    """Tell what happened in a SESSION, one event per line, each with its second.

    It is named by its id, by its pseudonym in exports, or by what logs say of it.
    """
    from seeker.server.export import find_session, history
    from seeker.stores import open_existing

    source = open_existing(store)
    try:
        id = find_session(source, session)
        stored = None if id is None else source.load(id)
    finally:
        source.close()
    if stored is None:
        raise NotFound("There is no such session.", "`seeker sessions export` lists them all.")
    for line in history(stored):
        click.echo(line)


@sessions.command("compact", short_help="Make a store's file as small as it can be.")
@_STORE
def compact(store: str) -> None:
    """Write a store's file anew without the space that deleted sessions have left.

    Files from before Seeker gave such space back by itself need this once. Nobody can click
    meanwhile, and the disk must have room for the file a second time: stop the service first.
    """
    from seeker.stores import open_existing
    from seeker.stores.sqlite import SqliteStore

    source = open_existing(store)
    try:
        if not isinstance(source, SqliteStore):
            raise BadInput("Only files of SQLite need this.", "PostgreSQL has its own autovacuum.")
        before, after = source.compact()
    finally:
        source.close()
    click.echo(f"The file was {before / 1e6:,.1f} MB and is {after / 1e6:,.1f} MB now.")


@sessions.command("delete", short_help="Delete a session, or all of a user's.")
@click.argument("session", required=False)
@_STORE
@click.option("--user", help="Delete all sessions of this user.")
@click.option("--owner", help="The API key that the user's sessions were started with.")
def delete(session: str | None, store: str, user: str | None, owner: str | None) -> None:
    """Delete a SESSION, or all sessions of a user, with all that belongs to them.

    A session is named by its id, or by its pseudonym in exports.
    """
    if (session is None) == (user is None):
        raise BadInput("Give either a session or --user.")
    from seeker.server.export import find_session
    from seeker.stores import open_existing

    source = open_existing(store)
    try:
        if session is None:
            ids = list(source.find(user, owner))
        else:
            ids = [one for one in [find_session(source, session)] if one is not None]
        count = sum(source.delete(one) for one in ids)
    finally:
        source.close()
    click.echo(f"Deleted {count:,} sessions.")
