"""Estimators read from files."""

from __future__ import annotations

from typing import Any

from . import estimators, hmm
from .estimators.shareable import Shareable
from .estimators.storing import Stored, known_classes, read_model
from .graph import clustering

__all__ = ["load", "read_stored"]
_ = (estimators, clustering, hmm)  # whose classes are known by their having been imported


def load(path: Any) -> Any:
    """An estimator from a file that `save` or the command line wrote, with its parameters and whatever it had learned.

    Opening a file runs no code of it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Fitted, as it was saved.

    See Also
    --------
    Checkpoint : The state of a fit that goes on.
    NMF : Estimators have the method ``save``.

    Examples
    --------
    >>> import tempfile, numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((20, 10))
    >>> model = nonneg.NMF(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/fit.nonneg")
    ...     again = nonneg.load(folder + "/fit.nonneg")
    >>> np.array_equal(again.components_, model.components_)
    True
    """
    return read_stored(path).estimator


def read_stored(path: Any) -> Stored:
    """Everything in a model file.

    Parameters
    ----------
    path : str or path
    """
    return read_model(path, known_classes(Shareable))
