"""Data where they lie: every kind of file has the results of the same array, and names its faults."""

import os
import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import factorize, open_data
from nonneg.data import SquaredDifference, Unreached, as_dense, base, opening
from nonneg.data.reading import read_data
from nonneg.data.steps import Request
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.io.opening import OPENED

pytestmark = pytest.mark.wide(one_in=4)


BLOCK = 3000
"""Bytes: some five blocks of what is tested here."""


def matrix(shape=(60, 24), dtype=np.float64):
    generator = np.random.default_rng(0)
    parts = np.kron(np.eye(3), np.ones((shape[0] // 3, shape[1] // 3))) * generator.uniform(0.5, 1.5, shape)
    return np.where(generator.random(shape) < 0.8, parts + 0.1 * generator.random(shape), 0.0).astype(dtype)


def write_npy(path, X):
    np.save(path, X)


def write_hdf5(path, X):
    h5py = pytest.importorskip("h5py", reason="files of HDF5 need h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("inside/data", data=X, chunks=(7, X.shape[1]))


def write_h5ad(path, X):
    """As AnnData writes it: dense, or a group of three arrays with attributes."""
    h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
    with h5py.File(path, "w") as file:
        file.create_group("obs")
        if not sparse.issparse(X):
            file.create_dataset("X", data=X)
            return
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(X, part))


def write_zarr(path, X):
    zarr = pytest.importorskip("zarr", reason="arrays of zarr need zarr")
    array = zarr.open(str(path), mode="w", shape=X.shape, chunks=(7, X.shape[1]), dtype=X.dtype)
    array[:] = X


def write_parquet(path, X):
    pyarrow = pytest.importorskip("pyarrow", reason="files of Parquet need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="files of Parquet need pyarrow")
    parquet.write_table(pyarrow.table({f"gene {j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=13)


KIND = {
    "npy": ("X.npy", write_npy, np.asarray),
    "npy in Fortran's order": ("X.npy", write_npy, np.asfortranarray),
    "HDF5": ("X.h5", write_hdf5, np.asarray),
    "h5ad": ("X.h5ad", write_h5ad, np.asarray),
    "h5ad by rows": ("X.h5ad", write_h5ad, sparse.csr_array),
    "h5ad by columns": ("X.h5ad", write_h5ad, sparse.csc_array),
    "zarr": ("X.zarr", write_zarr, np.asarray),
    "Parquet": ("X.parquet", write_parquet, np.asarray),
}


@pytest.fixture(params=KIND)
def kind(request, tmp_path):
    """Writes an array as a file of one kind, and gives its path."""
    name, write, store = KIND[request.param]

    def written(X, folder="."):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        write(path, store(X))
        return path

    return written


# ---- what a file gives is what the array gives


@pytest.mark.parametrize("blocks", ["samples", "features"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_every_operation_equals_dense_data(kind, blocks, dtype, monkeypatch, rng):
    monkeypatch.setattr(base, "_CHUNK", 1)
    X = (10 * matrix()).astype(dtype)
    data, dense = open_data(kind(X.T if blocks == "features" else X), blocks=blocks, block_bytes=BLOCK), read_data(X)
    X, tolerance = dense.values, {"rtol": 1e-5 if dtype == np.float32 else 1e-12}
    assert (data.shape, data.namespace.dtype) == (X.shape, X.dtype)
    assert data.facts == dense.facts
    assert data.power_sum(2) == pytest.approx(dense.power_sum(2), rel=1e-6)
    assert data.power_sum(1, logarithm=True) == pytest.approx(dense.power_sum(1, logarithm=True), rel=1e-6)
    for transposed in (False, True):
        own = X.T if transposed else X
        M = rng.random((own.shape[1], 2)).astype(X.dtype)
        np.testing.assert_allclose(data.apply(M, transposed=transposed), own @ M, **tolerance)
        np.testing.assert_allclose(data.apply_gram(own[:, :3], transposed=transposed), own @ own.T @ own[:, :3], **tolerance)
        np.testing.assert_allclose(data.with_itself(transposed, not transposed), own @ own.T, **tolerance)
        np.testing.assert_allclose(data.lengths(int(transposed)), np.linalg.norm(own, axis=1), rtol=1e-5)
        np.testing.assert_array_equal(np.concatenate([as_dense(block) for _, block in data.blocks(transposed=transposed)]), own)
        items = np.array([5, 0, 17, 5])
        np.testing.assert_array_equal(as_dense(data.take(items, int(transposed))), own[items])
    N = rng.random((X.shape[0], 2)).astype(X.dtype)
    for found, expected in zip(base.apply_both(data, X[:4].T, N), (X @ X[:4].T, X.T @ N), strict=True):
        np.testing.assert_allclose(found, expected, **tolerance)
    for found, expected in zip(base.apply_both(data, X[:4].T), (X @ X[:4].T, X.T @ X @ X[:4].T), strict=True):
        np.testing.assert_allclose(found, expected, **tolerance)
    np.testing.assert_allclose(as_dense(data.in_units(4.0).itself()), X / 4)


def test_visits(kind, rng):
    X = matrix()
    data, dense = open_data(kind(X), block_bytes=BLOCK), read_data(X)
    U, V, M, N = (rng.random(shape) for shape in ((60, 3), (3, 24), (24, 2), (2, 60)))
    requests = [Request(Unreached(), "right", M), Request(Unreached(), "left", N)]
    is_sparse = getattr(data, "inner", data).source.is_sparse
    requests += [] if is_sparse else [Request(SquaredDifference(), "left", N), Request(SquaredDifference(), "right", M)]
    (found, total), (expected, whole) = data.visit(U, V, requests, 1.0), dense.visit(U, V, requests, 1.0)
    assert total == pytest.approx(whole)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.fixture
def plain(tmp_path):
    """The path of a .npy file, and what is in it."""
    X = matrix()
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy", X


RANKS = {"NMTF": (3, 3), "BiQNMF": (3, 3), "BiORNM3F": (3, 3)}
ESTIMATORS = ["NMF", "PNMF", "OPNMF", "ONMF", "ProjectiveClustering", "NMTF", "BiQNMF", "BiORNM3F", "NonnegativeSparseCoding"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name, plain):
    path, X = plain
    model = getattr(nonneg, name)(RANKS.get(name, 3), random_state=0)
    expected = model.fit(X).objective_
    codes = model.transform(X)
    data = open_data(path, block_bytes=BLOCK)
    np.testing.assert_allclose(model.transform(data), codes, rtol=1e-6, atol=1e-9)
    assert model.score(data) == pytest.approx(model.score(X))
    assert model.fit(data).objective_ <= expected * (1 + 1e-3)


@pytest.mark.parametrize("divergence", [2, 1, 0.5])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "X W W.T", "W S H"])
@pytest.mark.parametrize("blocks", ["samples", "features"])
def test_the_same_steps_lead_to_the_same_objective(form, divergence, blocks, tmp_path, rng):
    X = matrix() + 0.01
    np.save(tmp_path / "X.npy", X if blocks == "samples" else X.T.copy())
    data = open_data(tmp_path / "X.npy", blocks=blocks, block_bytes=BLOCK)
    shapes = {"W": (24 if form == "X W W.T" else 60, 3), "S": (3, 3), "H": (3, 24)}
    start = {name: rng.random(shape) for name, shape in shapes.items() if name in form.split()}
    settings = {"divergence": divergence, "init": start, "solver": "multiplicative", "max_iter": 12, "tol": 0}
    found, expected = (factorize(own, form, **settings) for own in (data, X))
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)


TAKES_BLOCKS = {
    **dict.fromkeys(
        (
            "NMF",
            "ConsensusNMF",
            "IntegrativeNMF",
            "SemiNMF",
            "ConvexNMF",
            "PNMF",
            "OPNMF",
            "ONMF",
            "ProjectiveClustering",
            "NonnegativeSparseCoding",
            "Factorization",
        ),
        3,
    ),
    **dict.fromkeys(("NMTF", "ONMTF", "FONT", "BiQNMF", "BiORNM3F"), (3, 3)),
}
NEEDS_MEMORY = {
    "SymmetricNMF": "compares every sample",
    "KernelPNMF": "compares every sample",
    "TruncatedNonnegativeSVD": "singular vectors",
    "NonnegativeLDA": "one class at a time",
    "NonnegativeKernelFDA": "one class at a time",
    "NMFImputer": "looks for missing entries",
}
OF_SEQUENCES = {"NNMFHMM", "QNMFHMM"}


def test_every_estimator_takes_blocks_or_says_why_not():
    found = {name for name in nonneg.__all__ if isinstance(getattr(nonneg, name), type) and hasattr(getattr(nonneg, name), "fit")}
    assert found == TAKES_BLOCKS.keys() | NEEDS_MEMORY.keys() | OF_SEQUENCES


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["multiplicative", "paper"])
@pytest.mark.parametrize("name", TAKES_BLOCKS)
def test_estimators_take_the_same_steps_from_disk(name, solver, plain):
    path, X = plain
    settings = {"solver": solver, "init": "random", "random_state": 0, "max_iter": 15, "tol": 0}
    found, expected = (
        getattr(nonneg, name)(TAKES_BLOCKS[name], **settings).fit(own)
        if name != "Factorization"
        else nonneg.Factorization("W H", TAKES_BLOCKS[name], **settings).fit(own)
        for own in (open_data(path, block_bytes=BLOCK), X)
    )
    assert found.n_iter_ == expected.n_iter_
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NEEDS_MEMORY)
def test_methods_that_need_all_of_x_say_why(name, plain):
    path, _ = plain
    dask = pytest.importorskip("dask.array", reason="collections of Dask need dask")
    fit = getattr(nonneg, name)().fit
    labels = (np.arange(60) % 2,) if name.startswith("Nonnegative") else ()
    for where in (path, str(path), open_data(path), dask.from_array(np.load(path), chunks=20)):
        with pytest.raises(DataError, match=f"{name} needs all of X in memory, since .*{NEEDS_MEMORY[name]}"):
            fit(where, *labels)


def test_partial_fit(plain):
    path, X = plain
    found, expected = (
        nonneg.OPNMF(3, random_state=0).partial_fit(own).partial_fit(own).components_
        for own in (open_data(path, block_bytes=BLOCK), X)
    )
    found, expected = (components[np.argsort(components.argmax(axis=1))] for components in (found, expected))  # in any order
    np.testing.assert_allclose(found, expected, atol=1e-6)


# ---- what fits into one block


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", KIND)
def test_small_files_give_the_same_bits(name, dtype, tmp_path):
    """And is read once."""
    file, write, store = KIND[name]
    X = store((10 * matrix()).astype(dtype))
    write(tmp_path / file, X)
    for model in (nonneg.OPNMF(3, random_state=0), nonneg.NMF(3, divergence=1, random_state=0)):
        expected = model.fit(X)
        factors, codes, objective = expected.factors_, expected.transform(X), expected.history_.objective
        found = model.fit(tmp_path / file)
        assert found.factors_.keys() == factors.keys()
        for each in factors:
            np.testing.assert_array_equal(found.factors_[each], factors[each])
        np.testing.assert_array_equal(found.history_.objective, objective)
        assert set(found.history_.readings[-1:]) == {1}
        np.testing.assert_array_equal(found.transform(str(tmp_path / file)), codes)
    solution = factorize(tmp_path / file, "W H", 3, random_state=0)
    np.testing.assert_array_equal(solution.factors["W"], factorize(X, "W H", 3, random_state=0).factors["W"])


def test_small_files_by_features_and_in_lists(tmp_path):
    X = matrix()
    np.save(tmp_path / "XT.npy", np.ascontiguousarray(X.T))
    for number, part in enumerate(np.array_split(X, 3)):
        np.save(tmp_path / f"{number}.npy", part)
    parts = [tmp_path / f"{number}.npy" for number in range(3)]
    for where, own in ((open_data(tmp_path / "XT.npy", blocks="features"), np.asfortranarray(X)), (parts, X)):
        found, expected = (nonneg.OPNMF(3, random_state=0).fit(each) for each in (where, own))
        np.testing.assert_array_equal(found.components_, expected.components_)
    X[7, 3] = -1
    np.save(tmp_path / "XT.npy", np.ascontiguousarray(X.T))
    with pytest.raises(DataError, match=r"-1 in feature 3, sample 7 \(row 3 of .*XT\.npy, column 7\)"):
        nonneg.OPNMF(3).fit(open_data(tmp_path / "XT.npy", blocks="features"))


def test_errors_name_sample_and_feature(tmp_path):
    for order, block_bytes in product("CF", (BLOCK, None)):
        X = matrix()
        X[7, 3] = np.nan
        np.save(tmp_path / "XT.npy", np.asarray(X.T, order=order))
        place = {"C": r"row 3 of .*XT\.npy, column 7", "F": r"column 7 of .*XT\.npy, row 3"}[order]
        with pytest.raises(DataError, match=rf"nan in feature 3, sample 7 \({place}\).*drop those samples"):
            nonneg.OPNMF(3).fit(open_data(tmp_path / "XT.npy", blocks="features", block_bytes=block_bytes))


def test_a_file_that_is_deleted(tmp_path):
    X = matrix()
    np.save(tmp_path / "a.npy", X[:30])
    np.save(tmp_path / "b.npy", X[30:])
    for where in (tmp_path / "b.npy", [tmp_path / "a.npy", tmp_path / "b.npy"]):
        np.save(tmp_path / "b.npy", X[30:])
        data = open_data(where, block_bytes=BLOCK)
        assert data.facts.highest > 0  # read once
        (tmp_path / "b.npy").unlink()
        with pytest.raises(DataError, match=r"b\.npy is gone: it was deleted or moved"):
            data.apply(np.ones((24, 1)))


def test_small_files_with_missing_values_or_weights(plain):
    path, X = plain
    X[7, 3] = np.nan
    np.save(path, X)
    weights = np.random.default_rng(0).random(X.shape) + 0.5
    for more in ({}, {"weights": weights}, {"sample_weight": weights[:, 0]}):
        found, expected = (nonneg.NMF(3, random_state=0, missing="ignore").fit(own, **more) for own in (path, X))
        np.testing.assert_array_equal(found.components_, expected.components_)
    with pytest.raises(DataError, match=r"X\.npy.*NaN, and have a weight"):
        nonneg.NMF(3).fit(path, weights=weights)
    X[7, 3] = 0
    np.save(path, X)
    np.save(path.with_name("weights.npy"), weights)
    found = nonneg.NMF(3, random_state=0, tol=1e-9).fit(path, weights=path.with_name("weights.npy"))  # both in blocks
    assert found.history_.readings[-1] > 1
    assert found.objective_ == pytest.approx(nonneg.NMF(3, random_state=0, tol=1e-9).fit(X, weights=weights).objective_, rel=1e-2)


def test_blocks_that_are_asked_for_are_kept(plain):
    path, _ = plain
    blocks, small = open_data(path, block_bytes=2**27), open_data(path)
    for data in (blocks, small):
        nonneg.OPNMF(3, random_state=0).fit(data)
    assert (blocks.log.count > 1, small.log.count) == (True, 1)


def test_a_larger_file_is_read_in_blocks(plain, monkeypatch):
    path, X = plain
    monkeypatch.setattr(opening, "BLOCK_BYTES", X.nbytes - 1)
    assert nonneg.OPNMF(3, random_state=0).fit(path).history_.readings[-1] > 1
    monkeypatch.setattr(opening, "BLOCK_BYTES", X.nbytes)
    assert nonneg.OPNMF(3, random_state=0).fit(path).history_.readings[-1] == 1


# ---- what is open already, and lists


def test_handles(tmp_path):
    X = matrix()
    opened = []
    for name, (file, write, store) in KIND.items():
        path = tmp_path / name / file
        path.parent.mkdir()
        write(path, store(X))
        opened.append(path)
    h5py, zarr, parquet = pytest.importorskip("h5py"), pytest.importorskip("zarr"), pytest.importorskip("pyarrow.parquet")
    with h5py.File(tmp_path / "HDF5/X.h5") as file, h5py.File(tmp_path / "h5ad by rows/X.h5ad") as other:
        handles = [file["inside/data"], file, other, zarr.open(str(tmp_path / "zarr/X.zarr"), mode="r")]
        handles += [parquet.ParquetFile(tmp_path / "Parquet/X.parquet")]
        for handle in handles:
            np.testing.assert_allclose(as_dense(nonneg.data.opened(handle).itself()), X)
    mapped = np.load(tmp_path / "npy/X.npy", mmap_mode="r")
    np.testing.assert_array_equal(open_data(mapped).itself(), X)
    assert nonneg.data.opened(mapped) is mapped  # it fits into memory, and is an array like others
    with pytest.raises(DataError, match="rows can be read from"):
        open_data(mapped[3:])


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_sparse_matrices_of_anndata_that_are_backed(tmp_path):
    for suffix in ("h5ad", "zarr"):
        anndata, io = pytest.importorskip("anndata"), pytest.importorskip("anndata.io")
        X = matrix()
        whole = anndata.AnnData(sparse.csr_matrix(X), layers={"twice": sparse.csc_matrix(2 * X)})
        whole.var_names = [f"gene {j}" for j in range(X.shape[1])]
        path = tmp_path / f"cells.{suffix}"
        getattr(whole, f"write_{suffix}")(path)
        if suffix == "h5ad":
            group = pytest.importorskip("h5py").File(path)
            handles = anndata.read_h5ad(path, backed="r").X, io.sparse_dataset(group["layers/twice"])
        else:
            group = pytest.importorskip("zarr").open(str(path), mode="r")
            handles = [io.sparse_dataset(group[key]) for key in ("X", "layers/twice")]
        for handle, expected in zip(handles, (X, 2 * X), strict=True):
            model = nonneg.OPNMF(3, random_state=0).fit(handle)
            assert model.feature_names_in_.tolist() == list(whole.var_names)
            np.testing.assert_allclose(as_dense(open_data(handle).itself()), expected)
        with pytest.raises(DataError, match=r"holds one matrix.*key='twice'"):
            open_data(handles[0], key="twice")


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_one_matrix_of_several(tmp_path):
    """By its name, a layer also without "layers/"; what there is, where there is none of that name."""
    for name in ("cells.h5ad", "cells.zarr", "cells.h5"):
        X, layers = matrix(), {"counts": 2 * matrix()}
        if name.endswith(".h5"):
            with pytest.importorskip("h5py").File(tmp_path / name, "w") as file:
                file["X"], file["layers/counts"], file["notes"] = X, layers["counts"], np.arange(3.0)
        else:
            anndata = pytest.importorskip("anndata")
            stored = anndata.AnnData(sparse.csr_matrix(X), layers=layers)
            getattr(stored, f"write_{name.rpartition('.')[2]}")(tmp_path / name)
        for key in ("counts", "layers/counts"):
            np.testing.assert_array_equal(as_dense(open_data(tmp_path / name, key=key).itself()), 2 * X)
        with pytest.raises(DataError) as caught:
            open_data(tmp_path / name, key="nowhere")
        assert all(f"'{each}'" in str(caught.value) for each in ("nowhere", "X", "layers/counts"))
        assert not any(f"'{each}'" in str(caught.value) for each in ("obs", "layers", "notes", "X/data"))


def write_arrays(path, **arrays):
    """Several by name, in HDF5 or zarr."""
    if path.suffix == ".h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            for key, array in arrays.items():
                file[key] = array
    else:
        pytest.importorskip("zarr").save_group(str(path), **arrays)


def test_no_matrix_or_several(tmp_path):
    says = r"no matrix.*rows and columns; it has (?=.*'line' of shape \(4,\)).*'cube' of shape \(2, 3, 4\)"
    for kind, key in product(("h5", "zarr"), (None, "matrix")):
        write_arrays(tmp_path / f"none.{kind}", line=np.arange(4.0), cube=np.ones((2, 3, 4)))
        with pytest.raises(DataError, match=says):
            open_data(tmp_path / f"none.{kind}", key=key)
        write_arrays(tmp_path / f"two.{kind}", one=matrix(), two=matrix())
        with pytest.raises(DataError, match=r"has 2 matrices: 'one', 'two'; say which, by nonneg\.open_data: key='one'"):
            nonneg.OPNMF(3).fit(tmp_path / f"two.{kind}")


def test_a_folder_of_parquet(tmp_path):
    """As Dask writes it, by the numbers of its parts, and beside files that are no parts."""
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    X = matrix()
    for folder in ("X.parquet", "X"):
        (tmp_path / folder).mkdir()
        for number, part in enumerate(np.array_split(X, 12)):
            columns = pyarrow.table({f"gene {j}": part[:, j] for j in range(X.shape[1])})
            parquet.write_table(columns, tmp_path / folder / f"part.{number}.parquet")
        (tmp_path / folder / "_SUCCESS").touch()
        data = open_data(tmp_path / folder)
        np.testing.assert_array_equal(data.itself(), X)
        assert data.feature_names[:2] == ["gene 0", "gene 1"]
        found = nonneg.files.read(tmp_path / folder)
        np.testing.assert_array_equal(found.values, X)
        assert found.features.tolist() == data.feature_names
    (tmp_path / "Y.parquet/year=2020").mkdir(parents=True)
    with pytest.raises(DataError, match="folder without files of Parquet"):
        open_data(tmp_path / "Y.parquet")
    parquet.write_table(columns, tmp_path / "Y.parquet/year=2020/part.0.parquet")
    for opened in (open_data, nonneg.files.read):
        with pytest.raises(DataError, match=r"divided into folders, such as year=2020.*list of the files"):
            opened(tmp_path / "Y.parquet")


def test_keys_for_arrays_and_single_matrices(tmp_path, plain):
    path, X = plain
    write_parquet(tmp_path / "X.parquet", X)
    for where in (path, tmp_path / "X.parquet"):
        with pytest.raises(DataError, match=r"X\.(npy|parquet) holds one matrix.*leave out key='a'"):
            open_data(where, key="a")
    for own in (X, sparse.csr_array(X), pytest.importorskip("dask.array").from_array(X)):
        with pytest.raises(DataError, match=r"open_data is for files.*give it to fit as it is"):
            open_data(own)


def test_an_array_mapped_from_a_file_larger_than_memory_is_read_in_blocks(plain, monkeypatch):
    monkeypatch.setattr("nonneg.data.opening.available_bytes", lambda: 1000)
    data = nonneg.data.opened(np.load(plain[0], mmap_mode="r"))
    assert data.costs.out_of_core


def test_a_list_of_files(kind):
    X = matrix()
    paths = [kind(part, f"part {number}") for number, part in enumerate(np.array_split(X, 4))]
    if open_data(paths[0]).shape != (15, 24) or getattr(open_data(paths[0]), "inner", None) is not None:
        with pytest.raises(DataError, match="stored by columns"):
            open_data(paths)
        return
    data = open_data(paths, block_bytes=BLOCK)
    np.testing.assert_array_equal(as_dense(data.itself()), X)
    np.testing.assert_array_equal(as_dense(data.take(np.array([59, 0, 14, 15, 30]), 0)), X[[59, 0, 14, 15, 30]])


def test_the_only_matrix_or_the_one_that_is_named(tmp_path):
    h5py = pytest.importorskip("h5py", reason="files of HDF5 need h5py")
    X = matrix()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["one"], file["two"], file["line"] = X, 2 * X, X[0]
    with pytest.raises(DataError, match="2 matrices: 'one', 'two'"):
        open_data(tmp_path / "X.h5")
    with pytest.raises(DataError, match="no matrix 'three'; it has 'one', 'two'"):
        open_data(tmp_path / "X.h5", key="three")
    np.testing.assert_array_equal(open_data(tmp_path / "X.h5", key="two").itself(), 2 * X)


# ---- what is wrong is said, with the place


@pytest.mark.parametrize(("value", "says"), [(np.nan, "not finite, nan"), (np.inf, "not finite, inf"), (-3.0, "Negative .*: -3")])
def test_entries_that_cannot_be(kind, value, says):
    X = matrix()
    X[37, 5] = value
    path = kind(X)
    is_turned = open_data(path).__class__.__name__ == "TransposedData"
    where = r"column 5, row 37 \(row 5 of" if is_turned else r"row 37, column 5 \(row 37 of"
    uses = (nonneg.OPNMF(3).fit, nonneg.NMF(3).fit, lambda X: factorize(X, "W H", 3))
    for use, own in product(uses, (str(path), open_data(path, block_bytes=BLOCK))):  # in memory, and in blocks
        with pytest.raises(DataError, match=f"{says} in .*37") as error:
            use(own)
        assert is_turned or "row 37, column 5" in str(error.value), where
        assert path.name in str(error.value)


def test_the_file_of_a_list_is_named(tmp_path):
    paths = [tmp_path / f"{number}.npy" for number in range(4)]
    X = matrix()
    X[40, 1] = np.nan
    for path, part in zip(paths, np.array_split(X, 4), strict=True):
        np.save(path, part)
    for own in (paths, open_data(paths, block_bytes=BLOCK)):
        with pytest.raises(DataError, match=r"row 40, column 1 \(row 10 of .*2\.npy"):
            nonneg.OPNMF(3).fit(own)
    np.save(paths[3], X[:5, :7])
    with pytest.raises(DataError, match=r"3\.npy is of another width than .*0\.npy: 7, not 24"):
        open_data(paths)


def test_a_truncated_file(plain):
    path, X = plain
    with open(path, "r+b") as file:
        file.truncate(128 + 31 * X.shape[1] * 8 + 5)
    with pytest.raises(DataError, match=r"X\.npy is truncated: it should have 60 rows.*ends in row 31"):
        nonneg.OPNMF(3).fit(path)


def test_a_file_that_is_cut_off_while_it_is_read(plain):
    path, _ = plain
    data = open_data(path, block_bytes=BLOCK)
    os.truncate(path, 2000)
    with pytest.raises(DataError, match="has changed since it was opened"):
        data.power_sum(2)


@pytest.mark.parametrize("touch", [True, False])
def test_a_file_that_changes_between_two_readings(plain, touch):
    path, X = plain
    data = open_data(path, block_bytes=BLOCK)
    data.power_sum(2)
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(128 + 40 * X.shape[1] * 8)
        file.write(np.full(24, 7.0).tobytes())
    if not touch:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="X.npy has changed since it was (opened|first read).*" + ("another" if touch else "row")):
        data.apply(np.ones((24, 1)))


def test_one_of_several_files_that_changes_is_named(tmp_path):
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", matrix())
    data = open_data([tmp_path / f"{number}.npy" for number in range(3)])
    data.power_sum(2)
    np.save(tmp_path / "1.npy", matrix((30, 24)))
    with pytest.raises(DataError, match=r"1\.npy has changed"):
        data.power_sum(3)


@pytest.mark.parametrize(
    ("part", "place", "value", "says"),
    [("indices", 7, 99, "a column index is outside"), ("indptr", -1, 10**6, "promises 1000000 non-zeros")],
)
def test_damaged_rows_of_non_zeros(part, place, value, says, tmp_path):
    h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
    write_h5ad(tmp_path / "X.h5ad", sparse.csr_array(matrix()))
    with h5py.File(tmp_path / "X.h5ad", "r+") as file:
        file[f"X/{part}"][place] = value
    with pytest.raises(DataError, match=says):
        nonneg.NMF(3).fit(tmp_path / "X.h5ad")


class Harmful:
    """Unpickling it would make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "X.npy", np.array([[1, Harmful(tmp_path / "made")]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="unpickling"):
        open_data(tmp_path / "X.npy")
    (tmp_path / "X.npy").write_bytes(pickle.dumps(Harmful(tmp_path / "made")))
    with pytest.raises(DataError, match=r"not a \.npy file"):
        open_data(tmp_path / "X.npy")
    assert not (tmp_path / "made").exists()


def test_a_row_far_down(tmp_path):
    """The place is counted in all of the file, not in its block."""
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(7_000_100, 2))
    X[:] = 1.0
    X[7_000_000, 1] = np.nan
    X.flush()
    with pytest.raises(DataError, match=r"nan in row 7000000, column 1 \(row 7000000 of .*X\.npy"):
        nonneg.OPNMF(1).fit(open_data(tmp_path / "X.npy", block_bytes=2**22))


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i4", "<f2", "u1", "?"])
def test_entries_of_any_type_and_order_of_bytes(dtype, tmp_path):
    X = (4 * matrix()).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    data = open_data(tmp_path / "X.npy", block_bytes=BLOCK)
    assert data.namespace.dtype == (np.float32 if dtype == ">f4" else np.float64)
    np.testing.assert_array_equal(data.itself(), X.astype(np.float64))


def test_maps_that_may_differ_from_their_file(plain):
    path, X = plain
    changed = np.load(path, mmap_mode="c")
    changed[0] = 7.0
    with pytest.raises(DataError, match="mode='c'"):
        open_data(changed)
    raw = np.memmap(path, X.dtype, "r", offset=128, shape=X.shape)
    np.testing.assert_array_equal(open_data(raw, block_bytes=BLOCK).itself(), X)
    for part in (raw[:, :5], raw.T, raw.reshape(30, 48)):
        with pytest.raises(DataError, match="rows can be read from"):
            open_data(part)


def test_files_without_rows_among_others(tmp_path):
    X = matrix()
    for number, part in enumerate((X[:0], X[:20], X[20:20], X[20:], X[:0])):
        np.save(tmp_path / f"{number}.npy", part)
    data = open_data([tmp_path / f"{number}.npy" for number in range(5)], block_bytes=BLOCK)
    np.testing.assert_array_equal(data.itself(), X)
    with pytest.raises(DataError, match="empty"):
        open_data([tmp_path / "0.npy", tmp_path / "2.npy"])


@pytest.mark.parametrize("name", ["X.npy", "X.h5", "X.parquet", "X.zarr", "X"])
def test_folders_are_refused(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=f"{name}.*(cannot be read|not a .npy|what kind|without files of Parquet)"):
        nonneg.NMF(2).fit(tmp_path / name)


def test_names_of_nothing():
    for name in ("no such file.csv", "no such file"):
        with pytest.raises(DataError, match=f"'{name}' is no file"):
            nonneg.NMF(2).fit(name)
    with pytest.raises(DataError, match=r"X\.npy does not exist"):
        nonneg.NMF(2).fit(["no such folder/X.npy"])


def test_closed_files(tmp_path):
    h5py = pytest.importorskip("h5py", reason="files of HDF5 need h5py")
    write_hdf5(tmp_path / "X.h5", matrix())
    with h5py.File(tmp_path / "X.h5") as file:
        dataset = file["inside/data"]
        data = open_data(dataset)
    with pytest.raises(DataError, match="is closed"):
        open_data(dataset)
    with pytest.raises(DataError, match="cannot be read from row 0"):
        data.power_sum(2)


@pytest.mark.parametrize("suffix", [suffix for suffix in OPENED if suffix != ".zarr"])
def test_missing_files(suffix, tmp_path):
    path = tmp_path / f"X{suffix}"
    with pytest.raises(DataError, match="does not exist"):
        nonneg.OPNMF(3).fit(path)
    path.write_bytes(b"no such thing")
    with pytest.raises(DataError, match=path.name):
        open_data(path)


def test_refusals(tmp_path, plain):
    with pytest.raises(IncompatibleError, match="blocks must be"):
        open_data(plain[0], blocks="rows")
    with pytest.raises(IncompatibleError, match="block_bytes must be"):
        open_data(plain[0], block_bytes=0)
    (tmp_path / "X.txt").write_text("1 2")
    with pytest.raises(DataError, match=r"tells no kind of file.*pandas\.read_csv"):
        open_data(tmp_path / "X.txt")
    np.save(tmp_path / "line.npy", np.ones(5))
    with pytest.raises(DataError, match=r"has shape \(5,\)"):
        open_data(tmp_path / "line.npy")
    np.save(tmp_path / "empty.npy", np.ones((0, 5)))
    with pytest.raises(DataError, match="empty"):
        open_data(tmp_path / "empty.npy")
    np.save(tmp_path / "complex.npy", np.ones((2, 5), complex))
    with pytest.raises(DataError, match="not real numbers"):
        open_data(tmp_path / "complex.npy")
    with pytest.raises(IncompatibleError, match="which is a form"):
        factorize("W H", plain[1])


def test_a_file_that_is_replaced_before_it_is_read(tmp_path):
    """It would be read by what the old one said of itself."""
    X = np.random.default_rng(0).random((40, 10))
    np.save(tmp_path / "X.npy", X)
    data = open_data(tmp_path / "X.npy", block_bytes=800)
    np.save(tmp_path / "X.npy", np.ascontiguousarray(X.T))
    os.utime(tmp_path / "X.npy", (1, 1))
    with pytest.raises(DataError, match="has changed since it was opened"):
        nonneg.NMF(2).fit(data)
