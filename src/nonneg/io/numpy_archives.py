"""Archives of NumPy's arrays, .npz: dense ones, with their names if any, and the sparse ones that SciPy writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError, ReadingError
from ..kernels.csr import to_csr
from .base import Kind, Source, Wanted
from .numpy_arrays import numbers
from .table import Layout, Table
from .zipped import opened, read_array

_SPARSE = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}
_NAMES = ("samples", "features")
_LAYOUT = ("layout_shape", "layout_mask", "layout_affine")


class NumPyArchive(Kind):
    """Several arrays: one of numbers, or those of a sparse matrix; and perhaps ``samples`` and ``features``, the names."""

    name: ClassVar[str] = "NumPy arrays in an archive"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(b"PK") and source.name.endswith(".npz")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        label = source.label
        with opened(source.path, label) as archive:
            names = {name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")}

            def get(name: str) -> np.ndarray:
                return read_array(archive, names[name], label)

            if {"format", "shape", "data"} <= names.keys():
                values = _sparse({name: get(name) for name in names if name not in _NAMES}, label)
            else:
                candidates = [name for name in names if name not in (*_NAMES, *_LAYOUT)]
                values = numbers(get(chosen(candidates, wanted.variable, label)), label)
            samples, features = (get(name) if name in names else None for name in _NAMES)
            layout = None
            if "layout_shape" in names:
                parts = {name: get(name) for name in _LAYOUT if name in names}
                layout = Layout(parts["layout_shape"].tolist(), parts.get("layout_mask"), parts.get("layout_affine"))
        return Table(values, samples, features, layout)

    def write(self, table: Table, path: Path) -> None:
        arrays: dict[str, Any] = {name: getattr(table, name) for name in _NAMES if getattr(table, name) is not None}
        if table.layout is not None:
            parts = (table.layout.shape, table.layout.mask, table.layout.affine)
            arrays |= {name: np.asarray(value) for name, value in zip(_LAYOUT, parts, strict=True) if value is not None}
        if sparse.issparse(table.values):
            values = sparse.csr_array(table.values)
            stored = {"indices": values.indices, "indptr": values.indptr, "format": np.array(b"csr"), "data": values.data}
            arrays |= stored | {"shape": np.array(values.shape), "_is_array": np.array(True)}
        else:
            arrays["values"] = table.values
        np.savez_compressed(path, **arrays)


def chosen(candidates: list[str], wanted: str | None, label: str) -> str:
    """The name of the array to read: the one that is asked for, or the only one."""
    if wanted is not None and wanted not in candidates:
        raise FileError(f"{label} has no array {wanted!r}; it has {', '.join(map(repr, candidates)) or 'none'}.")
    if not candidates:
        raise FileError(f"{label} holds no arrays.")
    if wanted is None and len(candidates) > 1:
        text = f"{label} holds several arrays, {', '.join(map(repr, candidates))}; say which variable is wanted"
        raise ReadingError(text, "variable", candidates[0])
    return wanted if wanted is not None else candidates[0]


def _sparse(parts: dict[str, np.ndarray], label: str) -> Any:
    """The array of `scipy.sparse.save_npz`, with checked indices."""
    form = parts["format"].item()
    form = form.decode() if isinstance(form, bytes) else str(form)
    try:
        shape = tuple(int(size) for size in parts["shape"])
        if form == "coo":
            found = sparse.coo_array((parts["data"], (parts["row"], parts["col"])), shape=shape)
        elif form in _SPARSE:
            found = _SPARSE[form]((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        else:
            raise ValueError(f"the form {form!r} is not known")
    except (ValueError, KeyError, IndexError, ArithmeticError) as error:
        raise FileError(f"{label} is not a whole sparse matrix: {error}. It was cut off or altered.") from error
    numbers(found, label)
    return to_csr(found, label)
