"""Names of samples and features in files of their own: one a line, or a column of a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..exceptions import FileError
from .base import Source
from .table import Table


def columns_of(path: str | os.PathLike[str]) -> list[list[str]]:
    """The columns of a file of names, separated by tabs, without a header."""
    source = Source(Path(path))
    source.refuse_useless()
    if not source.is_text:
        raise FileError(f"{path} is no text; names are read from text, one a line.")
    rows = [line.split("\t") for line in source.text().splitlines() if line.strip()]
    width = min(map(len, rows), default=0)
    if not width:
        raise FileError(f"{path} has no names in it.")
    return [[row[column].strip() for row in rows] for column in range(width)]


def unique_names(names: Sequence[str]) -> list[str]:
    """Unique names: "-1", "-2", … after repeated ones, as in anndata."""
    taken, count, found = set(names), Counter[str](), []
    for name in names:
        unique, is_new = name, not count[name]
        while not is_new and (unique := f"{name}-{count[name]}") in taken:
            count[name] += 1
        count[name] += 1
        taken.add(unique)
        found.append(unique)
    return found


def named(table: Table, *, samples: Path | None = None, features: Path | None = None) -> Table:
    """A table with names from files: of each line the first column; of features the second if there is one, symbols beside ids."""
    if samples is not None:
        table = replace(table, samples=_read(samples, 0, "samples", table.shape))
    return table if features is None else replace(table, features=_read(features, 1, "features", table.shape[::-1]))


def _read(path: Path, column: int, what: str, counts: tuple[int, ...]) -> list[str]:
    """The names in a column, or in the last one, as many as the first count says."""
    columns = columns_of(path)
    names = unique_names(columns[min(column, len(columns) - 1)])
    if len(names) != counts[0]:
        hint = " It has as many as the other axis: use --transpose." if len(names) == counts[1] else ""
        raise FileError(f"{path} has {len(names)} names, and the data have {counts[0]} {what}.{hint}")
    return names
