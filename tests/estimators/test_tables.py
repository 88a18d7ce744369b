"""Tables, AnnData, tensors and lists of names in place of X: accepted ones with their names, and refusals in plain words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context

from nonneg import NMF, OPNMF, PNMF, KernelPNMF, NMFImputer, NonnegativeLDA, TruncatedNonnegativeSVD, factorize, open_data
from nonneg.exceptions import DataError

from .cases import MAKERS, parts

X = parts(20, 12, 3)
NAMES = [f"gene {number}" for number in range(12)]
CELLS = [f"cell {number}" for number in range(20)]


def same_numbers(first, second):
    """Equal but for rounding: the entries of a view may lie in another order than those of a slice, and are summed in it."""
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def annotated(values=X):
    anndata = pytest.importorskip("anndata")
    return anndata.AnnData(values, obs=pd.DataFrame(index=CELLS), var=pd.DataFrame(index=NAMES))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize("make", [lambda: NMF(2, random_state=0), lambda: TruncatedNonnegativeSVD(2), lambda: NMFImputer(2)])
def test_matrices_of_views(form, make):
    if form is not np.asarray and isinstance(make(), NMFImputer):
        pytest.skip("fills in dense data only")
    view, some = annotated(form(X))[:, NAMES[2:9]].X, form(X)[:, 2:9]
    same_numbers(make().fit_transform(view), make().fit_transform(some))


def test_view_in_factorize():
    view = annotated()[3:, NAMES[2:9]].X
    found, same = (factorize(each, "W H", 2, random_state=0).factors["H"] for each in (view, X[3:, 2:9]))
    same_numbers(found, same)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "SymmetricNMF"])
def test_annotated(name):
    """As the same table: X, and the names of the variables."""
    options = {} if name == "TruncatedNonnegativeSVD" else {"max_iter": 5, "tol": 0}
    model, same = (MAKERS[name](**options).fit(each) for each in (annotated(), pd.DataFrame(X, columns=NAMES)))
    assert model.feature_names_in_.tolist() == NAMES
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(model.transform(annotated()), same.transform(pd.DataFrame(X, columns=NAMES)))


def test_annotated_with_classes_and_gaps_and_in_factorize():
    y = np.arange(20) % 2
    assert NonnegativeLDA().fit(annotated(), y).feature_names_in_.tolist() == NAMES
    gaps = X.copy()
    gaps[2, 3] = np.nan
    same_numbers(
        NMF(2, missing="ignore", random_state=0).fit(annotated(gaps)).components_,
        NMF(2, missing="ignore", random_state=0).fit(gaps).components_,
    )
    with pytest.raises(DataError, match="NaN"):
        NMF(2).fit(annotated(gaps))
    assert factorize(annotated(sparse.csr_matrix(X)), "W H", 2).factors["H"].shape == (2, 12)
    with pytest.raises(DataError, match="feature names should match"):
        NMF(2, random_state=0).fit(annotated()).transform(annotated()[:, NAMES[::-1]])
    nothing = annotated()
    nothing.X = None
    with pytest.raises(DataError, match="has no X"):
        NMF(2).fit(nothing)


@pytest.mark.parametrize("make", [NMF, KernelPNMF, TruncatedNonnegativeSVD])
def test_text_in_a_table_is_named(make):
    table = pd.DataFrame(X, columns=NAMES).assign(sample=CELLS)
    with pytest.raises(DataError, match=r"column 'sample' \('cell 0'\)"):
        make(2).fit(table)
    with pytest.raises(DataError, match=r"column 'sample' \('cell 0'\)"):
        factorize(table, "W H", 2)


def test_dates_in_a_table_are_named():
    table = pd.DataFrame(X, columns=NAMES).assign(day=pd.date_range("2020-01-01", periods=20), sample=CELLS)
    with pytest.raises(DataError, match=r"columns 'day' \(datetime.*\), 'sample'"):
        NMF(2).fit(table)


@pytest.mark.parametrize("make", [NMF, KernelPNMF, TruncatedNonnegativeSVD])
def test_columns_of_one_name(make):
    with pytest.raises(DataError, match=r"several columns of one name: 'gene 0'\."):
        make(2).fit(pd.DataFrame(X, columns=["gene 0", *NAMES[:-1]]))


class OnGPU:
    """As a tensor of CUDA is to NumPy."""

    shape, ndim, device = (20, 12), 2, "cuda:0"

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )


@pytest.mark.parametrize("make", [OPNMF, KernelPNMF, TruncatedNonnegativeSVD])
def test_arrays_on_a_device(make):
    with pytest.raises(DataError, match=r"on the device cuda:0.*X\.cpu\(\)"):
        make(2).fit(OnGPU())


def test_tensors():
    torch = pytest.importorskip("torch")
    with pytest.raises(DataError, match=r"torch\.Tensor on the device meta.*X\.cpu\(\)"):
        OPNMF(2).fit(torch.empty((20, 12), device="meta"))
    with pytest.raises(DataError, match=r"device cpu, which NumPy cannot read: .*Give a dense tensor of float32"):
        OPNMF(2).fit(torch.tensor(X).bfloat16())
    model, same = (OPNMF(2, random_state=0).fit(each) for each in (torch.tensor(X, requires_grad=True), X))
    np.testing.assert_array_equal(model.components_, same.components_)


@pytest.mark.parametrize("make", [OPNMF, KernelPNMF, TruncatedNonnegativeSVD])
@pytest.mark.parametrize("names", [["a.nii.gz"], ("a.png", "b.png")])
def test_lists_of_names(make, names):
    with pytest.raises(DataError, match=rf"list of {len(names)}, '{names[0]}' is no file.*nonneg\.files\.read"):
        make(2).fit(names)


def test_lists_of_files_of_other_kinds(tmp_path):
    paths = [tmp_path / "a.nii.gz", tmp_path / "b.nii.gz"]
    for path in paths:
        path.write_bytes(b"")
    with pytest.raises(DataError, match=r"nonneg\.files\.read\(path\).*a list of images or NIfTI volumes"):
        OPNMF(2).fit(paths)
    with pytest.raises(DataError, match=r"given as a list.*\.tolist\(\)"):
        OPNMF(2).fit(np.array(paths))
    with pytest.raises(DataError, match=r"needs all of X in memory.*nonneg\.files\.read\(path\)\.values"):
        TruncatedNonnegativeSVD(2).fit(paths)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("form", [lambda: pd.DataFrame(X, index=CELLS, columns=NAMES), annotated])
def test_report_of_a_table(name, form, tmp_path):
    options = {} if name == "TruncatedNonnegativeSVD" else {"max_iter": 5, "tol": 0}
    table = form()
    model = MAKERS[name](**options).fit(table).set_output(transform="pandas")
    model.report(tmp_path / "page.html", table)
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "20 samples × 12 features" in page
    if not name.startswith(("Kernel", "Symmetric")):
        assert "The data, reordered" in page


def test_report_of_a_table_with_gaps(tmp_path):
    table = pd.DataFrame(X, columns=NAMES).astype("Float64")
    table.iloc[2, 3] = pd.NA
    PNMF(2, missing="ignore", random_state=0).fit(table).report(tmp_path / "page.html", table)
    assert "The data, reordered" in (tmp_path / "page.html").read_text(encoding="utf8")


class TestNamesOfSamples:
    """In a data frame of codes samples are called as where they come from: AnnData in memory, views of it, and files."""

    @pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("SymmetricNMF", "KernelPNMF")])
    def test_of_every_estimator(self, name):
        model = MAKERS[name](**({} if name == "TruncatedNonnegativeSVD" else {"max_iter": 5, "tol": 0}))
        if hasattr(model, "set_output"):
            found = model.set_output(transform="pandas").fit(annotated()).transform(annotated()[4:])
            assert found.index.tolist() == CELLS[4:]

    def test_of_imputed_values_and_discriminants(self):
        gaps = X.copy()
        gaps[2, 3] = np.nan
        assert NMFImputer(2).set_output(transform="pandas").fit_transform(annotated(gaps)).index.tolist() == CELLS
        model = NonnegativeLDA().set_output(transform="pandas").fit(annotated(), np.arange(20) % 2)
        assert model.transform(annotated()[::-1]).index.tolist() == CELLS[::-1]

    def test_of_strings_with_a_mask(self, tmp_path):
        """The index of a data frame of pandas 3, as anndata writes it: a group of values and a mask."""
        h5py = pytest.importorskip("h5py")
        annotated().write_h5ad(tmp_path / "X.h5ad")
        with h5py.File(tmp_path / "X.h5ad", "a") as file:
            for frame, names in (("obs", CELLS), ("var", NAMES)):
                del file[frame]["_index"]
                group = file[frame].create_group("_index")
                group.attrs["encoding-type"] = "nullable-string-array"
                group.create_dataset("values", data=np.array(names, dtype=object), dtype=h5py.string_dtype())
                group.create_dataset("mask", data=np.zeros(len(names), dtype=bool))
        model = NMF(2, max_iter=5, tol=0).set_output(transform="pandas").fit(str(tmp_path / "X.h5ad"))
        assert model.transform(str(tmp_path / "X.h5ad")).index.tolist() == CELLS
        assert model.feature_names_in_.tolist() == NAMES

    @pytest.mark.parametrize("by", ["rows", "columns"])
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    @pytest.mark.filterwarnings("ignore:Writing zarr v2")
    def test_of_files_of_anndata(self, kind, by, tmp_path):
        stored = annotated((sparse.csr_matrix if by == "rows" else sparse.csc_matrix)(X))
        stored.layers["counts"], stored.raw = X, stored.copy()
        path = str(tmp_path / f"X.{kind}")
        (stored.write_h5ad if kind == "h5ad" else stored.write_zarr)(path)
        given = [path, open_data(path, key="layers/counts"), open_data(path, key="raw/X", block_bytes=1000)]
        if kind == "h5ad":
            given.append(pytest.importorskip("anndata").read_h5ad(path, backed="r"))
        model = NMF(2, max_iter=5, tol=0, random_state=0).set_output(transform="pandas")
        for each in given:
            assert model.fit_transform(each).index.tolist() == CELLS
        if by == "rows":
            assert model.transform([path, path]).index.tolist() == 2 * CELLS
        assert model.transform(open_data(path)).columns.tolist() == ["nmf0", "nmf1"]
        with config_context(transform_output="pandas"):
            assert OPNMF(2, max_iter=5, tol=0).fit_transform(path).index.tolist() == CELLS
        assert isinstance(model.set_output(transform="default").transform(path), np.ndarray)

    def test_of_files_without_names(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "turned.npy", X.T)
        model = NMF(2, max_iter=5, tol=0, random_state=0).set_output(transform="pandas").fit(X)
        for each in (tmp_path / "X.npy", open_data(tmp_path / "turned.npy", blocks="features")):
            assert model.transform(each).index.tolist() == list(range(20))

    def test_of_a_file_whose_rows_are_features(self, tmp_path):
        annotated().write_h5ad(tmp_path / "X.h5ad")
        turned = open_data(tmp_path / "X.h5ad", blocks="features")
        model = NMF(2, max_iter=5, tol=0, random_state=0).set_output(transform="pandas")
        assert model.fit_transform(turned).index.tolist() == list(range(12))

    def test_of_parquet(self, tmp_path):
        pytest.importorskip("pyarrow")
        table = pd.DataFrame(X, index=CELLS, columns=NAMES)
        table.to_parquet(tmp_path / "X.parquet")
        model = NMF(2, max_iter=5, tol=0, random_state=0).set_output(transform="pandas")
        assert model.fit_transform(tmp_path / "X.parquet").index.tolist() == CELLS
        table.reset_index(drop=True).to_parquet(tmp_path / "X.parquet")
        assert model.fit_transform(tmp_path / "X.parquet").index.tolist() == list(range(20))
