"""Progress on long work, and Ctrl-C: one interface, `Listener`, for lines, a terminal's display, `logging` and callbacks of others.

A fit tells its listeners in which phase it is, each check of each start, and how that ends. A listener is given as `callback`, or
hears all fits within ``with listening(listener):``. It may end the work early; the best so far is kept. Lines also go to `logging`,
if ``logging.getLogger("nonneg")`` is at level INFO.
"""

from __future__ import annotations

import logging
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Event, Lock, current_thread, main_thread
from typing import Any, TextIO

import numpy as np

from ..exceptions import Stopped
from .solution import Progress, Solution

LOGGER = logging.getLogger("nonneg")
_PRINTING = Lock()


class Listener:
    """Base of those who follow a fit. Its methods do nothing; they may be called from several threads.

    See Also
    --------
    listening : Lets one follow all fits.
    LinePrinter : Prints lines.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.reporting import Listener
    >>> class FirstBelow(Listener):
    ...     def checked(self, progress, start):
    ...         return progress.iteration >= 20
    >>> nonneg.NMF(2, random_state=0, callback=FirstBelow(), tol=0).fit(np.random.default_rng(0).random((9, 8))).n_iter_
    20
    """

    def phase(self, text: str) -> None:
        """Report the current step in a few words."""

    def stage(self, text: str, name: str = "") -> None:
        """Say that a stage of a start, which may have a name, is over."""
        self.phase(text)

    def done(self, text: str, name: str) -> None:
        """Say how the fit of an estimator with this name ended."""

    def announce(self, text: str) -> None:
        """Tell something once, before long work."""

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        """The first of so many starts, or another one, begins."""

    def checked(self, progress: Progress, start: int) -> Any:
        """The objective was measured. Return True to end the start; the best iterate is kept."""

    def ended(self, solution: Solution, start: int) -> None:
        """A start has ended."""

    def interrupted(self) -> None:
        """Ctrl-C was pressed, and the fit will end at its next check. Called from the handler of the signal."""

    def __call__(self, progress: Progress) -> Any:
        return self.checked(progress, 0)


class Listeners(Listener):
    """Several, as one.

    Parameters
    ----------
    *listeners : Listener
        Called in turn, in this order.

    See Also
    --------
    Listener : Base class.
    listening : Lets one follow all fits.

    Examples
    --------
    >>> from nonneg.reporting import Listener, Listeners
    >>> len(Listeners(Listener(), Listener()).listeners)
    2
    """

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners

    def phase(self, text: str) -> None:
        for listener in self.listeners:
            listener.phase(text)

    def stage(self, text: str, name: str = "") -> None:
        for listener in self.listeners:
            listener.stage(text, name)

    def done(self, text: str, name: str) -> None:
        for listener in self.listeners:
            listener.done(text, name)

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

    def interrupted(self) -> None:
        for listener in self.listeners:
            listener.interrupted()


class Callback(Listener):
    """A function that is called at each check.

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self.function = function

    def checked(self, progress: Progress, start: int) -> Any:
        return self.function(progress)


class Inner(Listener):
    """Follows runs that are steps of something larger; passes on their iterations as phases of it, and Ctrl-C.

    Parameters
    ----------
    outer : Listener
        Follows the whole.
    text : str
        The purpose of the runs; with "", nothing is passed on but Ctrl-C.
    """

    def __init__(self, outer: Listener, text: str = "") -> None:
        self.outer, self.text = outer, text

    def checked(self, progress: Progress, start: int) -> None:
        if self.text:
            self.outer.phase(f"{self.text}, iteration {progress.iteration}, objective {progress.objective:.6g}")

    def interrupted(self) -> None:
        self.outer.interrupted()


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[Listener]:
    """Let a listener follow all fits in here.

    Parameters
    ----------
    listener : Listener
        Follows the fits.

    Yields
    ------
    Listener
        The same one.

    See Also
    --------
    Listener : Base class of those who follow.
    current_listener : The one in force.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.reporting import Listener, listening
    >>> class Starts(Listener):
    ...     count = 0
    ...     def ended(self, solution, start):
    ...         self.count += 1
    >>> with listening(Starts()) as starts:
    ...     model = nonneg.NMF(2, n_init=3, random_state=0).fit(np.eye(6) + 1)
    >>> starts.count
    3
    """
    token = _LISTENER.set(listener)
    try:
        yield listener
    finally:
        _LISTENER.reset(token)


def current_listener() -> Listener:
    """The listener of all fits: that of `listening`; else lines to `logging`, if it takes them; else one that does nothing.

    Returns
    -------
    Listener
        The listener in force.

    See Also
    --------
    listening : Sets it.
    Listener : Base class.

    Examples
    --------
    >>> from nonneg.reporting import Listener, current_listener, listening
    >>> mine = Listener()
    >>> with listening(mine):
    ...     print(current_listener() is mine)
    True
    """
    found = _LISTENER.get()
    if found is None:
        return LogPrinter() if LOGGER.isEnabledFor(logging.INFO) else Listener()
    return found


@contextmanager
def inner_runs(text: str) -> Iterator[None]:
    """Runs in here are steps of something larger: their starts and ends are not told.

    If the larger thing does not catch Ctrl-C, it has nothing to keep yet, and ends as a whole.

    Parameters
    ----------
    text : str
        The purpose of the runs.
    """
    inner = Inner(current_listener(), text)
    if _INTERRUPT.get() is None:
        inner.interrupted = lambda: None  # type: ignore[method-assign]
    with listening(inner):
        try:
            yield
        except Stopped:
            raise KeyboardInterrupt from None


_INTERRUPT: ContextVar[Event | None] = ContextVar("the event of the current fit", default=None)


def is_interrupted(*_: Any) -> bool:
    """Whether Ctrl-C was pressed in the current fit; as a callback, it ends a run then."""
    interrupt = _INTERRUPT.get()
    return interrupt is not None and interrupt.is_set()


@contextmanager
def catch_sigint(notify: Callable[[], None], log: Any = None) -> Iterator[Event]:
    """Catch Ctrl-C: the first sets an event, a second interrupts at once.

    A handler of the user is kept, and threads other than the main one cannot catch signals.

    Parameters
    ----------
    notify : callable
        Called at the first, from the handler of the signal.
    log : ReadingLog, optional
        Of data out of core, whose passes are interrupted between two blocks.
    """
    interrupt = Event()
    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def handle(number: int, frame: Any) -> None:
        if interrupt.is_set():
            signal.default_int_handler(number, frame)
        interrupt.set()
        notify()

    if is_ours:
        signal.signal(signal.SIGINT, handle)
        token = _INTERRUPT.set(interrupt)
    if log is not None:
        log.over = interrupt.is_set
    try:
        yield interrupt
    finally:
        if log is not None:
            log.over = None
        if is_ours:
            _INTERRUPT.reset(token)
            signal.signal(signal.SIGINT, signal.default_int_handler)


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line in one piece, whatever other threads print. A stream that cannot be written to costs no fit."""
    out = stream or sys.stdout
    with _PRINTING, suppress(OSError, ValueError):  # full, or closed
        if out is not None:
            out.write(f"{line}\n")
            out.flush()


def pace(every: float, gone: float, stream: TextIO | None) -> float:
    """Least number of seconds between two lines: in a notebook, which keeps them all, they become rarer as time goes by."""
    return max(every, gone / 20) if type(stream).__module__.startswith("ipykernel") else every


class TablePrinter(Listener):
    """Prints iteration, time, objective, violation and exponent in columns; see `print_progress`."""

    def __init__(
        self, every: float = 0.0, stream: TextIO | None = None, title: str = "", name: str = "", began: float | None = None
    ) -> None:
        self._every, self._stream, self._title, self._name = every, stream, title, name
        self._fit_began = began
        """When the fit began, by `time.perf_counter`, if times are to be counted from there."""
        self._of = 1
        self._printed_at: dict[int, float] = {}

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        self._of = of

    def stage(self, text: str, name: str = "") -> None:
        if self._fit_began is not None:
            say(f"{name}{'  ' if name else ''}{text}, {time.perf_counter() - self._fit_began:.2f} s", self._stream)

    done = stage

    def checked(self, progress: Progress, start: int) -> None:
        name = f"start {start + 1} of {self._of}" if self._of > 1 and self._fit_began is not None else self._name
        before = f"{name}  " if name else ""
        if progress.iteration == 0:
            if self._title:
                say(self._title, self._stream)
            say(f"{before}{'iteration':>9} {'seconds':>9} {'objective':>14}  violation      exponent", self._stream)
            self._printed_at[start] = -math.inf
        seconds = progress.seconds if self._fit_began is None else time.perf_counter() - self._fit_began
        if seconds - self._printed_at.get(start, -math.inf) < pace(self._every, seconds, self._stream or sys.stdout):
            return
        self._printed_at[start] = seconds
        violation = " ".join(f"{name} {value:.2e}" for name, value in progress.violation.items()) or "–"
        exponent = " ".join(f"{name} {value:.3g}" for name, value in progress.exponent.items())
        numbers = f"{progress.iteration:9d} {seconds:9.2f} {progress.objective:14.8g}"
        readings = f"  {_readings(progress)}" if progress.readings else ""
        say(f"{before}{numbers}  {violation:<13}  {exponent}{readings}", self._stream)


def print_progress(every: float = 0.0, stream: TextIO | None = None, title: str = "", name: str = "") -> Callable[[Progress], None]:
    """A callback that prints iteration, time, objective, violation and exponent in columns.

    Parameters
    ----------
    every : float, default=0
        Least number of seconds between two lines; 0 prints at every check.
    stream : file, optional
        Stream; standard output by default.
    title : str, optional
        Printed above the first line.
    name : str, optional
        Printed before each line, to tell runs apart that print at the same time.

    Returns
    -------
    callable
        To be given as `callback`.

    See Also
    --------
    LinePrinter : Lines in words.
    nonneg.plot.convergence : The same as a picture.

    Examples
    --------
    >>> import io
    >>> import numpy as np, nonneg
    >>> from nonneg.reporting import print_progress
    >>> lines = io.StringIO()
    >>> model = nonneg.NMF(2, random_state=0, callback=print_progress(stream=lines, title="two parts")).fit(np.eye(6) + 1)
    >>> lines.getvalue().splitlines()[0]
    'two parts'
    """
    return TablePrinter(every, stream, title, name)


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
        """Seconds, and whether they are an expectation rather than a bound; None if unknown yet."""
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
        Stream; standard error by default.
    every : float, default=1
        Least number of seconds between two lines.
    clock : callable, optional
        Tells the time.

    See Also
    --------
    listening : Lets one follow all fits.
    print_progress : A callback that prints columns.

    Examples
    --------
    >>> import sys
    >>> import numpy as np, nonneg
    >>> from nonneg.reporting import LinePrinter
    >>> printer = LinePrinter(sys.stderr, every=5)
    >>> model = nonneg.NMF(2, random_state=0, callback=printer).fit(np.eye(6) + 1)
    """

    def __init__(self, stream: TextIO | None = None, every: float = 1.0, clock: Callable[[], float] | None = None) -> None:
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
        self._write(text, now - self._began)

    def _write(self, text: str, seconds: float) -> None:
        say(f"[{readable_seconds(seconds)}] {text}", self._stream)


class LogPrinter(LinePrinter):
    """The lines of `LinePrinter`, given to ``logging.getLogger("nonneg")`` at level INFO."""

    def _write(self, text: str, seconds: float) -> None:
        LOGGER.info(text)


def _readings(progress: Progress) -> str:
    """How often data in files, or on other machines, have been read, how long that takes, and how often it may be done still."""
    left = "" if progress.readings_left is None else f", {progress.readings_left} more at the most"
    return f"{progress.readings} readings of {progress.reading_seconds:.3g} s{left}"
