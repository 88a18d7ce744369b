"""Progress on long work. The library prints only where `verbose` asks for it, or a callback does.

``factorize(..., callback=print_progress())`` prints a line at every check. A `Listener` hears more: which phase a fit is in, each
check of each start, and how that ends. It is given as `callback`, too; or it hears of all fits within
``with listening(listener):``. Like any callback it may end the work early, and what was best until then is kept.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any, TextIO

import numpy as np

from .solve.interrupting import Stopped, acknowledged, is_heeded
from .solve.solution import Progress, Solution

_PRINTING = Lock()


def users_line() -> int:
    """The `stacklevel` of a warning that is to be about the line which called the library, through scikit-learn or not."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _OWN.match(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


_OWN = re.compile(r"(nonneg|sklearn|joblib)(\.|$)")


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line in one piece, whatever other threads print. A stream that cannot be written to costs no fit."""
    out = stream or sys.stdout
    with _PRINTING, suppress(OSError, ValueError):  # full, or closed
        if out is not None:
            out.write(f"{line}\n")
            out.flush()


def pace(every: float, gone: float, stream: TextIO) -> float:
    """Least number of seconds between two lines: in a notebook, which keeps them all, they become rarer as time goes by."""
    return max(every, gone / 20) if type(stream).__module__.startswith("ipykernel") else every


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
        if progress.seconds - printed_at < pace(every, progress.seconds, stream or sys.stdout):
            return
        printed_at = progress.seconds
        violation = " ".join(f"{name} {value:.2e}" for name, value in progress.violation.items()) or "–"
        exponent = " ".join(f"{name} {value:.3g}" for name, value in progress.exponent.items())
        numbers = f"{progress.iteration:9d} {progress.seconds:9.2f} {progress.objective:14.8g}"
        readings = f"  {_readings(progress)}" if progress.readings else ""
        say(f"{before}{numbers}  {violation:<13}  {exponent}{readings}", stream)

    return report


class Listener:
    """Whoever wants to know how work goes on. Its methods do nothing; they may be called from several threads.

    It hears of one estimator as its `callback`, or of all fits within ``with listening(listener):``.
    """

    def phase(self, text: str) -> None:
        """What is being done now, in a few words."""

    def announce(self, text: str) -> None:
        """Tell something once, before long work."""

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        """The first of so many starts, or another one, begins."""

    def checked(self, progress: Progress, start: int) -> Any:
        """The objective was looked at. What is true, returned, ends the start here; what was best until then is kept."""

    def ended(self, solution: Solution, start: int) -> None:
        """A start has come to its end."""

    def __call__(self, progress: Progress) -> Any:
        return self.checked(progress, 0)


class Listeners(Listener):
    """Several, as one.

    Parameters
    ----------
    *listeners : Listener
    """

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners

    def phase(self, text: str) -> None:
        for listener in self.listeners:
            listener.phase(text)

    def announce(self, text: str) -> None:
        for listener in self.listeners:
            listener.announce(text)

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        for listener in self.listeners:
            listener.began(start, of, max_iter, tol)

    def checked(self, progress: Progress, start: int) -> Any:
        answers = [listener.checked(progress, start) for listener in self.listeners]
        return any(answers)

    def ended(self, solution: Solution, start: int) -> None:
        for listener in self.listeners:
            listener.ended(solution, start)


class Inner(Listener):
    """Hears of runs that are steps of something larger, and passes on no more than how far they are.

    Parameters
    ----------
    outer : Listener
        Who hears of the whole.
    text : str
        What the runs are for.
    """

    def __init__(self, outer: Listener, text: str) -> None:
        self.outer, self.text = outer, text

    def checked(self, progress: Progress, start: int) -> None:
        self.outer.phase(f"{self.text}, iteration {progress.iteration}, objective {progress.objective:.6g}")


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[Listener | None]:
    """All fits in here are heard by a listener; by none, where that is None."""
    token = _LISTENER.set(listener)
    try:
        yield listener
    finally:
        _LISTENER.reset(token)


@contextmanager
def inner_runs(text: str) -> Iterator[None]:
    """Runs in here are steps of something larger: their starts and ends are not told. Where that larger thing does not heed Ctrl-C,
    nothing of it is there yet, and the whole ends.

    Parameters
    ----------
    text : str
        What they are for.
    """
    outer = _LISTENER.get()
    with listening(None if outer is None else Inner(outer, text)), nullcontext() if is_heeded() else acknowledged(None):
        try:
            yield
        except Stopped:
            raise KeyboardInterrupt from None


def current_listener() -> Listener | None:
    """Whoever listens, if anybody does."""
    return _LISTENER.get()


def listener_of(callback: Any) -> Listener | None:
    """Whoever is to hear of a fit: the callback, where it is a listener, and whoever listens anyway."""
    found = [one for one in (_LISTENER.get(), callback) if isinstance(one, Listener)]
    return Listeners(*found) if len(found) > 1 else found[0] if found else None


class Estimate:
    """How long a run will take yet, by how fast the changes of its objective have become smaller.

    Parameters
    ----------
    max_iter : int
    tol : float
        The relative change at which a run ends.
    """

    def __init__(self, max_iter: int, tol: float) -> None:
        self.max_iter, self.tol = max_iter, tol
        self._checks: list[tuple[int, float, float]] = []

    def add(self, progress: Progress) -> None:
        """Another check."""
        self._checks.append((progress.iteration, progress.seconds, progress.objective))

    def left(self) -> tuple[float, bool] | None:
        """Seconds, and whether they are an expectation rather than the most it can be; None where nothing can be said yet."""
        if len(self._checks) < 2:
            return None
        iterations, seconds, objectives = (np.array(column) for column in zip(*self._checks[-_LOOKED_AT:], strict=True))
        passed = iterations[-1] - iterations[0]
        if passed <= 0 or seconds[-1] <= seconds[0]:
            return None
        pace = (seconds[-1] - seconds[0]) / passed
        most = max(self.max_iter - int(iterations[-1]), 0) * float(pace)
        changes = -np.diff(objectives) / np.maximum(np.abs(objectives[1:]), np.finfo(float).tiny)
        if len(changes) < _LOOKED_AT // 2 or not self.tol > 0 or np.any(changes <= 0) or changes[-1] <= self.tol:
            return most, False
        slope = float(np.polyfit(seconds[1:], np.log(changes), 1)[0])
        if not slope < 0:
            return most, False
        expected = math.log(changes[-1] / self.tol) / -slope
        return (expected, True) if expected < most else (most, False)


_LOOKED_AT = 8
"""Checks by which the time that is left is told."""


def readable_seconds(seconds: float) -> str:
    """A time in words, with as many digits as it is sure of."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class LinePrinter(Listener):
    """A line a second at the most: phase, start, iteration, objective, distance from constraints, time gone and left.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    every : float, default=1
        Least number of seconds between two lines.
    clock : callable, optional
        Tells the time.
    """

    def __init__(self, stream: TextIO | None = None, every: float = 1.0, clock: Callable[[], float] | None = None) -> None:
        import time

        self._stream, self._every, self._clock = stream or sys.stderr, every, clock or time.perf_counter
        self._began, self._printed_at = self._clock(), -math.inf
        self._estimates: dict[int, Estimate] = {}
        self._of = 1

    def phase(self, text: str) -> None:
        self._print(text)

    def announce(self, text: str) -> None:
        self._print(text, always=True)

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        self._of = of
        self._estimates[start] = Estimate(max_iter, tol)

    def checked(self, progress: Progress, start: int) -> None:
        self._estimates.setdefault(start, Estimate(0, 0.0)).add(progress)
        self._print(self.line(progress, start))

    def ended(self, solution: Solution, start: int) -> None:
        name = f"start {start + 1} of {self._of}: " if self._of > 1 else ""
        self._print(f"{name}{solution.status.value} after {solution.n_iter} iterations, objective {solution.objective:.6g}", True)

    def line(self, progress: Progress, start: int) -> str:
        """One check in words."""
        name = [f"start {start + 1} of {self._of}"] if self._of > 1 else []
        violation = [
            f"distance of {factor} from its constraint {value:.2g}" for factor, value in progress.violation.items() if value
        ]
        readings = [_readings(progress)] if progress.readings else []
        left = self._estimates[start].left()
        time_left = [] if left is None else [f"{'about' if left[1] else 'at most'} {readable_seconds(left[0])} left"]
        numbers = [f"iteration {progress.iteration}", f"objective {progress.objective:.6g}"]
        return ", ".join([*name, *numbers, *violation, *readings, *time_left])

    def _print(self, text: str, always: bool = False) -> None:
        now = self._clock()
        if not always and now - self._printed_at < pace(self._every, now - self._began, self._stream):
            return
        self._printed_at = now
        say(f"[{readable_seconds(now - self._began)}] {text}", self._stream)


def _readings(progress: Progress) -> str:
    """How often data in files, or on other machines, have been read, how long that takes, and how often it may be done still."""
    left = "" if progress.readings_left is None else f", {progress.readings_left} more at the most"
    return f"{progress.readings} readings of {progress.reading_seconds:.3g} s{left}"
