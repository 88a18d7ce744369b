"""Values on surfaces: GIFTI, CIFTI-2, FreeSurfer and nilearn's SurfaceImage, in and out, from Python and the shell."""

import nibabel
import numpy as np
import pytest
from nibabel import cifti2, freesurfer, gifti
from nilearn.surface import InMemoryMesh, PolyMesh, SurfaceImage

from nonneg import files
from nonneg.files import FileError
from nonneg.neuro import OPNMFParcellation, compare_atlases

LABELS = np.r_[np.zeros(5, int), np.repeat([1, 2, 3], 20), np.zeros(5, int)]
"""Of 70 vertices, with a medial wall that is zero in all maps."""


@pytest.fixture(scope="module")
def maps():
    rng = np.random.default_rng(0)
    thickness = np.c_[np.zeros(12), rng.gamma(6.0, 0.5, (12, 3))][:, LABELS] * rng.uniform(0.95, 1.05, (12, 70))
    return thickness.astype(np.float32)


def save_gifti(path, rows, structure="CortexLeft"):
    arrays = [gifti.GiftiDataArray(row, "NIFTI_INTENT_SHAPE", "NIFTI_TYPE_FLOAT32") for row in np.atleast_2d(rows)]
    meta = gifti.GiftiMetaData({"AnatomicalStructurePrimary": structure})
    gifti.GiftiImage(meta=meta, darrays=arrays).to_filename(path)


def brain(count=70, structure="CORTEX_LEFT"):
    return cifti2.BrainModelAxis.from_surface(np.arange(count), 100, f"CIFTI_STRUCTURE_{structure}")


def save_cifti(path, rows, axis=None):
    rows = np.atleast_2d(rows)
    cifti2.Cifti2Image(rows, (cifti2.ScalarAxis([f"map {i}" for i in range(len(rows))]), axis or brain())).to_filename(path)


def save_series(path, rows):
    rows = np.atleast_2d(rows)
    cifti2.Cifti2Image(rows, (cifti2.SeriesAxis(0, 1, len(rows)), brain())).to_filename(path)


def save_mgh(path, rows):
    frames = np.asarray(rows, dtype=np.float32).T
    nibabel.MGHImage(frames[:, None, None] if frames.ndim == 1 else frames[:, None, None, :], np.eye(4)).to_filename(path)


def save_morph(path, row):
    freesurfer.write_morph_data(path, row)


FORMATS = {
    "thickness.shape.gii": save_gifti,
    "thickness.dscalar.nii": save_cifti,
    "thickness.dtseries.nii": save_series,
    "thickness.mgh": save_mgh,
    "thickness.mgz": save_mgh,
    "lh.thickness": save_morph,
}


@pytest.fixture(params=FORMATS)
def scans(request, maps, tmp_path):
    """A file for each subject, called alike."""
    paths = []
    for number, row in enumerate(maps, 1):
        (tmp_path / f"sub-{number:02d}").mkdir()
        paths.append(tmp_path / f"sub-{number:02d}" / request.param)
        FORMATS[request.param](paths[-1], row)
    return paths


def values_of(image):
    """Maps of an image, one a row."""
    if isinstance(image, gifti.GiftiImage):
        return np.stack([array.data for array in image.darrays])
    values = np.asarray(image.dataobj)
    return values if values.ndim == 2 else values.reshape(values.shape[0], -1).T


def test_parcellation(scans, maps):
    model = OPNMFParcellation(3, random_state=0).fit(scans)
    assert model.loadings_.index.tolist() == [f"sub-{number:02d}" for number in range(1, 13)]
    assert model.components_.shape == (3, 60)
    assert compare_atlases(model, LABELS).dice == 1
    components = values_of(model.components_img_)
    assert components.shape == (3, 70)
    assert components[:, 5:65] == pytest.approx(model.components_)
    assert not components[:, LABELS == 0].any()
    assert model.transform(scans[:2]) == pytest.approx(model.loadings_.to_numpy()[:2])
    assert values_of(model.inverse_transform(model.loadings_)) == pytest.approx(maps, rel=0.2)
    name = scans[0].name
    path = scans[0].parents[1] / f"parts{'.mgh' if name.startswith('lh.') else name.removeprefix('thickness')}"
    model.components_img_.to_filename(path)
    assert files.read(path).values == pytest.approx(components[:, 5:65])
    assert compare_atlases(path, model).ari == 1


def test_images_in_memory_and_masks(scans):
    if scans[0].name.startswith("lh."):
        pytest.skip("nibabel has no image of morph files")
    load = (lambda path: nibabel.MGHImage.from_bytes(files.Source(path).content())) if scans[0].suffix == ".mgh" else nibabel.load
    images = [load(path) for path in scans]
    model = OPNMFParcellation(3, random_state=0).fit(images)
    again = OPNMFParcellation(3, mask=model.mask_img_, random_state=0).fit(images)
    assert np.array_equal(model.components_, again.components_)


def test_files_keep_their_surface(scans, maps, tmp_path):
    table = files.read(scans)
    assert table.samples.tolist() == [f"sub-{number:02d}" for number in range(1, 13)]
    assert np.array_equal(table.values, maps[:, 5:65])
    folder = tmp_path / "written"
    folder.mkdir()
    for number, row in enumerate(table.values[:2]):
        (folder / f"sub-{number}").mkdir()
        files.write(files.Table(row[None], layout=table.layout), folder / f"sub-{number}" / scans[0].name)
    assert np.array_equal(files.read(folder, mask=table.layout).values, table.values[:2])


def test_atlases_are_written_with_labels(maps, tmp_path):
    save_gifti(tmp_path / "a.func.gii", maps, "CortexRight")
    save_cifti(tmp_path / "a.dscalar.nii", maps)
    atlas = LABELS[LABELS > 0][None].astype(np.int16)
    files.write(files.Table(atlas, layout=files.read(tmp_path / "a.func.gii").layout), tmp_path / "atlas.label.gii")
    read = nibabel.load(tmp_path / "atlas.label.gii")
    assert read.labeltable.get_labels_as_dict() == {0: "none", 1: "part 1", 2: "part 2", 3: "part 3"}
    assert read.meta["AnatomicalStructurePrimary"] == "CortexRight"
    assert np.array_equal(read.darrays[0].data, LABELS)
    files.write(files.Table(atlas, layout=files.read(tmp_path / "a.dscalar.nii").layout), tmp_path / "atlas.dlabel.nii")
    read = nibabel.load(tmp_path / "atlas.dlabel.nii")
    assert read.header.get_axis(1) == brain()
    assert [name for name, _ in read.header.get_axis(0).label[0].values()] == ["none", "part 1", "part 2", "part 3"]
    assert np.array_equal(np.asarray(read.dataobj)[0], LABELS)


def test_surface_images_of_nilearn(maps):
    mesh = InMemoryMesh(np.random.default_rng(0).random((35, 3)), np.array([[0, 1, 2]]))
    image = SurfaceImage(PolyMesh(mesh, mesh), {"left": maps.T[:35], "right": maps.T[35:]})
    inside = (LABELS > 0).astype(np.int8)
    mask = SurfaceImage(PolyMesh(mesh, mesh), {"left": inside[:35], "right": inside[35:]})
    model = OPNMFParcellation(3, mask=mask, random_state=0).fit(image)
    assert isinstance(model.labels_img_, SurfaceImage)
    found = np.concatenate([model.labels_img_.data.parts[side].ravel() for side in ("left", "right")])
    assert compare_atlases(found, LABELS).dice == 1
    assert compare_atlases(model.components_img_, model).ari == 1
    assert model.transform(image) == pytest.approx(model.loadings_.to_numpy())


class TestRefused:
    def test_other_surfaces(self, maps, tmp_path):
        save_gifti(tmp_path / "lh.gii", maps[0])
        save_gifti(tmp_path / "rh.gii", maps[1], "CortexRight")
        save_gifti(tmp_path / "short.gii", maps[1, :60])
        with pytest.raises(FileError, match=r"rh\.gii and .*lh\.gii have as many vertices.*: CortexRight and CortexLeft"):
            OPNMFParcellation(1).fit([tmp_path / "lh.gii", tmp_path / "rh.gii"])
        with pytest.raises(FileError, match=r"short\.gii has 60 vertices, and .*lh\.gii has 70"):
            files.read([tmp_path / "lh.gii", tmp_path / "short.gii"])
        save_cifti(tmp_path / "a.dscalar.nii", maps[0])
        save_cifti(tmp_path / "b.dscalar.nii", maps[1], brain(structure="CORTEX_RIGHT"))
        with pytest.raises(FileError, match=r"b\.dscalar\.nii and .* their brain models differ"):
            OPNMFParcellation(1).fit([tmp_path / "a.dscalar.nii", tmp_path / "b.dscalar.nii"])
        with pytest.raises(FileError, match=r"a\.dscalar\.nii is no file of GIFTI, as others are"):
            OPNMFParcellation(1).fit([tmp_path / "lh.gii", tmp_path / "a.dscalar.nii"])

    def test_meshes_and_files_elsewhere(self, maps, tmp_path):
        points = gifti.GiftiDataArray(np.zeros((70, 3), np.float32), "NIFTI_INTENT_POINTSET", "NIFTI_TYPE_FLOAT32")
        gifti.GiftiImage(darrays=[points]).to_filename(tmp_path / "mesh.surf.gii")
        with pytest.raises(FileError, match="is a mesh, with coordinates and triangles in place of values"):
            files.read(tmp_path / "mesh.surf.gii")
        save_gifti(tmp_path / "a.gii", maps[0])
        text = (tmp_path / "a.gii").read_text().replace("GZipBase64Binary", "ExternalFileBinary")
        (tmp_path / "a.gii").write_text(text)
        with pytest.raises(FileError, match="has its values in another file, which is not opened"):
            files.read(tmp_path / "a.gii")

    def test_values_masks_and_smoothing(self, maps, tmp_path):
        save_mgh(tmp_path / "a.mgh", np.where(np.arange(70) == 30, np.nan, maps[0]))
        save_mgh(tmp_path / "b.mgh", maps[1])
        with pytest.raises(ValueError, match=r"a\.mgh is NaN or infinite at vertex 30, and at 0 more"):
            OPNMFParcellation(1).fit([tmp_path / "b.mgh", tmp_path / "a.mgh"])
        with pytest.raises(ValueError, match="smoothing_fwhm is for volumes"):
            OPNMFParcellation(1, smoothing_fwhm=6).fit(tmp_path / "b.mgh")
        save_mgh(tmp_path / "mask.mgh", np.zeros(70, np.float32))
        with pytest.raises(ValueError, match=r"mask\.mgh is zero or NaN at all vertices"):
            OPNMFParcellation(1, mask=tmp_path / "mask.mgh").fit(tmp_path / "b.mgh")
        save_mgh(tmp_path / "masks.mgh", maps[:2])
        with pytest.raises(ValueError, match=r"masks\.mgh has 2 maps; a mask is one"):
            OPNMFParcellation(1, mask=tmp_path / "masks.mgh").fit(tmp_path / "b.mgh")
        (tmp_path / "cut.mgh").write_bytes((tmp_path / "b.mgh").read_bytes()[:400])
        with pytest.raises(FileError, match=r"(?s)cut\.mgh .*cut off"):
            files.read(tmp_path / "cut.mgh")
        with pytest.raises(FileError, match=r"hold one map, and there are 2"):
            files.write(files.Table(maps[:2], layout=files.Layout((70,))), tmp_path / "lh.parts")
