"""What the compiler costs: all kernels, once after an install; and the first fit of a process beside the next."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

from _apart import FITS
from _bench import Bench, apart, threads

TITLE = "Waiting for the compiler"


def run(bench: Bench) -> None:
    names = ["W H"] if bench.quick else list(FITS)
    with bench.attempt("kernels", TITLE), threads(2), tempfile.TemporaryDirectory() as cache:
        place = {} if bench.quick else {"NUMBA_CACHE_DIR": cache}
        compiling, loading = (difference(bench, apart("fits", *names, **place)) for _ in range(2))
        bench.number(
            [sum(compiling.values()) - sum(loading.values())],
            20.0,
            problem="all kernels, float64 and float32",
            what="seconds of compilation, once",
            details=compiling,
        )
        alone = [max(difference(bench, apart("fits", name, **place)).values()) for name in names]
        bench.number(
            alone,
            0.5,
            problem="the first fit of a process, kernels on disk",
            what="seconds more than the next",
            holds=max(alone) <= 0.5,
            details=dict(zip(names, alone, strict=True)),
        )


def difference(bench: Bench, found: Mapping[str, list[float] | str]) -> dict[str, float]:
    """What the first fit took beyond the second, for those that could be run."""
    for name, seconds in found.items():
        with bench.attempt(name, TITLE):
            if isinstance(seconds, str):
                raise RuntimeError(seconds)
    return {name: seconds[0] - seconds[1] for name, seconds in found.items() if not isinstance(seconds, str)}
