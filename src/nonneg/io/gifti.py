"""GIFTI: values at the vertices of one surface."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import FileError, needed
from .base import Source
from .table import Layout
from .vertices import Vertices

_STRUCTURE = "AnatomicalStructurePrimary"
_MESHES = ("NIFTI_INTENT_POINTSET", "NIFTI_INTENT_TRIANGLE")


class GIFTI(Vertices):
    """One map for each array of data, .func.gii and .shape.gii; an atlas is written with labels, .label.gii."""

    name: ClassVar[str] = "GIFTI"
    suffixes: ClassVar[tuple[str, ...]] = (".gii",)

    def recognises(self, source: Source) -> bool:
        return b"<GIFTI" in source.head[:2000]

    def is_image(self, image: Any) -> bool:
        return isinstance(image, needed("nibabel", "neuro", "Reading GIFTI").GiftiImage)

    def open(self, source: Source) -> Any:
        nibabel = needed("nibabel", "neuro", "Reading GIFTI")
        content = source.content()
        if b"ExternalFileBinary" in content:
            raise FileError(f"{source.label} has its values in another file, which is not opened. Save it with them inside.")
        return nibabel.GiftiImage.from_bytes(content)

    def rows_of(self, image: Any, label: str) -> np.ndarray:
        if not image.darrays:
            raise FileError(f"{label} holds no values.")
        nibabel = needed("nibabel", "neuro", "Reading GIFTI")
        codes = [nibabel.nifti1.intent_codes.niistring[array.intent] for array in image.darrays]
        if any(code in _MESHES for code in codes):
            raise FileError(f"{label} is a mesh, with coordinates and triangles in place of values.")
        parts = [np.asarray(array.data) for array in image.darrays]
        parts = [part[None] if part.ndim == 1 else part.T for part in parts]
        if len({part.shape[1] for part in parts}) > 1:
            raise FileError(
                f"{label} has maps of different numbers of vertices: {', '.join(str(part.shape[1]) for part in parts)}."
            )
        return np.concatenate(parts)

    def header_of(self, image: Any) -> np.ndarray | None:
        found = next(
            (meta[_STRUCTURE] for meta in (image.meta, *(array.meta for array in image.darrays)) if _STRUCTURE in meta), None
        )
        return None if found is None else np.frombuffer(found.encode(), dtype=np.uint8)

    def image_of(self, layout: Layout, maps: np.ndarray, path: Path | None = None) -> Any:
        gifti = needed("nibabel.gifti", "neuro", "Writing GIFTI")
        is_atlas = maps.dtype.kind in "iu"
        meta = {} if layout.header is None else {_STRUCTURE: layout.header.tobytes().decode()}
        intent = "NIFTI_INTENT_LABEL" if is_atlas else "NIFTI_INTENT_NONE"
        arrays = [
            gifti.GiftiDataArray(
                row, intent, "NIFTI_TYPE_INT32" if is_atlas else "NIFTI_TYPE_FLOAT32", meta={"Name": f"part {number}"}
            )
            for number, row in enumerate(maps, 1)
        ]
        image = gifti.GiftiImage(meta=gifti.GiftiMetaData(meta), darrays=arrays)
        if is_atlas:
            image.labeltable.labels = [gifti.GiftiLabel(key) for key in range(int(maps.max()) + 1)]
            for key, label in enumerate(image.labeltable.labels):
                label.label = f"part {key}" if key else "none"
                label.red, label.green, label.blue, label.alpha = colour(key)
        return image


def colour(key: int) -> tuple[float, float, float, float]:
    """A colour for a part; none for 0."""
    import colorsys

    return (*colorsys.hsv_to_rgb(0.618034 * key % 1, 0.6, 0.9), 1.0) if key else (1.0, 1.0, 1.0, 0.0)
