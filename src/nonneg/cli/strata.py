"""Strata of samples, from columns of a table: sex, age in thirds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..io import Table
from ..io.delimited import is_number
from ..io.scan_tables import read_columns


def read_strata(text: str, table: Table, label: str) -> np.ndarray:
    """A class for each sample: its values in the columns, numbers in quantiles.

    Parameters
    ----------
    text : str
        participants.csv:sex,age/3, or sex,age/3 for columns of the data.
    table : Table
        The data.
    label : str
        What the data are called.
    """
    file, mark, wanted = text.rpartition(":")
    path = Path(file) if mark else None
    if path is None and Path(text).is_file():
        raise _refused(f"{text} is a file; which of its columns are the strata comes behind it: {text}:sex,age/3.")
    columns: Mapping[str, Any] = table.aside if path is None else _matched(read_columns(path), table, str(path))
    classes = []
    for part in wanted.split(","):
        name, _, count = part.strip().partition("/")
        if name not in columns:
            there = ", ".join(columns) or "none: give the table that has them, participants.csv:sex,age/3"
            raise _refused(f"{path or label} has no column {name!r}; its columns are {there}.")
        classes.append(_levels(columns[name], name, count))
    joined = np.array([" ".join(row) for row in zip(*classes, strict=True)])
    levels, sizes = np.unique(joined, return_counts=True)
    if len(levels) > len(joined) / 2:
        raise _refused(
            f"{wanted} makes {len(levels)} strata of {len(joined)} samples, too few in each to be split: use fewer classes."
        )
    if sizes.min() < 2:
        raise _refused(f"The stratum {levels[sizes.argmin()]!r} has one sample, which cannot be split: use fewer classes.")
    return joined


def _levels(cells: Sequence[str], name: str, count: str) -> list[str]:
    """The cells as they are; numbers in so many classes of about one size."""
    empty = [row for row, cell in enumerate(cells, 1) if cell.strip().lower() in ("", "n/a", "nan")]
    if empty:
        raise _refused(f"The column {name!r} is empty for sample {empty[0]}.")
    if not count:
        return list(cells)
    if not count.isdigit() or int(count) < 2:
        raise _refused(f"{name}/{count}: behind the slash comes a number of classes, at least 2.")
    text = next((str(cell) for cell in cells if not is_number(cell)), None)
    if text is not None:
        raise _refused(f"The column {name!r} has {text!r} in it, and quantiles are of numbers: leave out /{count}.")
    values = np.array([float(cell) for cell in cells])
    cuts = np.quantile(values, np.arange(1, int(count)) / int(count))
    return [f"{name} {place + 1}" for place in np.searchsorted(cuts, values, side="left")]


def _matched(columns: Mapping[str, Any], table: Table, label: str) -> Mapping[str, Any]:
    """The rows of a table in the order of the samples, by name where it has their names."""
    samples: list[str] = [] if table.samples is None else table.samples.tolist()
    for cells in columns.values() if samples else ():
        if set(samples) <= set(cells):
            places = {cell: row for row, cell in enumerate(cells)}
            return {name: [found[places[sample]] for sample in samples] for name, found in columns.items()}
    lines, count = len(next(iter(columns.values()))), table.shape[0]
    if lines != count:
        first = "" if not samples else f", and no column names all of them, as {samples[0]}"
        raise _refused(f"{label} has {lines} rows for {count} samples{first}.")
    return columns


def _refused(text: str) -> click.BadParameter:
    return click.BadParameter(text, param_hint="--strata")
