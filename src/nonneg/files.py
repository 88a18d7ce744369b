"""Read and write tables, images, brain images and graphs: the public names of `nonneg.io`."""

from .io import KINDS, FileError, Kind, Layout, Source, Table, check_writable, kind_of, kind_to_write, read, write, written_whole

__all__ = [
    "FileError",
    "KINDS",
    "Kind",
    "Layout",
    "Source",
    "Table",
    "check_writable",
    "kind_of",
    "kind_to_write",
    "read",
    "write",
    "written_whole",
]
