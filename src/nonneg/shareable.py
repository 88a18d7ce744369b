"""What can be done with any estimator beside fitting it: it is kept in a file, and shown on a page."""

from __future__ import annotations

from typing import Any, ClassVar

from .model_files import write_model


class Shareable:
    """`save`, for any estimator; `nonneg.load` reads it again."""

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
