"""The command line, ``nonneg``. Each command is one file in `commands`.

Nothing is imported before it is used, so that ``nonneg --help`` is there at once.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the shell gives."""
    _open_streams()
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        sys.stderr.write(f"The command line needs {error.name}, which is not installed: pip install 'nonneg[cli]'\n")
        sys.exit(1)
    from .app import app

    try:
        app(prog_name="nonneg")
    except OSError as error:  # help and version are printed by click
        from .running import echo

        echo(f"nonneg: {error.strerror or error}.", err=True)
        sys.exit(1)


def _open_streams() -> None:
    """Open streams that the shell has closed (``2>&-``) to nowhere: the next file to be opened would take their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the least number that is free, which is this one
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf8")  # noqa: SIM115
