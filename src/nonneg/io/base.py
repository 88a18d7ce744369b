"""Base of kinds of files, and the checks before one is read."""

from __future__ import annotations

import gzip
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from ..exceptions import DataError, FileError, ShapeError
from ..kernels.memory import available_bytes, readable, refuse_too_large
from .stored import StoredMatrix
from .table import Layout, Table

_HEAD = 8192
"""Leading bytes that identify the kind of a file."""


_COPIES = 4
"""How many times the size of its text a table takes in memory while it is read: bytes, text, cells and numbers."""
_PIECE = 1 << 20
"""Bytes that are unpacked at a time."""


_SIDECARS = (".json", ".txt", ".md", ".tsv", ".csv", ".bval", ".bvec", "thumbs.db", "desktop.ini", ".nonneg", ".html")
"""Ends of the names of files that accompany images and scans in a folder, as BIDS, Windows and our own outputs have them."""


def is_sidecar(name: str) -> bool:
    """Whether a file of a folder is left out without a word: a hidden one, or one that accompanies the others."""
    return name.startswith(".") or name.lower().endswith(_SIDECARS)


@dataclass(frozen=True)
class Wanted:
    """Options of reading a file."""

    variable: str | None = None
    mask: Path | Layout | None = None
    ignore: tuple[str, ...] = ()
    blocks: Callable[[StoredMatrix], Any] | None = None
    """Opens a large matrix that is left in its file, to be read in blocks; None: all is read into memory."""
    parts: int = 0
    """How many parts are to be learned, at least as many as there must be scans; 0: no matter."""

    def refuse_more_parts(self, subjects: int) -> None:
        """Refuse more parts than there are scans, before these are read."""
        if self.parts > subjects:
            raise ShapeError(
                f"{self.parts} parts are more than the {subjects} subject{'s' if subjects > 1 else ''}: each would be a part of "
                f"its own. Use at most {subjects}, or give more scans."
            )


_MEANINGLESS = {
    "variable": "it holds one array, so that there is no variable to choose.",
    "mask": "a mask is for volumes, NIfTI, or a table with a column of their paths.",
    "ignore": "its columns cannot be left out by name, which can be done with tables of text and Parquet.",
}
"""Why a field of `Wanted` makes no sense."""


@dataclass(frozen=True)
class Source:
    """A file, and how it begins.

    Parameters
    ----------
    path : path
        The file; its first bytes are read when they are asked for.

    See Also
    --------
    Kind : Recognises sources.
    read : Reads a file of any kind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nonneg.files import Source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "x.csv")
    ...     size = path.write_text("a,b")
    ...     print(Source(path).head)
    b'a,b'
    """

    path: Path

    @property
    def label(self) -> str:
        return str(self.path)

    @cached_property
    def name(self) -> str:
        """In lower case, without the end that says that it is compressed."""
        return self.path.name.lower().removesuffix(".gz")

    @cached_property
    def is_compressed(self) -> bool:
        with open(self.path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed if the file is in gzip."""
        if self.path.is_dir():
            return b""
        with open(self.path, "rb") as file:
            if not self.is_compressed:
                return file.read(_HEAD)
            with gzip.open(file) as inside:
                return _unzipped(self, inside, _HEAD)

    @property
    def is_text(self) -> bool:
        return b"\0" not in self.head and not any(byte < 9 for byte in self.head)

    def content(self) -> bytes:
        """All of it, if there is room for it."""
        if not self.is_compressed:
            refuse_too_large(_COPIES * self.path.stat().st_size, self.label)
            return self.path.read_bytes()
        limit = (available_bytes() or 1 << 62) // _COPIES
        found = bytearray()
        with gzip.open(self.path) as inside:
            while piece := _unzipped(self, inside, _PIECE):
                found += piece
                if len(found) > limit:
                    raise FileError(
                        f"{self.label} unpacks to more than the {readable(_COPIES * limit)} of memory that are free hold."
                    )
        return bytes(found)

    def text(self) -> str:
        """All of it, as text."""
        content = self.content()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("latin-1")

    def refuse_useless(self) -> None:
        """Refuse files that no kind reads: missing ones, empty ones, and pickles, which would run code."""
        if not self.path.exists():
            raise FileNotFoundError(f"There is no file {self.label}.")
        if self.path.is_dir():
            return
        if not self.path.is_file():
            raise FileError(f"{self.label} is not a file.")
        if not self.path.stat().st_size or not self.head:
            raise FileError(f"{self.label} is empty: nothing is stored in it.")
        if self.head[:1] == b"\x80" and self.head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
            raise FileError(
                f"{self.label} is a pickle. Reading one can run any code that it holds, so it is not read here; save arrays with "
                "numpy.save."
            )


def _unzipped(source: Source, inside: gzip.GzipFile, most: int) -> bytes:
    try:
        return inside.read(most)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{source.label} cannot be unpacked by gzip: {error}. It was cut off or altered.") from error


@contextmanager
def altered_files_refused(label: str, kind: str, others: Iterable[str] = ()) -> Iterator[None]:
    """Gate of all readers: an error of the library that reads a file becomes a `FileError` that names it, or one of others.

    Libraries have no error of their own for a file that was cut off or altered: they raise what they stumble over.
    """
    try:
        yield
    except FileError as error:
        if type(error) is FileError and not any(name in str(error) for name in (label, *others)):
            raise FileError(f"{label}: {error}") from error
        raise
    except (DataError, ImportError):
        raise
    except MemoryError as error:
        free = available_bytes()
        said = "" if free is None else f", of which {readable(free)} are free"
        raise FileError(f"{label} holds more than fits into memory{said}.") from error
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.errno is None:  # ours: another file that this one names, a mask, a scan
            raise
        if error.errno is not None:  # the system's: a lock, a right that is missing
            raise FileError(f"{label} cannot be read: {error}.") from error
        raise FileError(f"{label} is not a whole file of {kind}: {error}. It was cut off or altered.") from error
    except Exception as error:
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise FileError(f"{label} is not a whole file of {kind}: {said}. It was cut off or altered.") from error


def refuse_link(path: Path) -> None:
    """Refuse a file of a folder that is a link out of the folder."""
    if path.is_symlink() and path.parent.resolve() not in path.resolve().parents:
        raise FileError(
            f"{path} is a link to {os.path.realpath(path)}, out of its folder, which is not followed. Where that is meant, give a "
            "list of the files."
        )


class Kind(ABC):
    """A kind of file. A subclass says how such files begin or end, and how they are read and written.

    See Also
    --------
    kind_of : The kind of a file.
    Source : A file and its first bytes.
    Table : What is read.

    Examples
    --------
    >>> from nonneg.files import Kind, kind_to_write
    >>> isinstance(kind_to_write("parts.csv"), Kind)
    True
    """

    name: ClassVar[str]
    """Its name in messages."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """How names of such files end, in lower case."""
    begins: ClassVar[tuple[bytes, ...]] = ()
    """The first bytes of such files, if they tell."""
    writes: ClassVar[bool] = True
    several: ClassVar[bool] = False
    """Whether several files can be read as samples of one table."""
    opens: ClassVar[tuple[str, ...]] = ()
    """How names of files end whose matrix can be opened, to be read in blocks."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Libraries whose open files and arrays can be."""
    is_plain_text: ClassVar[bool] = False
    """Whether the content does not tell, so that the name has to."""
    has: ClassVar[frozenset[str]] = frozenset()
    """Which of the fields of `Wanted` make sense."""

    def recognises(self, source: Source) -> bool:
        """Whether a file is of this kind, by how it begins; a folder, by what is in it."""
        return self.holds(source.path) if source.path.is_dir() else bool(self.begins) and source.head.startswith(self.begins)

    def holds(self, folder: Path) -> bool:
        """Whether a folder is of this kind."""
        return False

    @abstractmethod
    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        """The table of a file, or of several."""

    def write(self, table: Table, path: Path) -> None:
        """Write to a file that nobody else uses."""
        raise FileError(f"Files of {self.name} are read here, but not written.")

    def open_path(self, path: Path, key: str | None) -> StoredMatrix:
        """The matrix in a file, or that of a name, left there to be read in blocks."""
        raise FileError(f"Files of {self.name} are not read in blocks.")

    def is_handle(self, X: Any) -> bool:
        """Whether an object of the libraries is an open file or array, rather than one in memory."""
        return False

    def open_handle(self, handle: Any, key: str | None) -> StoredMatrix | None:
        """The matrix behind an open file or array; None without one."""
        return None

    def check_layout(self, layout: Layout | None) -> None:  # noqa: B027 — tables may have any
        """Refuse tables whose features lie where files of this kind cannot have them."""

    def is_written_to(self, name: str) -> bool:
        """Whether a name, in lower case, is that of a file of this kind."""
        return self.writes and name.endswith(self.suffixes)

    def is_part(self, file: Path, folder: Path) -> bool:
        """Whether a file is read as part of its folder."""
        return False

    def check_wanted(self, wanted: Wanted, source: Source) -> None:
        """Refuse options that this kind does not have, instead of ignoring them."""
        for field, value in vars(wanted).items():
            if value and field in _MEANINGLESS and field not in self.has:
                raise FileError(f"{source.label} is read as {self.name}; {_MEANINGLESS[field]}")
