"""The matrix of subjects × voxels: in memory, or in a file of its own if it does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..io.large import release

_BLOCK = 1 << 26
"""Bytes of the rows that are worked on together."""


def to_fit(matrix: np.ndarray) -> Any:
    """Input of an estimator: the matrix, or its file."""
    if not isinstance(matrix, np.memmap):
        return matrix
    matrix.flush()
    return str(matrix.filename)


def blocks(matrix: np.ndarray) -> Iterator[np.ndarray]:
    """Ranges of rows, as views."""
    step = max(1, _BLOCK // max(1, matrix[:1].nbytes))
    for start in range(0, len(matrix), step):
        yield matrix[start : start + step]
        release(matrix)
