"""Readers of the formats of the data; none runs code from a file, and each file has been checked by its hash."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .cache import FetchError


def make_sparse(matrix: Any) -> csr_array:
    """Make a matrix as the loaders return it: sorted, float64, indices of 32 bits, without stored zeros."""
    matrix = csr_array(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)  # scikit-learn wants these
    return matrix


def read_mat(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file."""
    from scipy.io import loadmat

    return loadmat(path, spmatrix=False)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of an .npz file; pickled objects are refused."""
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def read_picture(path: Path) -> np.ndarray:
    """Read the greys of a picture of 8 bits, height × width."""
    from PIL import Image

    try:
        with Image.open(path, formats=["PPM"]) as picture:
            if picture.mode == "L":
                return np.asarray(picture)
    except OSError as error:
        raise FetchError(f"{path} is not a PGM picture: {error}. Delete it, and it will be fetched anew.") from error
    raise FetchError(f"{path} is not a PGM picture of 8 bits. Delete it, and it will be fetched anew.")


def read_nifti(path: Path) -> tuple[np.ndarray, float, np.ndarray]:
    """Read a NIfTI volume of 8 bits, its axes turned to right, anterior, superior.

    Returns
    -------
    volume : array of uint8, of three dimensions
    scale : float
        The worth of a grey level.
    affine : array of shape (4, 4)
        From voxels to millimetres.
    """
    import nibabel
    from nibabel.filebasedimages import ImageFileError
    from nibabel.orientations import apply_orientation, inv_ornt_aff, io_orientation

    try:
        image: Any = nibabel.load(path)
        volume = image.dataobj.get_unscaled()
    except (OSError, EOFError, ImageFileError) as error:
        raise FetchError(f"{path} is not a NIfTI volume: {error}. Delete it, and it will be fetched anew.") from error
    if volume.ndim != 3 or volume.dtype != np.uint8 or image.dataobj.inter:
        raise FetchError(f"{path} is not a NIfTI volume of 8 bits with three axes; only such are read here.")
    turn = io_orientation(image.affine)
    affine = image.affine @ inv_ornt_aff(turn, volume.shape)
    return np.ascontiguousarray(apply_orientation(volume, turn)), float(image.dataobj.slope), affine


def read_rdata(path: Path) -> dict[str, np.ndarray]:
    """Read the numeric arrays of an R file (.RData, .rda), as R's save() writes it compressed by bzip2."""
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
