"""Volumes of the brain, NIfTI: one of four dimensions, or several of three, and a mask that says which voxels are features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError, needed
from ..kernels.memory import refuse_too_large
from .base import Kind, Source, Wanted, altered_files_refused
from .large import new_matrix, release
from .numpy_arrays import left_on_disk
from .scan_names import refuse_mask_among, tell_apart
from .stored import check_numbers
from .table import Layout, Table

_RATIO = 1032
"""By how much gzip can compress at most."""


class NIfTI(Kind):
    """Samples are volumes, features the voxels of the mask; without a mask, those that are neither zero nor NaN in
    one volume at least.

    Written are maps, one volume a row; a table of one row of whole numbers is written as an atlas.
    """

    name: ClassVar[str] = "NIfTI"
    suffixes: ClassVar[tuple[str, ...]] = (".nii", ".nii.gz")
    several: ClassVar[bool] = True
    has: ClassVar[frozenset[str]] = frozenset({"mask"})

    def recognises(self, source: Source) -> bool:
        return source.head[344:347] in (b"n+1", b"ni1") or source.head[4:7] in (b"n+2", b"ni2")

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        volumes = [open_volume(source) for source in sources]
        shape, affine = volumes[0].shape[:3], np.asarray(volumes[0].affine)
        for source, volume in zip(sources, volumes, strict=True):
            check_alike(source.label, sources[0].label, volume, shape, affine)
        count = sum(volume.shape[3] if len(volume.shape) == 4 else 1 for volume in volumes)
        wanted.refuse_more_parts(count)
        mask, header = None, geometry(volumes[0].header)
        if isinstance(wanted.mask, Path):
            refuse_mask_among([source.path for source in sources], wanted.mask)
        if wanted.mask is not None:
            mask, header = self._mask(wanted.mask, volumes[0], sources[0].label)
        dtype = np.result_type(np.float32, *(volume.get_data_dtype() for volume in volumes))
        refuse_too_large(max(math.prod(volume.shape) for volume in volumes) * dtype.itemsize, sources[0].label)
        if mask is None:
            mask = np.zeros(shape, dtype=bool)
            for source, volume in zip(sources, volumes, strict=True):
                inside = _is_inside(_values(volume, dtype, source.label))
                mask |= inside.any(axis=3) if inside.ndim == 4 else inside
            if not mask.any():
                raise FileError(f"{sources[0].label} is zero or NaN in all voxels.")
        found = new_matrix((count, int(mask.sum())), dtype, sources[0].label)
        names: list[str] = []
        for source, volume, name in zip(sources, volumes, tell_apart([source.path for source in sources]), strict=True):
            inside = _values(volume, dtype, source.label)[mask]
            count = 1 if inside.ndim == 1 else inside.shape[1]
            found[len(names) : len(names) + count] = inside.T
            release(found)
            names += [name] if inside.ndim == 1 else [f"{name} {i + 1}" for i in range(count)]
        return Table(left_on_disk(found, wanted.blocks), samples=names, layout=Layout(shape, mask, affine, header))

    def _mask(self, given: Path | Layout, first_volume: Any, first: str) -> tuple[np.ndarray, np.ndarray | None]:
        """The mask, and its header for the maps."""
        shape, affine = first_volume.shape[:3], np.asarray(first_volume.affine)
        if isinstance(given, Layout):
            check_alike(first, "what was fitted", first_volume, given.shape, affine if given.affine is None else given.affine)
            return np.ones(shape, dtype=bool) if given.mask is None else given.mask, given.header
        source = Source(given)
        source.refuse_useless()
        if not self.recognises(source):
            raise FileError(f"{source.label} is not a NIfTI volume, as a mask has to be.")
        volume = open_volume(source)
        check_alike(source.label, first, volume, shape, affine)
        if volume.shape[3:] not in ((), (1,)):
            raise FileError(
                f"{source.label} has {volume.shape[3]} volumes; a mask is one. Write the volume that is meant to a file of its own."
            )
        mask = _is_inside(_values(volume, np.dtype(np.float32), source.label).reshape(shape))
        if not mask.any():
            raise FileError(f"{source.label} is zero or NaN in all voxels, so that no voxel would be read.")
        return mask, geometry(volume.header)

    def check_layout(self, layout: Layout | None) -> None:
        """Refuse tables whose features are no voxels."""
        if layout is None or not layout.is_volume:
            raise FileError("NIfTI can be written if features are voxels: of fits to volumes.")

    def write(self, table: Table, path: Path) -> None:
        self.check_layout(table.layout)
        assert table.layout is not None
        values = table.values.toarray() if sparse.issparse(table.values) else np.asarray(table.values)
        is_atlas = len(values) == 1 and values.dtype.kind in "iu"
        values = values.astype(np.int16 if is_atlas else np.float32)
        pictures = [table.layout.picture(row) for row in values]
        picture = pictures[0] if len(pictures) == 1 else np.stack(pictures, axis=3)
        image_of(table.layout, picture).to_filename(path)


def image_of(layout: Layout, picture: np.ndarray) -> Any:
    """A NIfTI image of a picture in a layout, with the space, forms and units of its header."""
    nibabel = needed("nibabel", "neuro", "Writing NIfTI")
    header = None if layout.header is None else nibabel.Nifti1Header(layout.header.tobytes(), check=False)
    return nibabel.Nifti1Image(picture, np.eye(4) if layout.affine is None else layout.affine, header, dtype=picture.dtype)


_SPACE: tuple[str, ...] = ("pixdim", "xyzt_units", "qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d")
_SPACE += ("qoffset_x", "qoffset_y", "qoffset_z", "srow_x", "srow_y", "srow_z")


def geometry(header: Any) -> np.ndarray | None:
    """A NIfTI-1 header with the space, forms and units of another and nothing else of it, in bytes; None for other kinds."""
    nibabel = needed("nibabel", "neuro", "Reading NIfTI")
    if not isinstance(header, nibabel.Nifti1Header):
        return None
    kept = nibabel.Nifti1Header()
    for name in _SPACE:
        kept[name] = header[name]
    kept["pixdim"][4:] = 1
    return np.frombuffer(kept.binaryblock, dtype=np.uint8)


def open_volume(source: Source) -> Any:
    """A checked NIfTI image of which no voxel is read yet."""
    nibabel = needed("nibabel", "neuro", "Reading NIfTI")
    is_second = source.head[4:7] in (b"n+2", b"ni2")
    with altered_files_refused(source.label, "NIfTI"):
        # by its class: nibabel.load would also follow extensions of the header
        volume = (nibabel.Nifti2Image if is_second else nibabel.Nifti1Image).from_filename(source.path)
    if len(volume.shape) not in (3, 4):
        raise FileError(f"{source.label} has shape {volume.shape}; volumes have three dimensions, or four with samples last.")
    check_numbers(volume.get_data_dtype(), source.label)
    declared, stored = math.prod(volume.shape) * volume.get_data_dtype().itemsize, source.path.stat().st_size
    if declared > (_RATIO if source.is_compressed else 1) * stored:
        raise FileError(f"{source.label} says that it has {declared} bytes, and has {stored}. It was cut off or altered.")
    return volume


def _values(volume: Any, dtype: np.dtype, label: str) -> np.ndarray:
    with altered_files_refused(label, "NIfTI"), np.errstate(over="ignore", invalid="ignore"):  # of numbers times their scale
        return np.asarray(volume.dataobj, dtype=dtype)


def _is_inside(values: np.ndarray) -> np.ndarray:
    """Whether voxels are of a mask: neither zero nor NaN, which both stand for background."""
    return np.asarray((values != 0) & ~np.isnan(values))


def check_alike(label: str, first: str, volume: Any, shape: tuple[int, ...], affine: np.ndarray) -> None:
    """Refuse volumes of another space than the first."""
    if volume.shape[:3] != tuple(shape):
        raise FileError(f"{label} has {volume.shape[:3]} voxels, and {first} has {tuple(shape)}: resample one to the other first.")
    if np.allclose(volume.affine, affine, atol=1e-3):
        return
    nibabel = needed("nibabel", "neuro", "Reading NIfTI")
    axes, others = ("".join(nibabel.aff2axcodes(one)) for one in (volume.affine, affine))
    if axes != others:
        raise FileError(f"{label} is stored {axes}, and {first} {others}: their axes are flipped. Reorient one to the other first.")
    raise FileError(f"{label} and {first} have as many voxels, but lie elsewhere in space: resample one to the other first.")
