"""What orthogonality costs: error and overlap of OPNMF, soft to exact. ``python benchmarks/degrees.py [PICTURE]``."""

import sys

import numpy as np

from estimators import collections
from nonneg import OPNMF

DEGREES = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0, "exact")


def curves() -> dict[str, list[tuple[float | str, float, float]]]:
    """For each collection: degree, relative error, and ‖WᵀW − I‖ with columns of length one. All degrees from one soft solution."""
    found = {}
    for name, X, rank in collections():
        soft = OPNMF(rank, random_state=0).fit(X)
        rows = []
        for degree in DEGREES:
            model = OPNMF(rank, init={"W": soft.factors_["W"]}, orthogonality=degree).fit(X)
            rows.append((degree, model.reconstruction_err_ / np.linalg.norm(X), model.orthogonality_["W"].error))
        found[f"{name}, {rank}"] = rows
    return found


def draw(found: dict[str, list[tuple[float | str, float, float]]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, (errors, overlaps) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, rows in found.items():
        degrees, error, overlap = zip(*(row for row in rows if row[0] != "exact"), strict=True)
        errors.plot(degrees, np.array(error) / error[0], "o-", label=name)
        overlaps.plot(degrees, overlap, "o-", label=name)
    errors.set(xlabel="orthogonality", ylabel="relative error / that of 0")
    overlaps.set(xlabel="orthogonality", ylabel="‖WᵀW − I‖, columns of length 1")
    overlaps.legend(frameon=False)
    for axes in (errors, overlaps):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> None:
    found = curves()
    print("| orthogonality |", " | ".join(f"{name}: error | ‖WᵀW − I‖" for name in found), "|")
    print("|---" * (1 + 2 * len(found)) + "|")
    for number, degree in enumerate(DEGREES):
        cells = (f"{rows[number][1]:.4f} | {rows[number][2]:.2f}" for rows in found.values())
        print(f"| {degree if degree != 'exact' else chr(34) + 'exact' + chr(34)} |", " | ".join(cells), "|")
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
