"""The page about a fit: its sections in order, written by page.html."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data import opened, refuse_name
from ..data.annotated import matrix_of
from ..exceptions import IncompatibleError, ShapeError
from ..io import Table
from ..kernels.csr import checked
from ..plot.views import layout_of
from . import sections
from .html import write_page
from .ranks import ranks
from .subject import Subject

SECTIONS = {
    "summary": sections.summary,
    "notes": sections.notes,
    "ranks": lambda subject: ranks(subject.about["ranks"]) if subject.about.get("ranks") else None,
    "convergence": sections.convergence,
    "strategy": sections.strategy,
    "blocks": sections.blocks,
    "parts": sections.parts,
    "sizes": sections.sizes,
    "transitions": sections.transitions,
    "matrix": sections.matrix,
    "python": sections.python,
    "details": sections.details,
}
"""In the order of the page."""


def write_report(
    model: Any, path: Any, X: Any = None, *, shape: Any = None, feature_names: Any = None, about: Mapping[str, Any] | None = None
) -> None:
    """Write a page about a fitted estimator.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : path
        Of the page, .html; an existing file is overwritten.
    X : array, sparse array, Table, path, open file or Dask collection, optional
        The fitted data, or other samples: for the relative error and the reordered matrix, which the estimator does not keep.
    shape : tuple of int or Layout, optional
        How features lie in an image.
    feature_names : sequence of str, optional
        Names of the features; by default those of the fit.
    about : dict, optional
        Fields about the fit, as the command line keeps them in model files.

    See Also
    --------
    write_rank_report : A page about a scan of ranks.
    nonneg.plot.components : The components alone.

    Examples
    --------
    >>> from nonneg import OPNMF
    >>> from nonneg.datasets import make_faces
    >>> from nonneg.report import write_report
    >>> X = make_faces(60).data
    >>> write_report(OPNMF(4, random_state=0).fit(X), "faces.html", X, shape=(48, 40))  # doctest: +SKIP
    """
    about = about or {}
    parts_known = next((getattr(model, name) for name in ("components_", "emissionprob_") if hasattr(model, name)), None)
    if not hasattr(model, "get_params"):
        raise IncompatibleError(f"The model is {type(model).__name__}: expected a fitted estimator, then the path of the page.")
    if parts_known is None and not hasattr(model, "labels_") and not hasattr(model, "dual_coef_"):
        raise IncompatibleError(f"{type(model).__name__} is not fitted, so there is nothing to report; call fit first.")
    shape = about.get("layout") if shape is None else shape
    layout = None if shape is None or parts_known is None else layout_of(shape, parts_known.shape[1])
    names = about.get("features") if feature_names is None else feature_names
    subject = Subject(model, _shown(model, X), about, layout, names)
    status = getattr(model, "status_", None)
    lead = about.get("stopped") or ("" if status is None else status.sentence)
    found = {key: section for key, make in SECTIONS.items() if (section := make(subject)) is not None}
    write_page(path, subject.title, lead, found)


def _shown(model: Any, X: Any) -> Any:
    """X as a matrix, files opened as by `fit`. Sequences, which chains are fitted to, are not shown."""
    if X is None or hasattr(model, "transmat_"):
        return None
    X = X.values if isinstance(X, Table) else X
    refuse_name(X)
    X = opened(X)
    X = X if hasattr(X, "shape") else np.asarray(X)
    checked(matrix_of(X), "X")
    width = getattr(model, "n_features_in_", None)
    if len(X.shape) != 2 or not X.shape[0] or X.shape[1] != (X.shape[1] if width is None else width):
        raise ShapeError(
            f"X has shape {tuple(X.shape)}; {type(model).__name__} was fitted to samples with {width} features. Give report the X "
            "that was fitted, or rows of it."
        )
    return X
