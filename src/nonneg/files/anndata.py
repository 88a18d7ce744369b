"""Annotated matrices of single cells, .h5ad: cells × genes with the names of both, read and written without the anndata package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .base import Kind, Source, Wanted, needed
from .matlab import HDF5, read_dataset
from .numpy_arrays import numbers
from .table import Table


class AnnData(Kind):
    """X, or the layer that is asked for, with the names of observations and variables."""

    name: ClassVar[str] = "AnnData"
    suffixes: ClassVar[tuple[str, ...]] = (".h5ad",)
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(HDF5) and not source.name.endswith(".mat")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        label = source.label
        h5py = needed("h5py", "files", "Reading .h5ad")
        try:
            with h5py.File(source.path, "r") as file:
                if not {"X", "obs", "var"} <= set(file):
                    raise FileError(f"{label} is HDF5, but has no X, obs and var, as AnnData has them; it has {', '.join(file)}.")
                layers = [f"layers/{name}" for name in file["layers"]] if "layers" in file else []
                where = "X" if wanted.variable is None else f"layers/{wanted.variable}".replace("layers/X", "X")
                if where not in ("X", *layers):
                    raise FileError(f"{label} has no layer {wanted.variable!r}; it has X, {', '.join(layers) or 'and no others'}.")
                return Table(_matrix(h5py, file[where], label), samples=_names(file["obs"]), features=_names(file["var"]))
        except (OSError, KeyError) as error:
            raise FileError(f"{label} is not a whole file of AnnData: {error}. It was cut off or altered.") from error

    def write(self, table: Table, path: Path) -> None:
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


def _matrix(h5py: Any, item: Any, label: str) -> Any:
    if not isinstance(item, h5py.Group):
        return numbers(read_dataset(item, label), label)
    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    shape = tuple(int(size) for size in item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    form = sparse.csc_array if str(kind).startswith("csc") else sparse.csr_array
    found = form(tuple(read_dataset(item[name], label) for name in ("data", "indices", "indptr")), shape=shape)
    try:
        found.check_format(full_check=True)
    except ValueError as error:
        raise FileError(f"{label} is not a whole sparse matrix: {error}. It was cut off or altered.") from error
    return sparse.csr_array(found)


def _names(frame: Any) -> list[str]:
    """What the rows of a data frame are called."""
    is_old = not hasattr(frame, "keys")  # an array with fields
    names = frame[()][frame.dtype.names[0]] if is_old else frame[frame.attrs.get("_index", "_index")][()]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]
