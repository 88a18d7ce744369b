"""Matrices that are left in their files, to be read in blocks: from a path, an open file or array, or a list of these."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import DataError
from .base import Kind, altered_files_refused
from .kinds import KINDS
from .stacked import Stacked
from .stored import StoredMatrix

OPENED: dict[str, Kind] = {suffix: kind for kind in KINDS for suffix in kind.opens}
"""The kinds of files that are read in blocks, by how their names end."""
HANDLES: dict[str, Kind] = {library: kind for kind in KINDS for library in kind.libraries}
"""The same, by the libraries of open files and arrays."""


def is_location(X: Any) -> bool:
    """Whether X is a location of data: a path, an open file, or a list of these."""
    if isinstance(X, str):
        return Path(X).suffix.lower() in OPENED or os.path.exists(X)
    if isinstance(X, os.PathLike):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and all(not isinstance(each, list | tuple) and is_location(each) for each in X)
    library = _library(X)
    return library in HANDLES and HANDLES[library].is_handle(X)


def _library(X: Any) -> str:
    """The library that the class of an object comes from."""
    return type(X).__module__.partition(".")[0]


def open_stored(X: Any, key: str | None = None) -> StoredMatrix:
    """The matrix at a path, behind a handle, or in a list of them."""
    if isinstance(X, StoredMatrix):
        return X
    if isinstance(X, list | tuple):
        parts = [open_stored(each, key) for each in X]
        return parts[0] if len(parts) == 1 else Stacked(parts)
    return _of_path(Path(X), key) if isinstance(X, str | os.PathLike) else _of_handle(X, key)


def _of_handle(X: Any, key: str | None) -> StoredMatrix:
    """The matrix behind an open file or array; an error says why there is none."""
    library = _library(X)
    found = HANDLES[library].open_handle(X, key) if library in HANDLES else None
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


def _of_path(path: Path, key: str | None) -> StoredMatrix:
    """The matrix in a file or folder; an error says why there is none."""
    kind = OPENED.get(path.suffix.lower()) or next(
        (kind for kind in KINDS if kind.opens and path.is_dir() and kind.holds(path)), None
    )
    if kind is None:
        raise DataError(
            f"{path}: its name tells no kind of file. Known are {', '.join(OPENED)}. Tables of text, as "
            ".csv, are to be read first: pandas.read_csv, or nonneg.files.read(path).values, which knows other kinds, too, and "
            "takes a list of images or NIfTI volumes, one sample each."
        )
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    if not path.is_file() and not path.is_dir():
        raise DataError(f"{path} is neither a file nor a folder, but a pipe or a device, and cannot be read in blocks.")
    with altered_files_refused(str(path), kind.name):
        return kind.open_path(path, key)
