"""Slices of volumes as people see brains: turned by their affine, whatever the order of storage, with sides and millimetres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..io import Layout

_PLANES = (("x", 1, 2, ("P", "A")), ("y", 0, 2, ("L", "R")), ("z", 0, 1, ("L", "R")))
"""Of sagittal, coronal and axial slices: their axis, those to the right and upwards, and the letters left and right."""


@dataclass(frozen=True)
class Slice:
    """A slice, the top row first.

    Attributes
    ----------
    values : array of shape (height, width)
        Pixels are squares of the smallest side of a voxel.
    name : str
        Its position: "z = 12 mm"; a plain "slice 7" of volumes without an affine.
    sides : tuple of str, optional
        Letters of the left and the right edge: L and R, P and A.
    """

    values: np.ndarray
    name: str
    sides: tuple[str, str] | None = None


def cuts(layout: Layout, values: np.ndarray) -> np.ndarray:
    """The voxel at which to cut a volume: along each axis of storage, the slice that has most of it."""
    picture = np.abs(layout.picture(values))
    return np.array([picture.sum(axis=tuple({0, 1, 2} - {axis})).argmax() for axis in range(3)])


def slices(layout: Layout, values: np.ndarray, at: np.ndarray, *, radiological: bool = False, outside: float = 0) -> list[Slice]:
    """Sagittal, coronal and axial slice through a voxel; of volumes without an affine, the one across the last axis.

    Parameters
    ----------
    layout : Layout
        Of a volume.
    values : array of shape (n_features,)
    at : array of 3 ints
        As `cuts` finds it.
    radiological : bool, default=False
        Whether the right of the body is on the left of the picture; by default, left is left (neurological).
    outside : float, default=0
        Of voxels that are no features.
    """
    volume = layout.picture(values, outside)
    if layout.affine is None:
        return [Slice(np.rot90(volume[:, :, at[2]]), f"slice {at[2]}")]
    axes, signs, sizes = orientation(layout.affine)
    place = (layout.affine @ [*at, 1])[:3]
    turned = np.transpose(volume, axes)[tuple(slice(None, None, sign) for sign in signs)]
    index = [at[axis] if sign > 0 else volume.shape[axis] - 1 - at[axis] for axis, sign in zip(axes, signs, strict=True)]
    found = []
    for number, (name, across, up, sides) in enumerate(_PLANES):
        picture = np.take(turned, index[number], axis=number)
        step = min(sizes[across], sizes[up])
        rows, columns = (_every(picture.shape[side], sizes[axis] / step) for side, axis in ((1, up), (0, across)))
        picture = picture[columns][:, rows].T[::-1]
        is_turned = radiological and sides == ("L", "R")
        found.append(
            Slice(
                picture[:, ::-1] if is_turned else picture, f"{name} = {place[number]:.0f} mm", sides[::-1] if is_turned else sides
            )
        )
    return found


def orientation(affine: np.ndarray) -> tuple[list[int], list[int], list[float]]:
    """The stored axes nearest to right, anterior and superior, whether they run with (1) or against (-1), and sizes of voxels."""
    from scipy.optimize import linear_sum_assignment

    steps = np.asarray(affine, dtype=float)[:3, :3]
    sizes = np.linalg.norm(steps, axis=0)
    axes = linear_sum_assignment(-np.abs(steps / np.where(sizes > 0, sizes, 1)))[1].tolist()
    return axes, [1 if steps[row, axis] >= 0 else -1 for row, axis in enumerate(axes)], [float(sizes[axis]) or 1.0 for axis in axes]


def _every(count: int, times: float) -> np.ndarray:
    """Indices that show each of so many voxels so many times."""
    return np.minimum((np.arange(max(1, round(count * times))) / times).astype(int), count - 1)
