"""Components that fits to separate samples have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..estimators.consensus import k_means, silhouettes
from ..exceptions import IncompatibleError, ShapeError, is_count, is_number
from .components import read_components, unit_rows


class MetaComponents(NamedTuple):
    """Clusters of components of several fits, that of most fits first.

    See Also
    --------
    meta_components : Returns them.
    nonneg.cells.meta_programs : The same of gene programs.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.selection import meta_components
    >>> fits = [np.eye(3), np.eye(3)[[1, 2, 0]], np.eye(3)[[2, 0, 1]]]
    >>> found = meta_components(fits, 3)
    >>> found.shares
    array([1., 1., 1.])
    """

    components: np.ndarray
    """The median of each cluster, of length one, (n_clusters, n_features)."""
    members: list[list[tuple[Any, int]]]
    """For each cluster, the fits and the numbers of their components in it."""
    shares: np.ndarray
    """For each cluster, the share of fits that have a component in it."""
    silhouettes: np.ndarray
    """For each cluster, the mean silhouette of its members: 1 if they are alike and unlike all others."""
    features: list[Any] | None
    """The names of features, if fits have them."""


def meta_components(models: Any, n_clusters: int | str = "auto", *, min_share: float = 0.5) -> MetaComponents:
    """Match the components of fits to separate samples: meta-programs of patients, topics of several corpora.

    Components of all fits, of length one, are clustered by k-means, as `nonneg.ConsensusNMF` does with those of runs.

    Parameters
    ----------
    models : list, or dict by name, of fitted estimators, of tables or of arrays (n_components, n_features)
        If all have names of features, the common ones are compared; otherwise all have the same features.
    n_clusters : int or "auto", default="auto"
        How many clusters to make. "auto" takes the number of highest mean silhouette, the largest of equal ones.
    min_share : float, default=0.5
        Clusters with components of a smaller share of the fits, or of a single fit, are left out.

    Returns
    -------
    MetaComponents
        Clusters of components, with their members and mean profiles.

    See Also
    --------
    match_components : Components of two fits.
    MetaComponents : What is returned.
    nonneg.ConsensusNMF : Runs of one estimator on one data set.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.selection import meta_components
    >>> ill, well = np.eye(5)[:3], np.eye(5)[[2, 0, 4]]
    >>> found = meta_components({"ill": ill, "well": well})
    >>> found.members, found.components.argmax(axis=1)
    ([[('ill', 0), ('well', 1)], [('ill', 2), ('well', 0)]], array([0, 2]))
    """
    labels, given = _labelled(models)
    if not is_number(min_share) or not 0 <= min_share <= 1:
        raise IncompatibleError(f"min_share must be a number from 0 to 1; got {min_share!r}.")
    features, parts = _aligned(labels, given)
    points, fits = unit_rows(np.vstack(parts)), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    clusters = _clustered(points, n_clusters, max(map(len, parts)))
    apart = silhouettes(points, clusters)
    numbers = np.concatenate([np.arange(len(part)) for part in parts])
    inside = [np.flatnonzero(clusters == cluster) for cluster in range(clusters.max() + 1)]
    shares = np.array([len(np.unique(fits[places])) / len(parts) for places in inside])
    kept = [cluster for cluster, share in enumerate(shares) if share >= max(min_share, 2 / len(parts))]
    kept.sort(key=lambda cluster: (-shares[cluster], inside[cluster][0]))
    medians = np.array([np.median(points[inside[cluster]], axis=0) for cluster in kept]).reshape(-1, points.shape[1])
    members = [[(labels[fits[place]], int(numbers[place])) for place in inside[cluster]] for cluster in kept]
    quality = np.array([apart[inside[cluster]].mean() for cluster in kept])
    return MetaComponents(unit_rows(medians) if kept else medians, members, shares[kept], quality, features)


def _labelled(models: Any) -> tuple[list[Any], list[Any]]:
    """The labels of fits, and the fits."""
    if isinstance(models, Mapping):
        labels, given = list(models), list(models.values())
    elif isinstance(models, Sequence) and not isinstance(models, str):
        labels, given = list(range(len(models))), list(models)
    else:
        raise IncompatibleError(f"models must be a list or a dict of fits; got {type(models).__name__}.")
    if len(given) < 2:
        raise IncompatibleError(f"models must be two fits or more; got {len(given)}.")
    return labels, given


def _aligned(labels: Sequence[Any], models: Sequence[Any]) -> tuple[list[Any] | None, list[np.ndarray]]:
    """The features that all fits have, and their components in the order of these."""
    parts = [read_components(model, f"models[{label!r}]") for label, model in zip(labels, models, strict=True)]
    names = [_names_of(model) for model in models]
    if any(each is None for each in names):
        if len({part.shape[1] for part in parts}) > 1:
            counts = ", ".join(f"{label!r} {part.shape[1]}" for label, part in zip(labels, parts, strict=True))
            raise ShapeError(f"The fits have features without names, and not equally many: {counts}. Fit tables with names.")
        return names[0], parts
    shared = [name for name in names[0] or () if all(name in set(each or ()) for each in names[1:])]
    if not shared:
        raise IncompatibleError("The fits have no feature in common by name.")
    places = [{name: place for place, name in enumerate(each or ())} for each in names]
    return shared, [part[:, [place[name] for name in shared]] for part, place in zip(parts, places, strict=True)]


def _names_of(model: Any) -> list[Any] | None:
    """The names of features of an estimator, or of a table."""
    found = getattr(model, "feature_names_in_", getattr(model, "columns", None))
    return None if found is None else list(found)


def _clustered(points: np.ndarray, n_clusters: int | str, least: int) -> np.ndarray:
    """The cluster of each component."""
    if is_count(n_clusters, 1):
        return k_means(points, int(n_clusters))
    if n_clusters != "auto":
        raise IncompatibleError(f"n_clusters must be an int of at least 1, or 'auto'; got {n_clusters!r}.")
    tried = [k_means(points, count) for count in range(max(2, least // 2), max(3, min(len(points), 3 * least)))]
    # A pair that is not alike has the silhouette of two single components, 0: of equal means the most clusters.
    return max(tried, key=lambda clusters: (round(float(silhouettes(points, clusters).mean()), 6), int(clusters.max())))
