"""What can be done with any estimator beside fitting it: it is kept in a file, and shown on a page."""

from __future__ import annotations

from typing import Any, ClassVar

from .model_files import write_model
from .naming import KnownParameters
from .pages import write_report


class Shareable(KnownParameters):
    """`save` and `report`, for any estimator; `nonneg.load` reads again what was saved."""

    _made_of: ClassVar[tuple[type, ...]] = ()
    """Classes of objects in its attributes, beside those that models are made of."""
    _left_out: ClassVar[tuple[str, ...]] = ()
    """Attributes that are not kept in files."""

    def save(self, path: Any) -> None:
        """Keep the estimator in a file, for `nonneg.load`, on this machine or another.

        The file holds arrays, numbers and text, and no code. It is written whole or not at all. Parameters that are functions, such
        as a kernel of one's own, cannot be kept.

        Parameters
        ----------
        path : str or path
            What is there is overwritten. Names usually end in ".nonneg".
        """
        write_model(self, path)

    def report(self, path: Any, X: Any = None, *, shape: Any = None, feature_names: Any = None) -> None:
        """Write a page about what was fitted: one HTML file to look at, print or send, with everything in it.

        Parameters
        ----------
        path : str or path
            What is there is overwritten.
        X : array, sparse array, Table, path, open file or Dask collection, optional
            What was fitted, or other samples. With it, the page has their relative error, sizes in samples and reordered matrix.
        shape : tuple of int or Layout, optional
            Height and width, where features are pixels.
        feature_names : sequence of str, optional
            What features are called; by default as in `fit`.
        """
        write_report(self, path, X, shape=shape, feature_names=feature_names)
