"""Matrices of MATLAB, .mat: of versions up to 7, read by SciPy, and of version 7.3, which is HDF5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data.compressed import to_csr
from ..data.memory import refuse_too_large
from ..data.sources.hdf5 import Inside
from ..exceptions import FileError
from ..libraries import needed
from .base import Kind, Source, Wanted
from .numpy_archives import chosen
from .numpy_arrays import numbers
from .table import Table

HDF5 = b"\x89HDF\r\n\x1a\n"
_NAMES = ("samples", "features")
_NUMBERS = {"double", "single", "logical", "sparse", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
"""Classes of MATLAB that are matrices of numbers."""


class Matlab(Kind):
    """One matrix of numbers, full or sparse; or that which is asked for by its name."""

    name: ClassVar[str] = "MATLAB"
    suffixes: ClassVar[tuple[str, ...]] = (".mat",)
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        head = source.head
        return head.startswith((b"MATLAB 5.0 MAT", b"MATLAB 7.3 MAT")) or (head.startswith(HDF5) and source.name.endswith(".mat"))

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        if source.head.startswith(b"MATLAB 5.0"):
            return self._read_five(source, wanted)
        return self._read_seven(source, wanted)

    def _read_five(self, source: Source, wanted: Wanted) -> Table:
        from scipy.io import loadmat, whosmat

        present = {name: (shape, kind) for name, shape, kind in whosmat(source.path)}
        candidates = [name for name, (shape, kind) in present.items() if len(shape) == 2 and kind in _NUMBERS]
        variable = chosen(candidates, wanted.variable, source.label)
        for name in {variable, *_NAMES} & present.keys():
            shape, kind = present[name]
            refuse_too_large(0 if kind == "sparse" else 8 * math.prod(shape), f"{source.label}, {name}")
        found = loadmat(source.path, variable_names=[variable, *_NAMES], spmatrix=False)
        values = numbers(found[variable], source.label)
        samples, features = (_names(found[name]) if name in found else None for name in _NAMES)
        return Table(to_csr(values, source.label) if sparse.issparse(values) else values, samples, features)

    def _read_seven(self, source: Source, wanted: Wanted) -> Table:
        h5py = needed("h5py", "files", "Reading MATLAB files of version 7.3")
        with h5py.File(source.path, "r") as file:
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


def _names(stored: np.ndarray) -> list[str]:
    """Names in cells, as they are; those in rows of characters are padded to one length."""
    if stored.dtype.kind == "U":
        return [str(name).rstrip() for name in np.ravel(stored)]
    return [str(np.squeeze(one)) if np.size(one) else "" for one in np.ravel(stored)]


def _is_matrix(item: Any) -> bool:
    if isinstance(item, Inside):
        return "MATLAB_sparse" in item.attrs
    return item.ndim == 2 and item.dtype.kind in "fiub" and item.attrs.get("MATLAB_class", b"double") != b"char"


def _indices(stored: np.ndarray, label: str) -> np.ndarray:
    """Indices as int64, checked before the cast, in which 2⁶⁴ − 1 would become −1, and 0.5 become 0."""
    if stored.dtype.kind not in "iu" or (stored.size and not 0 <= int(stored.min()) <= int(stored.max()) < 2**63):
        raise FileError(f"{label} has indices that are no places in a matrix. It was cut off or altered.")
    return stored.astype(np.int64)


def _sparse(group: Any, label: str) -> sparse.csr_array:
    n_rows = int(group.attrs["MATLAB_sparse"])
    starts = _indices(read_dataset(group["jc"], label), label)
    data = read_dataset(group["data"], label) if "data" in group else np.empty(0)
    rows = _indices(read_dataset(group["ir"], label), label) if "ir" in group else np.empty(0, dtype=np.int64)
    try:
        values = sparse.csc_array((data, rows, starts), shape=(n_rows, len(starts) - 1))
    except ValueError as error:
        raise FileError(f"{label} is not a whole sparse matrix: {error}. It was cut off or altered.") from error
    return to_csr(values, label)
