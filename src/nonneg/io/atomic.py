"""Write files whole or not at all: a file that cannot be completed leaves the one before it in place."""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any


@contextmanager
def written_whole(path: Any) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` once it is complete and on the disk; it is removed if that fails.

    Parameters
    ----------
    path : str or path
        The file to replace.

    Yields
    ------
    Path
        A new file beside the old one.

    See Also
    --------
    write : Writes a table so.
    check_writable : Asks before long work.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nonneg.files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.txt")
    ...     with written_whole(path) as new:
    ...         size = new.write_text("complete")
    ...     print(path.read_text())
    complete
    """
    path = Path(os.path.realpath(path))
    check_writable(path)
    remove_left_over(path)
    prefix = f"{short_name(path)}-{_machine()}-{os.getpid()}-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=f".tmp{_ending(path)}", dir=path.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        try:
            yield unfinished
            with open(unfinished, "rb") as written:
                os.fsync(written.fileno())
            os.chmod(unfinished, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            os.replace(unfinished, path)
        except OSError as error:
            kept = " The one before it is still there, whole." if path.exists() else ""
            raise OSError(f"{path} could not be written: {error}.{kept}") from error
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def short_name(path: Path) -> str:
    """Beginning of names of files beside a file: its own name may be as long as names can be, or begin as that of another does."""
    return f".nonneg-{hashlib.blake2b(os.fsencode(path.name), digest_size=8).hexdigest()}"


def _ending(path: Path) -> str:
    """The suffix of a name, from which libraries infer the format."""
    endings = path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]
    return "".join(ending for ending in endings if len(os.fsencode(ending)) <= _LONGEST_ENDING)


_LONGEST_ENDING = 16
"""Bytes; no kind of file has a longer one."""


def remove_left_over(path: Path) -> None:
    """Remove unfinished files beside a file whose processes are gone; those of other machines stay."""
    for unfinished in path.parent.glob(f"{short_name(path)}-{_machine()}-*.tmp*"):
        if not _is_alive(int(unfinished.name.split("-")[3])):
            with suppress(OSError):
                unfinished.unlink()


@cache
def _machine() -> str:
    """Identifier of the machine or container of a process number."""
    try:
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:  # not on this system
        processes = ""
    return hashlib.blake2b(f"{platform.node()} {processes}".encode(), digest_size=4).hexdigest()


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # this signal would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def check_writable(path: Any) -> None:
    """Raise the error of writing if a file cannot be written.

    Parameters
    ----------
    path : str or path
        The file; it is not touched.

    See Also
    --------
    write : Writes a table.
    written_whole : Replaces a file once it is complete.

    Examples
    --------
    >>> from nonneg.files import check_writable
    >>> try:
    ...     check_writable("/no/such/folder/parts.csv")
    ... except OSError as error:
    ...     print("cannot be written")
    cannot be written
    """
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
        with tempfile.TemporaryFile(prefix=".nonneg-", dir=path.parent):  # unnamed, on systems that can
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
