"""Counts as Cell Ranger of 10x Genomics writes them, genes × cells, read as cells × genes.

A folder has matrix.mtx, barcodes.tsv, and features.tsv or genes.tsv, also .gz. In HDF5 the matrix is a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .anndata import SparseGroup
from .base import Kind, Source, Wanted
from .matrix_market import MatrixMarket
from .members import is_sparse_matrix
from .names import columns_of, unique_names
from .selected import Selected
from .stored import StoredMatrix
from .table import Table

_MATRIX, _BARCODES, _FEATURES = ("matrix.mtx",), ("barcodes.tsv",), ("features.tsv", "genes.tsv")
GENES = "Gene Expression"
"""The type of features that are genes; a file may have antibodies or guides beside them."""


class CellRanger(Kind):
    """Counts of genes × cells, read as cells × genes, with barcodes and symbols of genes; other features are left out."""

    name: ClassVar[str] = "a folder of Cell Ranger"
    writes: ClassVar[bool] = False

    def holds(self, folder: Path) -> bool:
        return None not in (_file(folder, _MATRIX), _file(folder, _FEATURES))

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


def groups_in(inside: Any) -> list[str]:
    """The matrices of Cell Ranger in a file: one from version 3 on, one for each genome before."""
    return [name for name in inside if is_matrix(inside[name])]


def is_matrix(group: Any) -> bool:
    """Whether a group is a matrix of Cell Ranger."""
    return hasattr(group, "keys") and is_sparse_matrix(group) and all(part in group for part in ("shape", "barcodes"))


def matrix_in(group: Any, name: str, stamped: str) -> StoredMatrix:
    """Cells × genes, with barcodes and the symbols of genes; of features of several types, genes only."""
    shape = group["shape"][()]
    if shape.shape != (2,):
        raise FileError(f"{name} does not say what shape it has. It was cut off or altered.")
    n_genes, n_cells = (int(size) for size in shape)
    found = SparseGroup(group, name, stamped, (n_cells, n_genes), is_turned=False)
    is_new = "features" in group
    symbols = _text(group["features/name" if is_new else "gene_names"])
    barcodes = partial(_barcodes, group, n_cells)
    found.columns, found.name_rows = unique_names(symbols) if len(symbols) == n_genes else None, barcodes
    types = _text(group["features/feature_type"]) if "features/feature_type" in group else []
    places = genes_among(types)
    return found if places is None or len(types) != n_genes else Selected(found, None, places)


def genes_among(types: Sequence[str]) -> np.ndarray | None:
    """The places of genes among features of several types; None where all are of one type, or none is a gene."""
    is_gene = np.array([each == GENES for each in types], dtype=bool)
    return np.flatnonzero(is_gene) if is_gene.any() and not is_gene.all() else None


def _barcodes(group: Any, count: int) -> list[Any] | None:
    names = _text(group["barcodes"])
    return names if len(names) == count else None


def _text(stored: Any) -> list[str]:
    return [name.decode() if isinstance(name, bytes) else str(name) for name in stored[()]]
