"""Tables in the form of Parquet: one row for each sample, one column of numbers for each feature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import DataError, FileError, ReadingError, needed
from ..kernels.memory import refuse_too_large
from .base import Kind, Source, Wanted, altered_files_refused, refuse_link
from .large import values_of
from .stacked import Stacked
from .stored import StoredMatrix, real, refuse_key
from .table import Table

_SUFFIXES = (".parquet", ".pq")


class Parquet(Kind):
    """Columns with names. A first column of text, or pandas' index, has the names of the rows. A folder of files, as Dask and Spark
    write it, is the rows of one file below those of another.
    """

    name: ClassVar[str] = "Parquet"
    suffixes: ClassVar[tuple[str, ...]] = _SUFFIXES
    begins: ClassVar[tuple[bytes, ...]] = (b"PAR1",)
    opens: ClassVar[tuple[str, ...]] = _SUFFIXES
    libraries: ClassVar[tuple[str, ...]] = ("pyarrow",)
    has: ClassVar[frozenset[str]] = frozenset({"ignore"})

    def holds(self, folder: Path) -> bool:
        return any(_files_in(folder)) or any(_partitions_in(folder))

    def is_part(self, file: Path, folder: Path) -> bool:
        return file in parts_of(folder)

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        parquet = needed("pyarrow.parquet", "files", "Reading Parquet")
        parts = [(opened_part(parquet, part), str(part)) for part in parts_of(source.path)]
        schema = parts[0][0].schema_arrow
        columns = schema.names
        refuse_unknown(wanted.ignore, columns, source.label)
        refuse_repeated(columns, source.label)
        index = _index_of(schema, wanted.ignore)
        left = [name for name in columns if name != index and name not in wanted.ignore]
        text = [name for name in left if not is_number(schema.field(name).type)]
        if text:
            raise columns_of_text(source.label, text)
        beside = [*wanted.ignore, *([] if index is None else [index])]
        names = {name: [str(cell) for part, _ in parts for cell in _column(part, name)] for name in beside}
        found = [Columns(file, label, left) for file, label in parts]
        values = values_of(found[0] if len(found) == 1 else Stacked(found, source.label), wanted.blocks)
        aside = {name: np.array(names[name]) for name in wanted.ignore}
        return Table(values, None if index is None else names[index], left, aside=aside)

    def write(self, table: Table, path: Path) -> None:
        parquet = needed("pyarrow.parquet", "files", "Writing Parquet")
        arrow = needed("pyarrow", "files", "Writing Parquet")
        values = table.values.toarray() if sparse.issparse(table.values) else table.values
        columns: dict[str, Any] = {} if table.samples is None else {"name": table.samples.tolist()}
        features = [str(j) for j in range(values.shape[1])] if table.features is None else table.features.tolist()
        refuse_repeated([*columns, *features], "The table to write")
        columns |= {name: values[:, j] for j, name in enumerate(features)}
        parquet.write_table(arrow.table(columns), path)

    def open_path(self, path: Path, key: str | None) -> StoredMatrix:
        refuse_key(key, str(path))
        pyarrow, parquet = needed("pyarrow", "files", f"Reading {path}"), needed("pyarrow.parquet", "files", f"Reading {path}")
        try:
            parts: list[StoredMatrix] = [Columns(opened_part(parquet, part), str(part)) for part in parts_of(path)]
            return parts[0] if len(parts) == 1 else Stacked(parts, str(path))
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet: {error}") from error

    def is_handle(self, X: Any) -> bool:
        return type(X).__name__ == "ParquetFile"

    def open_handle(self, handle: Any, key: str | None) -> StoredMatrix | None:
        refuse_key(key, "a Parquet file")
        return Columns(handle, "a Parquet file") if hasattr(handle, "read_row_groups") else None


class Columns(StoredMatrix):
    """A file of Parquet. Index columns of pandas are left out; missing values are refused, as they are anywhere.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
    name : str
    columns : list of str, optional
        Those to read, which are of numbers; all but the index by default.
    """

    def __init__(self, file: Any, name: str, columns: list[str] | None = None) -> None:
        import pyarrow.types as kinds

        self._file, self.name, self._one_at_a_time = file, name, Lock()
        schema = file.schema_arrow
        index = index_of(schema)
        fields = [field for field in schema if (field.name not in index if columns is None else field.name in columns)]
        for field in fields:
            if not is_number(field.type):
                raise DataError(f"{name} has a column {field.name!r} of {field.type}, which are not real numbers; leave it out.")
        self.columns: list[str] = [field.name for field in fields]
        refuse_repeated(self.columns, name)
        self._are_text = are_text(schema)
        is_single = bool(fields) and all(kinds.is_float32(field.type) for field in fields)
        self.dtype = np.dtype(np.float32 if is_single else np.float64)
        groups = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *groups])
        self.shape = (int(self._starts[-1]), len(fields))

    @property
    def feature_names(self) -> list[str] | None:
        return self.columns if self._are_text else None

    @property
    def sample_names(self) -> list[Any] | None:
        """Index columns of pandas."""
        index = index_of(self._file.schema_arrow)
        if len(index) != 1:
            return None
        with self._one_at_a_time:
            return list(self._file.read(columns=list(index)).column(0).to_pylist())

    def read(self, start: int, stop: int) -> np.ndarray:
        refuse_too_large(2 * (stop - start) * self.shape[1] * real(self.dtype).itemsize, f"A block of {self.name}")
        first, last = np.searchsorted(self._starts, start, "right") - 1, np.searchsorted(self._starts, stop, "left")
        with self._one_at_a_time:  # of starts side by side: a file has one place at which it is read
            table = self._file.read_row_groups(list(range(int(first), int(last))), columns=self.columns)
        table = table.slice(start - int(self._starts[first]), stop - start)
        if table.num_rows != stop - start:
            raise FileError(f"{self.name} says that it has more rows than there are, from row {start} on. It was altered.")
        rows = np.empty((stop - start, self.shape[1]), real(self.dtype))
        for number, column in enumerate(table.columns):
            rows[:, number] = column.to_numpy()
        return rows

    def cuts(self, block_bytes: int) -> list[int]:
        """Between groups of rows: these are read as a whole."""
        most = max(1, block_bytes // max(1, self.shape[1] * real(self.dtype).itemsize))
        cuts = [0]
        for start, stop in pairwise(self._starts.tolist()):
            if stop - cuts[-1] > most and start > cuts[-1]:
                cuts.append(start)
        return [*cuts, self.shape[0]]


def refuse_repeated(names: list[str], label: str) -> None:
    """Refuse several columns of one name, of which only the first could be read."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{label} has several columns called {repeated!r}. Columns are read by name: rename them, one each.")


def index_of(schema: Any) -> set[str]:
    """The columns that pandas has written as an index."""
    return {label for label in _described(schema).get("index_columns", ()) if isinstance(label, str)}


def are_text(schema: Any) -> bool:
    """Whether names of columns were text before they were written: pandas may have had numbers for names, or several levels."""
    levels = _described(schema).get("column_indexes", ())
    return all(level.get("pandas_type") in ("unicode", "string", "empty") for level in levels) and len(levels) < 2


def _described(schema: Any) -> Any:
    """Pandas' metadata of a table."""
    return json.loads((schema.metadata or {}).get(b"pandas", "{}"))


def is_number(kind: Any) -> bool:
    """Whether a column of this type holds real numbers."""
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind))


def parts_of(path: Path) -> list[Path]:
    """The files of a table: the one that it is; or those in the folder that it is, by the numbers in their names."""
    if not path.is_dir():
        return [path]
    partitions = sorted(_partitions_in(path))
    if partitions:
        raise DataError(
            f"{path} is divided into folders, such as {partitions[0].name}, whose names stand for a column that is in no file. "
            "Write the table without partition columns, or give a list of the files that are rows of X."
        )
    parts = sorted(_files_in(path), key=_by_numbers)
    for part in parts:
        refuse_link(part)
    if not parts:
        raise DataError(f"{path} is a folder without files of Parquet in it.")
    return parts


def _files_in(folder: Path) -> Iterator[Path]:
    """Files with rows; names of others, as _metadata and _SUCCESS, begin with an underscore or a dot."""
    return (part for part in folder.iterdir() if part.suffix.lower() in _SUFFIXES and part.name[0] not in "._" and part.is_file())


def _partitions_in(folder: Path) -> Iterator[Path]:
    """Folders that are named column=value."""
    return (part for part in folder.iterdir() if "=" in part.name and part.is_dir() and any(part.glob("**/*.parquet")))


def _by_numbers(path: Path) -> list[Any]:
    """Sort key of names: part.10 comes after part.9."""
    return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", path.name)]


def opened_part(parquet: Any, part: Path) -> Any:
    """A file of a table of Parquet; an error names it."""
    with altered_files_refused(str(part), "Parquet"):
        return parquet.ParquetFile(part)


def _column(file: Any, name: str) -> list[Any]:
    return list(file.read(columns=[name])[name].to_pylist())


def _index_of(schema: Any, ignored: Sequence[str]) -> str | None:
    """The column with the names of the rows: pandas' index, or a first column of text."""
    first = [name for name in schema.names[:1] if not is_number(schema.field(name).type)]
    return next((name for name in (*sorted(index_of(schema)), *first) if name in schema.names and name not in ignored), None)


def refuse_unknown(names: Sequence[str], columns: Sequence[str], label: str) -> None:
    """An error for columns that there are not."""
    for name in names:
        if name not in columns:
            shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
            raise FileError(f"{label} has no column {name!r}; it has {shown}.")


def columns_of_text(label: str, names: Sequence[str]) -> ReadingError:
    """An error for columns without numbers."""
    shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    are = "column holds" if len(names) == 1 else "columns hold"
    text = f"{label}: the {are} text in place of numbers: {shown}. Leave out such columns"
    return ReadingError(text, "ignore", list(names))
