"""nonneg methods: the methods of the papers, and their names here."""

from __future__ import annotations

import click

from ..options import shell_command
from ..running import Session


@shell_command("methods")
@click.argument("search", default="")
@click.option("--status", type=click.Choice(["ready", "by form", "derived"]), help="Only such methods.")
@click.pass_obj
def command(session: Session, /, search: str, status: str | None) -> None:
    """List the methods of the papers, with their equations and calls.

    \b
    Example, as it stands:
        nonneg methods NMF --status ready
    """
    from dataclasses import asdict

    from ...papers import methods

    found = methods(search, status=status)
    session.result["methods"] = [asdict(row) for row in found]
    session.say(str(found) if len(found) else f"There is no method with {search!r} in its name.")
