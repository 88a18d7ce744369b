"""Data of every kind that a user may have, as source: simple ones first, so that shrinking ends with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .trial import Trial

WORDS = (
    "X", "weights", "weight", "sample_weight", "missing", "divergence", "form", "factor", "solver", "rank", "n_components",
    "n_clusters", "entries", "entry", "row", "column", "data", "samples", "features", "Sparse", "sparse",
)  # fmt: skip
"""Words of which a refusal of stored or weighted data has to have one."""
SCALES = ("", " * 1e-3", " * 1e6", " * 1e100", " * 1e-100", " * 1e150", " * 1e-150", " * 1e300", " * 1e-300")
CONTAINERS = (
    "{}",
    "np.asfortranarray({})",
    "np.repeat({}, 2, axis=0)[::2]",
    "({}).tolist()",
    "pd.DataFrame({})",
    "sparse.csr_array({})",
    "sparse.csc_array({})",
    "sparse.coo_array({})",
    "sparse.csr_matrix({})",
    "sparse.csc_matrix({})",
)
ILLEGAL = (
    "np.array([[1.0, np.nan], [1.0, 2.0]])",
    "np.array([[1.0, np.inf], [1.0, 2.0]])",
    "np.array([[1.0, -1.0], [1.0, 2.0]])",
    "sparse.csr_array(np.array([[1.0, -1.0], [0.0, 2.0]]))",
    "sparse.csr_array(np.array([[1.0, np.nan], [0.0, 2.0]]))",
    "np.ones((0, 3))",
    "np.ones((3, 0))",
    "np.ones(4)",
    "np.ones((2, 2, 2))",
    "np.ones((2, 2)) * 1j",
    'np.array([["a", "b"], ["c", "d"]])',
    "np.array([[1.0, None], [2.0, 3.0]], dtype=object)",
    "np.array([[{}, 1.0], [2.0, 3.0]], dtype=object)",
    "[[1.0, 2.0], [3.0]]",
    "None",
    "'X'",
    "3.0",
    "{}",
    "object()",
)


def sides(t: Trial, least: int = 1) -> tuple[int, int]:
    """Rows and columns, few in most cases."""
    most = t.pick((5, 5, 10, 10, 30))
    return t.integer(least, most), t.integer(least, most)


def entries(t: Trial, m: int, n: int, *, positive: bool = False) -> str:
    """Source of an m × n array of float64 (or, now and then, of ints) without negative entries."""
    seed = t.integer(0, 99)
    drawn = f"np.random.default_rng({seed})"
    kinds = [
        f"np.ones(({m}, {n}))",
        f"1 + {drawn}.integers(0, 4, ({m}, {n}))",
        f"{drawn}.random(({m}, {n})) + 0.01",
        f"{drawn}.random(({m}, {min(m, 2)})) @ {drawn}.random(({min(m, 2)}, {n})) + 0.01",
        f"{drawn}.gamma(0.3, size=({m}, {n})) + 1e-9",
        f"np.exp(5 * {drawn}.standard_normal(({m}, {n})))",
    ]
    if not positive:
        kinds += [
            f"np.eye({m}, {n})",
            f"np.kron(np.eye({(m + 2) // 3}, {(n + 1) // 2}), np.ones((3, 2)))[:{m}, :{n}]",
            f"{drawn}.integers(0, 3, ({m}, {n}))",
            f"{drawn}.poisson(0.5, ({m}, {n})).astype(float)",
            f"{drawn}.random(({m}, {n})) * ({drawn}.random(({m}, {n})) < 0.4)",
            f"{drawn}.random(({m}, {n})) * (np.arange({m}) % 3 > 0)[:, None]",
            f"{drawn}.random(({m}, {n})) * (np.arange({n}) % 3 > 0)",
            f"np.repeat({drawn}.integers(0, 5, ({(m + 1) // 2}, {n})), 2, axis=0)[:{m}]",
            f"np.arange({m * n}).reshape({m}, {n}) % 4 / 4",
            f"{drawn}.random(({m}, {n})) > 0.5",
            f"np.where(np.arange({m * n}).reshape({m}, {n}) == {m * n // 2}, 1.0, 0.0)",
        ]
    return t.pick(kinds)


def matrix(
    t: Trial,
    m: int,
    n: int,
    name: str = "X",
    *,
    positive: bool = False,
    scales: tuple[str, ...] = SCALES,
    containers: Any = CONTAINERS,
) -> Any:
    """Set X to an m × n matrix of some kind, scale, dtype and container."""
    source = entries(t, m, n, positive=positive)
    if t.one_in(4):
        source = f"({source}){t.pick(scales)}"
        if "300" in source and positive:
            source = f"np.maximum({source}, 1e-307)"
    if t.one_in(4):
        source = f"({source}).astype(np.float32)" if "e1" not in source and "e-1" not in source and "300" not in source else source
    if t.one_in(2):
        source = t.pick(containers).format(source)
    if "pd." in source:
        import pandas

        t.offer("pd", pandas)
    X = t.let(name, source)
    if hasattr(X, "indptr") and X.nnz > 1 and not positive and t.one_in(3):
        t.do(f"{name}.data[0] = 0", name)  # an explicit zero
    elif isinstance(X, np.ndarray) and t.one_in(8):
        t.do(f"{name}.setflags(write=False)", name)
    return X
