"""Views of co-clusters: the matrix in their order, their sizes and means, their top terms, a picture.

Every function takes the data and anything that has ``row_labels_`` and ``column_labels_``: an estimator of this library, or one of
scikit-learn's, once it is fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from .data import Observed, as_dense
from .data.annotated import matrix_of
from .data.checking import known_entries
from .exceptions import DataError, ShapeError
from .kernels.csr import to_csr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["block_means", "block_sums", "order", "plot_coclusters", "reordered", "sizes", "top_terms"]

_MARKS = 200_000
"""Non-zeros that a picture shows, at most; of more, so many are drawn at random."""


class Order(NamedTuple):
    """Rows and columns with those of one cluster beside each other, and the ends of clusters."""

    rows: np.ndarray
    columns: np.ndarray
    row_ends: np.ndarray
    column_ends: np.ndarray


def order(model: Any) -> Order:
    """The order of rows and columns in which co-clusters are blocks; it is stable within a cluster.

    Parameters
    ----------
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.

    Returns
    -------
    Order
        Rows, columns, and the end of each cluster of rows and of columns.

    See Also
    --------
    reordered : X in this order.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import order
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> order(model).row_ends
    array([4, 8])
    """
    rows, columns = _labels(model)
    ends = [np.cumsum(np.bincount(labels, minlength=count)) for labels, count in zip((rows, columns), _counts(model), strict=True)]
    return Order(np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable"), *ends)


def reordered(X: Any, model: Any) -> Any:
    """X with its rows and columns in the order of their clusters; sparse if X is.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        The data.
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.

    Returns
    -------
    array or sparse array of shape (n_samples, n_features)
        Rows and columns of one cluster beside each other.

    See Also
    --------
    order : The order alone.
    plot_coclusters : A picture of it.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import reordered
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> reordered(X, model).shape
    (8, 12)
    """
    X = _matching(X, model)
    rows, columns, *_ = order(model)
    return X[rows][:, columns]


def sizes(model: Any) -> np.ndarray:
    """How many entries each block has, (n_row_clusters, n_column_clusters).

    Parameters
    ----------
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.

    Returns
    -------
    array of int of shape (n_row_clusters, n_column_clusters)
        The number of rows times the number of columns of each block.

    See Also
    --------
    block_means : Means of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import sizes
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> sizes(model)
    array([[24, 24],
           [24, 24]])
    """
    counts = (np.bincount(labels, minlength=count) for labels, count in zip(_labels(model), _counts(model), strict=True))
    return np.multiply.outer(*counts)


def block_means(X: Any, model: Any) -> np.ndarray:
    """The mean of each block, (n_row_clusters, n_column_clusters); nan for those without entries.

    Parameters
    ----------
    X : array, sparse array or Observed of shape (n_samples, n_features)
        Entries that are NaN, or not observed, are left out of the means.
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.

    Returns
    -------
    array of shape (n_row_clusters, n_column_clusters)
        The means.

    See Also
    --------
    block_sums : Sums in place of means.
    sizes : How many entries they are of.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import block_means
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> np.sort(block_means(X, BiQNMF(2, random_state=0).fit(X)).ravel())
    array([1., 1., 3., 5.])
    """
    X, known = known_entries(X) if isinstance(X, Observed) else (X, None)
    X = _matching(X, model)
    rows, columns = map(_indicators, _labels(model), _counts(model))
    counts = sizes(model)
    if known is not None:
        counts = ((rows.T @ known) @ columns).toarray()
    elif not sparse.issparse(X) and np.isnan(np.sum(X)):
        counts = (rows.T @ ~np.isnan(X)) @ columns
        X = np.nan_to_num(X)
    sums = as_dense((rows.T @ X) @ columns)
    return np.where(counts > 0, sums / np.where(counts > 0, counts, 1), np.nan)


def block_sums(X: Any, model: Any) -> np.ndarray:
    """The sum of each block, (n_row_clusters, n_column_clusters).

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        The data.
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.

    Returns
    -------
    array of shape (n_row_clusters, n_column_clusters)
        The sums.

    See Also
    --------
    block_means : Means in place of sums.
    sizes : How many entries they are of.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import block_sums
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> np.sort(block_sums(X, model).ravel())
    array([ 24.,  24.,  72., 120.])
    """
    X = _matching(X, model)
    rows, columns = map(_indicators, _labels(model), _counts(model))
    return np.asarray(as_dense((rows.T @ X) @ columns))


def top_terms(X: Any, model: Any, feature_names: Any = None, n_terms: int = 10) -> list[list[list[Any]]]:
    """The features with the largest sums in each block: ``[row cluster][column cluster]`` is a list of names, the largest first.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        The data.
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.
    feature_names : sequence, optional
        Names of the features; by default their numbers.
    n_terms : int
        How many, at most. Features that are zero throughout a block are left out.

    Returns
    -------
    list of lists of lists
        Names, for each cluster of rows and each cluster of columns.

    See Also
    --------
    nonneg.text.block_table : The same as a table.
    nonneg.selection.top_features : The foremost features of components.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import top_terms
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> blocks = top_terms(X, model, n_terms=2)
    >>> len(blocks), len(blocks[0]), len(blocks[0][0])
    (2, 2, 2)
    """
    X = _matching(X, model)
    rows, columns = _labels(model)
    names = np.arange(len(columns)) if feature_names is None else np.asarray(feature_names)
    if len(names) != len(columns):
        raise ShapeError(f"feature_names has {len(names)} names for {len(columns)} features.")
    n_rows, n_columns = _counts(model)
    sums = _indicators(rows, n_rows).T @ X
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    found: list[list[list[Any]]] = []
    for row in sums:
        found.append([])
        for k in range(n_columns):
            inside = np.flatnonzero(columns == k)
            best = inside[np.argsort(-row[inside], kind="stable")[:n_terms]]
            found[-1].append([names[j].item() if hasattr(names[j], "item") else names[j] for j in best if row[j] > 0])
    return found


def plot_coclusters(X: Any, model: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """A picture of X in the order of its co-clusters, with lines between them: shades for dense X, dots for sparse X.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        The data.
    model : estimator
        Fitted, with ``row_labels_`` and ``column_labels_``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.
    **options
        For ``imshow``, or for ``plot`` of the dots.

    Returns
    -------
    Axes
        The picture.

    See Also
    --------
    reordered : X in this order, as an array.
    nonneg.plot.reordered : The same of any estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.coclusters import plot_coclusters
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 6)))
    >>> model = BiQNMF(2, random_state=0).fit(X)
    >>> axes = plot_coclusters(X, model)
    """
    import matplotlib.pyplot as plt

    blocks = reordered(X, model)
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 6 * min(2.0, max(0.5, blocks.shape[0] / blocks.shape[1]))), layout="constrained")
    if sparse.issparse(blocks):
        coordinates = blocks.tocoo()
        shown = np.flatnonzero(coordinates.data)
        if len(shown) > _MARKS:
            shown = np.random.default_rng(0).choice(shown, _MARKS, replace=False)
        style: dict[str, Any] = {"marker": ",", "linestyle": "none", "color": "#204060", "alpha": 0.4} | options
        ax.plot(coordinates.col[shown], coordinates.row[shown], **style)
        ax.set(xlim=(-0.5, blocks.shape[1] - 0.5), ylim=(blocks.shape[0] - 0.5, -0.5))
    else:
        ax.imshow(blocks, **{"aspect": "auto", "interpolation": "nearest", "cmap": "Blues"} | options)
    _, _, row_ends, column_ends = order(model)
    for ends, line in ((row_ends, ax.axhline), (column_ends, ax.axvline)):
        for end in ends[:-1]:
            line(end - 0.5, color="#c04020", linewidth=0.8)
    ax.set(xlabel="features, by cluster", ylabel="samples, by cluster")
    return ax


def _labels(model: Any) -> tuple[np.ndarray, np.ndarray]:
    try:
        return np.asarray(model.row_labels_), np.asarray(model.column_labels_)
    except AttributeError:
        raise DataError(
            f"{type(model).__name__} has no row_labels_ and column_labels_: it is not fitted, or does not cluster both samples and "
            "features, as NMF, NMTF, ONMTF, FONT, BiQNMF and BiORNM3F do. Of any other, the largest entries of the rows of "
            "components_ are the features that matter most."
        ) from None


def _matching(X: Any, model: Any) -> Any:
    """X as an array, or sparse in rows, of the size that the model was fitted to."""
    rows, columns = _labels(model)
    X = matrix_of(X)
    X = to_csr(X, "X") if sparse.issparse(X) else np.asarray(X)
    if X.shape != (len(rows), len(columns)):
        raise ShapeError(f"X is {X.shape}, but the co-clusters are of {len(rows)} rows and {len(columns)} columns.")
    return X


def _counts(model: Any) -> tuple[int, int]:
    """How many clusters of rows and of columns there are, with the model's empty ones."""
    rows, columns = _labels(model)
    return getattr(model, "_shape", None) or (int(rows.max()) + 1, int(columns.max()) + 1)


def _indicators(labels: np.ndarray, count: int) -> sparse.csr_array:
    n = len(labels)
    return sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
