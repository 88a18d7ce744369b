"""Where the files of the data sets lie, how they come there, and whether they are the right ones.

A file is looked for under the folder that the environment variable ``NONNEG_DATA`` names, else in the user's cache; it is
downloaded if it is not there, and checked against its pinned hash each time, whether it was found or downloaded.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType

from ._registry import FILES, File

VARIABLE = "NONNEG_DATA"
UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST}


class FetchError(OSError):
    """A file of a data set that cannot be had, or that is not what it should be."""


def folder() -> Path:
    """The folder that holds the data: ``NONNEG_DATA`` if it is set, else the user's cache."""
    named = os.environ.get(VARIABLE)
    if not named:
        return Path(_pooch("finds the cache folder").os_cache("nonneg"))
    path = Path(named).expanduser()
    if not path.is_dir():
        why = "is a file" if path.exists() else "does not exist"
        raise FetchError(
            f"{VARIABLE} is {named!r}, which {why}. Make it the path of a folder that exists, or unset it to use the cache."
        )
    return path


def locate(path: str) -> Path | None:
    """The local copy of a registered file, checked; None if there is none.

    Parameters
    ----------
    path : str
        The path in the registry, which is also the path below the folder.
    """
    file = FILES[path]
    local = folder() / file.path
    if not local.exists():
        return None
    _check(file, local)
    return local


def fetch(path: str) -> Path:
    """The local copy of a registered file, downloaded if need be, and checked."""
    file = FILES[path]
    if file.url is None:
        raise FetchError(f"{path} cannot be downloaded: it is made from {', '.join(file.sources)}. Load its data set instead.")
    return locate(path) or _download(file, folder() / file.path)


def _check(file: File, local: Path, origin: str | None = None) -> None:
    """Compare a file with its pinned hash; origin is where it was downloaded from just now."""
    name = origin or local
    if not local.is_file():
        raise FetchError(
            f"{name} is not a file; it should be one of {file.bytes} bytes. Move it away, and it will be fetched anew."
        )
    if not file.sha256:  # a picture of a set that is checked as a whole
        return
    content = local.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        remedy = (
            f"the download was cut off, or the source has changed. Try again, or set {VARIABLE} to a folder that has {file.path}."
            if origin
            else "it was cut off or altered. Delete it, and it will be fetched or made anew."
        )
        raise FetchError(
            f"{name} is not the file it should be. Expected SHA-256 {file.sha256} ({file.bytes} bytes), found {found} "
            f"({len(content)} bytes): {remedy}"
        )


def _download(file: File, local: Path) -> Path:
    """Bring a file to its place: complete and right, or not at all."""
    assert file.url is not None
    pooch = _pooch(f"downloads {file.path} from {file.url}")
    try:
        local.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=local.parent, prefix=".download-") as temporary:
            arriving = Path(temporary) / local.name
            if file.member:
                archive = Path(temporary) / "archive.zip.part"
                pooch.HTTPDownloader()(file.url, str(archive), None)
                arriving.write_bytes(_member(file, archive.read_bytes()))
                _check(file, arriving, origin=f"{file.member} in {file.url}")
            else:
                pooch.HTTPDownloader()(file.url, str(arriving), None)
                _check(file, arriving, origin=file.url)
            os.replace(arriving, local)
    except FetchError:
        raise
    except OSError as error:  # requests' errors are OSError too, without these numbers
        if error.errno in UNWRITABLE:
            raise FetchError(
                f"{local} is not there and cannot be written: {error}. Set {VARIABLE} to a folder that can be written, or to one "
                f"that already has {file.path} ({file.bytes} bytes, from {file.url})."
            ) from error
        raise FetchError(
            f"{file.path} could not be downloaded from {file.url}: {error}. Without a network, set {VARIABLE} to a folder that has "
            f"{file.path}."
        ) from error
    return local


def _member(file: File, content: bytes) -> bytes:
    """What an archive that was downloaded has under the name of the member; nothing else of it is unpacked."""
    if not file.archive_sha256:
        return _tar_member(file, content)
    found = hashlib.sha256(content).hexdigest()
    if found != file.archive_sha256:
        raise FetchError(
            f"{file.url} is not the archive it should be. Expected SHA-256 {file.archive_sha256}, found {found} ({len(content)} "
            f"bytes): the download was cut off, or the source has changed. Try again, or set {VARIABLE} to a folder that has "
            f"{file.path}."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(file.member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(f"{file.url} is not a zip archive that has {file.member}: {error}.") from error


def _tar_member(file: File, content: bytes) -> bytes:
    """That of a tar archive whose own hash is not known: the member's will be checked; only what has its name and size is read."""
    assert file.url is not None
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                if member.isfile() and member.name.split("/")[-1] == file.member and member.size == file.bytes:
                    unpacked = archive.extractfile(member)
                    return unpacked.read() if unpacked is not None else b""
    except (tarfile.TarError, OSError, EOFError) as error:
        raise FetchError(f"{file.url} is not a tar archive: {error}.") from error
    raise FetchError(f"{file.url} has no {file.member} of {file.bytes} bytes. Set {VARIABLE} to a folder that has {file.path}.")


def _pooch(purpose: str) -> ModuleType:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"pooch {purpose}, and is not installed: pip install 'nonneg[data]'. Without it, set {VARIABLE} to a folder that has "
            "the files."
        ) from error
    return pooch
