"""The group of all commands: whatever files there are in `commands`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import click

from ..version import __version__
from . import commands


class Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        found: click.Command = import_module(f".commands.{cmd_name}", __package__).command
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], self.list_commands(ctx), 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(error.message + hint, ctx) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "-V", "--version", prog_name="nonneg")
def app() -> None:
    """Non-negative matrix factorization: parts, clusters and co-clusters of tables, images, brains and graphs.

    \b
    From a table to a page to look at:
        nonneg fit data.csv --model opnmf --rank 20 --report report.html

    Every command explains itself: nonneg fit --help. Completion for bash (zsh and fish likewise):
    eval "$(_NONNEG_COMPLETE=bash_source nonneg)".

    Exit codes: 0 done; 1 it cannot be done with these files or data; 2 wrong usage; 130 stopped by Ctrl-C.
    """
