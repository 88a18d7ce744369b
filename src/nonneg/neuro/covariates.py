"""Covariates of subjects, such as age, sex and site, regressed out of images or loadings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import DataError
from ..io.scan_tables import lists_scans, match_rows, read_columns
from .rows import blocks
from .scans import Scans


@dataclass(frozen=True)
class Covariates:
    """Columns of numbers as they are, columns of text as one indicator for each level but the first.

    Attributes
    ----------
    names : tuple of str
        Columns.
    levels : dict of tuples of str
        Of columns of text.
    means : array
        Of the columns of the design, over the subjects that were fitted.
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    means: np.ndarray

    @classmethod
    def fit(cls, columns: Mapping[str, Sequence[Any]], subjects: Sequence[str]) -> tuple[Covariates, np.ndarray]:
        """Covariates and their centred design."""
        levels = {
            name: tuple(sorted(set(map(str, cells))))
            for name, cells in columns.items()
            if _first_text(cells, name, subjects) is not None
        }
        for name, cells in columns.items():
            if len(set(map(str, cells))) < 2:
                raise DataError(f"The covariate {name!r} is {cells[0]} for all subjects: leave it out.")
            if name in levels and len(levels[name]) > len(subjects) / 2:
                raise DataError(
                    f"The covariate {name!r} has {len(levels[name])} levels for {len(subjects)} subjects, such as "
                    f"{levels[name][0]!r}: no effect of it can be told from the subjects themselves."
                )
        found = cls(tuple(columns), levels, np.zeros(0))
        design = found._design(columns, subjects)
        if np.linalg.matrix_rank(np.c_[np.ones(len(design)), design]) < design.shape[1] + 1:
            raise DataError(
                f"The covariates {', '.join(columns)} are {design.shape[1]} columns for {len(subjects)} subjects, and some follow "
                "from the others: leave one out."
            )
        means = design.mean(axis=0)
        return cls(found.names, found.levels, means), design - means

    def centred(self, columns: Mapping[str, Sequence[Any]], subjects: Sequence[str]) -> np.ndarray:
        """The design of new subjects."""
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise DataError(f"The fit had the covariates {', '.join(self.names)}; {', '.join(missing)} is not given.")
        return self._design({name: columns[name] for name in self.names}, subjects) - self.means

    def _design(self, columns: Mapping[str, Sequence[Any]], subjects: Sequence[str]) -> np.ndarray:
        found = []
        for name, cells in columns.items():
            if name not in self.levels:
                wrong = _first_text(cells, name, subjects)
                if wrong is not None:
                    raise DataError(
                        f"The covariate {name!r} is {cells[wrong]!r} for {subjects[wrong]}; a number is needed, as in the fit."
                    )
                found.append(np.array([float(cell) for cell in cells]))
                continue
            new = [row for row, cell in enumerate(cells) if str(cell) not in self.levels[name]]
            if new:
                raise DataError(
                    f"The covariate {name!r} is {cells[new[0]]!r} for {subjects[new[0]]}; the fit knew "
                    f"{', '.join(self.levels[name])}."
                )
            found += [np.array([float(str(cell) == level) for cell in cells]) for level in self.levels[name][1:]]
        return np.column_stack(found)


def regress(matrix: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Regress a centred design out of a matrix, in place; the means stay. Return the coefficients."""
    pseudoinverse, coefficients, start = np.linalg.pinv(design), 0, 0
    for block in blocks(matrix):
        coefficients = coefficients + pseudoinverse[:, start : start + len(block)] @ block
        start += len(block)
    found = np.asarray(coefficients)
    subtract(matrix, design, found)
    return found


def subtract(matrix: np.ndarray, design: np.ndarray, coefficients: np.ndarray) -> None:
    """Take effects out of a matrix, in place."""
    start = 0
    for block in blocks(matrix):
        block -= (design[start : start + len(block)] @ coefficients).astype(block.dtype, copy=False)
        start += len(block)


def read_covariates(confounds: Any, scans: Scans, subjects: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Columns of covariates, a cell for each subject.

    Parameters
    ----------
    confounds : DataFrame, dict, array, path of a table, or list of columns of the table of scans
    scans : Scans
    subjects : list of str
    """
    if isinstance(confounds, str) and confounds in scans.columns and not Path(confounds).exists():
        raise DataError(
            f"confounds={confounds!r} is read as the path of a table; columns of the scans are a list: [{confounds!r}]."
        )
    if isinstance(confounds, str | os.PathLike):
        columns: Any = match_rows(_without_scans(read_columns(Path(confounds)), str(confounds)), subjects, str(confounds))
    elif hasattr(confounds, "columns") and hasattr(confounds, "to_dict"):
        columns = _read_frame(confounds, subjects)
    elif isinstance(confounds, Mapping):
        columns = match_rows({str(name): list(cells) for name, cells in confounds.items()}, subjects, "confounds")
    elif isinstance(confounds, list | tuple) and confounds and all(isinstance(name, str) for name in confounds):
        columns = _take_columns(confounds, scans)
    else:
        columns = _read_array(confounds)
    _refuse_gaps(columns, subjects)
    return dict(columns)


def _read_frame(frame: Any, subjects: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Columns of a DataFrame, in the order of subjects where its index or a column names them."""
    columns = {str(name): frame[name].tolist() for name in frame.columns}
    index = {"index": list(frame.index)}
    is_named = set(subjects) & set(map(str, index["index"]))
    return match_rows(index | columns if is_named else columns, subjects, "confounds")


def _take_columns(names: Sequence[str], scans: Scans) -> dict[str, Sequence[Any]]:
    """Columns of the table of scans, by name."""
    unknown = [name for name in names if name not in scans.columns]
    if unknown:
        known = f"its columns are {', '.join(scans.columns)}" if scans.columns else "the scans come from no table"
        raise DataError(f"confounds names the column {unknown[0]!r} of the table of scans; {known}.")
    return {name: scans.columns[name] for name in names}


def _read_array(confounds: Any) -> dict[str, Sequence[Any]]:
    """Columns of an array of numbers, which have numbers for names."""
    array = np.asarray(confounds)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataError(
            "confounds is a table: DataFrame, array of numbers, path of a .csv or .tsv, or list of columns of the scans."
        )
    return {f"confound {number + 1}": array[:, number].tolist() for number in range(array.shape[1])}


def _refuse_gaps(columns: Mapping[str, Sequence[Any]], subjects: Sequence[str]) -> None:
    """Refuse columns that have not a cell for each subject, or an empty one."""
    for name, cells in columns.items():
        if len(cells) != len(subjects):
            raise DataError(f"confounds has {len(cells)} rows for {len(subjects)} subjects.")
        empty = [
            row for row, cell in enumerate(cells) if cell is None or cell != cell or str(cell).strip().lower() in ("", "n/a", "nan")
        ]
        if empty:
            raise DataError(f"The covariate {name!r} is missing for {subjects[empty[0]]}: leave out the subject, or fill it in.")


def _without_scans(columns: dict[str, list[str]], label: str) -> dict[str, list[str]]:
    """Refuse a table of scans in place of one of covariates."""
    scans = next((name for name, cells in columns.items() if lists_scans(cells)), None)
    if scans is None:
        return columns
    others = [name for name in columns if name != scans]
    raise DataError(
        f"confounds={label!r} is a table of scans, by its column {scans!r}. Name those of its columns that are covariates, "
        f"such as confounds={others[1:3] or others}, if the scans come from it; otherwise leave out the column {scans!r}."
    )


def _first_text(cells: Sequence[Any], name: str, subjects: Sequence[str]) -> int | None:
    """The first cell that is no number, if there is one; infinite numbers are refused."""
    for row, cell in enumerate(cells):
        try:
            number = float(cell)
        except (TypeError, ValueError):
            return row
        if not np.isfinite(number):
            raise DataError(f"The covariate {name!r} is {cell} for {subjects[row]}.")
    return None
