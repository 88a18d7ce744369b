"""Ctrl-C: a fit ends at its next check, its result is kept, and then the interrupt is passed on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, current_thread, main_thread
from typing import Any

from ..data import Data
from ..exceptions import Stopped as Stopped

_ASKED: ContextVar[Event | None] = ContextVar("the event of the fit that is going on", default=None)


def is_heeded() -> bool:
    """Whether this is part of a fit that catches Ctrl-C."""
    return _ASKED.get() is not None


def is_interrupted(*_: Any) -> bool:
    """Whether Ctrl-C was pressed in the current fit; as a callback, it ends a run then."""
    asked = _ASKED.get()
    return asked is not None and asked.is_set()


@contextmanager
def heeded(tell: Callable[[], None], data: Any = None) -> Iterator[Event]:
    """Catch Ctrl-C: the first sets an event, a second interrupts at once.

    Passes over data out of core are interrupted between two blocks. A handler of the user is kept, and threads other than the main
    one cannot catch signals.

    Parameters
    ----------
    tell : callable
        Called at the first, from the handler of the signal.
    data : Data, optional
        Data with passes to interrupt.
    """
    asked = Event()
    log = data.log if isinstance(data, Data) else None
    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def handle(number: int, frame: Any) -> None:
        if asked.is_set():
            signal.default_int_handler(number, frame)
        asked.set()
        tell()

    if is_ours:
        signal.signal(signal.SIGINT, handle)
        token = _ASKED.set(asked)
    if log is not None:
        log.over = asked.is_set
    try:
        yield asked
    finally:
        if log is not None:
            log.over = None
        if is_ours:
            _ASKED.reset(token)
            signal.signal(signal.SIGINT, signal.default_int_handler)
