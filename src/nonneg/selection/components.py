"""Components: matched with those of another fit, named by their features, and made a partition of these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ..data import as_dense
from ..data.annotated import matrix_of
from ..exceptions import DataError, IncompatibleError, ShapeError, is_count, is_one_of, unknown
from ..kernels.csr import checked
from ..metrics.labels import hard_labels
from ..plot.views import quietly


class Match(NamedTuple):
    """The components of b, put in the order of those of a.

    See Also
    --------
    match_components : Returns one.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.selection import match_components
    >>> match_components(np.eye(3), np.eye(3)[[2, 0, 1]]).order
    array([1, 2, 0])
    """

    order: np.ndarray
    """For each component of a, the number of its partner in b; −1 if b has none left."""
    similarity: np.ndarray
    """The cosine of the two; 0 if b has none left, or one of the two is zero everywhere."""
    components: np.ndarray
    """Those of b in the order of those of a, as they were given; zeros if b has none left."""
    left_over: np.ndarray
    """The numbers of the components of b that go with none of a."""


def match_components(a: Any, b: Any) -> Match:
    """Match the components of two fits one to one, so that the sum of their cosines is largest (the Hungarian method).

    Parameters
    ----------
    a, b : array of shape (n_components, n_features), or fitted estimator
        Of an estimator, its ``components_`` are taken, of a chain ``emissionprob_``. They may have different numbers of components.

    Returns
    -------
    Match
        The order of b's components, and their cosines with those of a.

    See Also
    --------
    meta_components : Components of more than two fits.
    Match : What is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.selection import match_components
    >>> a = np.eye(3)
    >>> found = match_components(a, 5 * a[[2, 0, 1]])
    >>> found.order, found.similarity
    (array([1, 2, 0]), array([1., 1., 1.]))
    """
    A, B = read_components(a, "a"), read_components(b, "b")
    if A.shape[1] != B.shape[1]:
        raise ShapeError(
            f"a has {A.shape[1]} features and b has {B.shape[1]}: components can be matched over the same features only."
        )
    cosines = unit_rows(A) @ unit_rows(B).T
    rows, columns = linear_sum_assignment(-cosines)
    order, similarity, components = np.full(len(A), -1), np.zeros(len(A)), np.zeros_like(A)
    order[rows], similarity[rows], components[rows] = columns, np.clip(cosines[rows, columns], -1.0, 1.0), B[columns]
    return Match(order, similarity, components, np.setdiff1d(np.arange(len(B)), columns))


def read_components(given: Any, name: str = "model") -> np.ndarray:
    """The components of an estimator, or an array of them, checked."""
    found = next((getattr(given, attribute) for attribute in _HELD_IN if hasattr(given, attribute)), given)
    if found is given and hasattr(given, "get_params"):
        raise IncompatibleError(
            f"{name} is {type(given).__name__}, which has no components: it is not fitted, or does not make any."
        )
    checked(found, name)
    try:
        components = np.asarray(as_dense(found), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of components, one in each row, or a fitted estimator; got {given!r}.") from None
    if components.ndim != 2 or not components.size:
        raise ShapeError(f"{name} must have components in its rows, (n_components, n_features); its shape is {components.shape}.")
    if not np.isfinite(components).all():
        raise DataError(f"{name} has NaN or infinity in it.")
    return components


_HELD_IN = ("components_", "emissionprob_")


def unit_rows(components: np.ndarray) -> np.ndarray:
    """Rows of length one; rows of zeros stay."""
    components = components / np.maximum(np.abs(components).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    return components / np.where(lengths > 0, lengths, 1.0)


class Feature(NamedTuple):
    """A feature and its weight in a component, or its lift or slope on request.

    See Also
    --------
    top_features : Returns lists of them.

    Examples
    --------
    >>> from nonneg.selection import top_features
    >>> top_features([[0.1, 0.7, 0.2]], ["oak", "ash", "elm"], 2)
    [[Feature(name='ash', weight=0.7), Feature(name='elm', weight=0.2)]]
    """

    name: Any
    weight: float


def top_features(
    model: Any, names: Any = None, count: int = 10, *, by: str = "weight", X: Any = None, codes: Any = None
) -> list[list[Feature]]:
    """The features that stand for each component, the foremost first; those of weight zero are left out.

    Parameters
    ----------
    model : fitted estimator, Pipeline that ends with one, or array of shape (n_components, n_features)
        Components, or an estimator that has them.
    names : sequence of length n_features, or vectorizer, optional
        A vectorizer, or any transformer, has them as ``get_feature_names_out()``; so have the other steps of a pipeline. By default
        ``feature_names_in_`` if the estimator has it, the symbols of a chain, or numbers.
    count : int, default=10
        The most features of one component.
    by : {"weight", "lift", "zscore"}, default="weight"
        Criterion of the ranking. "weight" is the entry of the component; frequent features lead many components.
        "lift" is the share of the feature in the component over its share in all of X, among features with more than an even share
        of the component. "zscore" is the slope with which the feature, in standard deviations, grows with
        the code of the component, by least squares over all codes: cNMF's scores of genes; it needs X.
    X : array or sparse array of shape (n_samples, n_features), optional
        The data. Without it, "lift" compares with the sum of all components, each as large as in the fit.
    codes : array of shape (n_samples, n_components), optional
        Codes of X; by default those that the estimator gives.

    Returns
    -------
    list of lists of Feature
        For each component, names and weights.

    See Also
    --------
    select_features : Features of all components together.
    atlas : Each feature given to one component.
    nonneg.plot.top_features : Draws them.

    Examples
    --------
    >>> from nonneg.selection import top_features
    >>> [[feature.name for feature in part] for part in top_features([[3, 0, 1], [0, 2, 0]], ["red", "green", "blue"])]
    [['red', 'blue'], ['green']]
    >>> [part[0].name for part in top_features([[5, 3, 0, 0], [5, 0, 3, 0]], ["the", "cat", "dog", "cow"], by="lift")]
    ['cat', 'dog']
    """
    model, names = with_names(model, names)
    components = read_components(model)
    if not is_count(count, 1):
        raise IncompatibleError(f"count must be an int of at least 1; got {count!r}.")
    names = read_names(model, names, components.shape[1])
    scores = _scores(model, components, by, X, codes)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return [[Feature(names[j], float(row[j])) for j in places if row[j] > 0] for row, places in zip(scores, order, strict=True)]


def with_names(model: Any, names: Any) -> tuple[Any, Any]:
    """The estimator at the end of a pipeline, and the names that other steps give their features."""
    if hasattr(model, "steps"):
        before = model[:-1] if len(model) > 1 else None
        model, names = model[-1], before if names is None else names
    return model, names.get_feature_names_out() if hasattr(names, "get_feature_names_out") else names


def read_names(model: Any, names: Any, count: int) -> list[Any]:
    """Names of features, one for each."""
    if names is None:
        held = (getattr(model, attribute, None) for attribute in ("feature_names_in_", "symbols_"))
        names = next((found for found in held if found is not None), range(count))
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if len(names) != count:
        raise ShapeError(f"names has {len(names)} names for {count} features; every feature needs one.")
    return names


_BY = ("weight", "lift", "zscore")


def _scores(model: Any, components: np.ndarray, by: Any, X: Any, codes: Any) -> np.ndarray:
    """The scores by which features are ranked in each component."""
    if not is_one_of(by, _BY):
        raise unknown("by", by, _BY)
    if by == "weight":
        return components
    X = None if X is None else checked_data(X, components.shape[1])
    if by == "lift":
        return _lift(components, _sums(model, components) if X is None else np.asarray(X.sum(axis=0), dtype=np.float64).ravel())
    if X is None:
        raise IncompatibleError("by='zscore' compares features with codes over samples, so it needs X.")
    if codes is None and not hasattr(model, "transform"):
        raise IncompatibleError("by='zscore' needs codes: those of X, if model is an array of components.")
    codes = np.asarray(quietly(model.transform, X) if codes is None else as_dense(codes), dtype=np.float64)
    if codes.shape != (X.shape[0], len(components)):
        raise ShapeError(f"codes has shape {codes.shape}, and X and the components need {(X.shape[0], len(components))}.")
    return _slopes(X, codes)


def checked_data(X: Any, width: int) -> Any:
    """X in memory as an array, or a sparse array, with a column for each feature."""
    X = matrix_of(X)
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != width:
        raise ShapeError(f"X has shape {X.shape}; it must have a column for each of {width} features.")
    return X


def _lift(components: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Shares of features in components over their shares in all; zero for features with less than an even share."""
    sums = components.sum(axis=1, keepdims=True)
    shares = components / np.where(sums > 0, sums, 1.0)
    overall = overall / (overall.sum() or 1.0)
    lift = shares / np.where(overall > 0, overall, np.inf)
    return np.where(shares > 1 / components.shape[1], lift, 0.0)


def _sums(model: Any, components: np.ndarray) -> np.ndarray:
    """The sum of all components over samples, each as large as in the fit, or each of sum one."""
    codes = codes_of_fit(model, len(components))
    sums = components.sum(axis=1)
    weights = 1 / np.where(sums > 0, sums, 1.0) if codes is None else codes.sum(axis=0, dtype=np.float64)
    return np.asarray(weights @ components)


def _slopes(X: Any, codes: np.ndarray) -> np.ndarray:
    """The slopes of standardized features over codes, by least squares with an intercept: (n_components, n_features)."""
    centred = codes - codes.mean(axis=0)
    means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray((X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    products = np.asarray((X.T @ centred).T)  # centred columns: the means of features have no part in it
    return np.linalg.pinv(centred.T @ centred, hermitian=True) @ products / np.where(spread > 0, spread, np.inf)


def select_features(model: Any, count: int, names: Any = None) -> np.ndarray:
    """The features of a panel by which samples can be coded: the largest of each component.

    Features are added one by one: each time the largest one of the component that the panel covers least, as a share of its squared
    length. scPNMF takes the largest entries of all components together, so that a weak component may have none.

    Parameters
    ----------
    model : fitted estimator, Pipeline that ends with one, or array of shape (n_components, n_features)
        Best one whose components hardly overlap, such as `PNMF`.
    count : int
        How many features.
    names : sequence of length n_features, or vectorizer, optional
        As in `top_features`.

    Returns
    -------
    array of shape (count,)
        Names, in the order of the features; for ``model.restrict``.

    See Also
    --------
    top_features : The features of each component.

    Examples
    --------
    >>> from nonneg.selection import select_features
    >>> select_features([[9, 8, 7, 0, 0], [0, 0, 0, 2, 1]], 3, list("abcde"))
    array(['a', 'b', 'd'], dtype=object)
    """
    model, names = with_names(model, names)
    components = read_components(model)
    if not is_count(count, 1) or count > components.shape[1]:
        raise IncompatibleError(f"count must be an int from 1 to {components.shape[1]}, the number of features; got {count!r}.")
    shares = unit_rows(components) ** 2
    remaining = [[place for place in np.argsort(-row, kind="stable")[::-1] if row[place] > 0] for row in shares]
    covered, chosen = np.zeros(len(shares)), np.zeros(components.shape[1], dtype=bool)
    while chosen.sum() < count:
        covered[[not places for places in remaining]] = np.inf
        part = int(covered.argmin())
        if not remaining[part]:
            raise IncompatibleError(f"Only {chosen.sum()} features are not zero in all components; got count={count}.")
        place = remaining[part].pop()
        covered += 0 if chosen[place] else shares[:, place]
        chosen[place] = True
    places = np.flatnonzero(chosen)
    found = np.empty(len(places), dtype=object)
    found[:] = [read_names(model, names, chosen.size)[place] for place in places]
    return places if names is None and not hasattr(model, "feature_names_in_") else found


class Atlas(NamedTuple):
    """A partition of the features by components.

    See Also
    --------
    atlas : Returns one.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import OPNMF
    >>> from nonneg.selection import atlas
    >>> X = np.random.default_rng(0).random((50, 3)) @ np.kron(np.eye(3), np.ones(4))
    >>> atlas(OPNMF(3, random_state=0).fit(X)).sizes
    array([4, 4, 4])
    """

    labels: np.ndarray
    """The component that each feature belongs to; −1 for features that no component has."""
    sizes: np.ndarray
    """How many features each component has."""
    components: np.ndarray
    """The components with nothing but their own features, (n_components, n_features)."""


def atlas(model: Any) -> Atlas:
    """Each feature given to one component: the one that has most of it.

    Components count with the size that they have in the data, if the model has it: that of a row of H is in W as much as in H.
    Of models with two ranks, the parts are the clusters of features, which ``column_labels_`` has too.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_components, n_features)
        Best one whose components hardly overlap, such as `OPNMF`. Of other models it is a summary that leaves much out.

    Returns
    -------
    Atlas
        Label of each feature, sizes of the parts, and the components.

    See Also
    --------
    Atlas : What is returned.
    top_features : Several features of each component.
    nonneg.neuro.compare_atlases : Compares two partitions.

    Examples
    --------
    >>> from nonneg.selection import atlas
    >>> found = atlas([[3.0, 0.5, 0, 0], [0, 2.0, 1, 0]])
    >>> found.labels, found.sizes
    (array([ 0,  1,  1, -1]), array([1, 2]))
    """
    components = _clusters_of_features(model)
    if components is not None:
        labels = np.asarray(model.column_labels_)
    else:
        components = read_components(model)
        sizes = _sizes_in_data(model, len(components))
        labels = hard_labels(components if sizes is None else components * sizes[:, None])
    own = labels == np.arange(len(components))[:, None]
    return Atlas(labels, own.sum(axis=1), np.where(own, components, 0.0))


def _clusters_of_features(model: Any) -> np.ndarray | None:
    """The factor of the features, clusters in rows, of a model that clusters samples and features, each in parts of their own."""
    if not hasattr(model, "column_labels_") or not hasattr(model, "factors_"):
        return None
    last = model.model_.form[-1]
    factor = np.asarray(model.factors_[last.name], dtype=np.float64)
    return factor.T if last.transposed else factor


def _sizes_in_data(model: Any, count: int) -> np.ndarray | None:
    """The lengths of the columns of the factor of samples, of forms that begin with one."""
    codes = codes_of_fit(model, count)
    if codes is None:
        return None
    lengths = np.linalg.norm(codes / (np.abs(codes).max() or 1.0), axis=0)
    return lengths if lengths.any() else None


def codes_of_fit(model: Any, count: int) -> np.ndarray | None:
    """The factor of samples, of forms that begin with one."""
    if not hasattr(model, "model_") or not hasattr(model, "factors_"):
        return None
    first = model.model_.form[0]
    codes = model.factors_.get(first.name)
    return None if codes is None or first.transposed or codes.shape[1] != count else np.asarray(codes)
