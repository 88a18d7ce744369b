"""Pictures of brains: sides, millimetres and background, whatever the order in which voxels are stored."""

import base64
import io
import re

import nibabel
import numpy as np
import PIL.Image
import pytest

from nonneg import OPNMF, plot
from nonneg.files import Layout, read
from nonneg.plot.slices import cuts, slices
from nonneg.report.pictures import overlaid

AFFINE = np.array([[2.0, 0, 0, -9], [0, 3, 0, -20], [0, 0, 4, -10], [0, 0, 0, 1]])
SHAPE = (10, 12, 6)


def head(codes="RAS"):
    """An image with a mark on the left, in front, above; stored with axes in the order of the codes."""
    values = np.ones(SHAPE, np.float32)
    values[1, 10, 4] = 9  # x = -7, y = 10, z = 6
    image = nibabel.Nifti1Image(values, AFFINE)
    turn = nibabel.orientations.ornt_transform(nibabel.io_orientation(AFFINE), nibabel.orientations.axcodes2ornt(codes))
    return image.as_reoriented(turn)


@pytest.mark.parametrize("codes", ["RAS", "LAS", "PSR", "ILP"])
@pytest.mark.parametrize("radiological", [False, True])
def test_slices(codes, radiological):
    image = head(codes)
    layout = Layout(image.shape, affine=image.affine)
    values = np.asarray(image.dataobj).ravel()
    sagittal, coronal, axial = slices(layout, values, cuts(layout, values), radiological=radiological)
    assert [one.name for one in (sagittal, coronal, axial)] == ["x = -7 mm", "y = 10 mm", "z = 6 mm"]
    assert [one.values.shape for one in (sagittal, coronal, axial)] == [(8, 12), (12, 10), (18, 10)]  # square pixels
    assert sagittal.sides == ("P", "A")
    assert axial.sides == coronal.sides == (("R", "L") if radiological else ("L", "R"))
    for one, row, column in ((sagittal, 1 / 8, 10.5 / 12), (coronal, 2 / 12, 1.5 / 10), (axial, 1.5 / 18, 1.5 / 10)):
        rows, columns = np.nonzero(one.values == 9)
        turned = radiological and one is not sagittal
        assert (rows.mean() + 0.5) / one.values.shape[0] == pytest.approx(row, abs=0.1)
        assert (columns.mean() + 0.5) / one.values.shape[1] == pytest.approx(1 - column if turned else column)


def test_volumes_without_an_affine_have_no_sides():
    values = np.arange(24.0)
    (one,) = slices(Layout((2, 3, 4)), values, cuts(Layout((2, 3, 4)), values))
    assert (one.sides, one.name, one.values.shape) == (None, "slice 3", (3, 2))


def test_overlay():
    source = overlaid(np.array([[np.nan, 0.0, 1.0, 1.0]]), np.array([[0.0, 0, 0, 1]]))
    picture = PIL.Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).convert("RGB")
    assert np.asarray(picture)[0].tolist() == [[255] * 3, [232] * 3, [112] * 3, [190, 20, 30]]


def test_drawn_and_on_the_page(table, tmp_path):
    study = read(table, mask=table.parent / "mask.nii.gz")
    model = OPNMF(3, random_state=0).fit(study.values)
    texts = [text.get_text() for text in plot.components(model, study.layout).texts]
    assert texts.count("L") == texts.count("R") == 3
    assert sum(text.startswith("z = ") for text in texts) == 3
    for radiological in (False, True):
        ax = plot.components(model, study.layout, count=1, radiological=radiological)
        places = {text.get_text(): text.get_position()[0] for text in ax.texts}
        assert (places["L"] > places["R"]) == radiological
    model.report(tmp_path / "page.html", study.values, shape=study.layout)
    page = (tmp_path / "page.html").read_text()
    assert len(re.findall(r"<span><b>L</b><img [^>]*><b>R</b><small>[yz] = -?\d+ mm</small></span>", page)) == 6
    assert len(re.findall(r"<span><b>P</b><img [^>]*><b>A</b><small>x = -?\d+ mm</small></span>", page)) == 3
