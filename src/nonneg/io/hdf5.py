"""HDF5: a matrix among the datasets of a file; those of single cells, .h5ad and Cell Ranger's .h5, with names, without anndata."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import DataError, FileError, needed
from . import anndata, cell_ranger
from .base import Kind, Source, Wanted
from .large import values_of
from .members import chosen, is_sparse_matrix, shape_of_sparse, warn_of_missing_chunks
from .stored import StoredMatrix, check_matrix, check_numbers, refuse_key
from .table import Table

MAGIC = b"\x89HDF\r\n\x1a\n"
"""The first bytes of a file."""

_LINKS = 16
"""Links that may lead to a member."""


class HDF5(Kind):
    """X, or the matrix that is asked for (a layer, raw/X), with the names of observations and variables."""

    name: ClassVar[str] = "AnnData"
    suffixes: ClassVar[tuple[str, ...]] = (".h5ad", ".h5", ".hdf5")
    begins: ClassVar[tuple[bytes, ...]] = (MAGIC,)
    opens: ClassVar[tuple[str, ...]] = (".h5ad", ".h5", ".hdf5", ".hdf", ".he5")
    libraries: ClassVar[tuple[str, ...]] = ("h5py", "anndata")
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        needed("h5py", "files", "Reading .h5ad")
        found = open_file(source.path, wanted.variable, "variable")
        return Table(values_of(found, wanted.blocks), found.sample_names, found.feature_names)

    def write(self, table: Table, path: Path) -> None:
        anndata.write_h5ad(table, path)

    def open_path(self, path: Path, key: str | None) -> StoredMatrix:
        return open_file(path, key or ("X" if path.suffix.lower() == ".h5ad" else None))

    def is_handle(self, X: Any) -> bool:
        return type(X).__name__ in ("Dataset", "File", "Group") or anndata.is_backed(X)

    def open_handle(self, handle: Any, key: str | None) -> StoredMatrix | None:
        return of_handle(handle, key) if type(handle).__module__.startswith("h5py") else anndata.of_handle(handle, key)


class Dataset(StoredMatrix):
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


def open_file(path: Path, key: str | None, option: str = "key") -> StoredMatrix:
    """A matrix in a file of HDF5; messages say by which option it is asked for."""
    h5py = needed("h5py", "files", f"Reading {path}")
    try:
        file = opened(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read as HDF5: {error}. It was cut off or altered.") from error
    return _found(h5py, file, key, option)


_SCANNED = 2**26
"""Bytes of files that are looked through before HDF5 reads them."""
_HEAP = b"GCOL\1\0\0\0"


def opened(path: Path) -> Any:
    """A file to read from; one up to 64 MB is refused if HDF5 would read it without end."""
    import h5py

    if path.stat().st_size <= _SCANNED:
        _check_heaps(path.read_bytes(), str(path))
    return h5py.File(path, "r")


def _check_heaps(content: bytes, label: str) -> None:
    """Refuse heaps, where text of any length lies, with an object of no size: HDF5, 2.0 at least, does not get past it."""
    begin = content.find(b"\x89HDF")
    sizes = content[begin + 14 : begin + 15] if content[begin + 8 : begin + 9] < b"\2" else content[begin + 10 : begin + 11]
    at = content.find(_HEAP) if sizes == b"\x08" else -1
    while at >= 0:
        place, end = at + 16, min(at + int.from_bytes(content[at + 8 : at + 16], "little"), len(content))
        while place + 16 <= end:
            index, count = struct.unpack_from("<H6xQ", content, place)
            step = 16 + count + -count % 8 if index else count
            if not step or step > end - place:
                raise FileError(f"{label} has a heap with an object of {count} bytes at {place}. It was cut off or altered.")
            place += step
        at = content.find(_HEAP, at + 8)


class Inside:
    """A group of HDF5, or a file, without links to other files."""

    def __init__(self, group: Any) -> None:
        self._group, self.attrs = group, group.attrs

    def keys(self) -> list[str]:
        """Names of members."""
        return list(self._group)

    def __iter__(self) -> Iterator[str]:
        return iter(self._group)

    def __contains__(self, path: str) -> bool:
        try:
            return self[path] is not None
        except KeyError:
            return False

    def __getitem__(self, path: str) -> Any:
        import h5py

        found = _member(self._group, path, _LINKS)
        if isinstance(found, h5py.Dataset):
            check_stored(found)
            return found
        return Inside(found) if isinstance(found, h5py.Group) else found


def _member(group: Any, path: str, links: int) -> Any:
    """The object at a path, by links that stay in the file."""
    import h5py

    name = group.file.filename
    item = group.file["/"] if path.startswith("/") else group
    for part in path.split("/"):
        if part in ("", "."):
            continue
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if isinstance(link, h5py.ExternalLink):
            raise FileError(f"{name}: {path!r} is a link to another file, {link.filename!r}, which is not followed. {_INSTEAD}")
        if isinstance(link, h5py.SoftLink):
            if not links:
                raise FileError(f"{name}: {path!r} is a link to a link, and so on. It was altered.")
            item = _member(item, link.path, links - 1)
        elif link is None:
            raise KeyError(path)
        else:
            item = item[part]
    return item


_INSTEAD = "Where that is meant, open it with h5py, and give the dataset."


def check_stored(dataset: Any) -> None:
    """Refuse a dataset whose numbers lie in other files, or nowhere; warn of chunks that are not stored."""
    name = f"{dataset.file.filename}:{dataset.name}"
    if dataset.external or dataset.is_virtual:
        raise FileError(f"{name} is made of parts of other files, which are not read. {_INSTEAD}")
    if dataset.size and not dataset.id.get_storage_size():
        raise FileError(f"{name} says that it has shape {dataset.shape}, and nothing of it is stored. It was cut off or altered.")
    dataset.id.get_create_plist().fill_value_defined()  # an error, where asking for the value would end the process
    if dataset.chunks:
        _check_chunks(dataset, name)
        count = int(np.prod([-(-size // each) for size, each in zip(dataset.shape, dataset.chunks, strict=True)], dtype=object))
        warn_of_missing_chunks(name, dataset.id.get_num_chunks(), count, dataset.fillvalue)


def _check_chunks(dataset: Any, name: str) -> None:
    """Refuse chunks of too few bytes: HDF5 would fill them up with arbitrary memory."""
    count, each = dataset.id.get_num_chunks(), math.prod(dataset.chunks) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    if not dataset.id.get_create_plist().get_nfilters() and stored != count * each:
        raise FileError(f"{name} has {stored} bytes in {count} chunks of {each}. It was cut off or altered.")


def of_handle(handle: Any, key: str | None) -> StoredMatrix | None:
    """A dataset that is open, or a matrix in a file or group that is."""
    h5py = needed("h5py", "files", f"Reading {handle}")
    if not handle:
        raise DataError(f"{handle!r} is closed: nothing can be read from it.")
    if isinstance(handle, h5py.Dataset):
        refuse_key(key, f"{handle.file.filename}:{handle.name}")
        return Dataset(handle)
    return _found(h5py, handle, key)


def _found(h5py: Any, group: Any, key: str | None, option: str = "key") -> StoredMatrix:
    """The matrix in a file or a group: the one that is named, that of an .h5ad, or the only one there is."""
    name, inside = str(group.file.filename), Inside(group)
    if key is None and "X" in inside and ("obs" in inside or hasattr(inside["X"], "keys")):
        key = "X"
    if key is None and len(counts := cell_ranger.groups_in(inside)) == 1:
        key = counts[0]
    key = chosen(key, inside.__contains__, lambda: _arrays_in(h5py, group), name, option)
    item = inside[key]
    if cell_ranger.is_matrix(item):
        return cell_ranger.matrix_in(item, f"{name}:{key}", stamped=name)
    found: StoredMatrix = (
        Dataset(item) if isinstance(item, h5py.Dataset) else anndata.matrix_in(item, f"{name}:{key}", stamped=name)
    )
    found.columns = anndata.variables_of(inside, key, found.width)
    found.name_rows = partial(anndata.observations_of, inside, key, found.height)
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
            if item.shape is not None and item.dtype.kind in "fiub":  # no shape: None, as scanpy keeps it in uns
                found[path] = tuple(item.shape)
        elif is_sparse_matrix(Inside(item)):
            inside = (*inside, f"{path}/")
            shape = shape_of_sparse(item)
            if shape is not None:
                found[path] = tuple(int(size) for size in shape)

    group.visititems(look)
    return found
