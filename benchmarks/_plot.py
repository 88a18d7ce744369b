"""The picture of the README: how the objective falls with time, for each method, from the same starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLOURS = {"nonneg": "#b5121b", "PNMF Eq. 20 in NumPy": "#3b6ea5", "opnmf": "#555555"}
NAMES = {"nonneg": "nonneg", "PNMF Eq. 20 in NumPy": "the papers' rule in NumPy", "opnmf": "opnmf package"}


def draw(curves: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """A line for each run: how far its objective is above the lowest that any of them found; a method has a colour and a name."""
    if not curves:
        raise ValueError("There are no curves to draw: run the group 'projective' first.")
    lowest = min(min(curve["objective"]) for curve in curves)
    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    for method, colour in COLOURS.items():
        runs = [curve for curve in curves if curve["method"] == method]
        for curve in runs:
            above = 100 * (np.array(curve["objective"]) / lowest - 1)
            axes.loglog(curve["seconds"], above, color=colour, linewidth=2.2 if method == "nonneg" else 1.4, alpha=0.85)
        axes.plot([], [], color=colour, linewidth=2.2, label=NAMES[method])
    starts = len({curve["start"] for curve in curves})
    axes.set(
        xlabel="seconds, one thread (set-up included)",
        ylabel="½‖X − W Wᵀ X‖², % above the lowest found",
        title=f"{curves[0]['problem']}: {starts} starts, the same for all",
        ylim=(0.3, 400),
    )
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    plt.close(figure)
    return path
