"""Matrices in the form of Matrix Market, .mtx."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..data.compressed import to_csr
from ..exceptions import FileError
from .base import Kind, Source, Wanted
from .table import Table


class MatrixMarket(Kind):
    """A matrix, sparse or dense, without names."""

    name: ClassVar[str] = "Matrix Market"
    suffixes: ClassVar[tuple[str, ...]] = (".mtx", ".mtx.gz")

    def recognises(self, source: Source) -> bool:
        return source.head.lower().startswith(b"%%matrixmarket")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        from scipy.io import mmread

        (source,) = sources
        content = source.content()
        _check_count(content, source.label)
        found = mmread(io.BytesIO(content), spmatrix=False)
        if found.dtype.kind == "c":
            raise FileError(f"{source.label} holds complex numbers.")
        return Table(to_csr(found, source.label) if sparse.issparse(found) else np.asarray(found))

    def write(self, table: Table, path: Path) -> None:
        from scipy.io import mmwrite

        with (gzip.open if path.name.lower().endswith(".gz") else open)(path, "wb") as file:
            mmwrite(file, table.values, precision=17)


def _check_count(content: bytes, label: str) -> None:
    """Refuse a file with other than as many entries as it says: SciPy's reader takes the process down where some are missing."""
    first, *lines = [line for line in content.splitlines() if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(b"%")]
    words = first.lower().split()
    try:
        sizes = [int(word) for word in lines[0].split()]
        if words[2] == b"coordinate":
            _, _, expected = sizes
        else:
            n, m = sizes
            below = n * (n - 1) // 2
            expected = {b"symmetric": below + n, b"hermitian": below + n, b"skew-symmetric": below}.get(words[4], n * m)
    except (IndexError, ValueError):
        raise FileError(f"{label} does not begin as a file of Matrix Market does. It was cut off or altered.") from None
    if len(lines) - 1 != expected:
        raise FileError(f"{label} says that it has {expected} entries, and has {len(lines) - 1}: it was cut off or altered.")
