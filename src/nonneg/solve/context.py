"""The context of a fit: clock, interrupt, progress and checkpoint, made once at the beginning of a fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any

from ..data import Data
from .checkpoints import Checkpoint, CheckpointFile
from .problem import Problem
from .progress import Callback, Listener, Listeners, TablePrinter, catch_sigint, current_listener, listening
from .solution import Progress, Solution, Status, Took
from .stopping import Stopping


class Context:
    """Clock, interrupt, progress and checkpoint of a fit.

    Parameters
    ----------
    callback : callable or Listener, optional
        Called at each check of each start.
    verbose : bool, default=False
        Whether to print progress.
    checkpoint : Checkpoint, optional
        Store of the state of each start.
    """

    def __init__(self, callback: Any = None, *, verbose: bool = False, checkpoint: Checkpoint | None = None) -> None:
        self.began = time.perf_counter()
        self.checkpoint = checkpoint
        own = callback if isinstance(callback, Listener) else None if callback is None else Callback(callback)
        printer = TablePrinter(every=1.0, began=self.began) if verbose else None
        self._own = [listener for listener in (printer, own) if listener is not None]
        self.listener: Listener = Listeners(*self._own) if self._own else Listener()
        """Notified of phases, starts and checks: the printer, the callback and, while `watching`, the listener of all fits."""
        self.interrupt, self.failed = Event(), Event()
        """Set by Ctrl-C, and by a start that failed."""
        self.file: CheckpointFile | None = None

    @contextmanager
    def watching(self, data: Any = None) -> Iterator[None]:
        """Catch Ctrl-C, and notify the listener of all fits, also of passes over data out of core."""
        common, log = current_listener(), data.log if isinstance(data, Data) else None  # tensors have a method of this name
        self.listener = Listeners(common, *self._own) if self._own else common
        with listening(common), catch_sigint(self.listener.interrupted, log) as self.interrupt:
            if log is not None:
                log.told = self.listener.phase
            try:
                yield
            finally:
                if log is not None:
                    log.told = None

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return self.checkpoint is not None and self.checkpoint.exists

    @contextmanager
    def stored(self, identity: Callable[[], Mapping[str, Any]], seeds: list[int]) -> Iterator[list[int]]:
        """Open the checkpoint, if there is one.

        Parameters
        ----------
        identity : callable
            Describes the fit: data, model and settings.
        seeds : list of int
            One for each start.

        Yields
        ------
        list of int
            The seeds of the checkpoint, or else those given.
        """
        if self.checkpoint is None:
            yield seeds
            return
        self.file = CheckpointFile(self.checkpoint, identity(), seeds)
        try:
            yield self.file.seeds
        finally:
            self.file.close()
            self.file = None


class StartContext:
    """The context of one of several starts: the callback of its runs, and the writer of its checkpoint.

    Parameters
    ----------
    fit : Context, optional
        A new one, without listeners, by default.
    number, of : int
        Which of how many starts.
    """

    def __init__(self, fit: Context | None = None, number: int = 0, of: int = 1) -> None:
        self.fit, self.number, self.of = fit or Context(), number, of
        self.name = f"start {number + 1} of {of}" if of > 1 else ""
        self.writer = None if self.fit.file is None else self.fit.file.writer(number)
        self.waited = 0.0
        """Seconds from the beginning of the fit to that of the run."""
        self.took: list[Took] = []
        """The cost of each stage."""

    @contextmanager
    def measured(self, data: Any) -> Iterator[None]:
        """Measure the cost of a stage."""
        log, began = data.log, time.perf_counter()
        before = 0 if log is None else log.count
        yield
        self.took.append(Took(time.perf_counter() - began, None, None if log is None else log.count - before))

    def __call__(self, progress: Progress) -> bool | Status:
        """Report a check of the run, and return why to end the run, if it should end."""
        fit = self.fit
        if progress.iteration == 0:
            self.waited = time.perf_counter() - fit.began - progress.seconds
        if fit.interrupt.is_set():
            return Status.STOPPED_BY_USER
        return fit.failed.is_set() or bool(fit.listener.checked(progress, self.number))

    def trial(self, progress: Progress) -> bool:
        """Report a check of a run that looks for a start; the callback of such a run."""
        self.fit.listener.phase(f"{self.name}{', ' if self.name else ''}choosing a start, iteration {progress.iteration}")
        return self.fit.failed.is_set() or self.fit.interrupt.is_set()

    def say(self, line: str) -> None:
        """Report the end of a stage."""
        self.fit.listener.stage(line, self.name)

    def solved(self, problem: Problem, stopping: Stopping, solve: Callable[[], Solution]) -> Solution:
        """The solution of the start: from the checkpoint, or else solved and stored."""
        listener, writer = self.fit.listener, self.writer
        found = None if writer is None else writer.solution(problem)
        if found is not None:
            return found
        listener.began(self.number, self.of, stopping.max_iter, stopping.tol)
        found = solve()
        if writer is not None and found.status not in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK):
            writer.finish(found)
        listener.ended(found, self.number)
        return found
