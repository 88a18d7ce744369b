"""This tree beside another commit: ``python benchmarks/beside.py CHECKOUT [CALL...] [--pairs 10]``.

CHECKOUT is a folder with that commit (``git worktree add ../before COMMIT``). Each tree has a process of its own, on one thread,
which runs plain calls on request. The two calls of a pair follow each other, the order changing from pair to pair. A row has the
geometric mean of the ratios of processor time, below one where this tree is faster, its 95 % interval, and the relative difference
of the objectives.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse, stats

SHORTEST = 0.2
"""Seconds of processor time that a measurement takes at least: shorter calls are repeated within it."""


# ---- data


@cache
def digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return load_digits().data


@cache
def planted(rows: int, columns: int, parts: int = 12) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.gamma(1.0, size=(rows, parts)) @ rng.gamma(0.3, size=(parts, columns)) + 0.1 * rng.random((rows, columns))


@cache
def counts() -> sparse.csr_array:
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.poisson(planted(3000, 1000, 10) * rng.gamma(2.0, 0.005, size=(3000, 1))).astype(float))


@cache
def graph() -> sparse.csr_array:
    rng = np.random.default_rng(0)
    block = np.arange(600) // 100
    A = np.triu(rng.random((600, 600)) < np.where(block[:, None] == block, 0.2, 0.01), 1).astype(float)
    return sparse.csr_array(A + A.T)


@cache
def stored() -> str:
    path = Path(tempfile.mkdtemp()) / "X.npy"
    np.save(path, planted(20_000, 300))
    return str(path)


# ---- calls


def fit(name: str, data: Callable[[], Any], *arguments: Any, **settings: Any) -> float:
    import nonneg

    estimator = getattr(nonneg, name)(*arguments, random_state=0, **settings).fit(data())
    return float(getattr(estimator, "objective_", math.nan))


def encode(name: str, data: Callable[[], Any], *arguments: Any, **settings: Any) -> float:
    estimator = _fitted(name, data, *arguments, **settings)
    return float(np.sum(estimator.transform(data())))


@cache
def _fitted(name: str, data: Callable[[], Any], *arguments: Any, **settings: Any) -> Any:
    import nonneg

    return getattr(nonneg, name)(*arguments, random_state=0, **settings).fit(data())


def partition() -> float:
    from nonneg.graph import GraphClustering

    return float(GraphClustering(6, random_state=0).fit(graph()).objective_)


def scan() -> float:
    import nonneg
    from nonneg.selection import rank_scan

    return float(rank_scan(nonneg.OPNMF(), digits()[:300], range(2, 9), random_state=0).best_)


def with_gaps() -> np.ndarray:
    return np.where(np.random.default_rng(1).random(digits().shape) < 0.1, np.nan, digits())


def single() -> np.ndarray:
    return planted(2000, 500).astype(np.float32)


def positive() -> np.ndarray:
    return planted(600, 200)


KL = {"divergence": "kullback-leibler"}
CALLS: dict[str, Callable[[], float]] = {
    "OPNMF, digits": partial(fit, "OPNMF", digits, 16),
    "OPNMF, 2000 × 500": partial(fit, "OPNMF", partial(planted, 2000, 500), 16),
    "OPNMF, 2000 × 500, float32": partial(fit, "OPNMF", single, 16),
    "OPNMF, 100 × 20 000": partial(fit, "OPNMF", partial(planted, 100, 20_000), 10),
    "OPNMF, counts": partial(fit, "OPNMF", counts, 10),
    "OPNMF, file": partial(fit, "OPNMF", stored, 10),
    "PNMF, I-divergence, digits": partial(fit, "PNMF", digits, 10, **KL),
    "NMF, digits": partial(fit, "NMF", digits, 16),
    "NMF, I-divergence, digits": partial(fit, "NMF", digits, 16, **KL),
    "NMF, Itakura–Saito": partial(fit, "NMF", positive, 10, divergence="itakura-saito"),
    "NMF, counts": partial(fit, "NMF", counts, 10),
    "NMF, I-divergence, counts": partial(fit, "NMF", counts, 10, **KL),
    "NMF, file": partial(fit, "NMF", stored, 10),
    "NMF, gaps": partial(fit, "NMF", with_gaps, 8, missing="ignore"),
    "NMF, transform": partial(encode, "NMF", digits, 16),
    "NMF, I-divergence, transform": partial(encode, "NMF", counts, 10, **KL),
    "ONMF, digits": partial(fit, "ONMF", digits, 10),
    "NMTF, digits": partial(fit, "NMTF", digits, (8, 10)),
    "ONMTF, counts": partial(fit, "ONMTF", counts, (6, 6)),
    "BiQNMF, counts": partial(fit, "BiQNMF", counts, (6, 6)),
    "ProjectiveClustering, digits": partial(fit, "ProjectiveClustering", digits, 10),
    "KernelPNMF, 600 × 200": partial(fit, "KernelPNMF", positive, 6),
    "SymmetricNMF, graph": partial(fit, "SymmetricNMF", graph, 6, kernel="precomputed"),
    "GraphClustering, graph": partition,
    "rank_scan, digits": scan,
}
"""What users type, on data that the trees make themselves."""


# ---- measuring


def measure(name: str) -> dict[str, float]:
    """Seconds of processor time of one call, and its objective."""
    began, times = process_time(), 0
    while not times or process_time() - began < SHORTEST:
        objective, times = CALLS[name](), times + 1
    return {"seconds": (process_time() - began) / times, "objective": objective}


def serve() -> None:
    """Answer each name on standard input by a line of JSON."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(measure(line.strip())), flush=True)


class Tree:
    """A process that runs calls by the sources of a checkout."""

    def __init__(self, path: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(path.resolve() / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--serve"]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def measure(self, name: str) -> dict[str, float]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(name, file=stdin, flush=True)
        return json.loads(stdout.readline() or "{}")

    def close(self) -> None:
        with suppress(OSError):
            self._process.kill()


def interval(logarithms: list[float]) -> tuple[float, float, float]:
    """Geometric mean and 95 % interval (Student's t) of ratios, given their logarithms."""
    mean, half = float(np.mean(logarithms)), 0.0
    if len(logarithms) > 1:
        half = float(stats.t.ppf(0.975, len(logarithms) - 1) * np.std(logarithms, ddof=1) / math.sqrt(len(logarithms)))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def compare(name: str, here: Tree, there: Tree, pairs: int) -> tuple[str, list[float]]:
    """A row of the table, and the logarithms of the ratios."""
    if not all(tree.measure(name) for tree in (here, there)):  # the first call compiles
        return f"| {name} | failed | | | |", []
    logarithms, seconds, higher = [], [], 0.0
    for number in range(pairs):
        both = {tree: tree.measure(name) for tree in ((here, there) if number % 2 else (there, here))}
        ours, theirs = both[here], both[there]
        logarithms.append(math.log(ours["seconds"] / theirs["seconds"]))
        seconds.append((ours["seconds"], theirs["seconds"]))
        higher = ours["objective"] / theirs["objective"] - 1 if theirs["objective"] else 0.0
    mean, low, high = interval(logarithms)
    ours, theirs = np.median(seconds, axis=0)
    return f"| {name} | {ours:.3g} / {theirs:.3g} s | {mean:.3f} | {low:.3f} to {high:.3f} | {higher:+.1e} |", logarithms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", help="another commit of this repository")
    parser.add_argument("calls", nargs="*", help="parts of their names; all without")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    if given.checkout is None or not (given.checkout / "src").is_dir():
        parser.error("the first argument is a folder with a checkout of this repository")
    names = [name for name in CALLS if not given.calls or any(part in name for part in given.calls)]
    here, there = Tree(Path(__file__).parents[1]), Tree(given.checkout)
    print("| call | here / there | ratio | 95 % interval | objective |\n| --- | --- | --- | --- | --- |")
    means: list[float] = []
    try:
        for name in names:
            row, logarithms = compare(name, here, there, given.pairs)
            print(row, flush=True)
            means += [float(np.mean(logarithms))] if logarithms else []
    finally:
        here.close()
        there.close()
    print(f"\nGeometric mean of {len(means)} calls: {math.exp(float(np.mean(means))):.3f}" if means else "\nNothing ran.")


if __name__ == "__main__":
    main()
