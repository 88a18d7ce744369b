"""Strata of samples, from columns of a table: sex, age in thirds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..exceptions import DataError
from ..io.delimited import is_number


def strata(columns: Mapping[str, Any], wanted: str, label: str = "The table") -> np.ndarray:
    """A class for each sample: its cells in some columns, numbers in quantiles; for `y` of `rank_scan`.

    Parameters
    ----------
    columns : DataFrame, or dict of lists
        Columns by name, each with one cell for every sample.
    wanted : str
        Names of columns: "sex,age/3" for sex, and age in thirds.
    label : str, default="The table"
        Name of the columns in messages.

    Returns
    -------
    array of str of shape (n_samples,)
        One class for each sample.

    See Also
    --------
    rank_scan : Takes them as ``y``.

    Examples
    --------
    >>> from nonneg.selection import strata
    >>> people = {"sex": ["f", "m", "f", "m", "f", "m", "f", "m"], "age": [20, 31, 32, 43, 61, 60, 70, 72]}
    >>> strata(people, "sex,age/2").tolist()[:5]
    ['f age 1', 'm age 1', 'f age 1', 'm age 1', 'f age 2']
    """
    classes = []
    for part in wanted.split(","):
        name, _, count = part.strip().partition("/")
        if name not in columns:
            raise DataError(f"{label} has no column {name!r}; its columns are {', '.join(map(str, columns)) or 'none'}.")
        classes.append(_levels([str(cell) for cell in columns[name]], name, count))
    joined = np.array([" ".join(row) for row in zip(*classes, strict=True)])
    levels, sizes = np.unique(joined, return_counts=True)
    if len(levels) > len(joined) / 2:
        raise DataError(
            f"{wanted} makes {len(levels)} strata of {len(joined)} samples, too few in each to be split: use fewer classes."
        )
    if sizes.min() < 2:
        raise DataError(f"The stratum {levels[sizes.argmin()]!r} has one sample, which cannot be split: use fewer classes.")
    return joined


def _levels(cells: Sequence[str], name: str, count: str) -> list[str]:
    """The cells as they are; numbers in so many classes of about one size."""
    empty = [row for row, cell in enumerate(cells, 1) if cell.strip().lower() in ("", "n/a", "nan")]
    if empty:
        raise DataError(f"The column {name!r} is empty for sample {empty[0]}.")
    if not count:
        return list(cells)
    if not count.isdigit() or int(count) < 2:
        raise DataError(f"{name}/{count}: behind the slash comes a number of classes, at least 2.")
    text = next((cell for cell in cells if not is_number(cell)), None)
    if text is not None:
        raise DataError(f"The column {name!r} has {text!r} in it, and quantiles are of numbers: leave out /{count}.")
    values = np.array([float(cell) for cell in cells])
    cuts = np.quantile(values, np.arange(1, int(count)) / int(count))
    return [f"{name} {place + 1}" for place in np.searchsorted(cuts, values, side="left")]
