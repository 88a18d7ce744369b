"""The data in the order that the parts give them, and how much of each part is in each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import IncompatibleError
from ..kernels.csr import checked
from .axes import axes, colours, light_frame
from .views import coarse, codes_of, column_labels, order_by, row_labels


def reordered(model: Any, X: Any, *, lines: bool = True, ax: Any = None) -> Any:
    """X with its samples and features in the order of the parts that they belong to most; large ones in averaged blocks.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or sparse array of shape (n_samples, n_features)
        As it was fitted.
    lines : bool, default=True
        Whether to draw lines between parts.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    memberships : Shares of parts in samples.
    nonneg.coclusters.plot_coclusters : Co-clusters.

    Examples
    --------
    >>> from nonneg import NMF, plot
    >>> from nonneg.datasets import make_parts
    >>> X = make_parts(60, 20, 3).data
    >>> axes = plot.reordered(NMF(3, random_state=0).fit(X), X)
    """
    X = checked(X, "X") if sparse.issparse(X) else np.asarray(X)
    of_rows, of_columns = row_labels(model, X), column_labels(model)
    if of_rows is None or len(of_columns) != X.shape[1]:
        raise IncompatibleError(f"{type(model).__name__} does not say to which part each row and column of X, {X.shape}, belongs.")
    (rows, row_ends), (columns, column_ends) = order_by(of_rows), order_by(of_columns)
    ax = axes(ax, (5.5, 5.0))
    picture = coarse(X, rows, columns)
    low, high = np.quantile(picture, [0.0, 1.0]) if picture.max() <= 0 else (min(picture.min(), 0.0), _bright(picture))
    extent = (0, X.shape[1], X.shape[0], 0)
    ax.imshow(
        picture, cmap="Greys" if low >= 0 else "RdBu_r", aspect="auto", interpolation="nearest", vmin=low, vmax=high, extent=extent
    )
    if lines and len(row_ends) + len(column_ends) <= 60:
        for end in row_ends:
            ax.axhline(end, color="#d55e00", linewidth=0.7)
        for end in column_ends:
            ax.axvline(end, color="#d55e00", linewidth=0.7)
    is_graph = hasattr(model, "vertices_")
    ax.set_xlabel(f"{'vertices' if is_graph else 'features'}, by part")
    ax.set_ylabel(f"{'vertices' if is_graph else 'samples'}, by part")
    ax.set_title(f"{X.shape[0]} × {X.shape[1]}, reordered")
    return ax


def _bright(picture: np.ndarray) -> float:
    """A level that few entries exceed, so that a single one does not leave all else white."""
    positive = picture[picture > 0]
    return float(np.quantile(positive, 0.98)) if len(positive) else 1.0


def memberships(model: Any, X: Any = None, *, ax: Any = None) -> Any:
    """How much of each sample each part makes up: shares, samples in the order of the part that they belong to most.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or sparse array, optional
        Samples, for estimators that do not keep codes.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    reordered : The data in the order of parts.
    components : The parts.

    Examples
    --------
    >>> from nonneg import NMF, plot
    >>> from nonneg.datasets import make_parts
    >>> X = make_parts(60, 20, 3).data
    >>> axes = plot.memberships(NMF(3, random_state=0).fit(X), X)
    """
    codes = codes_of(model, X)
    if codes is None:
        raise IncompatibleError(f"Give X: {type(model).__name__} does not keep how much samples belong to its parts.")
    codes = np.maximum(codes, 0.0)
    sums = codes.sum(axis=1, keepdims=True)
    shares = codes / np.where(sums > 0, sums, 1.0)
    order = np.lexsort((-shares.max(axis=1), shares.argmax(axis=1)))
    shares = shares[order]
    if len(shares) > 2000:  # as many as there are pixels
        starts = np.linspace(0, len(shares), 2000, endpoint=False).astype(int)
        shares = np.add.reduceat(shares, starts) / np.diff([*starts, len(shares)])[:, None]
    ax = axes(ax, (7.0, 3.2))
    edges = np.linspace(0, len(codes), len(shares) + 1)
    upper = np.cumsum(shares, axis=1)
    lower = upper - shares
    for part, colour in enumerate(colours(shares.shape[1])):
        ax.stairs(upper[:, part], edges, baseline=lower[:, part], fill=True, color=colour, linewidth=0, label=f"{part + 1}")
    ax.set_xlim(0, len(codes))
    ax.set_ylim(0, 1)
    ax.set_xlabel("samples, by part")
    ax.set_ylabel("share")
    light_frame(ax)
    if shares.shape[1] <= 12:
        ax.legend(title="part", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    ax.set_title("Memberships")
    return ax
