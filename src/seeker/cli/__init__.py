"""The command `seeker`. What a command needs is loaded when it runs, so that help is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from seeker.cli.building import add, build
from seeker.cli.catalogs import info, remove, search, tidy, verify
from seeker.cli.demo import demo
from seeker.cli.failures import said
from seeker.lab.commands import evaluate, report
from seeker.server.commands import keys, serve, sessions
from seeker.study.commands import study


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="seeker", message="Seeker %(version)s")
def cli() -> None:
    """Find the thing a person has in mind but cannot put into words."""


for command in (demo, build, add, remove, info, search, verify, tidy):
    cli.add_command(command)

for command in (serve, keys, sessions):
    cli.add_command(command)

for command in (evaluate, report, study):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Every failure is one sentence."""
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="seeker",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except Exception as error:
        return said(error)
    return result if isinstance(result, int) else 0
