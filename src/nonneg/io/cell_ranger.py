"""A folder of Cell Ranger, 10x Genomics: matrix.mtx, barcodes.tsv, and features.tsv or genes.tsv, also .gz."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from scipy import sparse

from ..data.sources.cell_ranger import genes_among, unique_names
from ..exceptions import FileError
from .base import Kind, Source, Wanted
from .matrix_market import MatrixMarket
from .names import columns_of
from .table import Table

_MATRIX, _BARCODES, _FEATURES = ("matrix.mtx",), ("barcodes.tsv",), ("features.tsv", "genes.tsv")


class CellRanger(Kind):
    """Counts of genes × cells, read as cells × genes, with barcodes and symbols of genes; other features are left out."""

    name: ClassVar[str] = "a folder of Cell Ranger"
    writes: ClassVar[bool] = False

    def recognises(self, source: Source) -> bool:
        return source.path.is_dir() and None not in (_file(source.path, _MATRIX), _file(source.path, _FEATURES))

    def is_part(self, file: Path, folder: Path) -> bool:
        return True

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        matrix, features, barcodes = (_file(source.path, names) for names in (_MATRIX, _FEATURES, _BARCODES))
        if matrix is None or features is None or barcodes is None:
            raise FileError(f"{source.label} has a matrix and features of Cell Ranger, and no barcodes.tsv.")
        values = MatrixMarket().read([Source(matrix)], wanted).values
        columns, cells = columns_of(features), columns_of(barcodes)
        symbols, types = columns[min(1, len(columns) - 1)], columns[2] if len(columns) > 2 else []
        if values.shape != (len(symbols), len(cells[0])):
            raise FileError(
                f"{matrix} is of {values.shape[0]} × {values.shape[1]}; {features.name} has {len(symbols)} features and "
                f"{barcodes.name} {len(cells[0])} cells. They are not of one run."
            )
        table = Table(sparse.csr_array(values.T), cells[0], unique_names(symbols))
        genes = genes_among(types)
        return table if genes is None else Table(table.values[:, genes], table.samples, table.features[genes])


def _file(folder: Path, names: Sequence[str]) -> Path | None:
    """The file of a folder whose name ends with one of these, plain or compressed, if there is just one."""
    found = [path for path in folder.iterdir() if path.name.lower().removesuffix(".gz").endswith(tuple(names)) and path.is_file()]
    return found[0] if len(found) == 1 else None
