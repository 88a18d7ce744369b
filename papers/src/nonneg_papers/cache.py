"""Files of the data: found in the folder or downloaded into it, and checked against their hashes each time."""

from __future__ import annotations

import os
import tarfile
import textwrap
import zipfile
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import pooch

VARIABLE = "NONNEG_DATA"
LARGEST_MEMBER = 2**26
"""Bytes to read of a member of an archive: a guard; the largest has 2 MB."""


class FetchError(OSError):
    """A file of a data set that cannot be had, or that is not what it should be.

    See Also
    --------
    load_text : Raises it, as every loader does.

    Examples
    --------
    >>> from nonneg_papers import FetchError
    >>> issubclass(FetchError, Exception)
    True
    """


class File(NamedTuple):
    """A registered file: its hash, and its source.

    Attributes
    ----------
    sha256 : str
    source : str
        A URL; or ARCHIVE#MEMBER, a member of a registered archive; or empty, for a file that cannot be downloaded.
    """

    sha256: str
    source: str = ""

    @property
    def url(self) -> str:
        """The URL of the file, or of the archive that has it."""
        return FILES[self.source.partition("#")[0]].source if "#" in self.source else self.source

    @property
    def origin(self) -> str:
        """The source in words: the file, its archive and repository."""
        *_, owner, repository, _, path = self.url.split("/", 6)
        member = self.source.partition("#")[2]
        return f"{f'{member} in ' if member else ''}{path} of github.com/{owner}/{repository}"


def _registered() -> dict[str, File]:
    registry = pooch.create(path="", base_url="")
    with as_file(files(__package__) / "registry.txt") as path:
        registry.load_registry(path)
    return {path: File(sha256, registry.urls.get(path, "")) for path, sha256 in registry.registry.items()}


FILES = _registered()
"""The files by their paths below the folder."""


def folder() -> Path:
    """Find the folder of the data: ``NONNEG_DATA`` if it is set, else the user's cache."""
    named = os.environ.get(VARIABLE)
    if not named:
        return Path(pooch.os_cache("nonneg"))
    path = Path(named).expanduser()
    if not path.is_dir():
        why = "is a file" if path.exists() else "does not exist"
        raise FetchError(
            f"{VARIABLE} is {named!r}, which {why}. Make it the path of a folder that exists, or unset it to use the cache."
        )
    return path


def locate(path: str) -> Path | None:
    """Find the local copy of a registered file and check it; None if there is none.

    Parameters
    ----------
    path : str
        The path in the registry, which is also the path below the folder.
    """
    local, expected = folder() / path, FILES[path].sha256
    if not local.exists():
        return None
    if not local.is_file():
        raise FetchError(f"{local} is not a file. Move it away, and it will be fetched anew.")
    found = pooch.file_hash(str(local))
    if found != expected:
        raise FetchError(
            f"{local} is not the file it should be. Expected SHA-256 {expected}, found {found}: it was cut off or altered. Delete "
            "it, and it will be fetched anew."
        )
    return local


def fetch(path: str) -> Path:
    """Find the local copy of a registered file, or download it, and check it."""
    return locate(path) or _download(path, FILES[path])


def _download(path: str, file: File) -> Path:
    """Bring a file to its place: complete and right, or not at all."""
    local = folder() / path
    archive, has_member, member = file.source.partition("#")
    if not file.source:
        raise FetchError(f"{path} cannot be downloaded.")
    content = _read_member(fetch(archive), member) if has_member else None

    def download(url: str, arriving: str, _: object) -> None:
        if content is None:
            pooch.HTTPDownloader()(url, arriving, None)
        else:
            Path(arriving).write_bytes(content)

    try:
        pooch.retrieve(file.source, f"sha256:{file.sha256}", local.name, local.parent, downloader=download)
    except (OSError, ValueError) as error:  # no network, no room, no permission; a wrong hash
        raise FetchError(
            f"{path} could not be downloaded from {file.url}: {error}. Set {VARIABLE} to a folder that can be written, or to one "
            f"that has {path}."
        ) from error
    return local


def _read_member(archive: Path, member: str) -> bytes:
    """Read a member of an archive whose hash has been checked; nothing is unpacked."""
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as zipped, zipped.open(member) as stream:
                return stream.read(LARGEST_MEMBER)
        with tarfile.open(archive) as tarred:
            file = tarred.extractfile(member)
            return file.read(LARGEST_MEMBER) if file is not None else b""
    except (KeyError, EOFError, OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise FetchError(f"{archive} is not an archive that has {member}: {error}.") from error


def describe(title: str, paths: Iterable[str], licence: str, notes: str) -> str:
    """Describe a data set, for ``DESCR``: a title, the origins of its files, their licence, and notes."""
    origins = " and ".join(FILES[path].origin for path in paths)
    wrapped = textwrap.fill(" ".join(notes.split()), width=132, break_on_hyphens=False)
    return f"{title}\n\nSource: {origins}.\nLicence: {licence}\n\n{wrapped}\n"
