"""HDF5: a matrix among the datasets of a file, or one that is open already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import DataError
from ...libraries import needed
from .anndata import matrix_in, variables_of
from .base import Source, check_matrix, check_numbers, refuse_key
from .members import chosen, is_sparse_matrix, shape_of_sparse


class Hdf5(Source):
    """A dataset of two dimensions."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.name = f"{dataset.file.filename}:{dataset.name}"
        self.shape, self.dtype = check_matrix(dataset.shape, self.name), check_numbers(dataset.dtype, self.name)
        self.grain = min(int(dataset.chunks[0]), max(self.shape[0], 1)) if dataset.chunks else 1

    def read(self, start: int, stop: int) -> np.ndarray:
        return self._dataset[start:stop]

    @property
    def path(self) -> str:
        return self.name.rsplit(":", 1)[0]


def open_file(path: Path, key: str | None, option: str = "key") -> Source:
    """A matrix in a file of HDF5; messages say by which option it is asked for."""
    h5py = needed("h5py", "files", f"Reading {path}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path} cannot be read as HDF5: {error}") from error
    return _found(h5py, file, key, option)


def of_handle(handle: Any, key: str | None) -> Source | None:
    """A dataset that is open, or a matrix in a file or group that is."""
    h5py = needed("h5py", "files", f"Reading {handle}")
    if not handle:
        raise DataError(f"{handle!r} is closed: nothing can be read from it.")
    if isinstance(handle, h5py.Dataset):
        refuse_key(key, f"{handle.file.filename}:{handle.name}")
        return Hdf5(handle)
    return _found(h5py, handle, key)


def _found(h5py: Any, group: Any, key: str | None, option: str = "key") -> Source:
    """The matrix in a file or a group: the one that is named, that of an .h5ad, or the only one there is."""
    name = str(group.file.filename)
    if key is None and "X" in group and ("obs" in group or hasattr(group["X"], "keys")):
        key = "X"
    key = chosen(key, group.__contains__, lambda: _arrays_in(h5py, group), name, option)
    item = group[key]
    found: Source = Hdf5(item) if isinstance(item, h5py.Dataset) else matrix_in(item, f"{name}:{item.name}", stamped=name)
    found.columns = variables_of(group, key, found.width)
    return found


def _arrays_in(h5py: Any, group: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays of numbers in a file or a group; a sparse matrix is one, and not the three it is stored as."""
    found: dict[str, tuple[int, ...]] = {}
    inside: tuple[str, ...] = ()

    def look(path: str, item: Any) -> None:
        nonlocal inside
        if path.startswith(inside):
            return
        if isinstance(item, h5py.Dataset):
            if item.dtype.kind in "fiub":
                found[path] = tuple(item.shape)
        elif is_sparse_matrix(item):
            inside = (*inside, f"{path}/")
            shape = shape_of_sparse(item)
            if shape is not None:
                found[path] = tuple(int(size) for size in shape)

    group.visititems(look)
    return found
