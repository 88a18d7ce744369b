"""The same fit wherever X is stored, to 1e-6: sixteen kinds of storage, six models, four divergences, weights and missing values.

Multiplicative steps from a given start are those of X in memory. A default fit may take other steps on data in blocks (a sketch, a
stand-in): its objective is that of its factors in memory, and codes and scores by the fitted model are those of X in memory.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import nonneg
from nonneg import open_data
from nonneg.exceptions import EmptySamplesWarning

pytestmark = [
    pytest.mark.wide(one_in=40),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),  # those of tables
]

SHAPE, RANK = (60, 24), 3
BLOCK = 3000
"""Bytes: four blocks or more."""
SAME = 1e-6
DIVERGENCES = ("euclidean", "kullback-leibler", "itakura-saito", "hellinger")
MODELS = {
    "NMF": {"W": (60, 3), "H": (3, 24)},
    "PNMF": {"W": (24, 3)},
    "OPNMF": {"W": (24, 3)},
    "NMTF": {"W": (60, 3), "S": (3, 3), "H": (3, 24)},
    "ProjectiveClustering": {"W": (60, 3)},
    "BiQNMF": {"L": (60, 3), "R": (24, 3)},
}
WEIGHTS = ("none", "samples", "entries", "missing")
SPARSE = ("sparse memory", "h5ad by rows", "h5ad by columns", "backed", "sparse Dask")
KINDS = (
    "npy",
    "npy by columns",
    "npy of features",
    "map",
    "list",
    "HDF5",
    "zarr",
    "Parquet",
    "h5ad",
    "Dask",
    "Dask table",
    *SPARSE,
)
GRID = [
    (kind, weights, name, divergence)
    for kind in KINDS
    for weights in WEIGHTS
    for name in MODELS
    for divergence in DIVERGENCES
    if not (weights == "missing" and kind in SPARSE)  # an entry that is not stored is zero
]


def drawn(weights, divergence):
    """X, and arguments of `fit` that hide a fifth of it."""
    generator = np.random.default_rng(0)
    X = (
        generator.gamma(0.5, 1.0, (SHAPE[0], RANK)) @ generator.gamma(0.5, 1.0, (RANK, SHAPE[1]))
        + 0.1 * generator.random(SHAPE)
        + 0.05
    )
    V = generator.uniform(0.2, 2.0, SHAPE)
    hidden = generator.random(SHAPE) < 0.2
    if weights == "samples":
        hidden = np.broadcast_to(hidden[:, :1], SHAPE)
    if divergence != "itakura-saito":
        X[generator.random(SHAPE) < 0.3] = 0.0
    if weights != "none":
        X[hidden] = np.nan if weights == "missing" else 0.0
    V[hidden] = 0.0
    return X, {"samples": {"sample_weight": V[:, 0]}, "entries": {"weights": V}}.get(weights, {})


def store(X, kind, folder):
    """X where `kind` says."""
    folder.mkdir()
    options = {"block_bytes": BLOCK}
    match kind:
        case "sparse memory":
            return sparse.csr_array(X)
        case "Dask" | "Dask table" | "sparse Dask":
            array = pytest.importorskip("dask.array", reason="collections of Dask need dask")
            if kind == "Dask table":
                pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
                return frame.from_pandas(pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), chunksize=16)
            if kind == "Dask":
                return array.from_array(X, chunks=(16, 15))
            return array.from_array(X, chunks=(16, X.shape[1])).map_blocks(sparse.csr_array)
        case "map":
            np.save(folder / "X.npy", X)
            return np.load(folder / "X.npy", mmap_mode="r")
        case "list":
            np.save(folder / "a.npy", X[:25])
            np.save(folder / "b.npy", X[25:])
            return open_data([folder / "a.npy", folder / "b.npy"], **options)
        case "npy of features":
            np.save(folder / "X.npy", np.ascontiguousarray(X.T))
            return open_data(folder / "X.npy", blocks="features", **options)
        case "npy" | "npy by columns":
            np.save(folder / "X.npy", X if kind == "npy" else np.asfortranarray(X))
            return open_data(folder / "X.npy", **options)
        case "HDF5":
            h5py = pytest.importorskip("h5py", reason="HDF5 needs h5py")
            with h5py.File(folder / "X.h5", "w") as file:
                file.create_dataset("X", data=X)
            return open_data(folder / "X.h5", **options)
        case "zarr":
            zarr = pytest.importorskip("zarr", reason="zarr needs zarr")
            zarr.create_array(str(folder / "X.zarr"), shape=X.shape, chunks=(7, 24), dtype=X.dtype)[:] = X
            return open_data(folder / "X.zarr", **options)
        case "Parquet":
            pandas = pytest.importorskip("pandas", reason="tables are written by pandas")
            frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
            frame.to_parquet(folder / "X.parquet", row_group_size=16)
            return open_data(folder / "X.parquet", **options)
    anndata = pytest.importorskip("anndata", reason="files of AnnData are written by anndata")
    to = {"h5ad": np.asarray, "h5ad by columns": sparse.csc_matrix}.get(kind, sparse.csr_matrix)
    anndata.AnnData(to(X)).write_h5ad(folder / "X.h5ad")
    return open_data(anndata.read_h5ad(folder / "X.h5ad", backed="r") if kind == "backed" else folder / "X.h5ad", **options)


def same(found, expected, size=None):
    """Equal to 1e-6 of the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME * np.abs(expected if size is None else size).max())


@pytest.mark.parametrize(("kind", "weights", "name", "divergence"), GRID)
def test_storage(kind, weights, name, divergence, tmp_path):
    X, given = drawn(weights, divergence)
    Y = np.abs(X[::-1]) + 0.1  # for codes, which take no weights: no zeros
    stored, other = store(X, kind, tmp_path / "X"), store(Y, kind, tmp_path / "Y")
    options = {"divergence": divergence, "missing": "ignore" if weights == "missing" else "raise", "random_state": 0}
    generator = np.random.default_rng(4)
    start = {factor: generator.random(shape) + 0.1 for factor, shape in MODELS[name].items()}
    steps = getattr(nonneg, name)(RANK, init=start, solver="multiplicative", max_iter=5, tol=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", EmptySamplesWarning)
        expected, found = clone(steps).fit(X, **given), clone(steps).fit(stored, **given)
        same(found.history_.objective, expected.history_.objective)
        for factor, values in expected.factors_.items():
            same(found.factors_[factor], values)
        fitted = getattr(nonneg, name)(RANK, max_iter=10, **options).fit(stored, **given)
        if name in ("NMF", "NMTF") or weights in ("none", "samples"):  # else X is filled in the form, by what steps made of it
            again = clone(steps).set_params(init=dict(fitted.factors_), max_iter=0).fit(X, **given)
            same(fitted.objective_, again.objective_)
    if name != "BiQNMF":
        codes = fitted.transform(Y)
        same(fitted.transform(other), codes)
        same(fitted.score(other), fitted.score(Y))
