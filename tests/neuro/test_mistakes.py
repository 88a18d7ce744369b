"""Mistakes that are refused by name, before any fit: in Python, and, of scans and masks, from the shell."""

import gzip
import re
from contextlib import chdir

import nibabel
import numpy as np
import pandas
import pytest
from nilearn.maskers import NiftiMasker

from nonneg import NMF
from nonneg.neuro import OPNMFParcellation
from tests.command import invoke

AFFINE = np.diag([4.0, 4, 4, 1])


def volume(seed=0, affine=AFFINE, shape=(5, 6, 7)):
    values = np.random.default_rng(seed).random(shape).astype(np.float32) + 0.5
    return nibabel.Nifti1Image(values, affine)


@pytest.fixture
def folder(tmp_path):
    """Six scans, a mask, and a table of them."""
    (tmp_path / "scans").mkdir()
    for number in range(6):
        volume(number).to_filename(tmp_path / "scans" / f"sub-{number}_gm.nii.gz")
    nibabel.Nifti1Image(np.ones((5, 6, 7), np.uint8), AFFINE).to_filename(tmp_path / "mask.nii.gz")
    lines = ["participant_id,age,site,path", *(f"s{n},{20 + n * n},{'ab'[n % 2]},scans/sub-{n}_gm.nii.gz" for n in range(6))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def spoil(image, path):
    image.to_filename(path)


def edited(folder, old, new):
    text = (folder / "table.csv").read_text()
    assert old in text
    (folder / "table.csv").write_text(text.replace(old, new, 1))


def nan(folder):
    image = volume(3)
    image.get_fdata(caching="fill")
    values = np.asarray(image.dataobj).copy()
    values[1, 2, 3] = np.nan
    spoil(nibabel.Nifti1Image(values, AFFINE), folder / "scans" / "sub-3_gm.nii.gz")


def cut(folder):
    path = folder / "scans" / "sub-3_gm.nii.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:600]))


def damage(folder):
    path = folder / "scans" / "sub-3_gm.nii.gz"
    path.write_bytes(path.read_bytes()[:500])


FLIPPED = AFFINE @ np.array([[-1.0, 0, 0, 4], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
MOVED = AFFINE + np.eye(4, k=3) * 2
SCAN = "sub-3_gm.nii.gz"
ON_DISK = {
    "scan of another shape": (lambda f: spoil(volume(3, shape=(5, 6, 8)), f / "scans" / SCAN), r"sub-3_gm.*\(5, 6, 8\) voxels"),
    "scan elsewhere": (lambda f: spoil(volume(3, MOVED), f / "scans" / SCAN), r"sub-3_gm.* lie elsewhere in space"),
    "scan flipped": (lambda f: spoil(volume(3, FLIPPED), f / "scans" / SCAN), r"sub-3_gm.* is stored LAS, and .* RAS"),
    "scan of five dimensions": (lambda f: spoil(volume(3, shape=(5, 6, 7, 1, 2)), f / "scans" / SCAN), "sub-3_gm.* has shape"),
    "scan of complex numbers": (
        lambda f: spoil(nibabel.Nifti1Image(np.ones((5, 6, 7), np.complex64), AFFINE), f / "scans" / SCAN),
        "sub-3_gm.* holds entries of type complex64",
    ),
    "scan cut off": (cut, "sub-3_gm.* cut off"),
    "scan damaged": (damage, "sub-3_gm.*(cut off|unpacked)"),
    "scan that is text": (lambda f: (f / "scans" / SCAN).write_text("age,sex\n1,f\n"), "sub-3_gm"),
    "scan empty": (lambda f: (f / "scans" / SCAN).write_bytes(b""), "sub-3_gm.* is empty"),
    "scan missing": (lambda f: (f / "scans" / SCAN).unlink(), r"There is no scan \S*sub-3_gm\.nii\.gz\.$"),
    "scan with NaN": (nan, r"(sub-3|s3).* 1, 2, 3"),
    "scan z-scored": (
        lambda f: spoil(nibabel.Nifti1Image(np.asarray(volume(3).dataobj) - 1, AFFINE), f / "scans" / SCAN),
        r"sub-3_gm.* below zero at \d+ of 210 voxels|below zero",
    ),
    "scan listed twice": (lambda f: edited(f, "sub-4_gm", "sub-3_gm"), r"sub-3_gm\.nii\.gz is listed more than once"),
    "cell without a scan": (lambda f: edited(f, "scans/sub-4_gm.nii.gz", ""), "line 6: path is empty"),
    "line too short": (lambda f: edited(f, ",b,scans/sub-3_gm", "scans/sub-3_gm"), "line 5: 2 cells for 4 columns"),
    "two columns of scans": (
        lambda f: (f / "table.csv").write_text("a,b\nscans/sub-1_gm.nii.gz,scans/sub-2_gm.nii.gz\n"),
        "2 columns of paths to scans: a, b",
    ),
    "mask of another shape": (lambda f: spoil(volume(shape=(5, 6, 8)), f / "mask.nii.gz"), "mask.* has .* voxels|and .*mask.* has"),
    "mask elsewhere": (lambda f: spoil(volume(affine=MOVED), f / "mask.nii.gz"), "mask.* elsewhere in space"),
    "mask flipped": (lambda f: spoil(volume(affine=FLIPPED), f / "mask.nii.gz"), "mask.*(LAS|RAS).* flipped"),
    "mask empty": (
        lambda f: spoil(nibabel.Nifti1Image(np.zeros((5, 6, 7)), AFFINE), f / "mask.nii.gz"),
        r"mask\.nii\.gz is .*zero",
    ),
    "mask of four dimensions": (lambda f: spoil(volume(shape=(5, 6, 7, 3)), f / "mask.nii.gz"), r"mask\.nii\.gz has 3 volumes"),
    "mask missing": (lambda f: (f / "mask.nii.gz").unlink(), r"There is no file \S*mask\.nii\.gz\.$"),
    "mask that is text": (lambda f: (f / "mask.nii.gz").write_text("a,b\n1,2\n"), "mask"),
}


@pytest.mark.parametrize("mistake", ON_DISK)
def test_on_disk(mistake, folder):
    make, said = ON_DISK[mistake]
    make(folder)
    with pytest.raises((ValueError, OSError), match=rf"(?s){said}"):
        OPNMFParcellation(2, mask=folder / "mask.nii.gz").fit(folder / "table.csv")
    with chdir(folder):
        done = invoke("fit", "table.csv", "--mask", "mask.nii.gz", "--rank", 2)
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (1, 2)
    assert not (folder / "table.nonneg").exists()
    assert "Traceback" not in done.stderr
    assert re.search(rf"(?s){said}", done.stderr), done.stderr


def fit(folder, imgs=None, confounds=None, **options):
    options = {"mask": folder / "mask.nii.gz"} | options
    return OPNMFParcellation(options.pop("n_components", 2), **options).fit(
        folder / "table.csv" if imgs is None else imgs, None, confounds
    )


SIX = pandas.DataFrame({"age": [1, 2, 3, 4, 5, 7.0], "site": list("ababab")})
IN_PYTHON = {
    "rank above subjects": (lambda f: fit(f, n_components=7), "n_components=7 is more than the 6 subjects"),
    "rank that is none": (lambda f: fit(f, n_components=2.5), "n_components must be an int"),
    "no images": (lambda f: fit(f, []), "The list of images is empty"),
    "glob without files": (lambda f: fit(f, str(f / "*.mnc")), r"No file matches .*\*\.mnc"),
    "array for an image": (lambda f: fit(f, [np.ones((5, 6, 7))]), "image 1 is of type ndarray"),
    "stray file": (
        lambda f: ((f / "scans" / "brain.png").write_bytes(b"x"), fit(f, f / "scans")),
        "holds brain.png, which is no scan",
    ),
    "mask in the folder of scans": (
        lambda f: (
            (f / "mask.nii.gz").rename(f / "scans" / "m.nii.gz"),
            fit(f, str(f / "scans" / "*"), mask=f / "scans" / "m.nii.gz"),
        ),
        "m.nii.gz is the mask, and also one of the scans",
    ),
    "scan of no subject": (
        lambda f: (volume().to_filename(f / "scans" / "atlas.nii.gz"), fit(f, f / "scans")),
        "holds atlas.nii.gz, of no subject, beside scans of sub-",
    ),
    "smoothing below zero": (lambda f: fit(f, smoothing_fwhm=-3), "smoothing_fwhm is a width in mm, such as 8, or None; got -3"),
    "smoothing with a unit": (lambda f: fit(f, smoothing_fwhm="8mm"), "smoothing_fwhm is a width in mm"),
    "rank to be found": (lambda f: fit(f, n_components="auto"), "got 'auto'. rank_scan finds how many"),
    "strata without a table": (
        lambda f: OPNMFParcellation(mask=f / "mask.nii.gz").rank_scan(f / "scans", strata="sex"),
        "strata='sex' names columns of a table of scans, and these come from none",
    ),
    "folder without scans": (lambda f: ((f / "new").mkdir(), fit(f, f / "new")), "holds no scans"),
    "stray path": (lambda f: fit(f, [f / "table.csv", f / "mask.nii.gz"]), "table.csv is no scan"),
    "table without scans": (lambda f: fit(f, SIX), "the table has no column of paths to scans.* age, site"),
    "z-scores wanted": (lambda f: fit(f, standardize="zscore_sample"), "standardize='zscore_sample' centres each voxel"),
    "standardize unknown": (lambda f: fit(f, standardize="z"), "Unknown standardize 'z'"),
    "negative unknown": (lambda f: fit(f, negative="keep"), "Unknown negative 'keep'"),
    "regress unknown": (lambda f: fit(f, regress="image"), "Did you mean 'images'"),
    "estimator of another kind": (lambda f: fit(f, estimator=NMF(2)), "estimator is OPNMF"),
    "masker that standardizes": (
        lambda f: fit(f, mask=NiftiMasker(f / "mask.nii.gz", standardize="zscore_sample")),
        "The masker standardizes",
    ),
    "smoothing beside a masker": (
        lambda f: fit(f, mask=NiftiMasker(f / "mask.nii.gz", standardize=None), smoothing_fwhm=4),
        "smoothing_fwhm is a parameter of the masker",
    ),
    "resampling without a mask": (lambda f: fit(f, mask=None, target_affine=np.eye(3)), "Scans that are resampled need a mask"),
    "no common space": (
        lambda f: fit(f, [volume(0, AFFINE + 1000 * np.eye(4, k=3)), volume(1)], resample=True),
        "image 1 is zero everywhere in the mask",
    ),
    "no common space, on the other side": (
        lambda f: fit(f, [volume(0, AFFINE - 1000 * np.eye(4, k=3)), volume(1)], resample=True),
        "image 1 cannot be resampled to the mask",
    ),
    "confounds a column": (lambda f: fit(f, f / "table.csv", "age"), r"columns of the scans are a list: \['age'\]"),
    "confounds a table of scans": (
        lambda f: fit(f, confounds=f / "table.csv"),
        r"is a table of scans, by its column 'path'\. Name those .* such as confounds=\['age', 'site'\]",
    ),
    "confounds with two rows": (
        lambda f: fit(f, confounds=pandas.DataFrame({"id": ["s0", "s0", "s1", "s2", "s3", "s4", "s5"], "age": range(7)})),
        "confounds has 2 rows for s0 in its column 'id': one row for each",
    ),
    "confounds of fewer subjects": (lambda f: fit(f, confounds=SIX[:5]), "confounds has 5 rows for 6 subjects"),
    "confounds missing": (lambda f: fit(f, confounds=SIX.replace({7.0: np.nan})), "'age' is missing for s5"),
    "confounds constant": (lambda f: fit(f, confounds=SIX.assign(site="a")), "'site' is a for all subjects"),
    "confounds that follow": (lambda f: fit(f, confounds=SIX.assign(years=2 * SIX["age"])), "some follow from the others"),
    "confounds of names": (lambda f: fit(f, confounds=SIX.assign(site=list("abcdef"))), "'site' has 6 levels for 6 subjects"),
    "confounds of a column": (lambda f: fit(f, confounds=["sex"]), "column 'sex' of the table of scans; its columns are .*age"),
    "confounds without the subject": (
        lambda f: ((f / "c.csv").write_text("id,age\ns0,1\ns1,2\n"), fit(f, confounds=f / "c.csv")),
        "has no row for s2",
    ),
    "no confounds later": (lambda f: fit(f, confounds=SIX).transform(f / "scans"), "The fit had the covariates age, site"),
    "confounds later": (lambda f: fit(f).transform(f / "scans", SIX), "The fit had no confounds"),
    "another level later": (
        lambda f: fit(f, confounds=SIX).transform(f / "scans", SIX.assign(site=list("abcbab"))),
        "'site' is 'c' for sub-2; the fit knew a, b",
    ),
    "text for a number later": (
        lambda f: fit(f, confounds=SIX).transform(f / "scans", SIX.assign(age="old")),
        "'age' is 'old' for sub-0; a number is needed",
    ),
    "new scans elsewhere": (lambda f: fit(f).transform([volume(0, FLIPPED)]), "image 1 is stored LAS"),
    "loadings of other parts": (lambda f: fit(f).inverse_transform(np.ones((2, 3))), r"Got \(2, 3\); \(n_subjects, 2\)"),
    "not fitted": (lambda f: OPNMFParcellation().transform(f / "scans"), "not fitted yet"),
}


@pytest.mark.parametrize("mistake", IN_PYTHON)
def test_in_python(mistake, folder):
    make, said = IN_PYTHON[mistake]
    with pytest.raises((ValueError, OSError), match=said):
        make(folder)


def test_a_failed_fit_leaves_the_model_as_it_was(folder):
    model = fit(folder)
    before = model.components_
    nan(folder)
    with pytest.raises(ValueError, match=r"nan at voxel 1, 2, 3"):
        model.fit(folder / "table.csv")
    assert model.components_ is before
