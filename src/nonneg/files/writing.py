"""Files that are there whole or not at all, and the question, before any work, whether they can be written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def written_whole(path: Any) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` once it is complete and on the disk; it is removed if that fails."""
    path = Path(os.path.realpath(path))
    check_writable(path)
    stem, dot, suffixes = path.name.lstrip(".").partition(".")
    handle, name = tempfile.mkstemp(prefix=f".{stem}-", suffix=dot + suffixes, dir=path.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        try:
            yield unfinished
        except OSError as error:
            raise OSError(f"{path} could not be written, and is as it was before: {error}.") from error
        with open(unfinished, "rb") as written:
            os.fsync(written.fileno())
        os.chmod(unfinished, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(unfinished, path)
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def check_writable(path: Any) -> None:
    """An error, as writing would raise it, where a file cannot be written."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file, and is not written to.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder, so {path.name} cannot be written there.")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be written.")
    try:
        with tempfile.NamedTemporaryFile(prefix=".nonneg-", dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the new name last; not every system lets folders be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
