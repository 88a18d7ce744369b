"""Progress on a terminal: one line that is kept up to date; a line a second if standard error is a file."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from ..solve.progress import LinePrinter, Listener, readable_seconds
from ..solve.solution import Progress, Solution
from .running import echo, legible


@contextmanager
def showing_progress() -> Iterator[Listener]:
    """Show progress on standard error: a line that changes on a terminal, and then goes away; lines elsewhere."""
    if not sys.stderr.isatty():
        yield Lines(cast(TextIO, Heedless()))
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield TerminalProgress(status)


class Heedless(io.TextIOBase):
    """Standard error, whether or not anybody reads it: a pipe that was closed does not end the work."""

    def write(self, text: str) -> int:
        echo(text, err=True, nl=False)
        return len(text)


class Lines(LinePrinter):
    """Lines, one of them to acknowledge Ctrl-C."""

    _before = ""

    def interrupted(self) -> None:
        """Acknowledge it, past the streams, whose locks the work that was interrupted may hold."""
        with suppress(OSError, AttributeError):
            os.write(sys.stderr.fileno(), f"{self._before}{_STOPPING}\n".encode())


_STOPPING = "Stopping at the next check; press Ctrl-C again to quit without saving."


class TerminalProgress(Lines):
    """One line, by rich."""

    _before = "\r\x1b[2K"  # in place of the line, which comes again below

    def __init__(self, status: Any) -> None:
        super().__init__()
        self._status, self._shown_at = status, 0.0

    def phase(self, text: str) -> None:
        self._show(text)

    def announce(self, text: str) -> None:
        self._status.console.print(text, markup=False, highlight=False)

    def checked(self, progress: Progress, start: int) -> None:
        self._estimates[start].add(progress)
        self._show(self.line(progress, start))

    def ended(self, solution: Solution, start: int) -> None:
        self._show(f"{solution.status.value} after {solution.n_iter} iterations, objective {solution.objective:.6g}")

    def _show(self, text: str) -> None:
        now = time.perf_counter()
        if now - self._shown_at > 0.1:
            from rich.text import Text

            self._shown_at = now
            self._status.update(Text(legible(f"{readable_seconds(now - self._began)}  {text}")))
