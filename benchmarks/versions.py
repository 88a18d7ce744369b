"""This version beside an earlier one: ``python benchmarks/versions.py CHECKOUT [PROBLEM...] [--rounds 3]``.

CHECKOUT is a folder with another commit of this repository (``git worktree add ../before COMMIT``). Both run on the problems of
the first table of speed.md, from the same starts, in processes of their own and in turns, on one thread. Told is how long each
takes to the higher one of both ends, and to within one per cent of it: medians over rounds, and their ratio, below one where this
version is the faster one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from _bench import follow, threads
from _data import documents, faces, olivetti, pair, spatial, starts, uniform

Run = Callable[..., list[Any]]
LEVELS = {"to within 1 %": 1e-2, "to the end": 1e-4}
"""How far above the higher one of both ends."""


def _projective(load: Callable[[], Any], rank: int, seconds: float, **settings: Any) -> Run:
    def run(limit: float = seconds) -> list[Any]:
        X = load()
        W = next(iter(starts(X, rank, seeds=(1,)).values()))
        return follow(X, "W W.T X", {"W": W}, limit=limit, **settings)

    return run


def _product(load: Callable[[], Any], rank: int, seconds: float, **settings: Any) -> Run:
    def run(limit: float = seconds) -> list[Any]:
        X = load()
        W, H = pair(X, rank)
        return follow(X, "W H", {"W": W, "H": H}, limit=limit, **settings)

    return run


def _turned(load: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: np.ascontiguousarray(load().T)


def _positive() -> np.ndarray:
    """Faces with a hundredth of their mean added: Itakura–Saito is infinite where X is zero."""
    X = faces()
    return X + 0.01 * X.mean()


PROBLEMS: dict[str, Run] = {
    "OPNMF, CBCL, r = 25": _projective(faces, 25, 1.5),
    "OPNMF, CBCL, r = 49": _projective(faces, 49, 6.0),
    "OPNMF, 50 000 × 300, r = 20": _projective(spatial, 20, 8.0),
    "OPNMF, reviews, r = 20": _projective(lambda: documents("reviews").T.tocsr(), 20, 8.0),
    "NMF, reviews, r = 20": _product(lambda: documents("reviews"), 20, 6.0),
    "NMF, ohscal, r = 20": _product(lambda: documents("ohscal"), 20, 6.0),
    "NMF, I-divergence, reviews, r = 20": _product(lambda: documents("reviews"), 20, 12.0, divergence="kullback-leibler"),
    "NMF, CBCL, r = 25": _product(_turned(faces), 25, 2.5),
    "NMF, Olivetti, r = 25": _product(_turned(olivetti), 25, 5.0),
    "NMF, random 5000 × 2000, r = 25": _product(_turned(uniform), 25, 8.0),
    "Itakura–Saito, W H, CBCL, r = 25": _product(_positive, 25, 30.0, divergence="itakura-saito"),
    "Itakura–Saito, W Wᵀ X, CBCL, r = 25": _projective(_positive, 25, 8.0, divergence="itakura-saito"),
}


def curve(name: str) -> list[Any]:
    """Seconds and objective at each check of a run, after a short one that compiles what is needed."""
    with threads(1):
        PROBLEMS[name](limit=0.0)
        return [(mark.seconds, mark.objective) for mark in PROBLEMS[name]()]


def of_checkout(path: Path, name: str) -> list[Any]:
    """The same by the sources of a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "curve.json"
        environment = os.environ | {"PYTHONPATH": str(path.resolve() / "src"), "OMP_NUM_THREADS": "1"}
        subprocess.run([sys.executable, __file__, "--curve", name, str(found)], env=environment, check=True)
        return json.loads(found.read_text())


def seconds_to(curve: list[Any], objective: float) -> float:
    return next((seconds for seconds, value in curve if value <= objective), float("inf"))


def compare(name: str, checkout: Path, rounds: int) -> str:
    """A row of the table."""
    here = Path(__file__).parents[1]
    curves = [(of_checkout(here, name), of_checkout(checkout, name)) for _ in range(rounds)]
    end = max(min(value for _, value in curve) for both in curves for curve in both)
    cells = []
    for above in LEVELS.values():
        ours, theirs = (median(seconds_to(both[i], end * (1 + above)) for both in curves) for i in (0, 1))
        cells.append(f"{ours:.3g} / {theirs:.3g} s | {ours / theirs:.2f}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", help="another commit of this repository")
    parser.add_argument("problems", nargs="*", help="parts of their names; all without")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--curve", nargs=2, metavar=("PROBLEM", "JSON"), help="run one problem, and write its curve")
    given = parser.parse_args()
    if given.curve:
        Path(given.curve[1]).write_text(json.dumps(curve(given.curve[0])))
        return
    if given.checkout is None or not (given.checkout / "src").is_dir():
        parser.error("the first argument is a folder with a checkout of this repository")
    names = [name for name in PROBLEMS if not given.problems or any(word in name for word in given.problems)]
    print("| problem | " + " | ".join(f"{level}: this / before | ratio" for level in LEVELS) + " |")
    print("|---" * (1 + 2 * len(LEVELS)) + "|")
    for name in names:
        print(compare(name, given.checkout, given.rounds), flush=True)


if __name__ == "__main__":
    main()
