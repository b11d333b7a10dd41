"""The command `seeker`. What a command needs is loaded when it runs, so that help is quick."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from seeker import __version__
from seeker.cli.build import build, learn, update
from seeker.cli.catalogs import compact, info, remove, search, tidy, verify
from seeker.cli.demo import demo
from seeker.cli.errors import report_errors
from seeker.lab.cli import evaluate, report
from seeker.server.cli import backup, keys, restore, serve, sessions
from seeker.study.cli import study

SECTIONS: Mapping[str, Sequence[click.Command]] = {
    "To begin with": (demo,),
    "Catalogs": (build, info, search, update, remove, verify, compact, tidy),
    "Searching with people": (serve, keys, sessions, backup, restore, learn),
    "Measuring": (evaluate, report, study),
}


class _InSections(click.Group):
    """Lists its commands by what they are for, in the order in which people meet them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(str(one.name), one.get_short_help_str(80)) for one in commands]
                )


@click.group(
    cls=_InSections,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`seeker demo` shows what it is. With pictures of your own: `seeker build PHOTOS --out "
    "CATALOG`, then `seeker serve CATALOG`.",
)
@click.version_option(__version__, message="Seeker %(version)s")
def cli() -> None:
    """Find the thing a person has in mind but cannot put into words."""


for commands in SECTIONS.values():
    for command in commands:
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
        return report_errors(error)
    return result if isinstance(result, int) else 0
