"""Where fits to data in blocks end, beside the same fits in memory: ``python benchmarks/curves.py [--divergence NAME]``.

Writes ten small files of different shapes, contents and block sizes to a temporary folder, fits NMF to each from the file and from
memory, and prints both objectives, iterations and readings, and by what share the objective from the file is above the other.
``--most .0005`` exits with 1 if it is more for any of them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nonneg

CASES = [  # contents, rows, columns, components, bytes of a block
    ("programs", 2000, 300, 5, 2**16),
    ("programs", 8000, 600, 8, 2**21),
    ("programs", 20_000, 500, 10, 2**20),
    ("faint", 3000, 1000, 10, 2**20),
    ("faint", 4000, 800, 8, 2**18),
    ("faint", 10_000, 500, 12, 2**22),
    ("topics", 3000, 1500, 20, 2**19),
    ("topics", 10_000, 800, 6, 2**22),
    ("parts", 2000, 1200, 15, 2**22),
    ("spectra", 3000, 400, 4, 2**19),
]


def programs(rows: int, columns: int, count: int, generator: np.random.Generator, background: float = 0.75) -> sparse.csr_array:
    """Poisson counts of cells that use one to three programs each, over a background that all share."""
    shared = generator.dirichlet(np.full(columns, 0.5))
    H = np.zeros((count, columns))
    for row in H:
        markers = generator.choice(columns, columns // 12, replace=False)
        row[markers] = generator.gamma(0.8, 1.0, len(markers))
    H = (1 - background) * H / H.sum(axis=1, keepdims=True) + background * shared
    W = np.zeros((rows, count))
    W[np.arange(rows), generator.integers(0, count, rows)] = 1.0
    for _ in range(2):
        amounts = generator.gamma(0.4, 1.0, rows) * (generator.random(rows) < 0.5)
        W[np.arange(rows), generator.integers(0, count, rows)] += amounts
    W *= (400 * generator.lognormal(0.0, 0.4, rows) / W.sum(axis=1))[:, None]
    return sparse.csr_array(generator.poisson(W @ H).astype(np.float64))


def faint(rows: int, columns: int, count: int, generator: np.random.Generator) -> sparse.csr_array:
    """The same with more background: variances hardly show the programs, and a Euclidean start misses some of them."""
    return programs(rows, columns, count, generator, background=0.9)


def topics(rows: int, columns: int, count: int, generator: np.random.Generator) -> sparse.csr_array:
    """Poisson counts of words in documents of mixed topics, which share words."""
    H = generator.dirichlet(np.full(columns, 0.1), count)
    W = generator.dirichlet(np.full(count, 0.2), rows) * generator.lognormal(4.5, 0.6, (rows, 1))
    return sparse.csr_array(generator.poisson(W @ H).astype(np.float64))


def parts(rows: int, columns: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Dense sums of overlapping parts, with noise."""
    H = generator.gamma(0.3, 1.0, (count, columns))
    W = generator.gamma(0.6, 1.0, (rows, count))
    return W @ H + 0.3 * generator.random((rows, columns))


def spectra(rows: int, columns: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Dense mixtures of smooth peaks, with noise in proportion to them."""
    places, x = generator.uniform(0, 1, (count, 5)), np.linspace(0, 1, columns)
    H = sum(np.exp(-(((x - place[:, None]) / 0.03) ** 2)) for place in places.T) + 0.02
    return generator.gamma(1.0, 1.0, (rows, count)) @ H * generator.gamma(20.0, 0.05, (rows, columns))


MAKERS = {maker.__name__: maker for maker in (programs, faint, topics, parts, spectra)}


def written(X: Any, path: Path) -> Path:
    """X in a file that can be read in blocks: counts as .h5ad, others as .npy."""
    if not sparse.issparse(X):
        np.save(path.with_suffix(".npy"), X)
        return path.with_suffix(".npy")
    import anndata

    anndata.AnnData(X).write_h5ad(path.with_suffix(".h5ad"))
    return path.with_suffix(".h5ad")


def compare(case: tuple[str, int, int, int, int], seed: int, folder: Path, divergence: str) -> dict[str, Any]:
    """Both fits to one file."""
    contents, rows, columns, count, block_bytes = case
    X = MAKERS[contents](rows, columns, count, np.random.default_rng(seed))
    path = written(X, folder / f"{contents}{seed}")
    near = nonneg.NMF(count, divergence=divergence, random_state=0).fit(X)
    far = nonneg.NMF(count, divergence=divergence, random_state=0).fit(nonneg.open_data(path, block_bytes=block_bytes))
    return {
        "file": f"{path.name} {rows} x {columns}, {count} components, blocks of {block_bytes // 1024} KiB",
        "near": near,
        "far": far,
        "above": far.objective_ / near.objective_ - 1,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--divergence", default="kullback-leibler")
    parser.add_argument("--only", type=int, nargs="*", help="which of the ten files")
    parser.add_argument("--most", type=float, help="exit with 1 if the share is more for any file")
    given = parser.parse_args()
    worst = -np.inf
    print(f"{'file':64} {'memory':>13} {'iter':>5} {'file':>13} {'iter':>5} {'above':>9}  status")
    with tempfile.TemporaryDirectory() as folder:
        for number in given.only if given.only is not None else range(len(CASES)):
            found = compare(CASES[number], number, Path(folder), given.divergence)
            near, far, above = found["near"], found["far"], found["above"]
            worst = max(worst, above)
            row = f"{found['file']:64} {near.objective_:13.7g} {near.n_iter_:5} {far.objective_:13.7g} {far.n_iter_:5}"
            print(f"{row} {100 * above:8.4f}%  {far.status_.value}", flush=True)
    return int(given.most is not None and worst > given.most)


if __name__ == "__main__":
    raise SystemExit(main())
