"""Tables in the form of Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .base import Kind, Source, Wanted, needed
from .table import Table

_INDEX = "__index_level_0__"
"""What pandas calls the column with the names of rows, where they have no name of their own."""


class Parquet(Kind):
    """Columns with names. A first column of text, or pandas' index, has the names of the rows."""

    name: ClassVar[str] = "Parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    has: ClassVar[frozenset[str]] = frozenset({"ignore"})

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(b"PAR1")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        parquet = needed("pyarrow.parquet", "files", "Reading Parquet")
        arrow = needed("pyarrow", "files", "Reading Parquet")
        try:
            found = parquet.read_table(source.path)
        except (arrow.ArrowInvalid, OSError) as error:
            raise FileError(f"{source.label} is not a whole file of Parquet: {error}. It was cut off or altered.") from error
        types = arrow.types
        is_number = {
            column.name: types.is_integer(column.type)
            or types.is_floating(column.type)
            or types.is_boolean(column.type)
            or types.is_decimal(column.type)
            for column in found.schema
        }
        columns = found.column_names
        refuse_unknown(wanted.ignore, columns, source.label)
        index = next((name for name in (_INDEX, *columns[:1]) if name in columns and (name == _INDEX or not is_number[name])), None)
        index = None if index in wanted.ignore else index
        text = [name for name in columns if not is_number[name] and name not in (index, *wanted.ignore)]
        if text:
            raise FileError(columns_of_text(source.label, text))
        kept = [name for name in columns if name != index and name not in wanted.ignore]
        values = [np.asarray(found[name].to_numpy(), dtype=np.float64) for name in kept]
        return Table(
            np.column_stack(values) if values else np.empty((found.num_rows, 0)),
            samples=None if index is None else found[index].to_pylist(),
            features=kept,
            aside={name: np.array([str(cell) for cell in found[name].to_pylist()]) for name in wanted.ignore},
        )

    def write(self, table: Table, path: Path) -> None:
        parquet = needed("pyarrow.parquet", "files", "Writing Parquet")
        arrow = needed("pyarrow", "files", "Writing Parquet")
        values = table.values.toarray() if sparse.issparse(table.values) else table.values
        columns: dict[str, Any] = {} if table.samples is None else {"name": table.samples.tolist()}
        features = [str(j) for j in range(values.shape[1])] if table.features is None else table.features
        columns |= {name: values[:, j] for j, name in enumerate(features)}
        parquet.write_table(arrow.table(columns), path)


def refuse_unknown(names: Sequence[str], columns: Sequence[str], label: str) -> None:
    """An error for columns that there are not."""
    for name in names:
        if name not in columns:
            shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
            raise FileError(f"{label} has no column {name!r}; it has {shown}.")


def columns_of_text(label: str, names: Sequence[str]) -> str:
    """What to do about columns without numbers."""
    shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    are = "column holds" if len(names) == 1 else "columns hold"
    return f"{label}: the {are} text in place of numbers: {shown}. Leave out such columns with ignore."
