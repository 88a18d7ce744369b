"""Studies with a known atlas: grey matter of MNI152, scaled in planted regions and warped for each subject."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import nibabel
import numpy as np
from nilearn.datasets import load_mni152_brain_mask, load_mni152_gm_template
from scipy.ndimage import binary_dilation, gaussian_filter, map_coordinates


class Study(NamedTuple):
    images: list[Any]
    mask: Any
    atlas: Any
    names: list[str]
    age: np.ndarray
    sex: list[str]
    loadings: np.ndarray


def planted(
    n_subjects: int = 60, n_regions: int = 12, resolution: int = 8, noise: float = 0.1, warp: float = 2.0, seed: int = 0
) -> Study:
    """Images of subjects, float32, with NIfTI headers in millimetres, qform and sform of MNI.

    Parameters
    ----------
    noise : float
        Standard deviation of smooth noise, as a share of grey matter.
    warp : float
        Millimetres by which places are moved, at random, smoothly.
    """
    rng = np.random.default_rng(seed)
    mask_img, template = load_mni152_brain_mask(resolution=resolution), load_mni152_gm_template(resolution=resolution)
    mask = np.asarray(mask_img.dataobj) != 0
    grey = np.asarray(template.dataobj, dtype=np.float32)
    grey = np.maximum(grey / grey[mask].max(), 0.25) * mask
    places = np.argwhere(mask).astype(float)
    labels = np.zeros(mask.shape, dtype=np.int16)
    labels[mask] = _cells(places, n_regions, rng) + 1
    age, sex = rng.uniform(20, 80, n_subjects).round(1), rng.choice(["f", "m"], n_subjects)
    loadings = rng.gamma(6.0, 1 / 6, (n_subjects, n_regions))
    header = mask_img.header.copy()
    header.set_data_dtype(np.float32)
    header.set_xyzt_units("mm")
    images = []
    for codes in loadings:
        volume = grey * np.r_[0, codes][labels].astype(np.float32)
        moved = [axis + _smooth(mask.shape, rng) * warp / resolution for axis in np.indices(mask.shape)]
        volume = map_coordinates(volume, moved, order=1, mode="nearest") + noise * _smooth(mask.shape, rng)
        image = nibabel.Nifti1Image((np.maximum(volume, 0) * mask).astype(np.float32), mask_img.affine, header)
        image.set_sform(mask_img.affine, 4)
        image.set_qform(mask_img.affine, 4)
        images.append(image)
    names = [f"sub-{number:03d}" for number in range(1, n_subjects + 1)]
    space = images[0].header
    return Study(
        images,
        nibabel.Nifti1Image(mask.astype(np.uint8), mask_img.affine, space, dtype=np.uint8),
        nibabel.Nifti1Image(labels, mask_img.affine, space, dtype=np.int16),
        names,
        age,
        sex.tolist(),
        loadings,
    )


def write(study: Study, folder: Path) -> Path:
    """Write a study as BIDS does, sub-001/anat/gm.nii.gz, with a mask and participants.tsv, whose path is returned."""
    for name, image in zip(study.names, study.images, strict=True):
        (folder / name / "anat").mkdir(parents=True)
        image.to_filename(folder / name / "anat" / "gm.nii.gz")
    study.mask.to_filename(folder / "mask.nii.gz")
    lines = ["participant_id\tage\tsex\tpath"]
    for name, age, sex in zip(study.names, study.age, study.sex, strict=True):
        lines.append(f"{name}\t{age:.1f}\t{sex}\t{name}/anat/gm.nii.gz")
    (folder / "participants.tsv").write_text("\n".join(lines) + "\n")
    return folder / "participants.tsv"


def write_many(count: int, folder: Path, n_regions: int = 12, n_voxels: int = 300_000, seed: int = 0) -> None:
    """Write a large study at 2 mm: the template in planted regions, and noise at each voxel, in eight bits."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    reference = load_mni152_brain_mask(resolution=2)
    mask = np.asarray(reference.dataobj) != 0
    while mask.sum() < n_voxels:
        mask = binary_dilation(mask)
    mask[tuple(np.argwhere(mask)[rng.choice(int(mask.sum()), int(mask.sum()) - n_voxels, replace=False)].T)] = False
    labels = _cells(np.argwhere(mask).astype(np.float32), n_regions, rng)
    grey = np.asarray(load_mni152_gm_template(resolution=2).dataobj, dtype=np.float32)[mask]
    grey = 60 * np.maximum(grey / grey.max(), 0.25)

    def save(values: np.ndarray, name: str) -> None:
        volume = np.zeros(mask.shape, np.uint8)
        volume[mask] = np.clip(values, 0, 255)
        nibabel.Nifti1Image(volume, reference.affine, reference.header, dtype=np.uint8).to_filename(folder / name)

    save(np.ones(n_voxels), "mask.nii.gz")
    save(labels + 1, "planted.nii.gz")
    names = [f"sub-{number:04d}" for number in range(1, count + 1)]
    for name in names:
        codes = rng.gamma(6, 1 / 6, n_regions).astype(np.float32)
        save(grey * codes[labels] + 6 * rng.standard_normal(n_voxels, dtype=np.float32), f"{name}_gm.nii.gz")
    lines = ["participant_id\tpath", *(f"{name}\t{name}_gm.nii.gz" for name in names)]
    (folder / "participants.tsv").write_text("\n".join(lines) + "\n")


def _cells(places: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Cells of about one size: those of k-means."""
    from sklearn.cluster import KMeans

    return KMeans(count, n_init=1, random_state=int(rng.integers(1 << 31))).fit_predict(places)


def _smooth(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Smooth noise of unit standard deviation."""
    found = gaussian_filter(rng.standard_normal(shape), 1.5)
    return found / found.std()
