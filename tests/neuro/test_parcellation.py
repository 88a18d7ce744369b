"""The whole job from Python: images in, atlas and loadings out."""

import pickle

import nibabel
import numpy as np
import pandas
import pytest
from nilearn.maskers import NiftiMasker
from sklearn.pipeline import make_pipeline

from nonneg import OPNMF, neuro, selection
from nonneg.neuro import OPNMFParcellation, compare_atlases


def test_the_planted_atlas_is_found(study, model):
    found = compare_atlases(study.atlas, model)
    assert found.ari > 0.97
    assert found.dice > 0.98
    assert found.coverage == 1
    assert sorted(found.table["b"]) == list(range(1, 13))


def test_loadings_have_names_and_follow_the_planted_ones(study, model):
    assert model.loadings_.index.tolist() == study.names
    partner = compare_atlases(study.atlas, model).table["b"].to_numpy() - 1
    for region, part in enumerate(partner):
        assert np.corrcoef(study.loadings[:, region], model.loadings_.iloc[:, part])[0, 1] > 0.93


def test_the_rank_by_stratified_halves(table, monkeypatch):
    wanted = OPNMFParcellation(mask=table.parent / "mask.nii.gz", random_state=0)
    scan = wanted.rank_scan(table, [11, 12, 13], strata="sex,age/2", criteria=selection.criteria.Halves(n_repeats=2))
    assert scan.best_ == 12
    assert not hasattr(wanted, "components_")
    people = pandas.read_csv(table, sep="\t")
    classes = people["sex"] + (people["age"] > people["age"].median()).map({False: " age 1", True: " age 2"})
    monkeypatch.setattr(selection, "rank_scan", lambda *_, y, **__: y)
    assert np.array_equal(wanted.rank_scan(table, strata="sex,age/2"), classes)
    assert np.array_equal(wanted.rank_scan(table, strata=classes.to_numpy()), classes)
    with pytest.raises(ValueError, match="The table of scans has no column 'site'"):
        wanted.rank_scan(table, strata="site")


def test_variance_explained(study, model):
    explained = model.explained_variance_ratio_
    X = NiftiMasker(study.mask, standardize=None).fit_transform(study.images).astype(float)
    W = model.components_.T
    centred = X - X.mean(axis=0)
    residual = centred - centred @ W @ W.T
    assert explained.total == pytest.approx(1 - (residual**2).sum() / (centred**2).sum(), rel=1e-5)
    assert explained.by_subject == pytest.approx(1 - (residual**2).sum(axis=1) / (centred**2).sum(axis=1), rel=1e-4)
    assert (np.diff(explained.by_part) <= 0).all()
    first = centred - np.outer(centred @ W[:, 0], W[:, 0])
    assert explained.by_part[0] == pytest.approx(1 - (first**2).sum() / (centred**2).sum(), rel=1e-4)
    assert model.score(study.images) == pytest.approx(explained.total, rel=1e-6)


def test_images_have_the_space_of_the_mask(study, model, tmp_path):
    for image in (model.components_img_, model.labels_img_):
        image.to_filename(tmp_path / "image.nii.gz")
        read = nibabel.load(tmp_path / "image.nii.gz")
        assert np.array_equal(read.affine, study.mask.affine)
        for name in ("qform_code", "sform_code", "xyzt_units", "quatern_b", "quatern_c", "quatern_d"):
            assert read.header[name] == study.mask.header[name]
    assert model.components_img_.shape == (*study.mask.shape, 12)
    assert model.labels_img_.shape == study.mask.shape
    assert model.labels_img_.get_data_dtype() == np.int16
    inside = np.asarray(study.mask.dataobj) > 0
    assert set(np.unique(np.asarray(model.labels_img_.dataobj)[inside])) == set(range(1, 13))
    assert not np.asarray(model.labels_img_.dataobj)[~inside].any()


def test_it_equals_a_masker_followed_by_opnmf(study, model):
    pipeline = make_pipeline(NiftiMasker(study.mask, standardize=None), OPNMF(12, random_state=0)).fit(study.images)
    codes = pipeline.transform(study.images)
    order = np.argmax(np.corrcoef(model.loadings_.T, codes.T)[:12, 12:], axis=1)
    assert sorted(order) == list(range(12))
    assert model.loadings_.to_numpy() == pytest.approx(codes[:, order], rel=1e-4)


def test_new_images(study, model):
    assert model.transform(study.images[:3]) == pytest.approx(model.loadings_.to_numpy()[:3])
    image = model.inverse_transform(model.loadings_.iloc[:3])
    assert image.shape == (*study.mask.shape, 3)
    inside = np.asarray(study.mask.dataobj) > 0
    original = np.stack([np.asarray(one.dataobj)[inside] for one in study.images[:3]])
    assert np.linalg.norm(np.asarray(image.dataobj)[inside].T - original) < 0.4 * np.linalg.norm(original)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(study.images[:2]), model.transform(study.images[:2]))


WAYS = {
    "list of paths": lambda folder: sorted(folder.glob("sub-*/anat/gm.nii.gz")),
    "glob": lambda folder: str(folder / "sub-*" / "anat" / "gm.nii.gz"),
    "table": lambda folder: folder / "participants.tsv",
    "DataFrame": lambda folder: pandas.read_csv(folder / "participants.tsv", sep="\t").assign(
        path=lambda frame: [str(folder / path) for path in frame["path"]]
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_give_scans(way, study, table):
    found = OPNMFParcellation(2, mask=table.parent / "mask.nii.gz", random_state=0).fit(WAYS[way](table.parent))
    assert found.loadings_.index.tolist() == study.names


def test_folder_and_four_dimensions(study, tmp_path):
    for number in range(4):
        study.images[number].to_filename(tmp_path / f"gm_{number}.nii")
    (tmp_path / "gm_0.json").write_text("{}")
    in_folder = OPNMFParcellation(2, random_state=0).fit(tmp_path)
    assert in_folder.loadings_.index.tolist() == ["gm_0", "gm_1", "gm_2", "gm_3"]
    joined = nibabel.Nifti1Image(np.stack([one.get_fdata() for one in study.images[:4]], axis=3), study.mask.affine)
    assert OPNMFParcellation(2, random_state=0).fit(joined).loadings_.to_numpy() == pytest.approx(
        in_folder.loadings_.to_numpy(), rel=1e-4
    )


def test_covariates_are_taken_out_of_images(study, table):
    inside = np.asarray(study.mask.dataobj) > 0
    age = (study.age - study.age.mean()) / study.age.std()
    scans = [
        nibabel.Nifti1Image((np.asarray(image.dataobj) * (1 - 0.2 * years) * inside).astype(np.float32), image.affine)
        for image, years in zip(study.images, age, strict=True)
    ]
    confounds = pandas.DataFrame({"age": study.age, "sex": study.sex})
    plain = OPNMFParcellation(12, mask=study.mask, random_state=0).fit(scans)
    for regress in ("images", "loadings"):
        model = OPNMFParcellation(12, mask=study.mask, random_state=0, regress=regress).fit(scans, confounds=confounds)
        with_age = np.corrcoef(study.age, model.loadings_.T)[0, 1:]
        assert np.abs(with_age).max() < 0.05
        assert np.abs(np.corrcoef(study.age, plain.loadings_.T)[0, 1:]).min() > 0.2
        assert model.transform(scans, confounds=confounds) == pytest.approx(model.loadings_.to_numpy(), rel=1e-5)
        assert (0 < model.clipped_share_ < 0.01) == (regress == "images")
    assert compare_atlases(study.atlas, OPNMFParcellation(12, mask=study.mask).fit(table, confounds=["age", "sex"])).ari > 0.9


def test_covariates_of_a_file_are_matched_by_name(study, table, tmp_path):
    path = tmp_path / "covariates.csv"
    rows = [f"{name},{age}" for name, age in zip(study.names, study.age, strict=True)]
    path.write_text("\n".join(["participant_id,age", *rows[::-1]]) + "\n")
    options = {"mask": study.mask, "random_state": 0}
    by_name = OPNMFParcellation(3, **options).fit(table, confounds=path)
    assert np.array_equal(by_name.components_, OPNMFParcellation(3, **options).fit(table, confounds=["age"]).components_)


def test_a_published_atlas(study, model, tmp_path):
    model.components_img_.to_filename(tmp_path / "parts.nii.gz")
    again = OPNMFParcellation.from_atlas(tmp_path / "parts.nii.gz")
    lengths = np.linalg.norm(model.components_, axis=1)
    assert again.transform(study.images[:4]) == pytest.approx(model.loadings_.to_numpy()[:4] / lengths, rel=1e-4)
    assert np.array_equal(again.labels_, model.labels_)
    labels = OPNMFParcellation.from_atlas(study.atlas)
    planted, values = np.asarray(study.atlas.dataobj), np.asarray(study.images[0].dataobj)
    sums = [values[planted == label].sum() / np.sqrt((planted == label).sum()) for label in range(1, 13)]
    assert labels.transform(study.images[0])[0] == pytest.approx(sums, rel=1e-4)
    assert np.array_equal(np.asarray(labels.labels_img_.dataobj), planted)
    assert labels.score(study.images[:2]) > 0.5
    flipped = study.images[0].as_reoriented(np.array([[0, -1], [1, 1], [2, 1]]))
    assert OPNMFParcellation.from_atlas(study.atlas, resample=True).transform([flipped])[0] == pytest.approx(sums, rel=1e-3)
    with pytest.raises(ValueError, match="image 1 is stored LAS"):
        labels.transform([flipped])
    negative = nibabel.Nifti1Image(-np.asarray(model.components_img_.dataobj), study.mask.affine)
    with pytest.raises(ValueError, match="is no atlas: components are not negative"):
        OPNMFParcellation.from_atlas(negative)


def test_smoothing_and_resampling(study):
    smooth = OPNMFParcellation(12, mask=study.mask, smoothing_fwhm=15, random_state=0).fit(study.images)
    expected = NiftiMasker(study.mask, smoothing_fwhm=15, standardize=None).fit_transform(study.images)
    assert smooth.loadings_.to_numpy() == pytest.approx(expected @ smooth.components_.T, rel=1e-4)
    coarse = OPNMFParcellation(3, mask=study.mask, target_affine=np.diag([20, 20, 20])).fit(study.images[:6])
    assert np.abs(np.diag(coarse.mask_img_.affine)[:3]).tolist() == [20, 20, 20]
    masker = NiftiMasker(study.mask, smoothing_fwhm=15)
    assert np.array_equal(OPNMFParcellation(12, mask=masker, random_state=0).fit(study.images).labels_, smooth.labels_)
    flipped = study.images[0].as_reoriented(np.array([[0, -1], [1, 1], [2, 1]]))
    assert nibabel.aff2axcodes(flipped.affine) == ("L", "A", "S")
    model = OPNMFParcellation(3, mask=study.mask, resample=True, random_state=0).fit(study.images[:6])
    assert model.transform([flipped]) == pytest.approx(model.transform(study.images[:1]), rel=1e-4)


def test_standardized(study):
    model = OPNMFParcellation(12, mask=study.mask, standardize="scale", random_state=0).fit(study.images)
    X = NiftiMasker(study.mask, standardize=None).fit_transform(study.images)
    X = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    assert model.loadings_.to_numpy() == pytest.approx(X @ model.components_.T, rel=1e-4)
    assert model.clipped_share_ == 0


def test_large_studies_lie_on_disk(study, model, tmp_path, monkeypatch):
    from nonneg.io import large

    monkeypatch.setattr(large, "LARGE", 1000)
    seen = []
    fit = OPNMF.fit
    monkeypatch.setattr(OPNMF, "fit", lambda self, X, *rest: (seen.append(X), fit(self, X, *rest))[1])
    found = OPNMFParcellation(12, mask=study.mask, scratch=tmp_path, random_state=0).fit(study.images)
    assert seen[0].startswith(str(tmp_path))
    assert compare_atlases(model, found).ari > 0.97
    assert found.explained_variance_ratio_.total == pytest.approx(model.explained_variance_ratio_.total, rel=1e-2)
    assert not list(tmp_path.iterdir())


def test_another_estimator(study):
    exact = OPNMFParcellation(12, mask=study.mask, estimator=OPNMF(orthogonality="exact"), random_state=0).fit(study.images)
    assert (np.count_nonzero(exact.components_, axis=0) <= 1).all()


def test_lazy_and_listed():
    assert set(neuro.__all__) <= set(dir(neuro))
    with pytest.raises(AttributeError, match="no attribute 'Parcellation'"):
        _ = neuro.Parcellation


class TestCompareAtlases:
    def test_by_hand(self):
        found = compare_atlases(np.array([1, 1, 1, 1, 2, 2, 0]), np.array([7, 7, 7, 4, 4, 4, 4]))
        assert found.table.to_numpy().tolist() == [[1, 7, 6 / 7, 4, 3], [2, 4, 4 / 6, 2, 4]]
        assert found.dice == pytest.approx((6 / 7 + 4 / 6) / 2)
        assert found.coverage == pytest.approx(6 / 7)

    def test_parts_without_a_partner(self):
        found = compare_atlases([1, 2, 3, 3], [1, 1, 2, 2])
        assert found.table["b"].tolist() == [1, 0, 2]
        assert found.dice == pytest.approx((2 / 3 + 0 + 1) / 3)

    def test_images_paths_and_components(self, study, model, tmp_path):
        study.atlas.to_filename(tmp_path / "atlas.nii.gz")
        ours = compare_atlases(study.atlas, model)
        assert compare_atlases(tmp_path / "atlas.nii.gz", model.components_img_).ari == pytest.approx(ours.ari)
        fine = nibabel.Nifti1Image(np.kron(np.asarray(study.atlas.dataobj), np.ones((2, 2, 2), np.int16)), study.atlas.affine)
        with pytest.raises(ValueError, match=r"b has .* voxels, and a has"):
            compare_atlases(study.atlas, fine)
        affine = study.atlas.affine @ np.diag([0.5, 0.5, 0.5, 1])
        affine[:3, 3] -= affine[:3, :3] @ [0.5, 0.5, 0.5]
        fine = nibabel.Nifti1Image(np.asarray(fine.dataobj), affine, dtype=np.int16)
        assert compare_atlases(study.atlas, fine, resample=True).ari > 0.8

    @pytest.mark.parametrize(
        ("a", "b", "said"),
        [
            ([1, 2], [1, 2, 3], "a labels 2 places and b 3"),
            ([0.5, 1], [1, 2], "a holds numbers that are not whole"),
            ([0, 0], [1, 2], "a has no part"),
        ],
    )
    def test_refused(self, a, b, said):
        with pytest.raises(ValueError, match=said):
            compare_atlases(a, b)


def test_subjects_are_called_by_the_files_of_images(study, table):
    paths = sorted(table.parent.glob("sub-*/anat/gm.nii.gz"))[:4]
    loaded = [nibabel.load(path) for path in paths]
    names = ["sub-001", "sub-002", "sub-003", "sub-004"]
    for images in (paths, loaded, [*map(str, paths[:2]), *loaded[2:]]):
        assert OPNMFParcellation(2, mask=study.mask).fit(images).loadings_.index.tolist() == names
    mixed = OPNMFParcellation(2, mask=study.mask).fit([loaded[0], loaded[1].__class__.from_image(loaded[1]), loaded[2]])
    assert mixed.loadings_.index.tolist() == ["sub-001", "subject 2", "sub-003"]
    again = OPNMFParcellation(2, mask=study.mask).fit([loaded[0], loaded[0]])
    assert again.loadings_.index.tolist() == ["subject 1", "subject 2"]


def test_set_output(study, table, model):
    named = OPNMFParcellation(2, mask=study.mask, random_state=0).set_output(transform="pandas")
    found = named.fit_transform(table)
    pandas.testing.assert_frame_equal(found, named.loadings_)
    pandas.testing.assert_frame_equal(named.transform(table), named.loadings_, rtol=1e-5)
    assert isinstance(model.transform(table), np.ndarray)
    assert list(model.get_feature_names_out()) == list(model.loadings_.columns)


def test_covariates_are_matched_by_name(study, table):
    people = pandas.read_csv(table, sep="\t")[["participant_id", "age"]]
    expected = OPNMFParcellation(2, mask=study.mask, random_state=0).fit(table, confounds=["age"]).loadings_
    shuffled = people.sample(frac=1, random_state=0)
    for confounds in (shuffled, shuffled.set_index("participant_id"), shuffled.to_dict("list")):
        found = OPNMFParcellation(2, mask=study.mask, random_state=0).fit(table, confounds=confounds)
        assert found.confounds_.names == ("age",)
        pandas.testing.assert_frame_equal(found.loadings_, expected)
