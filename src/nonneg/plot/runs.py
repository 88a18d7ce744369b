"""Runs from many starts: whether their components agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import IncompatibleError
from .axes import axes

_MOST = 1000
"""Components that are drawn; of more, every second, third, … of each cluster."""


def clustergram(model: Any, *, ax: Any = None) -> Any:
    """The distances between the components of all runs, cluster by cluster: dark squares on the diagonal if runs agree.

    Within a cluster the components that others are nearest to come first; those that the density filter left out are at the end.

    Parameters
    ----------
    model : ConsensusNMF
        Fitted.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.ConsensusNMF : Its runs.
    ranks : Stability over ranks.

    Examples
    --------
    >>> from nonneg import ConsensusNMF, plot
    >>> from nonneg.datasets import make_parts
    >>> model = ConsensusNMF(3, n_runs=5, random_state=0).fit(make_parts(60, 20, 3).data)
    >>> axes = plot.clustergram(model)
    """
    if not hasattr(model, "run_components_"):
        raise IncompatibleError(f"{type(model).__name__} keeps no components of several runs. Fit a ConsensusNMF.")
    count = int(model.run_labels_.max(initial=-1)) + 1
    labels = np.where(model.run_labels_ < 0, count, model.run_labels_)
    order = np.lexsort((model.run_distances_, labels))
    order = order[:: -(-len(order) // _MOST)]
    points, labels = np.asarray(model.run_components_[order], dtype=np.float64), labels[order]
    distances = np.sqrt(np.maximum(2 - 2 * points @ points.T, 0.0))
    ax = axes(ax, (6.0, 5.2))
    extent = (0, len(order), len(order), 0)
    image = ax.imshow(distances, cmap="magma", vmin=0.0, vmax=np.sqrt(2), interpolation="nearest", extent=extent)
    ends = np.flatnonzero(np.diff(labels)) + 1
    for end in ends:
        ax.axhline(end, color="white", linewidth=0.6)
        ax.axvline(end, color="white", linewidth=0.6)
    starts = np.array([0, *ends])
    middles = (starts + np.array([*ends, len(order)])) / 2
    n_fixed = len(model.stability_) - count
    names = [
        "left out" if label == count else f"{n_fixed + label + 1}  {model.stability_[n_fixed + label]:.2f}"
        for label in labels[starts]
    ]
    ax.set_yticks(middles, names, fontsize="small")
    ax.set_xticks(middles, ["" if label == count else f"{n_fixed + label + 1}" for label in labels[starts]], fontsize="small")
    ax.tick_params(length=0)
    ax.set_ylabel("component, stability")
    ax.figure.colorbar(image, ax=ax, label="distance of components of length 1", shrink=0.8)
    left_out = np.mean(model.run_labels_ < 0)
    ax.set_title(f"{count} components, stability {model.silhouette_:.2f}, {left_out:.0%} left out")
    return ax
