"""FreeSurfer: values at the vertices of a hemisphere, in .mgh and .mgz or in morph files such as lh.thickness."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import FileError, needed
from .base import Source
from .scan_names import is_morph
from .table import Layout
from .vertices import Vertices

_MORPH, _VERSION = b"\xff\xff\xff", b"\x00\x00\x00\x01"


class MGH(Vertices):
    """One map for each frame of an overlay."""

    name: ClassVar[str] = "MGH"
    suffixes: ClassVar[tuple[str, ...]] = (".mgh", ".mgz")

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(_VERSION) and source.path.name.lower().endswith(self.suffixes)

    def is_image(self, image: Any) -> bool:
        return isinstance(image, needed("nibabel", "neuro", "Reading MGH").MGHImage) and tuple(image.shape[1:3]) == (1, 1)

    def open(self, source: Source) -> Any:
        return needed("nibabel", "neuro", "Reading MGH").MGHImage.from_bytes(source.content())

    def rows_of(self, image: Any, label: str) -> np.ndarray:
        if tuple(image.shape[1:3]) != (1, 1):
            raise FileError(f"{label} is a volume of {image.shape}, not an overlay of vertices: convert it to NIfTI.")
        return np.asarray(image.dataobj).reshape(image.shape[0], -1).T

    def header_of(self, image: Any) -> None:
        return None

    def image_of(self, layout: Layout, maps: np.ndarray, path: Path | None = None) -> Any:
        nibabel = needed("nibabel", "neuro", "Writing MGH")
        frames = maps.T[:, None, None, :]
        return nibabel.MGHImage(frames[..., 0] if len(maps) == 1 else frames, np.eye(4))


class _Morph(NamedTuple):
    """One number a vertex, with the interface of an image."""

    values: np.ndarray

    def to_filename(self, path: Any) -> None:
        """Write a morph file."""
        needed("nibabel.freesurfer", "neuro", "Writing FreeSurfer files").write_morph_data(path, self.values)


class Morph(Vertices):
    """One map a file; written is one row, such as an atlas."""

    name: ClassVar[str] = "FreeSurfer's morph files"

    def recognises(self, source: Source) -> bool:
        return source.head.startswith(_MORPH) and is_morph(source.path)

    def is_written_to(self, name: str) -> bool:
        return is_morph(Path(name))

    def is_image(self, image: Any) -> bool:
        return isinstance(image, _Morph)

    def open(self, source: Source) -> Any:
        return _Morph(needed("nibabel.freesurfer", "neuro", "Reading FreeSurfer files").read_morph_data(source.path))

    def rows_of(self, image: Any, label: str) -> np.ndarray:
        return np.asarray(image.values)[None]

    def header_of(self, image: Any) -> None:
        return None

    def image_of(self, layout: Layout, maps: np.ndarray, path: Path | None = None) -> Any:
        if len(maps) != 1:
            raise FileError(f"{self.name} hold one map, and there are {len(maps)}: write them to .mgh.")
        return _Morph(maps[0].astype(np.float32))
