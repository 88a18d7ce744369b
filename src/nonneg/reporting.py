"""Progress on long work. The library prints only where `verbose` asks for it, or a callback does.

``factorize(..., callback=print_progress())`` prints a line at every check.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock
from typing import TextIO

from .engine.solution import Progress

_PRINTING = Lock()


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line in one piece, whatever other threads print."""
    with _PRINTING:
        out = stream or sys.stdout
        out.write(f"{line}\n")
        out.flush()


def print_progress(every: float = 0.0, stream: TextIO | None = None, title: str = "", name: str = "") -> Callable[[Progress], None]:
    """A callback that prints iteration, time, objective, violation and exponent in columns.

    Parameters
    ----------
    every : float, default=0
        Least number of seconds between two lines; 0 prints at every check.
    stream : file, optional
        Where to; standard output by default.
    title : str, optional
        Printed above the first line.
    name : str, optional
        Printed before each line, to tell runs apart that print at the same time.
    """
    printed_at = float("-inf")
    before = f"{name}  " if name else ""

    def report(progress: Progress) -> None:
        nonlocal printed_at
        if progress.iteration == 0:
            if title:
                say(title, stream)
            say(f"{before}{'iteration':>9} {'seconds':>9} {'objective':>14}  violation      exponent", stream)
            printed_at = float("-inf")
        if progress.seconds - printed_at < every:
            return
        printed_at = progress.seconds
        violation = " ".join(f"{name} {value:.2e}" for name, value in progress.violation.items()) or "–"
        exponent = " ".join(f"{name} {value:.3g}" for name, value in progress.exponent.items())
        numbers = f"{progress.iteration:9d} {progress.seconds:9.2f} {progress.objective:14.8g}"
        say(f"{before}{numbers}  {violation:<13}  {exponent}", stream)

    return report
