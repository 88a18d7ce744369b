"""Strata of samples, from columns of the data or of a table beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..exceptions import DataError
from ..io import Table
from ..io.scan_tables import match_rows, read_columns
from .running import Session


def classes_of(
    session: Session, text: str | None, table: Table | None, label: str, criteria: Sequence[str]
) -> tuple[np.ndarray | None, Sequence[str]]:
    """A class for each sample, and the criteria to judge ranks by: split halves if there are classes.

    Parameters
    ----------
    text : str or None
        participants.csv:sex,age/3, or sex,age/3 for columns of the data.
    table : Table or None
        The data.
    label : str
        Name of the data.
    criteria : sequence of str
        Given by the user.
    """
    if not text:
        return None, criteria
    if table is None or table.is_graph or not set(criteria or ("halves",)) & {"halves"}:
        raise click.UsageError("--strata is for the criterion halves, of samples in a table or of scans.")
    try:
        found = _read(text, table, label)
    except DataError as error:
        raise click.BadParameter(str(error), param_hint="--strata") from error
    session.say(f"{'strata':<12} {', '.join(f'{name}: {count}' for name, count in Counter(found.tolist()).items())}")
    return found, criteria or ("halves",)


def _read(text: str, table: Table, label: str) -> np.ndarray:
    from ..selection import strata

    file, mark, wanted = text.rpartition(":")
    if mark:
        return strata(_matched(read_columns(Path(file)), table, file), wanted, file)
    if Path(text).is_file():
        raise DataError(f"{text} is a file; which of its columns are the strata comes behind it: {text}:sex,age/3.")
    if not table.aside:
        raise DataError(f"{label} has no columns of text: give the table that has them, participants.csv:{wanted}.")
    return strata(table.aside, wanted, label)


def _matched(columns: Mapping[str, Any], table: Table, label: str) -> Mapping[str, Any]:
    """The rows of a table in the order of the samples, by name if it has their names."""
    samples: list[str] = [] if table.samples is None else table.samples.tolist()
    columns = match_rows(columns, samples, label)
    lines, count = len(next(iter(columns.values()))), table.shape[0]
    if lines != count:
        first = "" if not samples else f", and no column names all of them, as {samples[0]}"
        raise DataError(f"{label} has {lines} rows for {count} samples{first}.")
    return columns
