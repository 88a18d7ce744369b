"""Zip archives and NumPy's arrays in them, read without trust in their headers."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np

from ..exceptions import FileError
from ..kernels.memory import refuse_too_large
from .numpy_arrays import check_size, read_header

_MEMBERS = 1_000_000
"""Members of an archive, at most: guards against hostile ones."""


@contextmanager
def opened(path: Path | Any, label: str) -> Iterator[zipfile.ZipFile]:
    """A zip archive with checked names and sizes; errors of reading name its fault."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(archive, label)
            yield archive
    # zipfile raises NotImplementedError for unknown compressions.
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise FileError(f"{label} is not a whole archive: {error}. It was cut off or altered.") from error


def check_members(archive: zipfile.ZipFile, label: str) -> None:
    """Refuse names that lead out of the archive or stand for several files, and more content than there is memory for."""
    members = archive.infolist()
    if len(members) > _MEMBERS:
        raise FileError(f"{label} is an archive of {len(members)} files, more than any that is read here.")
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or not path.parts or ":" in path.parts[0]:
            raise FileError(f"{label} is an archive with a file called {member.filename!r}, outside of it; it is not read.")
        if member.flag_bits & 1:
            raise FileError(f"{label} is an archive with a password on {member.filename!r}; it is not read.")
    name, count = Counter(member.filename for member in members).most_common(1)[0] if members else ("", 0)
    if count > 1:
        raise FileError(
            f"{label} is an archive with {count} files called {name!r}, of which one would hide the others; it is not read."
        )
    refuse_too_large(sum(member.file_size for member in members), label)


def read_array(archive: zipfile.ZipFile, name: str, label: str) -> np.ndarray:
    """An array of an archive."""
    with archive.open(name) as stream:
        return read_npy(stream, archive.getinfo(name).file_size, f"{label}, {name}")


def read_npy(stream: BinaryIO | Any, n_bytes: int, label: str) -> np.ndarray:
    """An array in NumPy's form; its header has to agree with how much there is, before any room is made for it."""
    shape, is_fortran, dtype, start = read_header(stream, label)
    check_size(shape, dtype, n_bytes - start, label)
    content = stream.read(n_bytes - start)
    if len(content) != n_bytes - start:
        raise FileError(f"{label} has {len(content)} of {n_bytes - start} bytes: it was cut off.")
    array = np.frombuffer(content, dtype=dtype)
    return array.reshape(shape, order="F" if is_fortran else "C").copy(order="K")  # to the same bits in products
