"""Values on surfaces, one number a vertex: base of their formats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .base import Kind, Source, Wanted, altered_files_refused
from .large import new_matrix, release
from .numpy_arrays import left_on_disk
from .scan_names import tell_apart
from .table import Layout, Table


class Vertices(Kind):
    """Samples are maps, features the vertices of the mask; without one, those that are neither zero nor NaN in one map at least."""

    several: ClassVar[bool] = True
    has: ClassVar[frozenset[str]] = frozenset({"mask"})

    @abstractmethod
    def open(self, source: Source) -> Any:
        """An image of nibabel."""

    @abstractmethod
    def is_image(self, image: Any) -> bool:
        """Whether an image of nibabel is of this kind."""

    @abstractmethod
    def rows_of(self, image: Any, label: str) -> np.ndarray:
        """A row for each map."""

    @abstractmethod
    def header_of(self, image: Any) -> np.ndarray | None:
        """Identifier of the surface of the vertices, in bytes."""

    @abstractmethod
    def image_of(self, layout: Layout, maps: np.ndarray, path: Path | None = None) -> Any:
        """An image of maps over all vertices, one a row; of whole numbers, an atlas. The path tells which of several forms."""

    def rows(self, source: Source) -> tuple[np.ndarray, np.ndarray | None]:
        """The maps of a file, and its header."""
        with altered_files_refused(source.label, self.name):
            image = self.open(source)
            return np.asarray(self.rows_of(image, source.label), dtype=np.float32), self.header_of(image)

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        first, header = self.rows(sources[0])
        counts, inside = [len(first)], is_inside(first)
        for source in sources[1:]:
            values, other = self.rows(source)
            check_same_surface(source.label, values.shape[1], other, sources[0].label, first.shape[1], header)
            counts.append(len(values))
            inside |= is_inside(values)
        wanted.refuse_more_parts(sum(counts))
        mask = inside if wanted.mask is None else self._mask(wanted.mask, first.shape[1], header, sources[0].label)
        if not mask.any():
            raise FileError(f"{sources[0].label} is zero or NaN at all vertices.")
        shape = sum(counts), int(mask.sum())
        found = new_matrix(shape, np.dtype(np.float32), sources[0].label)
        names: list[str] = []
        for source, count, name in zip(sources, counts, tell_apart([source.path for source in sources]), strict=True):
            found[len(names) : len(names) + count] = self.rows(source)[0][:, mask]
            release(found)
            names += [name] if count == 1 else [f"{name} {number + 1}" for number in range(count)]
        return Table(left_on_disk(found, wanted.blocks), samples=names, layout=Layout((len(mask),), mask, header=header))

    def _mask(self, given: Path | Layout, count: int, header: np.ndarray | None, first: str) -> np.ndarray:
        if isinstance(given, Layout):
            check_same_surface(first, count, header, "what was fitted", given.shape[0], given.header)
            return np.ones(count, dtype=bool) if given.mask is None else given.mask
        source = Source(given)
        source.refuse_useless()
        if not self.recognises(source):
            raise FileError(f"{source.label} is no file of {self.name}, as the scans are and a mask has to be.")
        values, other = self.rows(source)
        check_same_surface(source.label, values.shape[1], other, first, count, header)
        if len(values) != 1:
            raise FileError(f"{source.label} has {len(values)} maps; a mask is one.")
        if not is_inside(values).any():
            raise FileError(f"{source.label} is zero or NaN at all vertices, so that none would be read.")
        return is_inside(values)

    def check_layout(self, layout: Layout | None) -> None:
        """Refuse tables whose features are no vertices."""
        if layout is None or len(layout.shape) != 1:
            raise FileError(f"{self.name} can be written if features are vertices: of fits to surfaces.")

    def write(self, table: Table, path: Path) -> None:
        layout = table.layout
        self.check_layout(layout)
        assert layout is not None
        values = table.values.toarray() if sparse.issparse(table.values) else np.asarray(table.values)
        is_atlas = len(values) == 1 and values.dtype.kind in "iu"
        maps = np.stack([layout.picture(row) for row in values.astype(np.int32 if is_atlas else np.float32)])
        self.image_of(layout, maps, path).to_filename(path)


def is_inside(maps: np.ndarray) -> np.ndarray:
    """Vertices that are neither zero nor NaN in one map at least."""
    return np.asarray(((maps != 0) & ~np.isnan(maps)).any(axis=0))


def check_same_surface(
    label: str, count: int, header: np.ndarray | None, first: str, first_count: int, first_header: np.ndarray | None
) -> None:
    """Refuse maps of other surfaces than the first one."""
    if count != first_count:
        raise FileError(
            f"{label} has {count} vertices, and {first} has {first_count}: resample one to the mesh of the other first."
        )
    if header is not None and first_header is not None and not np.array_equal(header, first_header):
        raise FileError(f"{label} and {first} have as many vertices, but of different surfaces: {_told(header, first_header)}.")


def _told(header: np.ndarray, other: np.ndarray) -> str:
    """Two headers in words, if they are short."""
    texts = [one.tobytes().decode("utf8", "replace") for one in (header, other)]
    return " and ".join(texts) if max(map(len, texts)) < 60 else "their brain models differ"
