"""Elements of MATLAB files of versions 5 to 7. SciPy's reader trusts their lengths, also altered ones."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from ..kernels.csr import to_csr
from ..kernels.memory import refuse_too_large

_MATRIX, _COMPRESSED = 14, 15
"""Types of elements (MATLAB's miMATRIX and miCOMPRESSED)."""
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CODECS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE = 1, 4, 5
"""Classes of arrays."""
_FULL = range(6, 16)
_LOGICAL, _COMPLEX = 0x200, 0x800
"""Flags of an array."""
_HEADER = 2**12
"""Bytes of a compressed matrix that are unpacked to see its name and shape."""


@dataclass(frozen=True)
class Variable:
    """Header of a matrix of a file."""

    name: str
    shape: tuple[int, ...]
    kind: int
    flags: int
    order: str
    element: tuple[int, memoryview]

    @property
    def is_numeric(self) -> bool:
        return len(self.shape) == 2 and (self.kind == _SPARSE or self.kind in _FULL)

    def values(self, label: str, *, is_padded: bool = True) -> Any:
        """Numbers, a sparse matrix in CSR, or names as a list of str; spaces that make rows of one length are no part of these."""
        at_least = 3 + {_CELL: 0, _SPARSE: 3}.get(self.kind, 1)
        parts = _parts(*self.element, self.order, f"{label}, {self.name}", at_least)[3:]
        if self.kind == _CELL:
            inside = [_variable(*part, self.order, label).values(label, is_padded=False) for part in parts]
            return [one[0] if isinstance(one, list) and one else str(np.squeeze(one)) if np.size(one) else "" for one in inside]
        if self.kind == _CHAR:
            names = _rows_of_text(*parts[0], self.shape, self.order)
            return [name.rstrip(" ") for name in names] if is_padded else names
        if self.flags & _COMPLEX:
            raise FileError(f"{label}, {self.name} holds complex numbers, which are not real ones.")
        if self.kind == _SPARSE:
            rows, starts = (_numbers(*part, self.order) for part in parts[:2])
            is_short = self.flags & _LOGICAL and len(parts[2][1]) == len(rows)  # MATLAB calls these bytes doubles
            data = _numbers(2 if is_short else parts[2][0], parts[2][1], self.order)
            if len(starts) != self.shape[1] + 1 or self.shape[0] < 0 or starts[-1] < 0:
                raise FileError(f"{label}, {self.name} says that it has {self.shape[1]} columns. It was cut off or altered.")
            count = int(starts[-1])
            return to_csr(sparse.csc_array((data[:count], rows[:count], starts), shape=self.shape), label)
        found = _numbers(*parts[0], self.order)
        if len(found) != math.prod(self.shape) or min(self.shape) < 0:
            raise FileError(f"{label}, {self.name} has shape {self.shape}, and {len(found)} numbers. It was cut off or altered.")
        return found.reshape(self.shape, order="F")


def variables_in(content: bytes, label: str) -> Iterator[Variable]:
    """The variables of a file, their numbers unread."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise FileError(f"{label} does not say in which order its bytes are. It was cut off or altered.")
    for element in _elements(memoryview(content)[128:], order, label):
        yield _variable(*element, order, label)


def _variable(element_kind: int, data: memoryview, order: str, label: str) -> Variable:
    (_, head), (_, sizes), (_, name), *_ = _parts(element_kind, data, order, label, 3, _HEADER)
    (flags,) = struct.unpack_from(f"{order}I", head)
    is_opaque = flags & 0xFF > 15
    shape = () if is_opaque else tuple(np.frombuffer(sizes, f"{order}i4").tolist())
    said = "" if is_opaque else bytes(name).rstrip(b"\0").decode("latin-1")
    return Variable(said, shape, flags & 0xFF, flags, order, (element_kind, data))


def _elements(data: memoryview, order: str, label: str, *, is_begun: bool = False) -> Iterator[tuple[int, memoryview]]:
    """Types and contents of elements that follow one another; of a matrix that is only begun, without the last check."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise FileError(f"{label} ends within an element. It was cut off or altered.")
        kind, count = struct.unpack_from(f"{order}2I", data, at)
        start, most = at + 8, len(data)
        if kind >> 16:  # a small one
            kind, count, start, most = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        stop = start + count
        at = at + 8 if start < at + 8 else stop if kind == _COMPRESSED else stop + -count % 8
        if stop > most and not is_begun:
            raise FileError(f"{label} has an element of {count} bytes, more than there are. It was cut off or altered.")
        yield kind, data[start:stop]


def _parts(kind: int, data: memoryview, order: str, label: str, at_least: int, most: int = 0) -> list[tuple[int, memoryview]]:
    """The elements of a matrix, unpacked if it is compressed: all of it, or so many bytes from its beginning."""
    is_begun = False
    if kind == _COMPRESSED:
        unpacking = zlib.decompressobj()
        kind, count = struct.unpack(f"{order}2I", unpacking.decompress(data, 8))
        refuse_too_large(count, label)
        wanted = min(count, most) if most else count
        data = memoryview(unpacking.decompress(unpacking.unconsumed_tail, max(wanted, 1)))
        is_begun = wanted < count
        if len(data) < wanted:
            raise FileError(f"{label} has {len(data)} of {wanted} bytes. It was cut off or altered.")
    if kind != _MATRIX:
        raise FileError(f"{label} has an element of type {kind} where a matrix should be. It was cut off or altered.")
    found = list(_elements(data, order, label, is_begun=is_begun))
    if len(found) < at_least:
        raise FileError(f"{label} has fewer elements than a matrix has. It was cut off or altered.")
    return found


def _numbers(kind: int, data: memoryview, order: str) -> np.ndarray:
    stored = np.frombuffer(data, f"{order}{_NUMBERS[kind]}")
    return stored.astype(stored.dtype.newbyteorder("="))


def _rows_of_text(kind: int, data: memoryview, shape: tuple[int, ...], order: str) -> list[str]:
    """Rows of characters, which lie there by columns."""
    codec = _CODECS[kind] + ({"<": "-le", ">": "-be"}[order] if kind in (4, 17, 18) else "")
    text = bytes(data).decode(codec, "replace")
    if len(shape) != 2 or min(shape) < 0 or math.prod(shape) > len(text):
        return [text]
    return [text[row : math.prod(shape) : shape[0]] for row in range(shape[0])]
