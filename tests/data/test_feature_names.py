"""Names of features: a file that has them is fitted, and compared with a fit, as a data frame is."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import NMF, OPNMF, Observed
from nonneg.exceptions import DataError
from nonneg.selection import top_features

pytestmark = pytest.mark.wide(one_in=2)


pandas = pytest.importorskip("pandas")
NAMES = [f"gene {j}" for j in "cabdef"]


def frame(names=NAMES):
    generator = np.random.default_rng(0)
    values = generator.gamma(1, size=(30, 2)) @ generator.gamma(0.5, size=(2, 6)) + 0.1
    return pandas.DataFrame(values, columns=NAMES)[names]


def write_parquet(table, path):
    pytest.importorskip("pyarrow", reason="files of Parquet need pyarrow")
    table.to_parquet(path)
    return path


def write_h5ad(table, path, kind=None):
    anndata = pytest.importorskip("anndata")
    values = table.to_numpy() if kind is None else kind(table.to_numpy())
    made = anndata.AnnData(values, var=pandas.DataFrame(index=list(table.columns)), layers={"doubled": 2 * values})
    (made.write_zarr if path.suffix == ".zarr" else made.write_h5ad)(path)
    return path


WRITERS = {
    "X.parquet": write_parquet,
    "X.h5ad": write_h5ad,
    "by rows.h5ad": lambda table, path: write_h5ad(table, path, sparse.csr_matrix),
    "by columns.h5ad": lambda table, path: write_h5ad(table, path, sparse.csc_matrix),
    "X.zarr": write_h5ad,
}


@pytest.fixture(params=WRITERS)
def written(request, tmp_path):
    """Writes a table to a file of one kind, and gives its path."""

    def write(table, folder="."):
        (tmp_path / folder).mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the libraries that write
            return WRITERS[request.param](table, tmp_path / folder / request.param)

    return write


@pytest.mark.parametrize("estimator", [NMF(2, random_state=0), OPNMF(2, random_state=0)], ids=lambda one: type(one).__name__)
class TestFiles:
    def test_a_fit_keeps_names(self, estimator, written):
        path = written(frame())
        model = estimator.fit(path)
        assert model.feature_names_in_.dtype == object
        assert model.feature_names_in_.tolist() == NAMES
        assert {feature.name for feature in top_features(model)[0]} <= set(NAMES)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            codes = model.transform(path)
            np.testing.assert_allclose(codes, model.transform(frame()), rtol=1e-6)
            model.score(path)
            model.score(frame())

    @pytest.mark.parametrize("names", [NAMES[::-1], [*NAMES[:-1], "other"]], ids=["another order", "another name"])
    @pytest.mark.parametrize("method", ["transform", "score"])
    def test_other_names_are_refused_as_those_of_a_data_frame_are(self, estimator, names, method, written):
        table = frame().rename(columns={NAMES[-1]: "other"})[names] if "other" in names else frame(names)
        for first in (frame(), written(frame())):
            model = estimator.fit(first)
            with pytest.raises(ValueError, match="feature names should match") as theirs:
                getattr(model, method)(table)
            with pytest.raises(DataError) as ours:
                getattr(model, method)(written(table, "other"))
            assert str(ours.value) == str(theirs.value)

    def test_names_on_one_side_only_are_warned_of(self, estimator, written):
        path = written(frame())
        with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
            estimator.fit(frame().to_numpy()).transform(path)
        np.save(path.with_name("X.npy"), frame().to_numpy())
        with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"):
            estimator.fit(path).transform(path.with_name("X.npy"))


def test_a_list_of_files(tmp_path):
    first, second = write_parquet(frame()[:10], tmp_path / "1.parquet"), write_parquet(frame()[10:], tmp_path / "2.parquet")
    model = NMF(2, random_state=0).fit([first, second])
    assert model.feature_names_in_.tolist() == NAMES
    turned = write_parquet(frame(NAMES[::-1]), tmp_path / "3.parquet")
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        model.transform([turned, turned])


def test_many_names_that_differ_are_not_all_shown(tmp_path):
    model = NMF(2, random_state=0).fit(frame())
    table = frame().rename(columns=str.upper)
    with pytest.raises(ValueError, match="feature names should match") as theirs:
        model.transform(table)
    with pytest.raises(ValueError, match="feature names should match") as ours:
        model.transform(write_parquet(table, tmp_path / "X.parquet"))
    assert str(ours.value) == str(theirs.value)
    assert "- ...\n" in str(ours.value)


def test_names_that_are_no_text_are_none(tmp_path):
    table = frame().rename(columns=dict(zip(NAMES, range(6), strict=True)))
    path = write_parquet(table, tmp_path / "X.parquet")
    assert not hasattr(NMF(2, random_state=0).fit(path), "feature_names_in_")
    levels = table.set_axis(pandas.MultiIndex.from_product([["a", "b"], ["c", "d", "e"]]), axis=1)
    assert not hasattr(NMF(2, random_state=0).fit(write_parquet(levels, path)), "feature_names_in_")


def test_layers_have_names_of_variables_other_matrices_have_none(tmp_path):
    anndata = pytest.importorskip("anndata")
    values = frame().to_numpy()
    variables = pandas.DataFrame(index=NAMES)
    made = anndata.AnnData(values, var=variables, layers={"doubled": 2 * values}, obsm={"codes": values[:, :2]})
    made.raw = made
    made.write_h5ad(tmp_path / "X.h5ad")
    named = {key: nonneg.open_data(tmp_path / "X.h5ad", key=key).feature_names for key in ("layers/doubled", "raw/X", "obsm/codes")}
    assert named == {"layers/doubled": NAMES, "raw/X": NAMES, "obsm/codes": None}
    assert nonneg.open_data(tmp_path / "X.h5ad", blocks="features").feature_names is None


def test_another_fit_forgets_names(tmp_path):
    path = write_parquet(frame(), tmp_path / "X.parquet")
    model = NMF(2, random_state=0).fit(path)
    observed = Observed(sparse.csr_array(frame().to_numpy()))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.transform(observed)
    assert not hasattr(model.fit(observed), "feature_names_in_")


def test_a_stream_of_files(tmp_path):
    path, turned = write_parquet(frame(), tmp_path / "X.parquet"), write_parquet(frame(NAMES[::-1]), tmp_path / "turned.parquet")
    model = OPNMF(2, random_state=0).partial_fit(path).partial_fit(path)
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        model.partial_fit(turned)


@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_tables_of_dask():
    collections = pytest.importorskip("dask.dataframe")
    model = NMF(2, random_state=0).fit(collections.from_pandas(frame(), npartitions=3))
    assert model.feature_names_in_.tolist() == NAMES
    codes = model.transform(collections.from_pandas(frame(), npartitions=2)).compute()
    np.testing.assert_allclose(codes, model.transform(frame()), rtol=1e-6)
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        model.transform(collections.from_pandas(frame(NAMES[::-1]), npartitions=2))


def test_names_stay_with_missing_values():
    """Also in tables with a type of their own for what is missing, whose numbers are copied to fill NaN in."""
    table = frame().round(1)
    table = table.astype("Float64")
    table.iloc[3, 2] = pandas.NA
    model = NMF(2, missing="ignore", random_state=0).fit(table)
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(table[NAMES[::-1]])


def test_a_view_of_a_file_has_its_own_rows_and_columns(tmp_path):
    anndata = pytest.importorskip("anndata")
    path = write_h5ad(frame(), tmp_path / "X.h5ad")
    backed = anndata.read_h5ad(path, backed="r")
    assert NMF(2, random_state=0).fit(backed).factors_["W"].shape == (30, 2)
    view = backed[::-3, NAMES[2:0:-1]]
    expected = NMF(2, random_state=0).fit(frame().iloc[::-3][NAMES[2:0:-1]])
    found = NMF(2, random_state=0).fit(view)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)
    assert list(found.feature_names_in_) == NAMES[2:0:-1]
