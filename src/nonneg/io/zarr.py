"""Arrays of zarr, in a folder or a store."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import FileError, needed
from ..kernels.memory import refuse_too_large
from .anndata import matrix_in, observations_of, variables_of
from .base import Kind, Source, Wanted
from .large import values_of
from .members import chosen, is_sparse_matrix, shape_of_sparse, warn_of_missing_chunks
from .stored import StoredMatrix, check_matrix, check_numbers, refuse_key, stamp_of
from .table import Table


class Zarr(Kind):
    """One array of two dimensions, or that which is asked for by its name."""

    name: ClassVar[str] = "zarr"
    suffixes: ClassVar[tuple[str, ...]] = (".zarr",)
    opens: ClassVar[tuple[str, ...]] = (".zarr",)
    libraries: ClassVar[tuple[str, ...]] = ("zarr",)
    writes: ClassVar[bool] = False
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def holds(self, folder: Path) -> bool:
        return any((folder / name).exists() for name in ("zarr.json", ".zarray", ".zgroup"))

    def is_part(self, file: Path, folder: Path) -> bool:
        return True

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        found = open_file(source.path, wanted.variable, "variable")
        return Table(values_of(found, wanted.blocks), found.sample_names, found.columns)

    def open_path(self, path: Path, key: str | None) -> StoredMatrix:
        return open_file(path, key)

    def is_handle(self, X: Any) -> bool:
        return type(X).__name__ in ("Array", "Group")

    def open_handle(self, handle: Any, key: str | None) -> StoredMatrix | None:
        return of_handle(handle, key)


class Array(StoredMatrix):
    """An array of two dimensions."""

    def __init__(self, array: Any, root: str) -> None:
        self._array, self._root = array, root
        self.name = f"{root}:{array.path or '/'}"
        self.shape, self.dtype = check_matrix(array.shape, self.name), check_numbers(array.dtype, self.name)
        refuse_too_large(math.prod(array.chunks) * self.dtype.itemsize, f"A chunk of {self.name}")
        self.grain = min(int(array.chunks[0]), max(self.shape[0], 1))

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._array[start:stop])

    def check_chunks(self) -> None:
        """Warn of chunks that are not stored; refuse the array if it has no fill value for them."""
        stored, count = self._array.nchunks_initialized, self._array.nchunks
        if stored < count and self._array.fill_value is None:
            raise FileError(f"{self.name}: {count - stored} of {count} chunks are missing. They were lost, or never written.")
        warn_of_missing_chunks(self.name, stored, count, self._array.fill_value)

    def stamp(self) -> Any:
        """Stamp of the folder's description; changed chunks are noticed by their content."""
        folder = Path(self._root) / str(self._array.path)
        return tuple(stamp_of(folder / name) for name in ("zarr.json", ".zarray"))


def open_file(path: Path, key: str | None, option: str = "key") -> StoredMatrix:
    """An array in a zarr folder; messages say by which option it is asked for."""
    zarr = needed("zarr", "files", f"Reading {path}")
    for entry in _entries(str(path)):
        if not entry.is_file(follow_symlinks=False):
            raise FileError(f"{path} has {entry.path} in it, a link, a pipe or a device, which is not followed.")
        if entry.name in _DESCRIPTIONS and _has_pickles(json.loads(Path(entry.path).read_bytes())):
            raise FileError(f"{entry.path} says that chunks are pickles. Unpickling can run any code, so it is not done.")
    found = _found(zarr, zarr.open(str(path), mode="r"), str(path), key, option)
    if isinstance(found, Array):
        found.check_chunks()
    return found


_DESCRIPTIONS = (".zarray", ".zmetadata", "zarr.json")
"""Files that say how chunks are encoded."""


def _has_pickles(described: Any) -> bool:
    """Whether a description names the codec of pickles."""
    if isinstance(described, Mapping):
        names = (described.get(key) for key in ("id", "name"))
        if any(isinstance(name, str) and name.rpartition(".")[2] == "pickle" for name in names):
            return True
        described = list(described.values())
    return isinstance(described, list) and any(map(_has_pickles, described))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Files, links and devices in a folder and its subfolders."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)
            else:
                yield entry


def of_handle(handle: Any, key: str | None) -> StoredMatrix | None:
    """An array that is open, or one in a group that is."""
    store = getattr(handle, "store", None)
    return _found(needed("zarr", "files", f"Reading {handle}"), handle, str(getattr(store, "root", None) or store), key)


def _found(zarr: Any, item: Any, root: str, key: str | None, option: str = "key") -> StoredMatrix:
    if isinstance(item, zarr.Array):
        refuse_key(key, root)
        return Array(item, root)
    if key is None and "X" in item:
        key = "X"
    key = chosen(key, item.__contains__, lambda: _arrays_in(item), root, option)
    array = item[key]
    found: StoredMatrix = Array(array, root) if isinstance(array, zarr.Array) else matrix_in(array, f"{root}:{key}", stamped=root)
    found.columns = variables_of(item, key, found.width)
    found.name_rows = partial(observations_of, item, key, found.height)
    return found


def _arrays_in(group: Any, above: str = "") -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays of numbers in a group; a sparse matrix is one, and not the three it is stored as."""
    found = {f"{above}{name}": tuple(array.shape) for name, array in group.arrays() if np.dtype(array.dtype).kind in "fiub"}
    for name, inside in group.groups():
        if not is_sparse_matrix(inside):
            found |= _arrays_in(inside, f"{above}{name}/")
        elif shape_of_sparse(inside) is not None:
            found[f"{above}{name}"] = tuple(int(size) for size in shape_of_sparse(inside))
    return dict(sorted(found.items()))  # folders are listed in any order
