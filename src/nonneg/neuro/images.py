"""Volumes as rows: opened and checked by their headers, masked, smoothed and resampled by nilearn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import DataError, FileError, IncompatibleError, needed
from ..io import Layout, Source
from ..io.base import altered_files_refused
from ..io.nifti import check_alike, geometry, open_volume
from ..io.scan_names import refuse_mask_among


def label_of(image: Any, number: int) -> str:
    """Name of an image in messages."""
    if isinstance(image, str | os.PathLike):
        return str(image)
    name = getattr(image, "get_filename", lambda: None)()
    return str(name) if name else f"image {number}"


def opened(image: Any, label: str) -> Any:
    """An image with its header, of which no voxel is read yet."""
    nibabel = needed("nibabel", "neuro", "Reading brain images")
    if isinstance(image, str | os.PathLike):
        source = Source(Path(image))
        source.refuse_useless()
        if source.name.endswith((".mgh", ".mgz")):
            with altered_files_refused(label, "MGH"):
                image = nibabel.MGHImage.from_bytes(source.content())
        else:
            image = open_volume(source)
    if not isinstance(image, nibabel.spatialimages.SpatialImage):
        raise DataError(f"{label} is of type {type(image).__name__}; an image of nibabel, or a path to one, is needed.")
    if len(image.shape) not in (3, 4):
        raise FileError(f"{label} has shape {image.shape}; volumes have three dimensions, or four with subjects last.")
    if image.get_data_dtype().kind not in "fiub":
        raise FileError(f"{label} holds entries of type {image.get_data_dtype()}, which are not real numbers.")
    return image


class VolumeReader:
    """Rows of volumes in a mask, each transformed by nilearn's masker.

    Parameters
    ----------
    mask : image, path, NiftiMasker or None
    settings : dict
        Parameters of the masker: smoothing_fwhm, target_affine, …
    resample : bool
        Whether volumes may lie elsewhere than the mask.
    """

    def __init__(self, mask: Any, settings: dict[str, Any], resample: bool) -> None:
        self._mask, self._settings = mask, settings
        self._resample = resample or settings.get("target_affine") is not None

    def count(self, image: Any, number: int) -> int:
        """How many volumes an image has."""
        shape = opened(image, label_of(image, number)).shape
        return shape[3] if len(shape) == 4 else 1

    def fit(self, images: Sequence[Any]) -> Any:
        """Check all headers, and make the masker."""
        maskers = needed("nilearn.maskers", "neuro", "Masking volumes")
        headers = [(label_of(image, number), opened(image, label_of(image, number))) for number, image in enumerate(images, 1)]
        first, reference = headers[0]
        masker, mask = None, self._mask
        if isinstance(mask, maskers.NiftiMasker):
            masker, mask = self._cloned(mask), getattr(mask, "mask_img_", mask.mask_img)
        if mask is not None:
            label, mask = self._read_mask(mask, images)
            if not self._resample and getattr(masker, "target_affine", None) is None:
                for name, image in headers:
                    check_alike(name, label, image, mask.shape[:3], mask.affine)
        elif not self._resample:
            for name, image in headers[1:]:
                check_alike(name, first, image, reference.shape[:3], reference.affine)
        if masker is None:
            if mask is None and self._settings["mask_strategy"] == "nonzero":
                mask = self._nonzero(headers)
            masker = self._make_masker(mask)
        elif mask is not None:
            masker.mask_img = mask
        self.masker = masker.fit() if mask is not None else masker.fit([image for _, image in headers])
        inside = np.asarray(self.masker.mask_img_.dataobj) != 0
        if not inside.any():
            raise DataError("The mask holds no voxel: it is zero everywhere. Check that it overlaps with the scans.")
        template = reference if mask is None else mask
        header = geometry(template.header) if np.allclose(template.affine, self.masker.mask_img_.affine) else None
        self.layout = Layout(inside.shape, inside, np.asarray(self.masker.mask_img_.affine, dtype=np.float64), header)
        return self.masker

    def rows(self, image: Any, number: int) -> np.ndarray:
        """The values of an image in the mask, a row for each of its volumes."""
        label = label_of(image, number)
        image = opened(image, label)
        if not self._resample:
            check_alike(label, "the mask", image, self.layout.shape, np.asarray(self.layout.affine))
        with altered_files_refused(label, "NIfTI"), np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(image.dataobj, dtype=np.float32)
        wrong = ~np.isfinite(values)
        if wrong.any():
            same = values.shape[:3] == self.layout.shape and not self._resample
            inside = wrong & (self.layout.mask[(..., *[None] * (values.ndim - 3))] if same else True)  # type: ignore[index]
            if inside.any():
                place = tuple(map(int, np.argwhere(inside)[0]))
                raise DataError(
                    f"{label} is {values[place]} at voxel {', '.join(map(str, place))}, and at {inside.sum() - 1} more in the "
                    "mask. Leave such voxels out of the mask, or repair the scan."
                )
            values[wrong] = 0
        nibabel = needed("nibabel", "neuro", "Masking volumes")
        affine = image.affine if self._resample else self.masker.mask_img_.affine  # equal, but for rounding
        with warnings.catch_warnings(), np.errstate(over="ignore"):  # nilearn negates the least entry of a mask of uint8
            warnings.filterwarnings("ignore", message="imgs are being resampled")
            try:
                return np.atleast_2d(self.masker.transform(nibabel.Nifti1Image(values, affine)))
            except ValueError as error:
                raise DataError(f"{label} cannot be resampled to the mask: {error}. Do they lie in one space?") from error

    def image(self, rows: np.ndarray) -> Any:
        """An image of rows of values, with the header of the mask; of one dimension less for one row."""
        from ..io.nifti import image_of

        return image_of(self.layout, volume_of(self.layout, rows))

    def _cloned(self, masker: Any) -> Any:
        given = [name for name, value in self._settings.items() if name in _OF_MASKER and value != _OF_MASKER[name]]
        if given:
            raise IncompatibleError(f"{given[0]} is a parameter of the masker that mask gives: set it there.")
        if masker.standardize not in (None, False) or masker.detrend:
            raise IncompatibleError(
                "The masker standardizes or detrends, which acts on one scan at a time here: standardize=None in it."
            )
        clone = needed("sklearn.base", "neuro", "Masking volumes").clone(masker)
        clone.standardize = None
        return clone

    def _make_masker(self, mask: Any) -> Any:
        """A masker of nilearn, which has no strategy "nonzero": that is ours."""
        strategy = self._settings["mask_strategy"]
        settings = self._settings | {"mask_strategy": "background" if strategy == "nonzero" else strategy}
        return needed("nilearn.maskers", "neuro", "Masking volumes").NiftiMasker(mask_img=mask, standardize=None, **settings)

    def _read_mask(self, mask: Any, images: Sequence[Any]) -> tuple[str, Any]:
        """What a mask is called in messages, and its image; a path that is also one of the scans is refused."""
        if not isinstance(mask, str | os.PathLike):
            return "the mask", self._checked_mask(mask, "the mask")
        label = label_of(mask, 0)
        refuse_mask_among([Path(image) for image in images if isinstance(image, str | os.PathLike)], Path(mask))
        return label, self._checked_mask(mask, label)

    def _checked_mask(self, mask: Any, label: str) -> Any:
        """A mask as an image of zeros and ones, of three dimensions."""
        image = opened(mask, label)
        if image.shape[3:] not in ((), (1,)):
            raise FileError(
                f"{label} has {image.shape[3]} volumes; a mask is one. Write the volume that is meant to a file of its own."
            )
        with altered_files_refused(label, "NIfTI"):
            values = np.asarray(image.dataobj).reshape(image.shape[:3])
        inside = (values != 0) & np.isfinite(values)
        if not inside.any():
            raise DataError(f"{label} is empty: it is zero or NaN at all voxels.")
        return needed("nibabel", "neuro", "Masking volumes").Nifti1Image(
            inside.astype(np.int8), image.affine, image.header, dtype=np.int8
        )

    def _nonzero(self, headers: Sequence[tuple[str, Any]]) -> Any:
        """A mask of the voxels that are neither zero nor NaN in one volume at least."""
        if self._resample:
            raise IncompatibleError("Scans that are resampled need a mask: mask=, or a mask_strategy of nilearn.")
        label, reference = headers[0]
        mask = np.zeros(reference.shape[:3], dtype=bool)
        for label, image in headers:
            with altered_files_refused(label, "NIfTI"):
                values = np.asarray(image.dataobj)
            inside = (values != 0) & ~np.isnan(values)
            mask |= inside.any(axis=3) if inside.ndim == 4 else inside
        if not mask.any():
            raise DataError(f"{label} and all other scans are zero or NaN at all voxels.")
        nibabel = needed("nibabel", "neuro", "Masking volumes")
        return nibabel.Nifti1Image(mask.astype(np.int8), reference.affine, reference.header, dtype=np.int8)


_OF_MASKER = {"smoothing_fwhm": None, "target_affine": None, "target_shape": None, "mask_strategy": "nonzero", "mask_args": None}
"""Parameters of nilearn's masker, and their defaults here."""


def volume_of(layout: Layout, rows: np.ndarray) -> np.ndarray:
    """Rows of values at their voxels, the rows along the last axis."""
    rows = np.asarray(rows)
    if rows.ndim == 1:
        return layout.picture(rows)
    found = np.zeros((*layout.shape, len(rows)), dtype=rows.dtype)
    found[slice(None) if layout.mask is None else layout.mask] = rows.T
    return found


class SurfaceImageReader:
    """Rows of nilearn's `SurfaceImage`s, by its `SurfaceMasker`."""

    def __init__(self, mask: Any, settings: dict[str, Any]) -> None:
        self._mask, self._settings = mask, settings

    def count(self, image: Any, number: int) -> int:
        """How many maps an image has."""
        return 1 if len(image.shape) == 1 else int(image.shape[1])

    def fit(self, images: Sequence[Any]) -> Any:
        """Make the masker."""
        maskers = needed("nilearn.maskers", "neuro", "Masking surfaces")
        given = [name for name in ("smoothing_fwhm", "target_affine", "target_shape") if self._settings[name] is not None]
        if given:
            raise IncompatibleError(f"{given[0]} is for volumes; these are surfaces.")
        if isinstance(self._mask, maskers.SurfaceMasker):
            masker = needed("sklearn.base", "neuro", "Masking surfaces").clone(self._mask)
        else:
            kept = {name: self._settings[name] for name in ("memory", "memory_level", "verbose")}
            masker = maskers.SurfaceMasker(mask_img=self._mask, standardize=None, **kept)
        self.masker = masker.fit(images[0] if masker.mask_img is None else None)
        self.layout = None
        return self.masker

    def rows(self, image: Any, number: int) -> np.ndarray:
        """The values of an image in the mask, a row for each of its maps."""
        found = np.atleast_2d(self.masker.transform(image))
        if not np.isfinite(found).all():
            raise DataError(f"{label_of(image, number)} is NaN or infinite at {(~np.isfinite(found)).sum()} vertices of the mask.")
        return found

    def image(self, rows: np.ndarray) -> Any:
        """An image of rows of values."""
        return self.masker.inverse_transform(np.asarray(rows))
