"""Real scans, of IXI, each in its own space, stored with sagittal slices last."""

import os
from pathlib import Path

import nibabel
import numpy as np
import pytest

from nonneg.neuro import OPNMFParcellation

from .test_shell import rows, run

FOLDER = Path(os.environ.get("NONNEG_DATA", "nowhere")) / "mri" / "ixi_n10"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="NONNEG_DATA names no folder with mri/ixi_n10")


@pytest.fixture(scope="module")
def scans():
    return sorted((FOLDER / "nifti").glob("*.nii.gz"))[:4]


@pytest.fixture(scope="module")
def mask(tmp_path_factory, scans):
    """The labelled regions of the first person, in its space."""
    regions = nibabel.load(FOLDER / "dlmuse" / scans[0].name.replace(".nii.gz", "_DLMUSE.nii.gz"))
    path = tmp_path_factory.mktemp("ixi") / "mask.nii.gz"
    inside = (np.asarray(regions.dataobj) > 0).astype(np.uint8)
    nibabel.Nifti1Image(inside, nibabel.load(scans[0]).affine, nibabel.load(scans[0]).header, dtype=np.uint8).to_filename(path)
    return path


def test_scans_of_several_spaces_are_refused_or_resampled(scans, mask):
    with pytest.raises(ValueError, match=r"IXI013-HH-1212-T1_ds.* and .*mask\.nii\.gz have .* lie elsewhere"):
        OPNMFParcellation(2, mask=mask).fit(scans)
    model = OPNMFParcellation(2, mask=mask, resample=True, random_state=0).fit(scans)
    assert model.loadings_.index.tolist() == [path.name.removesuffix("-T1_ds.nii.gz") for path in scans]
    template = nibabel.load(scans[0])
    for image in (model.components_img_, model.labels_img_):
        assert np.allclose(image.affine, template.affine)
        assert image.shape[:3] == template.shape
        for field in ("qform_code", "sform_code", "xyzt_units", "quatern_b", "srow_x"):
            assert np.array_equal(image.header[field], template.header[field])


def test_shell(scans, mask, tmp_path):
    outputs = ("--atlas", "atlas.nii.gz", "--loadings", "l.csv", "--report", "page.html")
    run("fit", scans[0], "--mask", mask, "--rank", 1, *outputs, cwd=tmp_path)
    atlas = nibabel.load(tmp_path / "atlas.nii.gz")
    assert nibabel.aff2axcodes(atlas.affine) == ("P", "S", "R")
    inside, scan = (np.asarray(nibabel.load(path).dataobj) for path in (mask, scans[0]))
    assert np.array_equal(np.asarray(atlas.dataobj) > 0, (inside > 0) & (scan > 0))
    assert rows(tmp_path / "l.csv")[1][0] == "IXI012-HH-1211-T1_ds"
    page = (tmp_path / "page.html").read_text()
    assert "<b>P</b>" in page
    assert page.count("<b>L</b>") == 2
