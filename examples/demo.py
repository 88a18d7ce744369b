"""Handwritten digits, taken apart: an orthogonal projective factorization of scikit-learn's digits.

Prints what was found and writes a picture of the parts, ``demo.png``. ``make demo`` does the like from the command line.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from nonneg import OPNMF, Model
from nonneg.metrics import relative_error

RANK = 16


def main(path: Path) -> None:
    X = load_digits().data  # 1797 images × 64 pixels
    model = OPNMF(RANK, n_init=5, random_state=0)
    rule = Model("X W W.T", constraints={"W": "orthogonal"})
    print(f"{model}, that is\n\n{rule}\n")

    model.fit(X)
    print(f"Five starts end at {', '.join(f'{objective:.0f}' for objective in model.objectives_)}. The best of them:\n")
    print("iteration  objective")
    for record in model.history_[:: max(1, len(model.history_) // 8)]:
        print(f"{record.iteration:9d}  {record.objective:9.0f}")
    print(f"\n{model.status_.sentence}")

    codes, parts, measures = model.transform(X), model.components_, model.orthogonality_["W"]
    _, singular, vectors = np.linalg.svd(X, full_matrices=False)
    print(f"\nRelative error of {RANK} parts:   {relative_error(X, model.inverse_transform(codes)):.4f}")
    print(f"  of {RANK} singular vectors:     {np.sqrt(np.sum(singular[RANK:] ** 2) / np.sum(singular**2)):.4f}")
    print(f"Mean cosine of two parts:     {1 - measures.rho:.4f}   (singular vectors: 0)")
    print(f"Pixels in a part, on average: {pixels(parts):.1f}   of {X.shape[1]}")
    print(f"  in a singular vector:       {pixels(np.abs(vectors[:RANK])):.1f}")

    draw(X, codes, model, path)
    print(f"\nThe parts are drawn in {path}")


def pixels(components: np.ndarray) -> float:
    """How many entries of a component matter: those above a tenth of its largest."""
    return float(np.mean(np.sum(components > 0.1 * components.max(axis=1, keepdims=True), axis=1)))


def draw(X: np.ndarray, codes: np.ndarray, model: OPNMF, path: Path) -> None:
    """The parts, those first that most digits have most of, and digits rebuilt from them."""
    rebuilt, order = model.inverse_transform(codes), np.argsort(-np.linalg.norm(codes, axis=0))
    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.45))
    left.suptitle(f"{RANK} parts")
    for axes, k in zip(left.subplots(4, 4).flat, order, strict=True):
        show(axes, model.components_[k])
    right.suptitle("digits, and the same rebuilt from the parts")
    shown = range(6)
    for row, images in zip(right.subplots(4, 6), (X, rebuilt, X, rebuilt), strict=True):
        for axes, j in zip(row, shown, strict=True):
            show(axes, images[j])
        shown = range(6, 12) if images is rebuilt else shown
    figure.savefig(path, dpi=110)
    plt.close(figure)


def show(axes: plt.Axes, pixels: np.ndarray) -> None:
    axes.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0)
    axes.set_xticks([])
    axes.set_yticks([])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo.png"))
