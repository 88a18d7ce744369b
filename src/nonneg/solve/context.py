"""The context of a fit: clock, interrupt, progress and checkpoint, made once where the fit begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

from ..reporting import heard_by, listener_of, print_progress, readings_heard, say
from .checkpoints import Checkpoint, CheckpointFile, CheckpointWriter
from .explanation import Took
from .interrupting import heeded
from .problem import Problem
from .solution import History, Progress, Solution, Status
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
        Where to store the state of each start.
    """

    def __init__(self, callback: Any = None, *, verbose: bool = False, checkpoint: Checkpoint | None = None) -> None:
        self.began = time.perf_counter()
        self.callback, self.verbose, self.checkpoint = callback, verbose, checkpoint
        self.listener = listener_of(callback)
        self.interrupt, self.failed = Event(), Event()
        self._file: CheckpointFile | None = None

    @contextmanager
    def watching(self, data: Any = None) -> Iterator[None]:
        """Catch Ctrl-C, and tell listeners of passes over the data."""
        self.listener = listener_of(self.callback)
        with heeded(data) as self.interrupt, readings_heard(data, self.callback):
            yield

    @property
    def is_interrupted(self) -> bool:
        """Whether the user pressed Ctrl-C."""
        return self.interrupt.is_set()

    @property
    def is_over(self) -> bool:
        """Whether to stop: the user pressed Ctrl-C, or a start failed."""
        return self.failed.is_set() or self.is_interrupted

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return self.checkpoint is not None and self.checkpoint.exists

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self.began

    def say(self, line: str, name: str = "") -> None:
        """Print a line, with a name and the time, if verbose."""
        if self.verbose:
            say(f"{name}{'  ' if name else ''}{line}, {self.seconds:.2f} s")

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
        self._file = CheckpointFile(self.checkpoint, identity(), seeds)
        try:
            yield self._file.seeds
        finally:
            self._file.close()
            self._file = None

    def start(self, number: int = 0, of: int = 1) -> StartContext:
        """The context of one of several starts."""
        return StartContext(self, number, of, None if self._file is None else self._file.writer(number))


class StartContext:
    """The context of one start: the callback of its runs, and the writer of its checkpoint.

    Parameters
    ----------
    fit : Context
    number, of : int
        Which of how many starts.
    writer : CheckpointWriter, optional
        Writes the state of the start to the checkpoint.
    """

    def __init__(self, fit: Context, number: int = 0, of: int = 1, writer: CheckpointWriter | None = None) -> None:
        self.fit, self.number, self.of, self.writer = fit, number, of, writer
        self.name = f"start {number + 1} of {of}" if of > 1 else ""
        self._callback = heard_by(fit.listener, number, fit.callback)
        self._print = print_progress(every=1.0, name=self.name) if fit.verbose else None
        self._waited = 0.0
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
        if progress.iteration == 0:
            self._waited = self.fit.seconds - progress.seconds
        if self._print is not None:
            self._print(replace(progress, seconds=progress.seconds + self._waited))
        if self.fit.is_interrupted:
            return Status.STOPPED_BY_USER
        return self.fit.failed.is_set() or bool(self._callback is not None and self._callback(progress))

    def trial(self, progress: Progress) -> bool:
        """Report a check of a run that looks for a start; the callback of such a run."""
        if self.fit.listener is not None:
            self.fit.listener.phase(
                f"{self.name}{', ' if self.name else ''}looking for where to start, iteration {progress.iteration}"
            )
        return self.fit.is_over

    def say(self, line: str) -> None:
        """Tell the listener what is being done, and print it if verbose."""
        if self.fit.listener is not None:
            self.fit.listener.phase(line)
        self.fit.say(line, self.name)

    def since_the_beginning(self, history: History) -> History:
        """The history of the last run, with seconds counted from the beginning of the fit."""
        return History([replace(record, seconds=record.seconds + self._waited) for record in history])

    def solved(self, problem: Problem, stopping: Stopping, solve: Callable[[], Solution]) -> Solution:
        """The solution of the start: from the checkpoint, if it is there, or else solved, told and stored."""
        listener, writer = self.fit.listener, self.writer
        found = None if writer is None else writer.solution(problem)
        if found is not None:
            return found
        if listener is not None:
            listener.began(self.number, self.of, stopping.max_iter, stopping.tol)
        found = solve()
        if writer is not None and found.status not in (Status.STOPPED_BY_USER, Status.STOPPED_BY_CALLBACK):
            writer.finish(found)
        if listener is not None:
            listener.ended(found, self.number)
        return found


def silent() -> StartContext:
    """The context of a run without listeners and without a checkpoint."""
    context = Context()
    context.listener = None
    return StartContext(context)
