"""Handwritten digits, taken apart: an orthogonal projective factorization of scikit-learn's digits.

Prints what was found and writes a picture of the parts, ``demo.png``. Run it with ``make demo``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import nonneg
from nonneg.reporting import print_progress

RANK = 16


def main(path: Path) -> None:
    X = load_digits().data.T  # 64 pixels × 1797 images: the papers store samples as columns
    model = nonneg.Model("W W.T X", divergence="euclidean", constraints={"W": "orthogonal"})
    print(f"The model, and the rule that follows from it:\n\n{model}\n")

    starts = [nonneg.factorize(X, model, RANK, random_state=seed, tol=1e-6) for seed in range(5)]
    best = min(starts, key=lambda solution: solution.objective)
    print(f"Five starts end at {', '.join(f'{s.objective:.0f}' for s in starts)}. The best, again and in slow motion:\n")
    solution = nonneg.factorize(
        X, model, RANK, random_state=starts.index(best), tol=1e-6, check_every=50, callback=print_progress()
    )
    W = solution.factors["W"]
    print(f"\n{solution.status.sentence}")

    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    print(f"\nRelative error of {RANK} parts:   {relative_error(X, solution.reconstruct()):.4f}")
    print(f"  of {RANK} singular vectors:     {np.sqrt(np.sum(singular[RANK:] ** 2) / np.sum(singular**2)):.4f}")
    print(f"Largest cosine of two parts:  {largest_cosine(W):.4f}   (singular vectors: 0)")
    print(f"Pixels in a part, on average: {np.mean(np.sum(0.1 * W.max(axis=0) < W, axis=0)):.1f}   of {len(W)}")
    used = np.sum(np.abs(left[:, :RANK]) > 0.1 * np.abs(left[:, :RANK]).max(axis=0), axis=0)
    print(f"  in a singular vector:       {np.mean(used):.1f}")

    draw(X, solution, path)
    print(f"\nThe parts are drawn in {path}")


def relative_error(X: np.ndarray, approximation: np.ndarray) -> float:
    return float(np.linalg.norm(X - approximation) / np.linalg.norm(X))


def largest_cosine(W: np.ndarray) -> float:
    cosines = (W.T @ W) / np.outer(*[np.linalg.norm(W, axis=0)] * 2)
    return float(np.max(cosines - np.eye(len(cosines))))


def draw(X: np.ndarray, solution: nonneg.Solution, path: Path) -> None:
    """The parts, and digits rebuilt from them."""
    W, rebuilt = solution.factors["W"], solution.reconstruct()
    order = np.argsort([-np.linalg.norm(w @ X) for w in W.T])
    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.45))
    left.suptitle(f"{RANK} parts")
    for axes, k in zip(left.subplots(4, 4).flat, order, strict=True):
        show(axes, W[:, k])
    right.suptitle("digits, and the same rebuilt from the parts")
    shown = range(6)
    for row, images in zip(right.subplots(4, 6), (X, rebuilt, X, rebuilt), strict=True):
        for axes, j in zip(row, shown, strict=True):
            show(axes, images[:, j])
        shown = range(6, 12) if images is rebuilt else shown
    figure.savefig(path, dpi=110)
    plt.close(figure)


def show(axes: plt.Axes, pixels: np.ndarray) -> None:
    axes.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0)
    axes.set_xticks([])
    axes.set_yticks([])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo.png"))
