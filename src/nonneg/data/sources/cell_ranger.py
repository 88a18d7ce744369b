"""Counts as Cell Ranger of 10x Genomics writes them in HDF5: genes × cells by columns, which is cells × genes by rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...exceptions import FileError
from .anndata import Stored
from .base import Source
from .members import is_sparse_matrix
from .selected import Selected

GENES = "Gene Expression"
"""The type of features that are genes; a file may have antibodies or guides beside them."""


def groups_in(inside: Any) -> list[str]:
    """The matrices of Cell Ranger in a file: one from version 3 on, one for each genome before."""
    return [name for name in inside if is_matrix(inside[name])]


def is_matrix(group: Any) -> bool:
    """Whether a group is a matrix of Cell Ranger."""
    return hasattr(group, "keys") and is_sparse_matrix(group) and all(part in group for part in ("shape", "barcodes"))


def matrix_in(group: Any, name: str, stamped: str) -> Source:
    """Cells × genes, with barcodes and the symbols of genes; of features of several types, genes only."""
    shape = group["shape"][()]
    if shape.shape != (2,):
        raise FileError(f"{name} does not say what shape it has. It was cut off or altered.")
    n_genes, n_cells = (int(size) for size in shape)
    found = Stored(group, name, stamped, (n_cells, n_genes), is_turned=False)
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


def unique_names(names: Sequence[str]) -> list[str]:
    """Names with "-1", "-2", … after those that occurred before, as anndata makes them unique."""
    taken, count, found = set(names), Counter[str](), []
    for name in names:
        unique, is_new = name, not count[name]
        while not is_new and (unique := f"{name}-{count[name]}") in taken:
            count[name] += 1
        count[name] += 1
        taken.add(unique)
        found.append(unique)
    return found


def _barcodes(group: Any, count: int) -> list[Any] | None:
    names = _text(group["barcodes"])
    return names if len(names) == count else None


def _text(stored: Any) -> list[str]:
    return [name.decode() if isinstance(name, bytes) else str(name) for name in stored[()]]
