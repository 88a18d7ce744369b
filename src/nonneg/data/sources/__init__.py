"""Kinds of files that are read in blocks: a file each, and a line below; libraries are imported on first use."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import DataError
from .base import Source, altered_files_refused
from .stacked import Stacked

__all__ = ["KINDS", "Source", "is_location", "open_source"]

KINDS = {
    ".npy": "npy",
    ".h5ad": "anndata",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".hdf": "hdf5",
    ".he5": "hdf5",
    ".zarr": "zarr",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""The ends of names of files, and the modules here that read them: each has `open_file` and `of_handle`."""
HANDLES = {"numpy": "npy", "h5py": "hdf5", "zarr": "zarr", "pyarrow": "parquet", "anndata": "anndata"}
"""Libraries of open files and arrays, and the modules here that read them."""


def _module_of(name: str) -> Any:
    """The module here that reads a kind of source."""
    return import_module(f".{name}", __name__)


def is_location(X: Any) -> bool:
    """Whether X is a location of data: a path, an open file, or a list of these."""
    if isinstance(X, str):
        return Path(X).suffix.lower() in KINDS or os.path.exists(X)
    if isinstance(X, os.PathLike):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and all(not isinstance(each, list | tuple) and is_location(each) for each in X)
    library = _library(X)
    return library in HANDLES and library != "numpy" and _is_handle(X)


def _library(X: Any) -> str:
    """The library that the class of an object comes from."""
    return type(X).__module__.partition(".")[0]


def _is_handle(X: Any) -> bool:
    """Whether it is open, rather than in memory, as a table of Arrow is, or an AnnData that was read."""
    name = type(X).__name__
    if _library(X) == "anndata" and _module_of("anndata").is_backed_sparse(X):
        return True
    return name in ("Dataset", "File", "Group", "Array", "ParquetFile") or bool(getattr(X, "isbacked", False))


def open_source(X: Any, key: str | None = None) -> Source:
    """The matrix at a path, behind a handle, or in a list of them."""
    if isinstance(X, Source):
        return X
    if isinstance(X, list | tuple):
        parts = [open_source(each, key) for each in X]
        return parts[0] if len(parts) == 1 else Stacked(parts)
    return _of_path(Path(X), key) if isinstance(X, str | os.PathLike) else _of_handle(X, key)


def _of_handle(X: Any, key: str | None) -> Source:
    """The source behind an open file or array; an error says why there is none."""
    library = _library(X)
    found: Source | None = _module_of(HANDLES[library]).of_handle(X, key) if library in HANDLES else None
    if found is not None:
        return found
    if isinstance(X, np.memmap):
        raise DataError(
            "This array is a part of one that is mapped from a file, and no file that rows can be read from. Map the whole, or "
            "give it to fit as it is."
        )
    if library == "anndata":
        raise DataError("This AnnData is in memory, and no file: give it, or one of its layers, to fit.")
    if hasattr(X, "shape"):
        raise DataError(f"open_data is for files, and a {library}.{type(X).__name__} is none: give it to fit as it is.")
    raise DataError(f"{type(X).__module__}.{type(X).__name__} is neither a file nor anything that rows can be read from.")


def _of_path(path: Path, key: str | None) -> Source:
    """The source in a file or folder; an error says why there is none."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None and path.is_dir() and _module_of("parquet").is_folder(path):
        kind = "parquet"
    if kind is None:
        raise DataError(
            f"{path}: its name tells no kind of file. Known are {', '.join(KINDS)}. Tables of text, as "
            ".csv, are to be read first: pandas.read_csv, or nonneg.files.read(path).values, which knows other kinds, too, and "
            "takes a list of images or NIfTI volumes, one sample each."
        )
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    if not path.is_file() and not path.is_dir():
        raise DataError(f"{path} is neither a file nor a folder, but a pipe or a device, and cannot be read in blocks.")
    with altered_files_refused(str(path), kind):
        opened: Source = _module_of(kind).open_file(path, key)
    return opened
