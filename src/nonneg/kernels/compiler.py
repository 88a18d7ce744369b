"""Compilation of kernels: once after an install, cached on disk if there is a folder, and announced."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..exceptions import IncompatibleError

try:
    import numba
except ValueError as error:
    given = os.environ.get("NUMBA_NUM_THREADS")
    raise IncompatibleError(
        f"numba cannot be loaded with NUMBA_NUM_THREADS={given}: {error} Unset it, or set 1 or more."
    ) from error
from numba.core import event

_FOLDER = Path(__file__).parent
_RELAXED = {"reassoc", "contract", "arcp", "nsz", "afn"}
"""Sums may be reordered, so that they run in vectors; NaN and infinity stay."""

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": _RELAXED, "error_model": "numpy", "no_cfunc_wrapper": True}
_PIECE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True}
"""Options of kernels, and further ones of their pieces. Wrappers that nobody calls would take a third of the compiler's time."""


def compiled(function: F) -> F:
    """Compile a kernel for the types it is called with. It releases the interpreter's lock, so threads can run it side by side.

    Kernels copy and add arrays in loops: `a[:] = b` and `a += b` bring numba's own message about shapes with them, which takes
    1.7 s to compile, where a loop takes a hundredth.
    """
    try:
        return numba.njit(function, cache=True, **_OPTIONS)
    except RuntimeError:  # numba finds no folder for its cache
        return numba.njit(function, **_OPTIONS)


def inlined(function: F) -> F:
    """Compile a piece of kernels into each of its callers. Python can call only its `py_func`.

    A piece that is not inlined is a weak symbol in the object code of each kernel that calls it, and the loader takes the first
    definition in the process for all of them: the separately compiled piece if it has just been compiled, else the copy of
    the kernel that was loaded first. Each copy is optimised on its own and sums in an order of its own, so the bits of a result
    would depend on the process's other compilations and loads.
    """
    return numba.njit(function, **_OPTIONS, **_PIECE)


class _Announcement(event.Listener):
    """Tells on stderr which kernel was compiled, for how long, and whether it is kept on disk; kernels are loaded in silence.

    Compilations nest, since a kernel compiles its pieces: their start times form a stack. The garbage collector is off meanwhile:
    it would find nothing, in a sixth of the compiler's time.
    """

    def __init__(self) -> None:
        self.began: list[float] = []
        self.collects = False
        self.is_silent = False

    def on_start(self, event: Any) -> None:
        if not self.began:
            self.collects = gc.isenabled()
            gc.disable()
        self.began.append(time.perf_counter())

    def on_end(self, event: Any) -> None:
        seconds, dispatcher = time.perf_counter() - self.began.pop(), event.data["dispatcher"]
        if self.began:
            return
        if self.collects:
            gc.enable()
        function = dispatcher.py_func
        if Path(function.__code__.co_filename).parent != _FOLDER:
            return
        future = "it is kept for the next time." if _can_keep(dispatcher) else _NOT_KEPT
        if seconds > _LONG and not self.is_silent:
            sys.stderr.write(f"nonneg: compiled the kernel {function.__name__} in {seconds:.1f} s; {future}\n")
            sys.stderr.flush()


def _can_keep(dispatcher: Any) -> bool:
    """Whether numba can write a kernel to its cache. If not, its cache is disabled: otherwise the failure would end the call."""
    folder = dispatcher.stats.cache_path
    if folder is None:
        return False
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_SIZE))
    except OSError:
        dispatcher._cache.disable()
        return False
    return True


_NOT_KEPT = (
    "it is not kept, since numba has no folder to write it to: every process compiles it again. Set the environment variable "
    "NUMBA_CACHE_DIR to a folder with space in which you may write."
)
_SIZE = 1_000_000
"""Bytes on disk that suffice for any kernel; the largest takes a quarter of that."""
_LONG = 1.0
"""Announce compilations longer than this many seconds."""


_announcement = _Announcement()
event.register("numba:compile", _announcement)  # type: ignore[no-untyped-call]


@contextmanager
def compiling_silently() -> Iterator[None]:
    """Compile without announcements in this process, for commands that are to be quiet."""
    _announcement.is_silent = True
    try:
        yield
    finally:
        _announcement.is_silent = False
