"""What has to be measured in a process of its own: peak memory, and what the first fit of a process costs. Prints JSON.

``_apart.py memory PATH FORM RANK SETTINGS``, ``_apart.py fits NAME...``, ``_apart.py first ESTIMATOR STORAGE DIVERGENCE``,
``_apart.py partition WHO …``; see `_bench.apart`.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse

import nonneg

STATUS = Path("/proc/self/status")


def _kilobytes(name: str) -> int:
    """Of this process: VmRSS, what it holds, or VmHWM, the most it has held. Elsewhere than on Linux the latter for both.

    The peak that `resource` tells is that of the parent where that is larger.
    """
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return int(next(line for line in STATUS.read_text().splitlines() if line.startswith(name)).split()[1])


def memory(path: str, form: str, rank: str, settings: str) -> dict[str, int]:
    """Bytes held before the fit, with the data, and at its peak; the fit is not the first, so that no library is loaded in it."""
    load = sparse.load_npz if path.endswith("npz") else np.load
    more = json.loads(settings)
    warm = load(path)[::20, ::5]
    nonneg.factorize(warm, form, min(int(rank), *warm.shape), random_state=0, **more)
    del warm
    X = load(path)
    before = _kilobytes("VmRSS")
    nonneg.factorize(X, form, int(rank), random_state=0, **more)
    data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    return {"before": 1024 * before, "peak": 1024 * _kilobytes("VmHWM"), "data": data}


def partition(who: str, vertices: str, edges: str, blocks: str, inside: str) -> dict[str, float]:
    """Seconds, adjusted Rand index, and megabytes at the peak beyond what is held with the graph, of a planted partition."""
    from sklearn.cluster import SpectralClustering
    from sklearn.metrics import adjusted_rand_score

    from _data import planted_partition
    from nonneg.graph import GraphClustering

    count = int(blocks)
    small, _ = planted_partition(500, 5000, count, 0.9)
    A, truth = planted_partition(int(vertices), int(edges), count, float(inside))
    if who == "nonneg":
        estimator: Any = GraphClustering(count, random_state=0)
    else:
        solver = who.removeprefix("scikit-learn ")
        estimator = SpectralClustering(
            count, affinity="precomputed", eigen_solver=solver, assign_labels="cluster_qr", random_state=0
        )
    estimator.fit(small)  # so that no library is loaded, and nothing compiled, in what is timed
    before, begin = _kilobytes("VmRSS"), perf_counter()
    labels = estimator.fit_predict(A)
    seconds = perf_counter() - begin
    return {"seconds": seconds, "ari": adjusted_rand_score(truth, labels), "megabytes": (_kilobytes("VmHWM") - before) / 1024}


def _dense(rows: int, columns: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(0).random((rows, columns)).astype(dtype)


def _sparse(rows: int, columns: int, dtype: str) -> sparse.csr_array:
    return sparse.random_array((rows, columns), density=0.1, format="csr", rng=np.random.default_rng(0)).astype(dtype)


def _factorize(X: Any, form: str, **settings: Any) -> Callable[[], Any]:
    return lambda: nonneg.factorize(X, form, 4, max_iter=30, random_state=0, **settings)


def _fit(estimator: Any, X: Any) -> Callable[[], Any]:
    return lambda: estimator.fit(X)


FITS: dict[str, Callable[[str], Callable[[], Any]]] = {
    "W W.T X": lambda dtype: _factorize(_dense(60, 200, dtype), "W W.T X"),
    "W W.T X, tall": lambda dtype: _factorize(_dense(500, 20, dtype), "W W.T X"),
    "W W.T X, sparse": lambda dtype: _factorize(_sparse(200, 100, dtype), "W W.T X"),
    "W H": lambda dtype: _factorize(_dense(200, 60, dtype), "W H"),
    "W H, sparse": lambda dtype: _factorize(_sparse(200, 100, dtype), "W H"),
    "W W.T, symmetric": lambda dtype: _factorize(_dense(60, 60, dtype) + _dense(60, 60, dtype).T, "W W.T"),
    "W S H": lambda dtype: _factorize(_dense(100, 60, dtype), "W S H"),
    "W H, kullback-leibler": lambda dtype: _factorize(_dense(200, 60, dtype), "W H", divergence="kullback-leibler"),
    "W H, sparse, kullback-leibler": lambda dtype: _factorize(_sparse(200, 100, dtype), "W H", divergence="kullback-leibler"),
    "W W.T X, sparse, kullback-leibler": lambda dtype: _factorize(
        _sparse(200, 100, dtype), "W W.T X", divergence="kullback-leibler"
    ),
    "OPNMF, exact": lambda dtype: _fit(nonneg.OPNMF(4, orthogonality="exact", random_state=0), _dense(200, 60, dtype)),
}
"""One fit of each kind that has compiled loops of its own, for a dtype."""


def fits(*names: str) -> dict[str, list[float] | str]:
    """The seconds of the first and of the second fit of each kind, in float64 and float32; or what went wrong."""
    found: dict[str, list[float] | str] = {}
    for name in names:
        for dtype in ("float64", "float32"):
            fit, label = FITS[name](dtype), f"{name}, {dtype}"
            try:
                found[label] = [_seconds(fit), _seconds(fit)]
            except Exception as error:
                found[label] = f"{type(error).__name__}: {error}"
    return found


def first(estimator: str, storage: str, divergence: str) -> list[float]:
    """The seconds that the processor works for the first and for the second fit of an estimator, in double precision."""
    X, taken = {"dense": _dense, "sparse": _sparse}[storage](300, 100, "float64"), []
    for _ in range(2):
        started = process_time()
        getattr(nonneg, estimator)(8, divergence=divergence, random_state=0).fit(X)
        taken.append(process_time() - started)
    return taken


def _seconds(call: Callable[[], Any]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({"memory": memory, "fits": fits, "first": first, "partition": partition}[sys.argv[1]](*sys.argv[2:])))
