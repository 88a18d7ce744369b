"""How kernels are compiled: once after an install, kept on disk, and not in silence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

_FOLDER = Path(__file__).parent
_RELAXED = {"reassoc", "contract", "arcp", "nsz", "afn"}
"""Sums may be reordered, so that they run in vectors; NaN and infinity stay what they are."""

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a kernel for the types it is called with. It lets go of the interpreter, so threads can run it side by side."""
    try:
        return numba.njit(function, cache=True, nogil=True, fastmath=_RELAXED)
    except RuntimeError:  # no folder to keep it in: then it is compiled in every process
        return numba.njit(function, nogil=True, fastmath=_RELAXED)


def inlined(function: F) -> F:
    """A piece of kernels, compiled into each of them."""
    return numba.njit(function, nogil=True, fastmath=_RELAXED, inline="never")


class _Announcement(event.Listener):
    """Says once in a process that kernels are being compiled, which happens only where there are none on disk."""

    said = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self.said and Path(function.__code__.co_filename).parent == _FOLDER:
            self.said = True
            print("nonneg: compiling kernels, for the first time on this machine; a few seconds each.", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        return


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
