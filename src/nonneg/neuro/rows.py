"""The matrix of subjects × voxels: in memory, or in a file of its own where it does not fit."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..data.memory import readable
from ..exceptions import FileError
from ..files.large import is_large

_BLOCK = 1 << 26
"""Bytes of the rows that are worked on together."""


@contextmanager
def allocated(shape: tuple[int, int], folder: Any) -> Iterator[np.ndarray]:
    """An empty matrix in single precision, which vanishes in the end: on disk if it is large.

    Parameters
    ----------
    shape : tuple of int
    folder : path, optional
        Where to put the file.
    """
    n_bytes = 4 * shape[0] * shape[1]
    if not is_large(n_bytes):
        yield np.empty(shape, dtype=np.float32)
        return
    place = Path(folder or tempfile.gettempdir())
    if not place.is_dir():
        raise FileError(f"There is no folder {place} for the {readable(n_bytes)} of the scans.")
    free = shutil.disk_usage(place).free
    if n_bytes > free:
        raise FileError(
            f"The scans take {readable(n_bytes)}, more than fit into memory, and {readable(free)} are free in {place}. Give "
            "another folder, scratch=, a smaller mask, or a coarser target_affine."
        )
    with tempfile.TemporaryDirectory(prefix="nonneg-", dir=place) as temporary:
        yield np.lib.format.open_memmap(Path(temporary) / "scans.npy", mode="w+", dtype=np.float32, shape=shape)


def to_fit(matrix: np.ndarray) -> Any:
    """What an estimator fits: the matrix, or the file that it lies in."""
    if not isinstance(matrix, np.memmap):
        return matrix
    matrix.flush()
    return str(matrix.filename)


def blocks(matrix: np.ndarray) -> Iterator[np.ndarray]:
    """Ranges of rows, as views."""
    step = max(1, _BLOCK // max(1, matrix[:1].nbytes))
    for start in range(0, len(matrix), step):
        yield matrix[start : start + step]
