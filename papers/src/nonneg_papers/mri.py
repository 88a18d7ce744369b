"""Magnetic resonance images of the brain."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nonneg.datasets.bunches import make_bunch

from .cache import fetch
from .formats import read_nifti

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load_mni152() -> Bunch:
    """The MNI152 template of the brain: T1-weighted image, grey matter and white matter, at 1 mm.

    Returns
    -------
    Bunch
        ``data`` (3, n_voxels) in [0, 1], the voxels of the brain; ``sample_names``; ``mask`` of shape ``feature_shape``, where
        these voxels are; ``images`` (3, 197, 233, 189) of uint8, with ``data == images[:, mask] / 255``; ``affine``, ``DESCR``.

    See Also
    --------
    load_ixi : Scans of ten people.
    nonneg.neuro.OPNMFParcellation : Parcellations of scans.

    Examples
    --------
    >>> from nonneg_papers import load_mni152
    >>> load_mni152().images.shape  # doctest: +SKIP
    (3, 197, 233, 189)
    """
    names = ("t1", "gm", "wm")
    volumes = [read_nifti(fetch(f"mri/mni152/mni_icbm152_{name}_tal_nlin_sym_09a_converted.nii.gz")) for name in names]
    images = np.stack([volume for volume, _, _ in volumes])
    mask = images.any(axis=0)
    return make_bunch(
        images[:, mask] / 255,
        feature_shape=mask.shape,
        DESCR=MNI152,
        images=images,
        mask=mask,
        affine=volumes[0][2],
        sample_names=list(names),
    )


def load_ixi(regions: Literal["single", "all"] = "single") -> Bunch:
    """Ten people of the IXI data set: volumes of brain regions, and the scans they were measured in.

    Parameters
    ----------
    regions : {"single", "all"}
        The 145 regions that do not overlap; or all 260, most of the others being sums of these.

    Returns
    -------
    Bunch
        ``data`` (10, 145 or 260), volumes in mm³; ``feature_names``, the numbers of the regions; ``target``, the ages; ``sex``;
        ``sample_names``; ``images`` (10, 90, 120, 120) of float32, the T1 scans at 2 mm; ``labels``, of the same shape, the number
        of each voxel's region; ``affines`` (10, 4, 4); ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_mni152 : A template.
    nonneg.neuro.OPNMFParcellation : Parcellations of scans.

    Examples
    --------
    >>> from nonneg_papers import load_ixi
    >>> load_ixi().data.shape  # doctest: +SKIP
    (10, 145)
    """
    if regions not in ("single", "all"):
        raise ValueError(f"regions={regions!r} is not known; it can be 'single', 'all'.")
    volumes = _table(fetch("mri/ixi_n10/dlmuse/IXI_dlmuse.csv"))
    people = {row["MRID"]: row for row in _table(fetch("mri/ixi_n10/lists/IXI_demog_n10.csv"))}
    names = [row["MRID"] for row in volumes]
    columns = [column for column in volumes[0] if column != "MRID" and (regions == "all" or int(column) <= LAST_SINGLE)]
    scans = [read_nifti(fetch(f"mri/ixi_n10/nifti/{name}-T1_ds.nii.gz")) for name in names]
    maps = [read_nifti(fetch(f"mri/ixi_n10/dlmuse/{name}-T1_ds_DLMUSE.nii.gz")) for name in names]
    return make_bunch(
        np.array([[float(row[column]) for column in columns] for row in volumes]),
        feature_shape=(len(columns),),
        DESCR=IXI,
        feature_names=columns,
        sample_names=names,
        target=np.array([float(people[name]["Age"]) for name in names]),
        sex=[people[name]["Sex"] for name in names],
        images=np.stack([volume * np.float32(scale) for volume, scale, _ in scans]),
        labels=np.stack([volume for volume, _, _ in maps]),
        affines=np.stack([affine for _, _, affine in scans]),
    )


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf8") as lines:
        return list(csv.DictReader(lines))


LAST_SINGLE = 207  # regions with larger numbers are made of others

MNI152 = """MNI152 template of the brain (ICBM 2009a, non-linear, symmetric), 1 mm: T1-weighted, grey matter, white matter.

Source: the data of the package nilearn (github.com/nilearn/nilearn).
Licence: nilearn BSD; nilearn lists the licence of the template as unknown.

Values are the stored greys / 255: for grey and white matter the probability of the tissue. The voxels are those where any of the
three is not 0. Axes run to the right, to the front, upwards. A row becomes a volume again by
volume = np.zeros(feature_shape); volume[mask] = row.
"""
IXI = """Ten people (7 men, 3 women) of the IXI data set: T1 scans down-sampled to 2 mm, regions by DLMUSE, their volumes.

Source: test/input/IXI of github.com/CBICA/CCL_NMF_Prediction.
Licence: repository MIT; the scans are of the public IXI data set, with its own terms.

Each scan is in its own space: voxels do NOT correspond between people, so that the scans are no matrix before they are registered.
The data therefore are the volumes of the regions. Regions up to 207 do not overlap and add up to region 701, the brain. Scans are
turned so that axes run to the right, to the front, upwards, and have been multiplied by the scale stored with each. The target is
the age.
"""
