"""Matrices too large for memory, left on disk and read in blocks."""

from __future__ import annotations

import mmap
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from ..kernels.memory import available_bytes, readable, refuse_too_large
from .stored import StoredMatrix

LARGE = 2**30
"""Bytes above which a matrix is left on disk; or above a quarter of the free memory, if that is less."""


def is_large(n_bytes: int) -> bool:
    """Whether a matrix of so many bytes is left on disk."""
    free = available_bytes()
    return n_bytes > (LARGE if free is None else min(LARGE, free // 4))


def values_of(stored: StoredMatrix, blocks: Callable[[StoredMatrix], Any] | None) -> Any:
    """A matrix in a file: in memory; or left on disk, if it is large and there is a way to read it in blocks."""
    if blocks is not None and is_large(stored.n_bytes):
        return blocks(stored)
    refuse_too_large(stored.n_bytes, stored.name)
    found = stored.whole()
    return sparse.csr_array(found) if sparse.issparse(found) else found


def new_matrix(shape: tuple[int, int], dtype: np.dtype, label: str, *, in_blocks: bool = True, folder: Any = None) -> np.ndarray:
    """An empty matrix to be filled: in memory; or on disk, if it is large and that is allowed, until nothing refers to it any more.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    label : str
        Its name in messages.
    in_blocks : bool, default=True
        Whether it may lie on disk.
    folder : path, optional
        Folder; by default the system's for temporary files.
    """
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    if not (in_blocks and is_large(n_bytes)):
        refuse_too_large(n_bytes, label)
        return np.empty(shape, dtype=dtype)
    place = Path(folder or tempfile.gettempdir())
    if not place.is_dir():
        raise FileError(f"There is no folder {place} for the {readable(n_bytes)} of {label}.")
    free = shutil.disk_usage(place).free
    if n_bytes > free:
        raise FileError(
            f"{label} takes {readable(n_bytes)}, which is kept on disk while it is used, and {readable(free)} are free in {place}. "
            "Set TMPDIR to another folder, or use a smaller mask."
        )
    temporary = Path(tempfile.mkdtemp(prefix="nonneg-", dir=place))
    found = np.lib.format.open_memmap(temporary / "matrix.npy", mode="w+", dtype=dtype, shape=shape)
    weakref.finalize(found, shutil.rmtree, temporary, ignore_errors=True)
    return found


def release(matrix: np.ndarray) -> None:
    """Let the system take the memory of a matrix on disk, whose pages stay in its file; one in memory stays as it is."""
    if isinstance(matrix, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
        matrix._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
