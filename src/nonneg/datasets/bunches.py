"""Result of a loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_bunch(data: np.ndarray, *, feature_shape: tuple[int, ...], DESCR: str, **more: Any) -> Bunch:
    """Data with a description, in scikit-learn's dress; the data become float64 in rows."""
    from sklearn.utils import Bunch

    return Bunch(data=np.ascontiguousarray(data, dtype=np.float64), feature_shape=feature_shape, DESCR=DESCR, **more)


def make_pictures(images: np.ndarray, *, DESCR: str, **more: Any) -> Bunch:
    """Pictures (n_samples, height, width), upright, 0 is black; a row of the data is a picture read line by line."""
    data = np.ascontiguousarray(images, dtype=np.float64).reshape(len(images), -1)
    return make_bunch(data, feature_shape=images.shape[1:], DESCR=DESCR, images=data.reshape(images.shape), **more)
