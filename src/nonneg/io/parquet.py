"""Tables in the form of Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data.sources.parquet import Parquet as ParquetSource
from ..data.sources.parquet import index_of, is_folder, is_number, opened_part, parts_of, refuse_repeated
from ..data.sources.stacked import Stacked
from ..exceptions import FileError, ReadingError, needed
from .base import Kind, Source, Wanted
from .large import values_of
from .table import Table


class Parquet(Kind):
    """Columns with names. A first column of text, or pandas' index, has the names of the rows. A folder of files, as Dask and Spark
    write it, is the rows of one file below those of another.
    """

    name: ClassVar[str] = "Parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    has: ClassVar[frozenset[str]] = frozenset({"ignore"})

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(b"PAR1") or is_folder(source.path)

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
        found = [ParquetSource(file, label, left) for file, label in parts]
        values = values_of(found[0] if len(found) == 1 else Stacked(found, source.label), in_blocks=wanted.in_blocks)
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
