"""The whole job from the shell: a table of scans to components, atlas, loadings and the rank."""

import csv
import gc
import json
import shutil
import tempfile
from contextlib import chdir

import nibabel
import numpy as np
import pytest

from nonneg import selection
from nonneg.io import large
from nonneg.loading import read_stored
from nonneg.neuro import compare_atlases
from tests.command import invoke


def run(*arguments, cwd, code=0):
    """Run a command in this process; what it printed."""
    with chdir(cwd):
        done = invoke(*arguments)
    assert done.exit_code == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def fitted(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    outputs = ("--components", "parts.nii.gz", "--atlas", "atlas.nii.gz", "--loadings", "loadings.csv", "--report", "page.html")
    said = run(
        "fit", table, "--mask", table.parent / "mask.nii.gz", "--rank", 12, "-o", "brains.nonneg", *outputs, "--json", cwd=folder
    )
    assert json.loads(said)["samples"] == 60
    return folder


def rows(path, delimiter=","):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_fit(fitted, study):
    found = compare_atlases(study.atlas, fitted / "atlas.nii.gz")
    assert found.ari > 0.93
    assert found.dice > 0.96
    assert [row[0] for row in rows(fitted / "loadings.csv")[1:]] == study.names
    for name, shape in (("parts.nii.gz", (*study.mask.shape, 12)), ("atlas.nii.gz", study.mask.shape)):
        image = nibabel.load(fitted / name)
        assert image.shape == shape
        assert np.array_equal(image.affine, study.mask.affine)
        for field in ("qform_code", "sform_code", "xyzt_units"):
            assert image.header[field] == study.mask.header[field]


def test_order_and_names_are_those_of_python(fitted, table, model):
    header, *found = rows(fitted / "loadings.csv")
    assert header == ["subject", *(f"part {number}" for number in range(1, 13))] == [model.loadings_.index.name, *model.loadings_]
    assert [row[0] for row in found] == model.loadings_.index.tolist()
    assert np.allclose([list(map(float, row[1:])) for row in found], model.loadings_, rtol=0.02)
    parts = [nibabel.load(fitted / "parts.nii.gz").get_fdata(), model.components_img_.get_fdata()]
    parts = [one.reshape(-1, 12) / np.linalg.norm(one.reshape(-1, 12), axis=0) for one in parts]
    assert (parts[0] * parts[1]).sum(axis=0).min() > 0.99
    going_on = read_stored(fitted / "brains.nonneg").estimator
    before = going_on.components_
    going_on.partial_fit(going_on.inverse_transform(going_on.transform(before)))
    assert (before * going_on.components_).sum(axis=1).min() > 0.9


def test_more_parts_than_subjects(table):
    for command in (("fit",), ("rank",)):
        said = run(*command, table, "--rank", "61", cwd=table.parent, code=1)
        assert "61 parts are more than the 60 subjects: each would be a part of its own. Use at most 60" in said


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--atlas", "atlas.label.gii", "GIFTI can be written if features are vertices"),
        ("--atlas", "atlas.csv", "an atlas is an image, of these data .nii or .nii.gz; --labels writes the same as a table"),
        ("--components", "parts.dscalar.nii", "CIFTI-2 can be written if features are vertices"),
        ("--loadings", "loadings.nii.gz", "NIfTI can be written if features are voxels"),
        ("--labels", "labels.nii.gz", "NIfTI can be written if features are voxels"),
    ],
)
def test_outputs_that_do_not_suit_are_refused_before_the_fit(option, name, said, table, monkeypatch):
    monkeypatch.setattr("nonneg.OPNMF.fit", None)
    assert f"{option} {name}: {said}" in run("fit", table, "--rank", 2, option, name, cwd=table.parent, code=1)


def test_large_studies_lie_on_disk(fitted, table, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outputs = ("-o", "m.nonneg", "--atlas", "atlas.nii.gz", "--loadings", "l.csv", "--report", "page.html")
    run("fit", table, "--mask", table.parent / "mask.nii.gz", "--rank", 12, *outputs, cwd=tmp_path)
    monkeypatch.setattr(selection, "rank_scan", lambda _, X, *__, **rest: seen.append(type(X)) or selection.RankScan(**rest))
    seen = []
    with pytest.raises(TypeError):  # nothing is scanned
        run("rank", table, "--rank", "2-3", "--negative", "clip", cwd=tmp_path)
    assert seen == [np.memmap]
    assert compare_atlases(fitted / "atlas.nii.gz", tmp_path / "atlas.nii.gz").ari > 0.97
    gc.collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["atlas.nii.gz", "l.csv", "m.nonneg", "page.html"]


def test_export_of_a_model_fitted_before(fitted, table, tmp_path):
    outputs = ("--components", "parts.nii.gz", "--atlas", "atlas.nii.gz", "--loadings", "loadings.csv", "--labels", "labels.csv")
    run("export", fitted / "brains.nonneg", *outputs, cwd=tmp_path)
    for name in ("parts.nii.gz", "atlas.nii.gz"):
        assert np.array_equal(nibabel.load(tmp_path / name).dataobj, nibabel.load(fitted / name).dataobj)
    assert rows(tmp_path / "loadings.csv") == rows(fitted / "loadings.csv")
    inside = np.asarray(nibabel.load(table.parent / "mask.nii.gz").dataobj) != 0
    atlas = np.asarray(nibabel.load(tmp_path / "atlas.nii.gz").dataobj)[inside]
    assert [int(row[1]) for row in rows(tmp_path / "labels.csv")[1:]] == atlas.tolist()
    one = table.parent / "sub-007" / "anat" / "gm.nii.gz"
    run("export", fitted / "brains.nonneg", one, "--loadings", "one.csv", cwd=tmp_path)
    assert rows(tmp_path / "one.csv")[1][1:] == rows(tmp_path / "loadings.csv")[7][1:]


def test_export_refuses(fitted, table, tmp_path):
    assert "Nothing to write" in run("export", fitted / "brains.nonneg", cwd=tmp_path, code=2)
    shutil.copytree(table.parent, tmp_path / "moved")
    run("fit", "moved/participants.tsv", "--rank", 2, "-o", "m.nonneg", cwd=tmp_path)
    shutil.rmtree(tmp_path / "moved")
    said = run("export", "m.nonneg", "--loadings", "l.csv", cwd=tmp_path, code=1)
    assert "is no longer there (moved/participants.tsv): give the data, nonneg export m.nonneg DATA" in said
    run("datasets", "iris", "-o", "iris.csv", cwd=tmp_path)
    run("fit", "iris.csv", "--ignore", "species", "--rank", 2, cwd=tmp_path)
    assert "--atlas is for volumes and surfaces of the brain" in run(
        "export", "iris.nonneg", "--atlas", "a.nii.gz", cwd=tmp_path, code=2
    )


def test_rank_by_stratified_halves(table, monkeypatch):
    seen = []
    monkeypatch.setattr(selection, "rank_scan", lambda *_, y, criteria, **rest: seen.append((y, criteria)) or scan(**rest))
    scan = selection.RankScan
    for strata in ("sex,age/2", "participants.tsv:sex,age/2"):
        with pytest.raises(TypeError):  # nothing is scanned
            run("rank", "participants.tsv", "--rank", "2-3", "--strata", strata, cwd=table.parent)
    (y, criteria), other = seen
    assert criteria == ["halves"]
    assert np.array_equal(y, other[0])
    people = rows(table, "\t")[1:]
    ages = np.array([float(row[1]) for row in people])
    classes = [f"{row[2]} age {1 + (age > np.median(ages))}" for row, age in zip(people, ages, strict=True)]
    assert y.tolist() == classes


@pytest.mark.parametrize(
    ("strata", "said"),
    [
        ("height", "has no column 'height'; its columns are participant_id, age, sex, path"),
        ("participants.tsv", "is a file; which of its columns are the strata comes behind it"),
        ("age", "strata of 60 samples, too few in each"),
        ("sex/2", "has 'f' in it|has 'm' in it"),
        ("age/1", "at least 2"),
        ("nothing.csv:age", "There is no file nothing.csv"),
        ("short.csv:age", "has 2 rows for 60 samples, and no column names all of them, as sub-001"),
        ("other.csv:age", "has no row for sub-060 in its column 'id'"),
    ],
)
def test_strata_refused(strata, said, table, tmp_path):
    (tmp_path / "short.csv").write_text("id,age\na,1\nb,2\n")
    (tmp_path / "other.csv").write_text("id,age\n" + "".join(f"sub-{number:03d},{number}\n" for number in range(60)))
    (tmp_path / "participants.tsv").write_text(table.read_text().replace("\tsub-", f"\t{table.parent}/sub-"))
    with pytest.raises(AssertionError) as error:
        run("rank", "participants.tsv", "--rank", "2-3", "--strata", strata, cwd=tmp_path)
    assert error.match(said)


def test_strata_are_for_several_ranks(table):
    assert "--strata is for the choice of a rank" in run("fit", table, "--rank", 2, "--strata", "sex", cwd=table.parent, code=2)


def test_a_scan_is_one_subject(table):
    scan = table.parent / "sub-007" / "anat" / "gm.nii.gz"
    said = run("fit", scan, scan, "--rank", 1, cwd=table.parent, code=1)
    assert "sub-007/anat/gm.nii.gz is listed more than once" in said


def test_other_criteria_have_no_strata(table):
    assert "--strata is for the criterion halves" in run(
        "rank", table, "--criterion", "gabriel", "--strata", "sex", cwd=table.parent, code=2
    )
