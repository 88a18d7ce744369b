"""Tables of text: cells between commas, semicolons, tabs or spaces, with names in the first row and column or without."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .base import Kind, Source, Wanted
from .parquet import columns_of_text, refuse_unknown
from .table import Table, place

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "missing", "?", "."})
_LOOK = 50
"""Rows from which the delimiter is inferred."""


class Delimited(Kind):
    """A table of text. A row of names comes first if it has a cell, beyond the first one, that is not a number. A column of names
    comes first if it has no name itself, or if none of its cells is a number.
    """

    name: ClassVar[str] = "a table of text"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".txt")
    is_plain_text: ClassVar[bool] = True
    has: ClassVar[frozenset[str]] = frozenset({"ignore"})

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        text = source.text()
        delimiter = separator(text, source.name)
        rows = split(text, delimiter, source.label)
        decimal = _find_decimal(rows, delimiter)
        header = _take_header(rows, decimal)
        if not rows:
            raise FileError(f"{source.label} has a row of names and no other.")
        width = len(rows[0]) if header is None else len(header)
        _refuse_uneven(rows, width, source.label)
        columns = [str(j + 1) for j in range(width)] if header is None else header
        refuse_unknown(wanted.ignore, columns, source.label)
        is_named = width > 1 and columns[0] not in wanted.ignore and _begin_with_names(rows, header, decimal)
        kept = [j for j in range(width) if not (j == 0 and is_named) and columns[j] not in wanted.ignore]
        samples = [row[0] for row in rows] if is_named else None
        return Table(
            _numbers(rows, kept, columns, samples, decimal, source.label, header is not None),
            samples=samples,
            features=None if header is None else [columns[j] for j in kept],
            aside={name: np.array([row[columns.index(name)] for row in rows]) for name in wanted.ignore},
        )

    def write(self, table: Table, path: Path) -> None:
        values = table.values.toarray() if sparse.issparse(table.values) else np.asarray(table.values)
        name, is_compressed = path.name.lower().removesuffix(".gz"), path.name.lower().endswith(".gz")
        with (gzip.open if is_compressed else open)(path, "wt", encoding="utf8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if name.endswith((".tsv", ".tab", ".txt")) else ",", lineterminator="\n")
            features = None if table.features is None else table.features.tolist()
            if features is None and table.samples is not None and any(map(is_number, table.samples)):
                features = list(range(values.shape[1]))  # without names of columns, such names of rows would be read as numbers
            if features is not None:
                writer.writerow(features if table.samples is None else [_above_names(table), *features])
            for i, row in enumerate(values.tolist()):
                writer.writerow(row if table.samples is None else [table.samples[i], *row])


def _above_names(table: Table) -> str:
    """The header above names of samples; none if names would be read as numbers."""
    return "" if any(map(is_number, table.samples)) else table.each


def separator(text: str, name: str) -> str:
    """The delimiter: the first of the usual ones with the same count in each of the first rows."""
    lines = [line for line in text.splitlines()[:_LOOK] if line.strip()]
    order = ("\t", ",", ";") if name.endswith((".tsv", ".tab")) else (",", "\t", ";")
    counts = {mark: {line.count(mark) for line in lines} for mark in order}
    steady = [mark for mark in order if len(counts[mark]) == 1 and 0 not in counts[mark]]
    if ";" in steady and "," in steady and max(counts[";"]) >= max(counts[","]):
        return ";"  # commas of decimals
    if steady:
        return steady[0]
    often = max(order, key=lambda mark: sum(line.count(mark) for line in lines))
    return often if any(often in line for line in lines) else " "


def split(text: str, delimiter: str, label: str) -> list[list[str]]:
    """Cells of all rows that are not empty."""
    if delimiter == " ":
        return [line.split() for line in text.splitlines() if line.strip()]
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise FileError(f"{label} cannot be read as a table: {error}.") from error
    if all(cell.startswith(" ") for row in rows[:_LOOK] for cell in row[1:]):  # "a, b": the space belongs to the comma
        return [[row[0], *(cell[1:] for cell in row[1:])] for row in rows]
    return rows


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is read as a number; 1_2 is a name, although Python reads it as 12."""
    if "_" in cell:
        return False
    try:
        float(cell if decimal == "." else cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _find_decimal(rows: list[list[str]], delimiter: str) -> str:
    """The mark of decimals: a comma between semicolons, unless there are points."""
    return "," if delimiter == ";" and not any("." in cell for row in rows[1:_LOOK] for cell in row) else "."


def _take_header(rows: list[list[str]], decimal: str) -> list[str] | None:
    """Take the row of names off the rows, if there is one."""
    if not _has_header(rows, decimal):
        return None
    header = rows.pop(0)
    if rows and len(rows[0]) == len(header) + 1:
        header.insert(0, "")  # as R writes them
    return header


def _refuse_uneven(rows: list[list[str]], width: int, label: str) -> None:
    """Refuse rows of another number of cells."""
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise FileError(
                f"{label}: row {number} has {len(row)} cells, and {width} were expected. It was cut off, or cells are "
                "not separated as elsewhere."
            )


def _begin_with_names(rows: list[list[str]], header: list[str] | None, decimal: str) -> bool:
    """Whether the first column has names: it has no name itself, or no number."""
    return (header is not None and not header[0].strip()) or not any(is_number(row[0], decimal) for row in rows)


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first row has names.

    They may be numbers, as wavelengths are: after an empty cell if the first column has names, or pandas' numbers of columns (0,
    1, 2); after a text if the first column has numbers; and, increasing, after a word that a column of names is often called by.
    """
    first = rows[0]
    cells = first[1:] if len(first) > 1 else first
    if any(not is_number(cell, decimal) and cell.strip().lower() not in _MISSING for cell in cells):
        return True
    below = [is_number(row[0], decimal) for row in rows[1:] if row]
    if first[0].strip():
        if len(first) == 1 or is_number(first[0], decimal) or not below:
            return False
        return all(below) or (first[0].strip().lower() in _CUSTOMARY and _increase(cells, decimal))
    are_named = bool(below) and not any(below)
    return are_named or [cell.strip() for cell in cells] == [str(j) for j in range(len(cells))]


def _increase(cells: list[str], decimal: str) -> bool:
    """Whether cells are numbers, two at least, each larger than the one before."""
    values = [float(cell if decimal == "." else cell.replace(",", ".")) for cell in cells if is_number(cell, decimal)]
    return len(values) == len(cells) > 1 and all(a < b for a, b in pairwise(values))


_CUSTOMARY = {
    "id",
    "ids",
    "name",
    "names",
    "sample",
    "samples",
    "sample_id",
    "sample_name",
    "index",
    "label",
    "labels",
    "subject",
    "subject_id",
    "participant",
    "participant_id",
    "row",
    "rows",
    "cell",
    "barcode",
    "spectrum",
    "file",
    "filename",
    "key",
    "wavelength",
    "wavenumber",
}
"""Usual headings of a column of names."""


def _numbers(
    rows: list[list[str]], kept: list[int], columns: list[str], samples: list[str] | None, decimal: str, label: str, named: bool
) -> np.ndarray:
    """The cells as numbers, NaN for missing ones; or an error that names the first one that is neither."""
    try:
        if decimal == "." and not any("_" in "".join(row) for row in rows):
            return np.array([[row[j] for j in kept] for row in rows], dtype=np.float64)
    except ValueError:
        pass
    values = np.empty((len(rows), len(kept)))
    for i, row in enumerate(rows):
        for position, j in enumerate(kept):
            cell = row[j].strip()
            if is_number(cell, decimal):
                values[i, position] = float(cell if decimal == "." else cell.replace(",", "."))
            elif cell.lower() in _MISSING:
                values[i, position] = np.nan
            else:
                _refuse(rows, i, j, columns, samples, decimal, label, named)
    return values


def _refuse(
    rows: list[list[str]], i: int, j: int, columns: list[str], samples: list[str] | None, decimal: str, label: str, named: bool
) -> None:
    """An error about a cell; or about its column, if that has no numbers at all."""
    if not any(is_number(row[j], decimal) for row in rows):
        text = [columns[k] for k in range(len(columns)) if k >= j and not any(is_number(row[k], decimal) for row in rows)]
        raise columns_of_text(label, text)
    where = place(i, j, samples, columns if named else None)
    raise FileError(f"{label}: {where} is {rows[i][j].strip()!r}, which is not a number.")
