"""Arrays of zarr, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from ..data.sources import zarr
from .base import Kind, Source, Wanted
from .large import values_of
from .table import Table


class Zarr(Kind):
    """One array of two dimensions, or that which is asked for by its name."""

    name: ClassVar[str] = "zarr"
    suffixes: ClassVar[tuple[str, ...]] = (".zarr",)
    writes: ClassVar[bool] = False
    has: ClassVar[frozenset[str]] = frozenset({"variable"})

    def recognises(self, source: Source) -> bool:
        return source.path.is_dir() and any((source.path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup"))

    def is_part(self, file: Path, folder: Path) -> bool:
        return True

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        found = zarr.open_file(source.path, wanted.variable, "variable")
        return Table(values_of(found, in_blocks=wanted.in_blocks), found.sample_names, found.columns)
