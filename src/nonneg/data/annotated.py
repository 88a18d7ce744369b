"""AnnData in memory: its matrix, and the names of its samples and variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError


def is_annotated(X: Any) -> bool:
    """Whether it is an AnnData, or its `raw`: a matrix with names."""
    return _is_of_anndata(type(X)) and hasattr(X, "var_names") and hasattr(X, "obs_names")


def matrix_of(X: Any) -> Any:
    """The X of an AnnData in memory; a view of an AnnData's array as the array it is, without a copy. Anything else as it is."""
    if is_annotated(X):
        X = X.X
        if X is None:
            raise DataError("This AnnData has no X. Give one of its layers: adata.layers['counts'].")
    if not _is_of_anndata(type(X)) or not (isinstance(X, np.ndarray) or sparse.issparse(X)):
        return X
    own = next(cls for cls in type(X).__mro__ if not _is_of_anndata(cls))
    return np.asarray(X) if isinstance(X, np.ndarray) else own(X)


def variable_names(X: Any) -> list[str]:
    """The names of the variables of an AnnData."""
    return list(map(str, X.var_names))


def _is_of_anndata(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "anndata"
