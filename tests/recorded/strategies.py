"""The strategy of each estimator on each kind of data, as a page: `python -m tests.recorded.strategies --write` writes it."""

import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nonneg

PAGE = Path(__file__).parents[2] / "docs/reference/strategies.md"
INTRODUCTION = """# Which start and solver run by default

What `fit` does with default parameters and five components, as `nonneg.explain(estimator, X)` prints it. A descent ends when
it is steady within `tol`, or at `max_iter`. A test computes this page anew and compares. Not on it are those
with loops of their own: singular vectors, discriminants, chains, graphs and imputation.

| data | shape and storage |
|---|---|
| small | 60 × 40, dense |
| large | 3000 × 800, dense |
| sparse | 3000 × 2000, 1 % non-zero |
| wide | 100 × 8000, dense |
| file | 3000 × 800, .npy, read in blocks |
| Dask | 3000 × 800, in chunks |
| weighted | 60 × 40, a weight for each entry |
| missing | 60 × 40, a tenth missing, `missing="ignore"` |
| float32 | 3000 × 800, dense |

"""
ESTIMATORS: dict[str, Any] = {
    "NMF": lambda: nonneg.NMF(5),
    "NMF, I-divergence": lambda: nonneg.NMF(5, divergence="kullback-leibler"),
    "SemiNMF": lambda: nonneg.SemiNMF(5),
    "ConvexNMF": lambda: nonneg.ConvexNMF(5),
    "ConsensusNMF": lambda: nonneg.ConsensusNMF(5),
    "IntegrativeNMF": lambda: nonneg.IntegrativeNMF(5),
    "NonnegativeSparseCoding": lambda: nonneg.NonnegativeSparseCoding(5),
    "PNMF": lambda: nonneg.PNMF(5),
    "PNMF, I-divergence": lambda: nonneg.PNMF(5, divergence="kullback-leibler"),
    "OPNMF": lambda: nonneg.OPNMF(5),
    "ONMF": lambda: nonneg.ONMF(5),
    "ONMF, I-divergence": lambda: nonneg.ONMF(5, divergence="kullback-leibler"),
    "ProjectiveClustering": lambda: nonneg.ProjectiveClustering(5),
    "NMTF": lambda: nonneg.NMTF((5, 5)),
    "ONMTF": lambda: nonneg.ONMTF((5, 5)),
    "FONT": lambda: nonneg.FONT((5, 5)),
    "BiQNMF": lambda: nonneg.BiQNMF((5, 5)),
    "BiORNM3F": lambda: nonneg.BiORNM3F((5, 5)),
    "SymmetricNMF": lambda: nonneg.SymmetricNMF(5, kernel="linear"),
    "KernelPNMF": lambda: nonneg.KernelPNMF(5, kernel="linear"),
    "Factorization": lambda: nonneg.Factorization("W H", 5),
}
KINDS = ("small", "large", "sparse", "wide", "file", "Dask", "weighted", "missing", "float32")


@cache
def data(kind: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Data of a kind, the parameters they ask of an estimator, and those of `fit`."""
    rng = np.random.default_rng(0)
    small, large = rng.random((60, 40)), rng.random((3000, 800))
    if kind == "sparse":
        return sparse.random_array((3000, 2000), density=0.01, format="csr", rng=rng), {}, {}
    if kind == "file":
        path = Path(tempfile.mkdtemp()) / "X.npy"
        np.save(path, large)
        return nonneg.open_data(path, block_bytes=2**21), {}, {}
    if kind == "Dask":
        import dask.array

        return dask.array.from_array(large, chunks=(500, 800)), {}, {}
    if kind == "missing":
        return np.where(rng.random(small.shape) < 0.1, np.nan, small), {"missing": "ignore"}, {}
    plain = {"small": small, "large": large, "wide": rng.random((100, 8000)), "weighted": small, "float32": large.astype("f4")}
    return plain[kind], {}, {"weights": rng.uniform(0.5, 2, small.shape)} if kind == "weighted" else {}


def explained(name: str, kind: str) -> Any:
    """The explanation of an estimator on a kind of data, or the error that refuses it."""
    X, parameters, of_fit = data(kind)
    try:
        return nonneg.explain(ESTIMATORS[name]().set_params(**parameters), X, **of_fit)
    except ValueError as error:
        return error


def lines() -> Iterator[str]:
    """The lines of the page: for each estimator its strategies, and the kinds of data that each is for."""
    yield INTRODUCTION
    for name in ESTIMATORS:
        found: dict[tuple[str, ...], list[str]] = {}
        for kind in KINDS:
            explanation = explained(name, kind)
            if not isinstance(explanation, ValueError):
                steps = tuple(step.text.partition(", until")[0] for step in explanation.steps)
                found.setdefault((*steps, explanation.passes), []).append(kind)
        yield f"## {name}\n\n| data | start | descent | passes over X |\n|---|---|---|---|"
        for cells, kinds in found.items():
            yield f"| {', '.join(kinds)} | {' | '.join(cells)} |"
        refused = [kind for kind in KINDS if isinstance(explained(name, kind), ValueError)]
        yield f"\nRefused: {', '.join(refused)}.\n" if refused else ""


def page() -> str:
    return "\n".join(lines()).rstrip() + "\n"


if __name__ == "__main__" and "--write" in sys.argv:
    PAGE.write_text(page(), encoding="utf8")
