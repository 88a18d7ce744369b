"""Ranks of counts: how often a scan finds the number of planted programs.

4000 cells × 2000 genes, Poisson: 5, 10 or 20 programs over a shared background, 400 counts a cell, three quarters of them of the
background. `NMF(divergence="kl")` is scanned from four ranks below the planted one to four above, with default settings. As a group
of `python benchmarks`, one instance of each. The whole study takes an hour and more; results are kept in a file, instance by
instance, and an interrupted study goes on:

    python benchmarks/planted_ranks.py --full [--programs 5 10 20] [--instances 10] [--cells 4000] [--genes 2000]
    python benchmarks/planted_ranks.py --show
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from nonneg import NMF
from nonneg.selection import rank_scan
from ranks import stored

TITLE = "Ranks of counts: planted programs"
FILE = Path(__file__).parents[1] / "bench" / "planted_ranks.jsonl"
PROGRAMS, CELLS, GENES = (5, 10, 20), 4000, 2000
BEYOND = 4
"""Ranks offered below the planted one, and above."""


def planted(
    n_cells: int, n_genes: int, n_programs: int, seed: int, depth: float = 400.0, background: float = 0.75
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Draw Poisson counts of cells that each use one to three programs.

    A program has a twelfth of the genes as markers, over a background that all programs share.

    Parameters
    ----------
    depth : float
        Median of the expected counts of a cell.
    background : float
        Share of the background in every program.

    Returns
    -------
    counts, programs (rows sum to 1), usages
    """
    draw = np.random.default_rng(seed)
    shared = draw.gamma(0.5, 1.0, n_genes)
    programs = np.zeros((n_programs, n_genes))
    for program in programs:
        markers = draw.choice(n_genes, n_genes // 12, replace=False)
        program[markers] = draw.gamma(0.8, 1.0, len(markers))
    programs = (1 - background) * programs / programs.sum(axis=1, keepdims=True) + background * shared / shared.sum()
    cells, usages = np.arange(n_cells), np.zeros((n_cells, n_programs))
    usages[cells, draw.integers(n_programs, size=n_cells)] = 1.0
    for _ in range(2):  # a second and a third program, each in half of the cells
        another = draw.integers(n_programs, size=n_cells)
        usages[cells, another] += draw.gamma(0.4, 1.0, n_cells) * (draw.random(n_cells) < 0.5)
    totals = depth * draw.lognormal(0.0, 0.4, n_cells)
    usages *= (totals / usages.sum(axis=1))[:, None]
    blocks = (usages[start : start + 1000] @ programs for start in range(0, n_cells, 1000))
    counts = [sparse.csr_array(draw.poisson(expected).astype(np.float64)) for expected in blocks]
    return sparse.csr_array(sparse.vstack(counts)), programs, usages


def instance(
    n_programs: int, seed: int, n_cells: int = CELLS, n_genes: int = GENES, criteria: Any = "auto", folder: Path | None = None
) -> dict[str, Any]:
    """Scan one instance: the rank that each criterion chooses, why, and the processor's seconds."""
    X = planted(n_cells, n_genes, n_programs, seed)[0]
    ranks, began = range(max(n_programs - BEYOND, 1), n_programs + BEYOND + 1), process_time()
    kept = None if folder is None else folder / f"{n_cells}-{n_genes}-{n_programs}-{seed}"
    scan = rank_scan(NMF(divergence="kl"), X, ranks, criteria=criteria, random_state=seed, folder=kept)
    return {
        "cells": n_cells, "genes": n_genes, "programs": n_programs, "seed": seed,
        "found": {name: choice.rank for name, choice in scan.choices_.items()},
        "why": {name: choice.why for name, choice in scan.choices_.items()},
        "seconds": round(process_time() - began, 1),
    }  # fmt: skip


def report(rows: Iterable[dict[str, Any]]) -> str:
    """Table of hits: one line for each criterion, shape and number of programs."""
    tally: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        for criterion in row["found"]:
            tally.setdefault((criterion, row["cells"], row["genes"], row["programs"]), []).append(row)
    lines = [
        "| criterion | counts | programs | instances | right | chosen | processor time of a scan |",
        "|---|---|---|---|---|---|---|",
    ]
    for (criterion, cells, genes, programs), several in sorted(tally.items()):
        chosen = [row["found"][criterion] for row in several]
        right, seconds = sum(rank == programs for rank in chosen), np.median([row["seconds"] for row in several])
        cell = ", ".join(map(str, chosen))
        lines.append(f"| {criterion} | {cells} × {genes} | {programs} | {len(several)} | {right} | {cell} | {seconds:.0f} s |")
    return "\n".join(lines)


# ---- as a group of benchmarks


def run(bench: Any) -> None:
    for n_programs in (3,) if bench.quick else PROGRAMS:
        cells, genes = (300, 200) if bench.quick else (CELLS, GENES)
        with bench.attempt(f"{n_programs} programs", TITLE):
            row = instance(n_programs, 0, cells, genes)
            (rank,) = row["found"].values()
            words = {
                "problem": f"{cells} × {genes}, {n_programs} programs",
                "what": "how far the rank found is from the planted one",
            }
            bench.number([float(abs(rank - n_programs))], at_most=0.0, details={"found": rank, "seconds": row["seconds"]}, **words)


# ---- the whole study


def study(given: argparse.Namespace) -> None:
    """Scan the instances that the file does not have yet, and add them to it."""
    names = "cells", "genes", "programs", "seed"
    done = {(*(row[name] for name in names), *row["found"]) for row in stored(given.file)}
    given.file.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(given.instances):
        for n_programs in given.programs:
            if (given.cells, given.genes, n_programs, seed, *given.criteria) in done:
                continue
            row = instance(n_programs, seed, given.cells, given.genes, given.criteria, given.folder)
            with open(given.file, "a", encoding="utf8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="run what the file does not have yet")
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--programs", nargs="+", type=int, default=PROGRAMS)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--cells", type=int, default=CELLS)
    parser.add_argument("--genes", type=int, default=GENES)
    parser.add_argument("--criteria", nargs="+", default=["gabriel"])
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--folder", type=Path, help="keep every measurement there, so that another rule can be tried on them")
    given = parser.parse_args()
    if given.full and not given.show:
        study(given)
    print(report(stored(given.file)))


if __name__ == "__main__":
    main()
