"""Files of surfaces as rows: GIFTI, CIFTI-2, MGH and FreeSurfer's morph files, which nilearn's maskers do not take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import DataError, FileError, IncompatibleError
from ..io import Layout, Source
from ..io.base import altered_files_refused
from ..io.cifti import CIFTI
from ..io.freesurfer import MGH, Morph
from ..io.gifti import GIFTI
from ..io.vertices import Vertices, check_same_surface, is_inside
from .images import label_of

_KINDS: tuple[Vertices, ...] = (CIFTI(), GIFTI(), MGH(), Morph())


def kind_of_surface(image: Any) -> Vertices | None:
    """The format of values on a surface, in a file or in memory; None for volumes."""
    if not isinstance(image, str | os.PathLike):
        return next((kind for kind in _KINDS if kind.is_image(image)), None)
    source = Source(Path(image))
    source.refuse_useless()
    kind = next((kind for kind in _KINDS if kind.recognises(source)), None)
    if kind is None:
        return None
    with altered_files_refused(source.label, kind.name):
        return kind if kind.is_image(kind.open(source)) else None


class VertexReader:
    """Rows of maps in a mask, with the part of a masker that an estimator uses.

    Parameters
    ----------
    mask : image, path or None
        None: vertices that are neither zero nor NaN in one map at least.
    settings : dict
        Parameters of maskers of volumes, none of which applies.
    kind : Vertices
        Format of the maps.
    """

    def __init__(self, mask: Any, settings: dict[str, Any], kind: Vertices) -> None:
        given = [name for name in ("smoothing_fwhm", "target_affine", "target_shape") if settings[name] is not None]
        if given:
            raise IncompatibleError(
                f"{given[0]} is for volumes; these are maps on a surface ({kind.name}): smooth them on its mesh."
            )
        self._mask, self._kind = mask, kind

    def count(self, image: Any, number: int) -> int:
        """How many maps an image has."""
        return len(self._read(image, label_of(image, number))[0])

    def fit(self, images: Sequence[Any]) -> VertexReader:
        """Check that all maps are of one surface, and make the mask."""
        first = label_of(images[0], 1)
        maps, header = self._read(images[0], first)
        count, inside = maps.shape[1], is_inside(maps)
        for number, image in enumerate(images[1:], 2):
            label = label_of(image, number)
            others, other = self._read(image, label)
            check_same_surface(label, others.shape[1], other, first, count, header)
            inside |= is_inside(others)
        if self._mask is not None:
            label = label_of(self._mask, 0) if isinstance(self._mask, str | os.PathLike) else "the mask"
            maps, other = self._read(self._mask, label)
            check_same_surface(label, maps.shape[1], other, first, count, header)
            if len(maps) != 1:
                raise FileError(f"{label} has {len(maps)} maps; a mask is one.")
            inside = is_inside(maps)
        if not inside.any():
            raise DataError(f"{first if self._mask is None else label} is zero or NaN at all vertices: no vertex would be read.")
        self.layout = Layout((count,), inside, header=header)
        self.n_elements_ = int(inside.sum())
        self.mask_img_ = self.image(np.ones(self.n_elements_, dtype=np.int32))
        return self

    def rows(self, image: Any, number: int) -> np.ndarray:
        """The values of an image in the mask, a row for each of its maps."""
        label = label_of(image, number)
        maps, header = self._read(image, label)
        check_same_surface(label, maps.shape[1], header, "what was fitted", self.layout.shape[0], self.layout.header)
        found = maps[:, self.layout.mask]
        wrong = ~np.isfinite(found)
        if wrong.any():
            vertex = int(np.flatnonzero(self.layout.mask)[np.argwhere(wrong)[0][1]])  # type: ignore[arg-type]
            raise DataError(f"{label} is NaN or infinite at vertex {vertex}, and at {wrong.sum() - 1} more in the mask.")
        return found

    def image(self, rows: np.ndarray) -> Any:
        """An image of rows of values; those of morph files are MGH, which holds more than one."""
        rows = np.atleast_2d(rows)
        rows = rows.astype(np.int32 if rows.dtype.kind in "iu" else np.float32)
        kind = MGH() if isinstance(self._kind, Morph) else self._kind
        return kind.image_of(self.layout, np.stack([self.layout.picture(row) for row in rows]))

    def _read(self, image: Any, label: str) -> tuple[np.ndarray, np.ndarray | None]:
        if isinstance(image, str | os.PathLike):
            source = Source(Path(image))
            source.refuse_useless()
            if not self._kind.recognises(source):
                raise FileError(f"{label} is no file of {self._kind.name}, as others are.")
            return self._kind.rows(source)
        if not self._kind.is_image(image):
            raise DataError(f"{label} is of type {type(image).__name__}; others are {self._kind.name}.")
        return np.asarray(self._kind.rows_of(image, label), dtype=np.float32), self._kind.header_of(image)
