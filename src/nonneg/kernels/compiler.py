"""How kernels are compiled: once after an install, kept on disk, and not in silence."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

_FOLDER = Path(__file__).parent
_RELAXED = {"reassoc", "contract", "arcp", "nsz", "afn"}
"""Sums may be reordered, so that they run in vectors; NaN and infinity stay what they are."""

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": _RELAXED, "error_model": "numpy", "no_cfunc_wrapper": True}
_NOT_ALONE: dict[str, Any] = {"inline": "never", "no_cpython_wrapper": True}
"""How kernels are compiled, and what they are made of: without the wrappers that nobody calls, in two thirds of the time."""


def compiled(function: F) -> F:
    """Compile a kernel for the types it is called with. It lets go of the interpreter, so threads can run it side by side."""
    try:
        return numba.njit(function, cache=True, **_OPTIONS)
    except RuntimeError:  # no folder to keep it in: then it is compiled in every process
        return numba.njit(function, **_OPTIONS)


def inlined(function: F) -> F:
    """A piece of kernels, compiled into each of them, and for them alone: Python itself cannot call it, but its `py_func`."""
    return numba.njit(function, **_OPTIONS, **_NOT_ALONE)


class _Announcement(event.Listener):
    """Says which kernel was compiled and how long that took, if it was long; what is on disk is loaded in silence.

    Kernels are compiled one at a time, and those that others are made of within these: the times are a stack. Meanwhile no
    garbage is collected: what the compiler makes stays until it has done, and looking through it again and again takes a sixth of
    its time.
    """

    def __init__(self) -> None:
        self.began: list[float] = []
        self.collects = False

    def on_start(self, event: Any) -> None:
        if not self.began:
            self.collects = gc.isenabled()
            gc.disable()
        self.began.append(time.perf_counter())

    def on_end(self, event: Any) -> None:
        seconds, function = time.perf_counter() - self.began.pop(), event.data["dispatcher"].py_func
        if not self.began and self.collects:
            gc.enable()
        if not self.began and seconds > _LONG and Path(function.__code__.co_filename).parent == _FOLDER:
            line = f"nonneg: compiled the kernel {function.__name__} in {seconds:.1f} s; it is kept for the next time.\n"
            sys.stderr.write(line)
            sys.stderr.flush()


_LONG = 1.0
"""Seconds that nobody wonders about."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
