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


_TOLD: ContextVar[Callable[[], None] | None] = ContextVar("who acknowledges Ctrl-C", default=None)


@contextmanager
def acknowledged(tell: Callable[[], None] | None) -> Iterator[None]:
    """Call a function, or none, at the first Ctrl-C in a fit, from the handler of the signal."""
    token = _TOLD.set(tell)
    try:
        yield
    finally:
        _TOLD.reset(token)


def is_heeded() -> bool:
    """Whether this is part of a fit that catches Ctrl-C."""
    return _ASKED.get() is not None


def is_interrupted(*_: Any) -> bool:
    """Whether Ctrl-C was pressed in the current fit; as a callback, it ends a run then."""
    asked = _ASKED.get()
    return asked is not None and asked.is_set()


@contextmanager
def heeded(*others: Any) -> Iterator[Event]:
    """Catch Ctrl-C: the first sets an event, a second interrupts at once.

    Passes over data out of core are interrupted between two blocks. A handler of the user is kept, and threads other than the main
    one cannot catch signals.

    Parameters
    ----------
    *others : Data, or anything
        Data with passes to interrupt.
    """
    asked = Event()
    logs = [data.log for data in others if isinstance(data, Data) and data.log is not None]
    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def handle(number: int, frame: Any) -> None:
        if asked.is_set():
            signal.default_int_handler(number, frame)
        asked.set()
        tell = _TOLD.get()
        if tell is not None:
            tell()

    if is_ours:
        signal.signal(signal.SIGINT, handle)
        token = _ASKED.set(asked)
    for log in logs:
        log.over = asked.is_set
    try:
        yield asked
    finally:
        for log in logs:
            log.over = None
        if is_ours:
            _ASKED.reset(token)
            signal.signal(signal.SIGINT, signal.default_int_handler)
