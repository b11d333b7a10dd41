"""`seeker serve`, `seeker keys` and `seeker sessions`. What they need is loaded when they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from seeker.errors import BadInput, NotFound, SeekerError
from seeker.server.settings import PREFIX, Settings, read_settings

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


@click.group(short_help="Look at sessions that are kept.")
def sessions() -> None:
    """Look at sessions that are kept, export them, delete them."""


@sessions.command("export", short_help="Write sessions to a file.")
@click.argument("out", metavar="FILE")
@_STORE
@click.option("--user", help="Only sessions of this user.")
@click.option("--owner", help="The API key that the user's sessions were started with.")
def export(out: str, store: str, user: str | None, owner: str | None) -> None:
    """Write sessions to FILE: .jsonl has one per line, .parquet one event per row."""
    from seeker.server.export import write_export
    from seeker.stores import DamagedSession, open_existing

    damaged: list[DamagedSession] = []
    source = open_existing(store)
    try:
        count = write_export(source, Path(out), damaged.append, user, owner)
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


@sessions.command("show", short_help="Tell a session's story.")
@click.argument("id")
@_STORE
def show(id: str, store: str) -> None:
    """Tell what happened in the session ID, one event per line."""
    from seeker.server.export import history
    from seeker.stores import open_existing

    source = open_existing(store)
    try:
        stored = source.load(id)
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
@click.argument("id", required=False)
@_STORE
@click.option("--user", help="Delete all sessions of this user.")
@click.option("--owner", help="The API key that the user's sessions were started with.")
def delete(id: str | None, store: str, user: str | None, owner: str | None) -> None:
    """Delete the session ID, or all sessions of a user, with all that belongs to them."""
    if (id is None) == (user is None):
        raise BadInput("Give either the id of a session or --user.")
    from seeker.stores import open_existing

    source = open_existing(store)
    try:
        ids = [id] if id is not None else list(source.find(user, owner))
        count = sum(source.delete(one) for one in ids)
    finally:
        source.close()
    click.echo(f"Deleted {count:,} sessions.")
