"""Kernels on several cores: rows are shared out among threads, as many as the process may use.

Numba's own threads are not used: their default pool cannot be entered by two threads at a time, which several starts side by side
would do, and it knows nothing of the limits that are set for BLAS.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import cpu_count

from .tuned import tuned

_LIMIT: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Within this, kernels use no more than so many threads; None leaves it as it is."""
    token = _LIMIT.set(available() if threads is None else threads)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def available() -> int:
    """How many threads a kernel may use here: the limit set, or OMP_NUM_THREADS, or the cores there are."""
    limit = _LIMIT.get()
    if limit is not None:
        return limit
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(wanted), _cores()) if wanted.isdigit() and int(wanted) else _cores()


@cache
def _cores() -> int:
    """The cores that the process may use, found out once: joblib reads files for it, and products ask all the time."""
    return int(cpu_count())


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def suited_to(multiplications: float) -> Iterator[None]:
    """Within this, BLAS has one thread if its products are small: several would wait for each other longer than they work."""
    if multiplications >= _WORTH_THREADS:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


_WORTH_THREADS = tuned(1e8, by="iteration", on="2026-11-15")
"""Multiplications from which on more than one thread is worth waiting for."""


def blas_limited(threads: int | None) -> AbstractContextManager[Any]:
    """Within this, BLAS uses no more than so many threads; None leaves it as it is. Which libraries there are is looked up once."""
    return nullcontext() if threads is None else _controller().limit(limits=threads, user_api="blas")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="nonneg")


os.register_at_fork(after_in_child=_pool.cache_clear) if hasattr(os, "register_at_fork") else None


def over_rows(kernel: Callable[..., Any], work: np.ndarray | int, *arguments: Any, least: int = 20_000) -> list[Any]:
    """Call kernel(start, stop, *arguments) for ranges of rows that together are all of them; return the results.

    Parameters
    ----------
    work : array or int
        The number of rows, or an array that grows by each row's share of the work, from 0, such as the `indptr` of a sparse array.
    least : int
        Work below which a second thread costs more than it saves.
    """
    rows, whole = (work, work) if isinstance(work, int) else (len(work) - 1, int(work[-1]))
    count = max(1, min(available(), whole // least))
    if count == 1:
        return [kernel(0, rows, *arguments)]
    steps = np.arange(work + 1) if isinstance(work, int) else work
    cuts = np.searchsorted(steps, np.linspace(0, steps[-1], count + 1))
    cuts[0], cuts[-1] = 0, len(steps) - 1
    pieces = [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]
    return in_threads(lambda piece: kernel(*piece, *arguments), pieces)


def over_pieces(work: Callable[[int, int], Any], rows: int, each: float, least: float) -> list[Any]:
    """Call work(start, stop) for ranges of rows that together are all of them; return the results in order.

    Their number depends on the work alone, and not on that of threads: sums over the ranges are the same to the last bit.

    Parameters
    ----------
    each : float
        The work that a row takes.
    least : float
        Work below which a second range costs more than it saves.
    """
    count = max(1, min(_PIECES, rows, int(rows * each / least)))
    if count == 1:
        return [work(0, rows)]
    cuts = np.linspace(0, rows, count + 1).astype(int).tolist()
    return in_threads(lambda piece: work(*piece), list(pairwise(cuts)))


_PIECES = tuned(8, by="iteration", on="2026-11-16")
"""Ranges at most: enough for the cores of a laptop, few enough for the memory that each one's sums take."""


def in_threads(work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
    """Results of the work on each piece, in parallel if there are threads."""
    return [work(piece) for piece in pieces] if available() == 1 else list(_pool().map(work, pieces))


def in_threads_alone(work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
    """The same for work of other libraries, scikit-learn's too: with several pieces, each has one thread."""
    if len(pieces) == 1:
        return [work(pieces[0])]
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController()  # anew: some may have been loaded since others were looked up

    def alone(piece: Any) -> Any:
        with libraries.limit(limits=1, user_api="openmp"):  # of this thread
            return work(piece)

    with libraries.limit(limits=1, user_api="blas"):  # of all threads
        return in_threads(alone, pieces)
