"""Handwritten digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bunches import make_pictures

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load_digits() -> Bunch:
    """Load handwritten digits: 1797 images of 8 × 8, from scikit-learn.

    Returns
    -------
    Bunch
        ``data`` (1797, 64) from 0 to 16, ``images`` (1797, 8, 8), ``target`` (1797,), the digits; ``feature_shape``, ``DESCR``.

    See Also
    --------
    make_faces : Images whose parts are known.

    Examples
    --------
    >>> from nonneg.datasets import load_digits
    >>> load_digits().data.shape
    (1797, 64)
    """
    from sklearn import datasets

    digits = datasets.load_digits()
    return make_pictures(digits.images, DESCR=digits.DESCR, target=digits.target)
