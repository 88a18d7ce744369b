"""Matrices that are better left where they lie, and read in blocks."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ..data.memory import available_bytes, refuse_too_large
from ..data.opening import open_data

LARGE = 2**30
"""Bytes above which a matrix is left where it lies; or above a quarter of what is free, where that is less."""


def is_large(n_bytes: int) -> bool:
    """Whether a matrix of so many bytes is better left where it lies."""
    free = available_bytes()
    return n_bytes > (LARGE if free is None else min(LARGE, free // 4))


def values_of(source: Any, *, in_blocks: bool) -> Any:
    """The matrix that a source of `nonneg.data` reads: in memory; or where it lies, if it is large and that is allowed."""
    if in_blocks and is_large(source.n_bytes):
        return open_data(source)
    refuse_too_large(source.n_bytes, source.name)
    found = source.whole()
    return sparse.csr_array(found) if sparse.issparse(found) else found
