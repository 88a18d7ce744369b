"""Readers of the formats that the data come in: nothing that is read can run code, and each file has been checked by its hash."""

from __future__ import annotations

import bz2
import gzip
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ._cache import FetchError


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file."""
    from scipy.io import loadmat

    return loadmat(path)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file; pickled objects are refused."""
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def read_pgm(path: Path) -> np.ndarray:
    """A binary 8-bit PGM picture, height × width."""
    content = path.read_bytes()
    header = re.match(rb"P5\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+255\s", content)
    if header is None:
        raise FetchError(
            f"{path} is not a binary 8-bit PGM picture: it starts with {content[:16]!r}. Delete it, and it will be fetched anew."
        )
    width, height = int(header[1]), int(header[2])
    pixels = content[header.end() :]
    if len(pixels) != width * height:
        raise FetchError(
            f"{path} says {height} × {width} pixels and has {len(pixels)}: it was cut off or altered. Delete it, and it will be "
            "fetched anew."
        )
    return np.frombuffer(pixels, np.uint8).reshape(height, width)


def read_nifti(path: Path) -> tuple[np.ndarray, float, np.ndarray]:
    """A compressed little-endian NIfTI-1 volume of 8 bits, its axes turned to right, anterior, superior.

    Returns
    -------
    volume : array of uint8, of three dimensions
    scale : float
        What a grey level is worth.
    affine : array of shape (4, 4)
        From voxels to millimetres.
    """
    content = gzip.decompress(path.read_bytes())
    (size,) = struct.unpack_from("<i", content, 0)
    dimensions = struct.unpack_from("<8h", content, 40)
    datatype, bits = struct.unpack_from("<2h", content, 70)
    start, scale, shift = struct.unpack_from("<3f", content, 108)
    (space,) = struct.unpack_from("<h", content, 254)
    if (size, content[344:348], dimensions[0], datatype, bits, shift) != (348, b"n+1\0", 3, 2, 8, 0.0) or space <= 0:
        raise FetchError(f"{path} is not a NIfTI-1 volume of 8 bits with three axes and an affine; only such are read here.")
    shape = dimensions[1:4]
    volume = np.frombuffer(content, np.uint8, count=int(np.prod(shape)), offset=int(start)).reshape(shape, order="F")
    affine = np.vstack([np.frombuffer(content, "<f4", count=12, offset=280).reshape(3, 4), [0, 0, 0, 1]]).astype(np.float64)
    axes = np.argmax(np.abs(affine[:3, :3]), axis=1)  # the voxel axis that runs along x, y, z
    volume, affine = volume.transpose(axes), affine[:, [*axes, 3]]
    for axis in range(3):
        if affine[axis, axis] < 0:
            volume = np.flip(volume, axis)
            affine[:3, 3] += (shape[axes[axis]] - 1) * affine[:3, axis]
            affine[:3, axis] *= -1
    return np.ascontiguousarray(volume), scale or 1.0, affine  # a scale of 0 means none


def read_rdata(path: Path) -> dict[str, np.ndarray]:
    """The numeric arrays of an R file (.RData, .rda), as R's save() writes it compressed by bzip2."""
    content = bz2.decompress(path.read_bytes())
    if content[:4] not in (b"RDX2", b"RDX3") or content[4:7] != b"\nX\n":
        raise FetchError(f"{path} is not a file of R's save() in its binary form.")
    return _RReader(content, start=7).variables()


class _RReader:
    """R's serialization, as far as numeric arrays with names and dimensions need it ("R Internals", §1.8)."""

    NIL, REFERENCE, SYMBOL, PAIRS, CHARACTERS, INTEGERS, REALS = 254, 255, 1, 2, 9, 13, 14

    def __init__(self, content: bytes, start: int) -> None:
        self.content, self.offset = content, start
        self.symbols: list[str] = []
        version = self.integer()
        self.offset += 8  # the versions of R that wrote it and that can read it
        if version == 3:
            self.take(self.integer())  # the name of the encoding

    def variables(self) -> dict[str, np.ndarray]:
        return self.item()

    def take(self, count: int) -> bytes:
        self.offset += count
        return self.content[self.offset - count : self.offset]

    def integer(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def item(self) -> Any:
        flags = self.integer()
        kind, has_attributes = flags & 255, bool(flags & 512)
        if kind == self.NIL:
            return {}
        if kind == self.REFERENCE:
            return self.symbols[(flags >> 8) - 1]
        if kind == self.SYMBOL:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == self.CHARACTERS:
            return self.take(self.integer()).decode()
        if kind == self.PAIRS:
            tag, value = self.item(), self.item()
            return {tag: value, **self.item()}
        if kind in (self.INTEGERS, self.REALS):
            dtype = np.dtype(">i4" if kind == self.INTEGERS else ">f8")
            values = np.frombuffer(self.take(self.integer() * dtype.itemsize), dtype)
            attributes = self.item() if has_attributes else {}
            return values.reshape(attributes.get("dim", values.shape), order="F")
        raise FetchError(f"The R file holds an object of type {kind}; only numeric arrays are read here.")
