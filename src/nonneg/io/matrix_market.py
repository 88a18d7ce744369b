"""Matrices in the form of Matrix Market, .mtx."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from ..kernels.csr import to_csr
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
        found = mmread(io.BytesIO(_checked(source.content(), source.label)), spmatrix=False)
        if found.dtype.kind == "c":
            raise FileError(f"{source.label} holds complex numbers.")
        return Table(to_csr(found, source.label) if sparse.issparse(found) else np.asarray(found))

    def write(self, table: Table, path: Path) -> None:
        from scipy.io import mmwrite

        with (gzip.open if path.name.lower().endswith(".gz") else open)(path, "wb") as file:
            mmwrite(file, table.values, precision=17)


_INDEX = rb"[ \t]*\d+"
_NUMBER = rb"[ \t]*-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|NaN|NAN|inf(?:inity)?|Inf(?:inity)?|INF)"
_BLANK = rb"[ \t]*\r?\n?"
_LINES = {
    b"coordinate": {b"pattern": 2 * (_INDEX + rb"\b"), b"complex": 2 * (_INDEX + rb"\b") + 2 * (_NUMBER + rb"(?=\s|$)")},
    b"array": {b"complex": 2 * (_NUMBER + rb"(?=\s|$)")},
}
"""The fields of a line, by form and type; of other types, of one number, after two indices if these are given."""


def _checked(content: bytes, label: str) -> bytes:
    """The lines of a file without remarks; or an error, if there are other than as many entries as it says, or a line is not one.

    SciPy's reader takes the process down if entries are missing, or followed by zero bytes, or the last by a space, and passes
    over whatever else follows a number.
    """
    lines = enumerate(io.BytesIO(content), start=1)
    words = next((line.lower().split() for _, line in lines if line.strip()), [])
    entries = ((number, line) for number, line in lines if line.strip() and not line.lstrip().startswith(b"%"))
    first = next(entries, (0, b""))[1]
    try:
        _, _, form, kind, symmetry = words
        sizes = [int(word) for word in re.fullmatch(rb"\s*(\d+(?:\s+\d+)+)\s*", first)[1].split()]  # type: ignore[index]
        if form == b"coordinate":
            _, _, expected = sizes
        else:
            n, m = sizes
            below = n * (n - 1) // 2
            expected = {b"symmetric": below + n, b"hermitian": below + n, b"skew-symmetric": below}.get(symmetry, n * m)
        usual = 2 * (_INDEX + rb"\b") * (form == b"coordinate") + _NUMBER
        is_entry = re.compile(_LINES[form].get(kind, usual) + _BLANK).fullmatch
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{label} does not begin as a file of Matrix Market does. It was cut off or altered.") from None
    count, kept = 0, io.BytesIO()
    kept.writelines((b"%%MatrixMarket ", b" ".join(words[1:]), b"\n", first.strip(), b"\n"))
    for number, line in entries:
        if not is_entry(line):
            said = line.strip()[:60].decode("utf8", "backslashreplace")
            of = f"a {form.decode()} matrix of {kind.decode()} numbers"
            raise FileError(f"{label}, line {number}: {said!r} is no entry of {of}. It was cut off or altered.")
        kept.write(line.strip() + b"\n")
        count += 1
    if count != expected:
        raise FileError(f"{label} says that it has {expected} entries, and has {count}: it was cut off or altered.")
    return kept.getvalue()
