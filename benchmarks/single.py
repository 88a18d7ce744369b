"""Wide data of float32 beside the same in float64: iterations and processor time of plain calls, the largest of them from files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from _bench import Bench, processed, threads
from nonneg import NMF, OPNMF, PNMF

TITLE = "Single precision"
PARTS = 10
_ROWS = 20
"""Rows that are made, and written, at a time."""


def run(bench: Bench) -> None:
    sizes = ((5, 500), (20, 400)) if bench.quick else ((5, 200_000), (100, 280_000), (1000, 300_000))
    for samples, features in sizes:
        rank, is_file = (4 if samples == 5 else PARTS), (samples, features) == sizes[-1]
        problem = f"{samples} × {features}, r = {rank}{', files' if is_file else ''}"
        with bench.attempt(problem, TITLE), threads(1), tempfile.TemporaryDirectory() as folder:
            beside(bench, problem, Path(folder), samples, features, rank, is_file)


def beside(bench: Bench, problem: str, folder: Path, samples: int, features: int, rank: int, is_file: bool) -> None:
    """Each estimator on the same numbers in both precisions; float64 from the file only while it is fitted."""
    estimators: dict[str, Any] = {
        "OPNMF": OPNMF(rank, random_state=0),
        "NMF": NMF(rank, random_state=0),
        "PNMF, I-divergence": PNMF(rank, divergence="kullback-leibler", random_state=0),
    }
    data = {}
    for dtype in ("float32", "float64"):
        path = folder / f"{dtype}.npy"
        write(path, samples, features, dtype)
        data[dtype] = path if is_file else np.load(path)
    for name, estimator in estimators.items():
        for X in data.values():  # so that nothing is compiled in what is timed
            estimator.set_params(max_iter=12).fit(X if not is_file else np.load(X, mmap_mode="r")[:20, :10_000].copy())
        estimator.set_params(max_iter=1000)
        seconds, iterations = {}, {}
        for dtype, X in data.items():
            seconds[dtype], fitted = processed(lambda X=X, estimator=estimator: estimator.fit(X))
            iterations[dtype] = fitted.n_iter_
        counts = [iterations["float32"]], [iterations["float64"]]
        bench.cost(*counts, 1.1, problem=problem, what=f"{name}, iterations", peer="float64", unit="")
        times = [seconds["float32"]], [seconds["float64"]]
        bench.cost(*times, 0.7 if samples >= 100 else 1.0, problem=problem, what=f"{name}, time", peer="float64")


def write(path: Path, samples: int, features: int, dtype: str) -> None:
    """Parts and noise as a .npy, a few rows at a time; the numbers are those of float32 in both precisions."""
    rng = np.random.default_rng(0)
    count = min(PARTS, samples - 2)
    parts = rng.standard_gamma(0.5, (count, features), np.float32)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (samples, features)}
        )
        for start in range(0, samples, _ROWS):
            rows = min(_ROWS, samples - start)
            block = rng.standard_gamma(2.0, (rows, count), np.float32) @ parts
            block += 0.3 * rng.standard_gamma(2.0, (rows, features), np.float32)
            file.write(block.astype(dtype).tobytes())
