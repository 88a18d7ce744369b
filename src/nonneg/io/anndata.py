"""The layout of AnnData in HDF5 and zarr: matrices, dense or sparse by rows or columns, and the names of rows and columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError, needed
from ..kernels.memory import refuse_too_large
from .members import is_sparse_matrix, shape_of_sparse
from .selected import Selected
from .stored import CompressedRows, StoredMatrix, refuse_key
from .table import Table


class SparseGroup(CompressedRows):
    """A group of three arrays, as AnnData and others write sparse matrices."""

    def __init__(self, group: Any, name: str, stamped: str, shape: Any, *, is_turned: bool) -> None:
        self._stamped = stamped
        super().__init__(name, shape, (group["data"], group["indices"], group["indptr"]), is_turned=is_turned)

    @property
    def path(self) -> str:
        return self._stamped


def of_handle(handle: Any, key: str | None) -> StoredMatrix | None:
    """A matrix of an AnnData backed by a file, or of a view of it; or its sparse `X`, or a layer, which is backed itself."""
    if is_backed_sparse(handle):
        return _of_backed_sparse(handle.group, key)
    if not getattr(handle, "isbacked", False):
        return None
    from . import hdf5

    source = hdf5.open_file(Path(handle.filename), key or "X")
    return _of_view(handle, source) if getattr(handle, "is_view", False) else source


def _of_view(view: Any, source: StoredMatrix) -> StoredMatrix:
    """The samples and features of a view of a file, found by name."""
    places = []
    for what, wanted, names in (
        ("observations", view.obs_names, source.sample_names),
        ("variables", view.var_names, source.columns),
    ):
        place = {name: number for number, name in enumerate(names or ())}
        if names is None or len(place) < len(names) or not place.keys() >= set(map(str, wanted)):
            raise DataError(
                f"This AnnData is a view of {view.filename}, and names of {what} do not say which it has: in the file they are "
                "missing, repeated or others. Give what the view has, in memory: adata.to_memory()."
            )
        places.append(np.array([place[str(name)] for name in wanted], dtype=np.int64))
    return Selected(source, *places)


def is_backed(X: Any) -> bool:
    """Whether it is an AnnData that is left in its file, or a sparse matrix of one."""
    return bool(getattr(X, "isbacked", False)) or is_backed_sparse(X)


def is_backed_sparse(X: Any) -> bool:
    """Whether it is a sparse matrix of AnnData that is left in its file: `anndata.abc.CSRDataset`, or CSCDataset."""
    return hasattr(X, "to_memory") and is_sparse_matrix(getattr(X, "group", ()))


def _of_backed_sparse(group: Any, key: str | None) -> StoredMatrix | None:
    """The sparse matrix that is a group of HDF5, or of zarr, in the file it belongs to, which has the names of variables."""
    from . import hdf5, zarr

    refuse_key(key, "a sparse matrix of AnnData")
    if hasattr(group, "file"):
        return hdf5.of_handle(group.file, group.name)
    return zarr.of_handle(needed("zarr", "files", f"Reading {group}").open_group(group.store, mode="r"), group.path)


def names_in(frame: Any) -> list[str]:
    """The names of the rows of a data frame."""
    is_old = not hasattr(frame, "keys")  # an array with fields
    stored = frame if is_old else frame[frame.attrs.get("_index", "_index")]
    if hasattr(stored, "keys"):  # strings with a mask of missing ones, which anndata writes for the strings of pandas 3
        stored = stored["values"]
    refuse_too_large(8 * math.prod(stored.shape), "The names of rows or columns")
    names = stored[()][frame.dtype.names[0]] if is_old else stored[()]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def variables_of(group: Any, key: str, count: int) -> list[str] | None:
    """Names of the columns of a matrix in a file of AnnData; None for other matrices than X and layers, and without names."""
    home, _, last = key.strip("/").rpartition("/")
    if home != "layers" and last != "X":
        return None
    try:
        names = names_in(group["var" if home in ("", "layers") else f"{home}/var"])
    except (KeyError, TypeError, AttributeError):  # there is no such frame, or none that has names
        return None
    return names if len(names) == count else None


def observations_of(group: Any, key: str, count: int) -> list[str] | None:
    """Names of the rows of a matrix in a file of AnnData; None for a matrix of variables, and without names."""
    try:
        names = [] if key.strip("/").startswith("var") else names_in(group["obs"])
    except (KeyError, TypeError, AttributeError):
        return None
    return names if len(names) == count else None


def matrix_in(group: Any, name: str, stamped: str) -> StoredMatrix:
    """A sparse matrix that is stored as a group of three arrays."""
    if not is_sparse_matrix(group):
        raise DataError(f"{name} is a group, and not a matrix; it has {', '.join(map(repr, list(group)[:12]))}.")
    attributes = group.attrs
    kind = attributes.get("encoding-type", attributes.get("h5sparse_format", "csr_matrix"))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    shape = shape_of_sparse(group)
    if shape is None:
        raise DataError(f"{name} does not say what shape it has.")
    return SparseGroup(group, name, stamped, shape, is_turned=kind.startswith("csc"))


def write_h5ad(table: Table, path: Path) -> None:
    """Write a table as the X of an .h5ad file, with names."""
    h5py = needed("h5py", "files", "Writing .h5ad")
    n, m = table.shape
    with h5py.File(path, "w") as file:
        _encoded(file, "anndata", "0.1.0")
        if sparse.issparse(table.values):
            values = sparse.csr_array(table.values)
            group = file.create_group("X")
            _encoded(group, "csr_matrix", "0.1.0")
            group.attrs["shape"] = values.shape
            for name in ("data", "indices", "indptr"):
                group.create_dataset(name, data=getattr(values, name), compression="gzip")
        else:
            _encoded(file.create_dataset("X", data=np.asarray(table.values), compression="gzip"), "array", "0.2.0")
        for name, names, count in (("obs", table.samples, n), ("var", table.features, m)):
            group = file.create_group(name)
            _encoded(group, "dataframe", "0.2.0")
            group.attrs["_index"] = "_index"
            group.attrs.create("column-order", data=np.array([], dtype=h5py.string_dtype()))
            given = [str(i) for i in range(count)] if names is None else names.tolist()
            stored = group.create_dataset("_index", data=np.array(given, dtype=object), dtype=h5py.string_dtype())
            _encoded(stored, "string-array", "0.2.0")
        for name in ("layers", "obsm", "obsp", "uns", "varm", "varp"):
            _encoded(file.create_group(name), "dict", "0.1.0")


def _encoded(item: Any, kind: str, version: str) -> None:
    item.attrs["encoding-type"], item.attrs["encoding-version"] = kind, version
