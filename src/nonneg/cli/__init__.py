"""The command line, ``nonneg``. Each command is one file in `commands`.

Nothing is imported before it is used, so that ``nonneg --help`` is there at once.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the shell gives."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        sys.stderr.write(f"The command line needs {error.name}, which is not installed: pip install 'nonneg[cli]'\n")
        sys.exit(1)
    from .app import app

    app(prog_name="nonneg")
