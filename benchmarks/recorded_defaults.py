"""What the plain defaults come to, ten seeds each: ``python benchmarks/recorded_defaults.py [--write] [--json PATH] [NAME...]``.

Every estimator with its number of components, or clusters, and a seed, on faces, digits and texts. Medians of the objective and of
processor time, one thread, are compared with those in recorded_defaults.json, which is written where there is none, or with
``--write``. The last column is what a fixed piece of NumPy takes now, beside what it took then: the machine's share in the ratio of
seconds.
NAME chooses estimators, as they are called in the table. The folder that NONNEG_DATA names has the data.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import nonneg
from _bench import threads
from nonneg_papers import load_cbcl, load_text

FILE = Path(__file__).parent / "recorded_defaults.json"
SEEDS = range(10)
SAME = 1e-6
"""Objectives are the same where they differ by no more than this share."""

ESTIMATORS: dict[str, Callable[[int, int], Any]] = {
    "NMF": lambda k, seed: nonneg.NMF(k, random_state=seed),
    "NMF-KL": lambda k, seed: nonneg.NMF(k, divergence="kullback-leibler", random_state=seed),
    "NonnegativeSparseCoding": lambda k, seed: nonneg.NonnegativeSparseCoding(k, random_state=seed),
    "PNMF": lambda k, seed: nonneg.PNMF(k, random_state=seed),
    "PNMF-KL": lambda k, seed: nonneg.PNMF(k, divergence="kullback-leibler", random_state=seed),
    "OPNMF": lambda k, seed: nonneg.OPNMF(k, random_state=seed),
    "OPNMF-exact": lambda k, seed: nonneg.OPNMF(k, orthogonality="exact", random_state=seed),
    "ONMF": lambda k, seed: nonneg.ONMF(k, random_state=seed),
    "NMTF": lambda k, seed: nonneg.NMTF(k, random_state=seed),
    "ONMTF": lambda k, seed: nonneg.ONMTF(k, random_state=seed),
    "FONT": lambda k, seed: nonneg.FONT(k, random_state=seed),
    "BiQNMF": lambda k, seed: nonneg.BiQNMF(k, random_state=seed),
    "BiORNM3F": lambda k, seed: nonneg.BiORNM3F(k, random_state=seed),
    "ProjectiveClustering": lambda k, seed: nonneg.ProjectiveClustering(k, random_state=seed),
    "SymmetricNMF": lambda k, seed: nonneg.SymmetricNMF(k, kernel="linear", random_state=seed),
    "KernelPNMF": lambda k, seed: nonneg.KernelPNMF(k, kernel="rbf", random_state=seed),
    "Factorization": lambda k, seed: nonneg.Factorization("W H", k, random_state=seed),
}


def collections() -> Iterator[tuple[str, Any, int]]:
    """Samples in rows, and how many components to look for."""
    yield "faces", np.ascontiguousarray(load_cbcl().data[::12]), 9
    yield "digits", np.ascontiguousarray(load_digits().data[::5]), 10
    yield "texts", load_text("re0", largest=4, per_class=150, min_df=3, drop_empty=True, random_state=0).data, 4


def yardstick() -> float:
    """Seconds of products and of elementwise work that have nothing to do with the library."""
    rng = np.random.default_rng(0)
    A, B = rng.random((600, 400)), rng.random((400, 20))
    started = process_time()
    for _ in range(10):
        C = A @ B
        np.sqrt(A.T @ C + 1.0, out=B)
        B /= B.sum(axis=0)
    return process_time() - started


def measured(make: Callable[[int, int], Any], X: Any, rank: int) -> dict[str, Any]:
    """Medians over the seeds, and the objective of each seed."""
    objectives, seconds, iterations, overlaps, machine = [], [], [], [], []
    for seed in SEEDS:
        machine.append(yardstick())
        started = process_time()
        model = make(rank, seed).fit(X)
        seconds.append(process_time() - started)
        objectives.append(float(model.objective_))
        iterations.append(int(model.n_iter_))
        if hasattr(model, "orthogonality_"):
            overlaps.append(sum(float(measures.error) for measures in model.orthogonality_.values()))
    return {
        "objective": median(objectives),
        "seconds": round(median(seconds), 4),
        "iterations": median(iterations),
        "overlap": median(overlaps) if overlaps else None,
        "machine": round(median(machine), 5),
        "objectives": objectives,
    }


def compared(name: str, now: dict[str, Any], then: dict[str, Any] | None) -> str:
    """A row of the table."""
    if then is None:
        cells = [f"{now['objective']:.6g}", "", "", f"{now['seconds']:.3f}", "", _number(now["overlap"]), "", ""]
    else:
        pairs = list(zip(now["objectives"], then["objectives"], strict=True))
        lower, higher = sum(a < b - SAME * abs(b) for a, b in pairs), sum(a > b + SAME * abs(b) for a, b in pairs)
        ratios = {name: now[name] / then[name] for name in ("objective", "seconds", "machine")}
        cells = [
            f"{now['objective']:.6g}",
            f"{ratios['objective']:.6f}",
            f"{lower}, {higher}",
            f"{now['seconds']:.3f}",
            f"{ratios['seconds']:.2f}",
            _number(now["overlap"]),
            _number(then["overlap"]),
            f"{ratios['machine']:.2f}",
        ]
    return f"| {' | '.join([name, *cells])} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def as_text(record: dict[str, dict[str, Any]]) -> str:
    """JSON with a line for each fit."""
    lines = (f" {json.dumps(key, ensure_ascii=False)}: {json.dumps(row)}" for key, row in record.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="What the plain defaults come to, beside what they came to before.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if none is named: {', '.join(ESTIMATORS)}")
    parser.add_argument("--write", action="store_true", help="record what is measured")
    parser.add_argument(
        "--json", type=Path, default=FILE, metavar="PATH", help="the record (default: recorded_defaults.json beside this file)"
    )
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in ESTIMATORS]:
        parser.error(f"no estimator is called {', '.join(unknown)}; there are {', '.join(ESTIMATORS)}")
    recorded = json.loads(given.json.read_text(encoding="utf8")) if given.json.exists() else {}
    found, began = {}, process_time()
    print("| fit | objective | ratio | seeds lower, higher | seconds | ratio | overlap | recorded | machine |")
    print("|---" * 9 + "|")
    for title, X, rank in collections():
        for name in given.names or ESTIMATORS:
            key = f"{title} {X.shape[0]} × {X.shape[1]}, {name}({rank})"
            found[key] = measured(ESTIMATORS[name], X, rank)
            print(compared(key, found[key], recorded.get(key)), flush=True)
    print(f"\n{len(found)} fits of {len(SEEDS)} seeds each, {process_time() - began:.0f} s of processor time")
    if given.write or not recorded:
        given.json.write_text(as_text({**recorded, **found}), encoding="utf8")
        print(f"recorded in {given.json.name}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # those that end at max_iter are compared as they are
    with threads(1):
        main()
