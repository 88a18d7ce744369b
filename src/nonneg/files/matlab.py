"""Matrices of MATLAB, .mat: of versions up to 7, read by SciPy, and of version 7.3, which is HDF5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data.compressed import to_csr
from ..exceptions import FileError
from ..libraries import needed
from .base import Kind, Source, Wanted, refuse_too_large
from .numpy_archives import chosen
from .numpy_arrays import numbers
from .table import Table

HDF5 = b"\x89HDF\r\n\x1a\n"
_NAMES = ("samples", "features")


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

        try:
            present = whosmat(source.path)
            for name, shape, kind in present:
                refuse_too_large(8 * int(np.prod(shape)) if kind != "sparse" else 0, f"{source.label}, {name}")
            found = loadmat(source.path, variable_names=[name for name, *_ in present], spmatrix=False)
        except FileError:
            raise
        except Exception as error:  # SciPy's reader has no error of its own for what is cut off
            raise FileError(f"{source.label} is not a whole file of MATLAB: {error}. It was cut off or altered.") from error
        tables = {name: item for name, item in found.items() if hasattr(item, "dtype") and item.ndim == 2}
        candidates = [name for name, item in tables.items() if item.dtype.kind in "fiub"]
        values = numbers(found[chosen(candidates, wanted.variable, source.label)], source.label)
        samples, features = (
            [str(np.squeeze(one)).strip() for one in np.ravel(found[name])] if name in found else None for name in _NAMES
        )
        return Table(to_csr(values, source.label) if sparse.issparse(values) else values, samples, features)

    def _read_seven(self, source: Source, wanted: Wanted) -> Table:
        h5py = needed("h5py", "files", "Reading MATLAB files of version 7.3")
        try:
            with h5py.File(source.path, "r") as file:
                candidates = [name for name, item in file.items() if not name.startswith("#") and _is_matrix(h5py, item)]
                item = file[chosen(candidates, wanted.variable, source.label)]
                is_sparse = isinstance(item, h5py.Group)
                return Table(
                    _sparse(item, source.label) if is_sparse else numbers(read_dataset(item, source.label).T, source.label)
                )
        except OSError as error:
            raise FileError(f"{source.label} is not a whole file of MATLAB 7.3: {error}. It was cut off or altered.") from error

    def write(self, table: Table, path: Path) -> None:
        from scipy.io import savemat

        values = table.values.tocsc() if sparse.issparse(table.values) else np.asarray(table.values)
        named = {name: np.array(getattr(table, name), dtype=object) for name in _NAMES if getattr(table, name) is not None}
        savemat(path, {"values": values, **named}, do_compression=True)


def read_dataset(item: Any, label: str) -> np.ndarray:
    """A dataset of HDF5, if there is room for it."""
    refuse_too_large(int(np.prod(item.shape)) * item.dtype.itemsize, label)
    return np.asarray(item[()])


def _is_matrix(h5py: Any, item: Any) -> bool:
    if isinstance(item, h5py.Group):
        return "MATLAB_sparse" in item.attrs
    return item.ndim == 2 and item.dtype.kind in "fiub" and item.attrs.get("MATLAB_class", b"double") != b"char"


def _sparse(group: Any, label: str) -> sparse.csr_array:
    n_rows = int(group.attrs["MATLAB_sparse"])
    starts = np.asarray(group["jc"], dtype=np.int64)
    data = np.asarray(group["data"]) if "data" in group else np.empty(0)
    rows = np.asarray(group["ir"], dtype=np.int64) if "ir" in group else np.empty(0, dtype=np.int64)
    try:
        values = sparse.csc_array((data, rows, starts), shape=(n_rows, len(starts) - 1))
    except ValueError as error:
        raise FileError(f"{label} is not a whole sparse matrix: {error}. It was cut off or altered.") from error
    return to_csr(values, label)
