"""Commands outside the command `seeker`, such as `python -m seeker.lab.tried`."""

from __future__ import annotations

from typing import Any

import click

from seeker.errors import SeekerError


class LabCommand(click.Command):
    """A command whose failures are one sentence, as those of `seeker` are."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SeekerError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
