"""Planted parts: data whose factorization is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import IncompatibleError, ShapeError, is_count, is_number
from ..solve.initialization import RandomState, make_generator
from .bunches import make_bunch

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_parts(
    n_samples: int = 200, n_features: int = 60, n_parts: int = 6, *, noise: float = 0.1, random_state: RandomState = 0
) -> Bunch:
    """Draw samples that are sums of a few disjoint parts, in random amounts, and noise.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples.
    n_features : int, default=60
        Number of features.
    n_parts : int, default=6
        The number of parts; each feature belongs to one of them.
    noise : float, default=0.1
        The standard deviation of the noise, as a share of that of the sums; negative entries become zero.
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator of the parts, the amounts and the noise.

    Returns
    -------
    Bunch
        ``data`` (n_samples, n_features); ``parts`` (n_parts, n_features), orthogonal rows of length one; ``codes`` (n_samples,
        n_parts), with data ≈ codes @ parts; ``target`` (n_samples,), the largest part of each sample; ``labels`` (n_features,), the
        part of each feature; ``feature_shape``, ``DESCR``.

    See Also
    --------
    make_faces : Parts of pictures.
    nonneg.selection.match_components : Compares found parts with drawn ones.

    Examples
    --------
    >>> from nonneg.datasets import make_parts
    >>> planted = make_parts(100, 30, 3)
    >>> planted.data.shape, planted.parts.shape
    ((100, 30), (3, 30))
    """
    for name, value in (("n_samples", n_samples), ("n_features", n_features), ("n_parts", n_parts)):
        if not is_count(value, 1):
            raise IncompatibleError(f"{name} must be an int of at least 1; got {value!r}.")
    if not is_number(noise) or noise < 0:
        raise IncompatibleError(f"noise must be a number of at least 0; got {noise!r}.")
    if n_parts > n_features:
        raise ShapeError(f"n_parts={n_parts}: {n_features} features are too few for each part to have one of its own.")
    generator = make_generator(random_state)
    labels = np.arange(n_features) * n_parts // n_features
    parts = (labels == np.arange(n_parts)[:, None]) * generator.uniform(0.5, 1.0, n_features)
    parts /= np.linalg.norm(parts, axis=1, keepdims=True)
    codes = generator.exponential(size=(n_samples, n_parts))
    sums = codes @ parts
    data = np.maximum(sums + noise * sums.std() * generator.normal(size=sums.shape), 0.0)
    return make_bunch(
        data, feature_shape=(n_features,), DESCR=PLANTED, parts=parts, codes=codes, target=codes.argmax(axis=1), labels=labels
    )


PLANTED = """Samples that are sums of disjoint parts, and noise; parts and amounts are known.

Source: made here.
Licence: that of the library.
"""
