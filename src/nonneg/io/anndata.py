"""HDF5: matrices of single cells with the names of cells and genes, .h5ad and Cell Ranger's .h5, without anndata; and others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data.sources import hdf5
from ..exceptions import needed
from .base import Kind, Source, Wanted
from .large import values_of
from .matlab import HDF5
from .table import Table


class AnnData(Kind):
    """X, or the matrix that is asked for (a layer, raw/X), with the names of observations and variables."""

    name: ClassVar[str] = "AnnData"
    suffixes: ClassVar[tuple[str, ...]] = (".h5ad", ".h5", ".hdf5")
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(HDF5) and not source.name.endswith(".mat")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        needed("h5py", "files", "Reading .h5ad")
        found = hdf5.open_file(source.path, wanted.variable, "variable")
        values = values_of(found, in_blocks=wanted.in_blocks)
        return Table(values, found.sample_names, found.feature_names)

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
