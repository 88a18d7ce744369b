"""Comparison of atlases: parts matched one to one, their Dice, and the adjusted Rand index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from ..exceptions import DataError, needed
from ..io import Source
from ..io.base import altered_files_refused
from ..io.nifti import check_alike
from .images import label_of, opened
from .vertices import kind_of_surface


class AtlasComparison(NamedTuple):
    """How alike two atlases are."""

    dice: float
    """Mean Dice of the parts of a and those they are matched with, 0 for parts without a partner."""
    ari: float
    """Adjusted Rand index over the voxels that both label."""
    coverage: float
    """Share of the voxels that both label among those that one does."""
    table: Any
    """A row for each part of a: its label, that of its partner in b (0 for none), Dice, and the voxels of each."""


def compare_atlases(a: Any, b: Any, *, resample: bool = False) -> AtlasComparison:
    """Match the parts of two atlases one to one, so that the sum of their Dice coefficients is largest.

    Parameters
    ----------
    a, b : image, path, array of labels or fitted OPNMFParcellation
        Volumes or maps on a surface: whole numbers, 0 for no part. Images of four dimensions, or of several maps, are components:
        each voxel or vertex belongs to the largest.
    resample : bool, default=False
        Whether an image b that lies elsewhere is resampled to a, by nearest neighbours; by default it is refused.

    Returns
    -------
    AtlasComparison
        Dice coefficients of matched parts, and the adjusted Rand index.

    See Also
    --------
    OPNMFParcellation : Makes one.
    nonneg.selection.atlas : A partition from components.

    Examples
    --------
    >>> from nonneg.neuro import compare_atlases
    >>> found = compare_atlases([1, 1, 1, 2, 2, 0], [5, 5, 3, 3, 3, 3])
    >>> round(found.dice, 2), found.table["b"].tolist()
    (0.73, [5, 3])
    """
    images = [_image_of(one, name) for one, name in ((a, "a"), (b, "b"))]
    if all(hasattr(image, "affine") for image in images):
        first, second = images
        if resample:
            second = needed("nilearn.image", "neuro", "Resampling an atlas").resample_to_img(second, first, interpolation="nearest")
        else:
            check_alike("b", "a", second, first.shape[:3], first.affine)
        images = [first, second]
    one, other = (_labels_of(image, name) for image, name in zip(images, ("a", "b"), strict=True))
    if one.shape != other.shape:
        raise DataError(f"a labels {one.size} places and b {other.size}: atlases are compared over the same ones.")
    return _compared(one, other)


def _compared(a: np.ndarray, b: np.ndarray) -> AtlasComparison:
    """Two labellings of the same voxels compared: Dice of matched parts, Rand index, overlap."""
    pandas = needed("pandas", "neuro", "A table of parts")
    parts_a, at_a = np.unique(a, return_inverse=True)
    parts_b, at_b = np.unique(b, return_inverse=True)
    joint = np.bincount(at_a * len(parts_b) + at_b, minlength=len(parts_a) * len(parts_b)).reshape(len(parts_a), len(parts_b))
    of_a, of_b = joint.sum(axis=1), joint.sum(axis=0)
    dice = 2 * joint / (of_a[:, None] + of_b)
    dice = dice[parts_a > 0][:, parts_b > 0]
    if not dice.size:
        raise DataError(f"{'a' if not (parts_a > 0).any() else 'b'} has no part: it is 0 everywhere.")
    sizes_a, sizes_b = of_a[parts_a > 0], of_b[parts_b > 0]
    parts_a, parts_b = parts_a[parts_a > 0], parts_b[parts_b > 0]
    partner = np.full(len(parts_a), -1)
    rows, columns = linear_sum_assignment(-dice)
    partner[rows] = columns
    has = partner >= 0
    matched = np.where(has, dice[np.arange(len(parts_a)), partner], 0)
    table = pandas.DataFrame(
        {
            "a": parts_a,
            "b": np.where(has, parts_b[partner], 0),
            "dice": matched,
            "voxels a": sizes_a,
            "voxels b": np.where(has, sizes_b[partner], 0),
        }
    )
    both, either = (a > 0) & (b > 0), (a > 0) | (b > 0)
    ari = float(adjusted_rand_score(a[both], b[both])) if both.any() else 0.0
    return AtlasComparison(float(matched.mean()), ari, float(both.sum() / either.sum()), table)


def _image_of(atlas: Any, name: str) -> Any:
    """An image of a volume, or an array of labels."""
    atlas = getattr(atlas, "labels_img_", atlas)
    is_path = isinstance(atlas, str | os.PathLike)
    label = label_of(atlas, 0) if is_path else name
    if hasattr(atlas, "mesh"):
        return _hard(np.concatenate(list(atlas.data.parts.values())))
    kind = kind_of_surface(atlas)
    if kind is not None:
        return _hard((kind.rows(Source(Path(atlas)))[0] if is_path else np.asarray(kind.rows_of(atlas, label))).T)
    return opened(atlas, label) if is_path or hasattr(atlas, "dataobj") else atlas


def _hard(maps: np.ndarray) -> np.ndarray:
    """The number of the largest of several maps, counted from 1, 0 if none is positive; a single map as it is."""
    if maps.ndim == 1 or maps.shape[-1] == 1:
        return maps
    return np.where(maps.max(axis=-1) > 0, maps.argmax(axis=-1) + 1, 0)


def _labels_of(image: Any, name: str) -> np.ndarray:
    """Labels in one row, 0 for none."""
    with altered_files_refused(name, "NIfTI"):
        values = np.asarray(image.dataobj if hasattr(image, "dataobj") else image)
    if values.ndim == 4:
        values = _hard(values)
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all() or (values != np.rint(values)).any():
        raise DataError(
            f"{name} holds numbers that are not whole: an atlas has one label a voxel, components have four dimensions."
        )
    return np.asarray(values, dtype=np.int64).ravel()
