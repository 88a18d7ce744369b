"""Matrices of MATLAB, .mat: of versions 5 to 7, and of version 7.3, which is HDF5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError, needed
from ..kernels.csr import to_csr
from ..kernels.memory import refuse_too_large
from .base import Kind, Source, Wanted
from .hdf5 import MAGIC, Inside, opened
from .matlab_five import variables_in
from .numpy_archives import chosen
from .numpy_arrays import numbers
from .stored import as_indices
from .table import Table

_NAMES = ("samples", "features")


class Matlab(Kind):
    """One matrix of numbers, full or sparse; or that which is asked for by its name."""

    name: ClassVar[str] = "MATLAB"
    suffixes: ClassVar[tuple[str, ...]] = (".mat",)
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        head = source.head
        return head.startswith((b"MATLAB 5.0 MAT", b"MATLAB 7.3 MAT")) or (head.startswith(MAGIC) and source.name.endswith(".mat"))

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        if source.head.startswith(b"MATLAB 5.0"):
            return self._read_five(source, wanted)
        return self._read_seven(source, wanted)

    def _read_five(self, source: Source, wanted: Wanted) -> Table:
        present = {one.name: one for one in variables_in(source.content(), source.label) if one.name}
        candidates = [name for name, one in present.items() if one.is_numeric]
        variable = chosen(candidates, wanted.variable, source.label)
        samples, features = (present[name].values(source.label) if name in present else None for name in _NAMES)
        return Table(present[variable].values(source.label), samples, features)

    def _read_seven(self, source: Source, wanted: Wanted) -> Table:
        needed("h5py", "files", "Reading MATLAB files of version 7.3")
        with opened(source.path) as file:
            members = Inside(file)
            candidates = [name for name in members if not name.startswith("#") and _is_matrix(members[name])]
            item = members[chosen(candidates, wanted.variable, source.label)]
            is_sparse = isinstance(item, Inside)
            return Table(_sparse(item, source.label) if is_sparse else numbers(read_dataset(item, source.label).T, source.label))

    def write(self, table: Table, path: Path) -> None:
        from scipy.io import savemat

        values = table.values.tocsc() if sparse.issparse(table.values) else np.asarray(table.values)
        named = {name: np.array(getattr(table, name), dtype=object) for name in _NAMES if getattr(table, name) is not None}
        savemat(path, {"values": values, **named}, do_compression=True)


def read_dataset(item: Any, label: str) -> np.ndarray:
    """A dataset of HDF5, if there is room for it."""
    refuse_too_large(math.prod(item.shape) * item.dtype.itemsize, label)
    return np.asarray(item[()])


def _is_matrix(item: Any) -> bool:
    if isinstance(item, Inside):
        return "MATLAB_sparse" in item.attrs
    return item.ndim == 2 and item.dtype.kind in "fiub" and item.attrs.get("MATLAB_class", b"double") != b"char"


def _sparse(group: Any, label: str) -> sparse.csr_array:
    n_rows = int(group.attrs["MATLAB_sparse"])
    starts = as_indices(read_dataset(group["jc"], label), label)
    data = read_dataset(group["data"], label) if "data" in group else np.empty(0)
    rows = as_indices(read_dataset(group["ir"], label), label) if "ir" in group else np.empty(0, dtype=np.int64)
    try:
        values = sparse.csc_array((data, rows, starts), shape=(n_rows, len(starts) - 1))
    except ValueError as error:
        raise FileError(f"{label} is not a whole sparse matrix: {error}. It was cut off or altered.") from error
    return to_csr(numbers(values, label), label)
