"""Progress on long work. The library never prints; a callback may.

``factorize(..., callback=print_progress())`` prints a line at every check.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from .solution import Progress


def print_progress(every: float = 0.0, stream: TextIO | None = None, title: str = "") -> Callable[[Progress], None]:
    """A callback that prints iteration, time, objective, violation and exponent in columns.

    Parameters
    ----------
    every : float, default=0
        Least number of seconds between two lines; 0 prints at every check.
    stream : file, optional
        Where to; standard output by default.
    title : str, optional
        Printed above the first line.
    """
    printed_at = float("-inf")

    def report(progress: Progress) -> None:
        nonlocal printed_at
        out = stream or sys.stdout
        if progress.iteration == 0:
            if title:
                print(title, file=out)
            print(f"{'iteration':>9} {'seconds':>9} {'objective':>14}  violation      exponent", file=out)
            printed_at = float("-inf")
        if progress.seconds - printed_at < every:
            return
        printed_at = progress.seconds
        violation = " ".join(f"{name} {value:.2e}" for name, value in progress.violation.items()) or "–"
        exponent = " ".join(f"{name} {value:.3g}" for name, value in progress.exponent.items())
        print(f"{progress.iteration:9d} {progress.seconds:9.2f} {progress.objective:14.8g}  {violation:<13}  {exponent}", file=out)

    return report
