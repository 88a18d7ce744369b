"""Missing values and weights of data in files and on Dask: the results of the same data in memory."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg import factorize, open_data
from nonneg.data import as_dense, read_weighted
from nonneg.data.steps import Request
from nonneg.data.weighted import DataTerm, LowRank
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.testing import assert_monotone

pytestmark = [pytest.mark.wide(one_in=6), pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

BLOCK = 3000
"""Bytes: some five blocks of what is tested here."""
SHAPE = 60, 24
PLACES = ("file", "features", "dask")
FORMS = {
    "W H": {"W": (60, 3), "H": (3, 24)},
    "W S H": {"W": (60, 3), "S": (3, 3), "H": (3, 24)},
    "X W W.T": {"W": (24, 3)},
    "W W.T X": {"W": (60, 3)},
    "X W H": {"W": (24, 3), "H": (3, 24)},
}
SOLVERS = ("multiplicative", "quasi-newton", "adaptive")


def matrix():
    generator = np.random.default_rng(0)
    X = generator.gamma(0.5, 1.0, (SHAPE[0], 3)) @ generator.gamma(0.5, 1.0, (3, SHAPE[1]))
    return X + 0.1 * generator.random(SHAPE) + 0.05


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)


def weights_of(kind):
    """(whether NaN is missing, weights)"""
    V = np.random.default_rng(2).uniform(0.2, 2, SHAPE)
    some = np.where(np.random.default_rng(3).random(SHAPE) < 0.2, 0.0, V)
    return {
        "missing": (True, None),
        "entries": (False, V),
        "some entries": (False, some),
        "few entries": (False, sparse.csr_array(some)),
        "entries and missing": (True, V),
        "samples": (False, (V[:, 0], None)),
        "samples, some of no weight": (False, (some[:, 0], None)),
        "samples and missing": (True, (V[:, 0], None)),
        "features": (False, (None, V[0])),
        "both, some of no weight": (False, (some[:, 0], some[0])),
    }[kind]


KINDS = (
    "missing",
    "entries",
    "some entries",
    "few entries",
    "entries and missing",
    "samples",
    "samples, some of no weight",
    "samples and missing",
    "features",
    "both, some of no weight",
)


@pytest.fixture
def stored(tmp_path):
    """Puts a matrix where it is not in memory."""

    def store(X, place, name="X"):
        path = tmp_path / f"{name}.npy"
        if place == "dask":
            return pytest.importorskip("dask.array", reason="collections of Dask need dask").from_array(X, chunks=(16, 15))
        np.save(path, np.ascontiguousarray(X.T if place == "features" else X))
        return open_data(path, blocks="features" if place == "features" else "samples", block_bytes=BLOCK)

    return store


def start_of(form):
    generator = np.random.default_rng(4)
    return {name: generator.random(shape) + 0.1 for name, shape in FORMS[form].items()}


def assert_same(found, expected):
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    for name, factor in expected.factors.items():
        np.testing.assert_allclose(found.factors[name], factor, rtol=1e-6, atol=1e-6 * factor.max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("divergence", [2, 1, 0])
@pytest.mark.parametrize("form", FORMS)
def test_the_same_steps_as_in_memory(form, divergence, kind, stored):
    has_gaps, weights = weights_of(kind)
    X = with_gaps(matrix()) if has_gaps else matrix()
    number = crc32(f"{form} {divergence} {kind}".encode())  # each solver and place with many of all others
    settings = {"divergence": divergence, "init": start_of(form), "max_iter": 5, "tol": 0, "weights": weights}
    settings |= {"solver": SOLVERS[number % 3], "missing": "ignore" if has_gaps else "raise"}
    expected = factorize(X, form, **settings)
    found = factorize(stored(X, ("file", "features", "file", "features", "dask")[number // 3 % 5]), form, **settings)
    assert_same(found, expected)
    assert_monotone(found)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_steps_row_by_row(kind, place, stored):
    has_gaps, weights = weights_of(kind)
    X = with_gaps(matrix()) if has_gaps else matrix()
    settings = {"solver": "coordinate", "init": start_of("W H"), "max_iter": 4, "tol": 0, "weights": weights}
    settings |= {"constraints": {"W": nonneg.constraints.Sparse(0.1)}, "missing": "ignore" if has_gaps else "raise"}
    assert_same(factorize(stored(X, place), "W H", **settings), factorize(X, "W H", **settings))


def test_columns_whose_systems_are_many_take_several_readings(stored, monkeypatch):
    X = with_gaps(matrix())
    settings = {"solver": "coordinate", "init": start_of("W H"), "max_iter": 3, "tol": 0, "missing": "ignore"}
    expected = factorize(stored(X, "file"), "W H", **settings)
    monkeypatch.setattr("nonneg.data.base._CHUNK", 16 * 6)
    monkeypatch.setattr("nonneg.data.blocks._SYSTEMS", 2**20)
    data = stored(X, "file")
    assert_same(factorize(data, "W H", **settings), expected)


def write_hdf5(path, X):
    h5py = pytest.importorskip("h5py", reason="files of HDF5 need h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=X, chunks=(7, X.shape[1]))


def write_zarr(path, X):
    zarr = pytest.importorskip("zarr", reason="arrays of zarr need zarr")
    zarr.open(str(path), mode="w", shape=X.shape, chunks=(7, X.shape[1]), dtype=X.dtype)[:] = X


def write_parquet(path, X):
    pyarrow = pytest.importorskip("pyarrow", reason="files of Parquet need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="files of Parquet need pyarrow")
    columns = {f"{j}": pyarrow.array(X[:, j], mask=np.isnan(X[:, j])) for j in range(X.shape[1])}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=13)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("X.npy", np.save),
        ("fortran.npy", lambda path, X: np.save(path, np.asfortranarray(X))),
        ("X.h5", write_hdf5),
        ("X.h5ad", lambda path, X: write_hdf5(path, X)),
        ("X.zarr", write_zarr),
        ("X.parquet", write_parquet),
    ],
)
def test_kinds_of_files(name, write, tmp_path):
    X, settings = with_gaps(matrix()), {"init": start_of("W H"), "solver": "multiplicative", "max_iter": 4, "tol": 0}
    if name == "X.h5ad":
        h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
        with h5py.File(tmp_path / name, "w") as file:
            file.create_group("obs")
            file.create_dataset("X", data=X)
    else:
        write(tmp_path / name, X)
    assert_same(factorize(tmp_path / name, "W H", missing="ignore", **settings), factorize(X, "W H", missing="ignore", **settings))
    with pytest.raises(DataError, match=r"not finite, nan in (row|column).*missing='ignore'"):
        factorize(tmp_path / name, "W H", **settings)


def test_weights_in_each_storage(tmp_path, stored):
    da = pytest.importorskip("dask.array", reason="collections of Dask need dask")
    X, V = matrix(), weights_of("entries")[1]
    np.save(tmp_path / "V.npy", V)
    np.save(tmp_path / "VT.npy", np.ascontiguousarray(V.T))
    settings = {"init": start_of("W H"), "solver": "multiplicative", "divergence": 1, "max_iter": 4, "tol": 0}
    expected = factorize(X, "W H", weights=V, **settings)
    turned = open_data(tmp_path / "VT.npy", blocks="features")
    mapped = np.load(tmp_path / "V.npy", mmap_mode="r")
    for place, weights in [
        *((place, way) for place in PLACES for way in (tmp_path / "V.npy", mapped, da.from_array(V, chunks=(9, 24)))),
        ("features", turned),
        ("features", str(tmp_path / "VT.npy")),  # opened as X was
    ]:
        if place == "features" and isinstance(weights, Path):  # of samples
            with pytest.raises(DataError, match=r"in blocks of columns, and .*V.npy.* in blocks of rows: store both alike"):
                factorize(stored(X, place), "W H", weights=open_data(weights), **settings)
            with pytest.raises(DataError, match=r"got shape \(24, 60\)\. A path is opened as X was, with blocks='features'"):
                factorize(stored(X, place), "W H", weights=weights, **settings)
        else:
            assert_same(factorize(stored(X, place), "W H", weights=weights, **settings), expected)


def test_weights_in_a_file_for_data_in_memory(tmp_path):
    for store in (np.asarray, sparse.csr_array, nonneg.Observed):
        X, V = matrix(), weights_of("entries")[1]
        X = store(sparse.csr_array(X)) if store is nonneg.Observed else store(X)
        np.save(tmp_path / "V.npy", V)
        np.save(tmp_path / "VT.npy", np.ascontiguousarray(V.T))
        turned = open_data(tmp_path / "VT.npy", blocks="features")
        for more in ({}, {"sample_weight": V[:, 0]}):
            model = nonneg.NMF(3, init=start_of("W H"), solver="multiplicative", max_iter=4, tol=0)
            expected = model.fit(X, weights=V, **more).components_
            for weights in (tmp_path / "V.npy", str(tmp_path / "V.npy"), open_data(tmp_path / "V.npy"), turned):
                np.testing.assert_allclose(model.fit(X, weights=weights, **more).components_, expected, rtol=1e-9)
        with pytest.raises(DataError, match=r"sample_weight must be one number for each sample, in memory.*numpy\.load"):
            model.fit(X, sample_weight=str(tmp_path / "V.npy"))
        with pytest.raises(DataError, match=r"'weights' is no file"):
            model.fit(X, weights="weights")


def test_place_of_a_bad_weight(tmp_path, stored):
    for place, value in product(("memory", "file", "features", "sparse"), (-1.0, np.nan, np.inf)):
        X, V = matrix(), weights_of("entries")[1]
        V[30, 5] = value
        folder = tmp_path / f"{place} {value}"
        folder.mkdir()
        if place == "sparse":
            h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
            with h5py.File(folder / "V.h5ad", "w") as file:
                group = file.create_group("X")
                group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", V.shape
                for part in ("data", "indices", "indptr"):
                    group.create_dataset(part, data=getattr(sparse.csr_array(V), part))
        else:
            np.save(folder / "V.npy", V.T.copy() if place == "features" else V)
        where = (
            r"feature 5, sample 30 \(row 5 of .*V\.npy, column 30\)"
            if place == "features"
            else r"row 30, column 5 \(row 30 of .*V\."
        )
        own = X if place == "memory" else stored(X, "features" if place == "features" else "file")
        with pytest.raises(DataError, match=rf"weights of X must (not be negative|be finite numbers): {value:g} in {where}"):
            nonneg.NMF(3).fit(own, weights=next(folder.iterdir()))


def test_weights_of_samples_and_of_entries_that_lie_elsewhere(tmp_path, stored):
    X, V, s = matrix(), weights_of("entries")[1], np.random.default_rng(5).uniform(0.5, 2, SHAPE[0])
    np.save(tmp_path / "V.npy", V)
    model = nonneg.NMF(3, init=start_of("W H"), solver="multiplicative", max_iter=4, tol=0)
    expected = model.fit(X, sample_weight=s, weights=V).components_
    np.save(tmp_path / "VT.npy", V.T.copy())
    mapped = np.load(tmp_path / "V.npy", mmap_mode="r")
    weights = [("file", tmp_path / "V.npy"), ("dask", tmp_path / "V.npy"), ("features", mapped), ("features", tmp_path / "VT.npy")]
    for place, own in weights:
        np.testing.assert_allclose(model.fit(stored(X, place), sample_weight=s, weights=own).components_, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["missing", "some entries", "few entries", *KINDS[-4:]])
@pytest.mark.parametrize("place", PLACES)
def test_every_operation_equals_dense_data(place, kind, stored, rng):
    has_gaps, weights = weights_of(kind)
    X = with_gaps(matrix()) if has_gaps else matrix()
    settings = {"missing": "ignore" if has_gaps else "raise", "weights": weights}
    near, far = read_weighted(X, **settings), read_weighted(stored(X, place), **settings)
    assert (far.shape, far.facts.missing, far.costs.weighted, far.costs.out_of_core) == (near.shape, near.facts.missing, True, True)
    assert [far.power_sum(p) for p in (0, 1, 2)] == pytest.approx([near.power_sum(p) for p in (0, 1, 2)])
    assert (far.facts.non_zeros, far.facts.missing) == (near.facts.non_zeros, near.facts.missing)
    first, second = DataTerm("power", 1.0), DataTerm("power", 0.0)
    requests = [Request(first, "right", rng.random((24, 2))), Request(second, "left", rng.random((2, 60)))]
    U, V = rng.random((60, 2)), rng.random((2, 24))
    for found, expected in zip(far.visit(U, V, requests)[0], near.visit(U, V, requests)[0], strict=True):
        np.testing.assert_allclose(found, expected)
    items = np.array([7, 3, 20])
    for axis in (0, 1):
        part, own = far.subset(items, axis), near.subset(items, axis)
        assert part.power_sum(2) == pytest.approx(own.power_sum(2))
        assert part.shape == own.shape
    if isinstance(near, nonneg.data.weighted.Partial):
        M, values = rng.random((24, 2)), LowRank(U, V)
        np.testing.assert_allclose(far.filled(values).apply(M), near.filled(values).apply(M))
        np.testing.assert_allclose(as_dense(far.filled(values).take(items, 0)), as_dense(near.filled(values).take(items, 0)))
        np.testing.assert_allclose(far.lengths(1), near.lengths(1))
        (found, spread), (expected, expected_spread) = far.blended(values), near.blended(values)
        np.testing.assert_allclose(found.apply(M), expected.apply(M))
        assert spread == pytest.approx(expected_spread)
        for transposed in (False, True):
            count = 60 if transposed else 24
            L, R = rng.random((count, 2)) / count, rng.random((2, count)) / count
            found, expected = (own.settled(L, R, np.ones(2), transposed=transposed) for own in (far, near))
            assert (found is None) == (expected is None)
            if expected is not None:
                np.testing.assert_allclose(found.U, expected.U, rtol=1e-8)


ESTIMATORS = {
    "NMF": nonneg.NMF(3, random_state=0),
    "NMF, I-divergence": nonneg.NMF(3, divergence="kullback-leibler", random_state=0),
    "PNMF": nonneg.PNMF(3, random_state=0),
    "OPNMF": nonneg.OPNMF(3, random_state=0),
    "OPNMF, I-divergence": nonneg.OPNMF(3, divergence="kullback-leibler", random_state=0),
    "NMTF": nonneg.NMTF((3, 3), random_state=0),
}


@pytest.mark.parametrize(
    ("name", "place"),
    [(name, place) for name in ESTIMATORS for place in ("file", "features")] + [("NMF", "dask"), ("OPNMF", "dask")],
)
def test_estimators(name, place, stored):
    generator = np.random.default_rng(6)
    parts = np.kron(np.eye(3), np.ones((20, 8))) * generator.uniform(0.8, 1.2, (60, 24)) + 0.01
    X = with_gaps(parts)
    model = clone(ESTIMATORS[name]).set_params(missing="ignore", max_iter=300)
    model.fit(stored(X, place))
    observed = ~np.isnan(X)
    codes = model.transform(stored(X, place))
    codes = np.asarray(codes)
    error = np.linalg.norm((model.inverse_transform(codes) - parts)[~observed]) / np.linalg.norm(parts[~observed])
    assert error < 0.2, "what is missing is found"
    np.testing.assert_allclose(codes, model.transform(X), rtol=1e-5, atol=1e-5 * codes.max())
    assert model.score(stored(X, place)) == pytest.approx(model.score(X), rel=1e-5)
    assert model.reconstruction_err_ > 0


@pytest.mark.filterwarnings("ignore::nonneg.exceptions.EmptySamplesWarning")
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole fit", "gaps in the fit"])
@pytest.mark.parametrize("place", PLACES)
def test_components_without_an_observed_feature_have_their_mean(place, is_whole, stored):
    X = np.kron(np.eye(3), np.ones((20, 8))) * np.random.default_rng(6).uniform(0.8, 1.2, SHAPE) + 0.01
    given = X if is_whole else with_gaps(X)
    new = X[:2].copy()
    new[0, :8], new[1] = np.nan, np.nan
    model = nonneg.OPNMF(3, missing="ignore", random_state=0).fit(stored(given, place))
    expected = model.transform(given).mean(axis=0)
    found, which = model.transform(new), model.components_[:, 0].argmax()
    assert found[0, which] == pytest.approx(expected[which], rel=1e-4)
    np.testing.assert_allclose(found[1], expected, rtol=1e-4)


def test_the_mean_of_codes_takes_one_reading(stored):
    data = stored(matrix(), "file")
    model = nonneg.OPNMF(3, missing="ignore", random_state=0).fit(data)
    before = data.log.count
    np.testing.assert_allclose(model._code_of_mean(data), model.transform(matrix()).mean(axis=0))
    assert data.log.count == before + 1


def test_weights_of_samples_leave_few_readings(tmp_path):
    X = np.kron(np.eye(3), np.ones((100, 30))) * np.random.default_rng(0).uniform(0.8, 1.2, (300, 90))
    np.save(tmp_path / "X.npy", X)
    weights = np.random.default_rng(1).uniform(0.5, 2, 300)
    data = open_data(tmp_path / "X.npy", block_bytes=50_000)
    near, far = (nonneg.OPNMF(3, random_state=0).fit(own, sample_weight=weights) for own in (X, data))
    assert far.history_[-1].readings <= 6, "weights of samples go into the data, and these are solved for on a sketch"
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-3)


def test_complete_data_equal_unweighted_data(stored):
    X = matrix()
    data = read_weighted(stored(X, "file"), missing="ignore")
    assert (data.costs.weighted, data.costs.out_of_core, data.log.count) == (False, True, 1)
    fitted = nonneg.OPNMF(3, missing="ignore", random_state=0).fit(stored(X, "file"))
    assert fitted.history_[-1].readings <= 5


def test_hidden_entries_are_not_looked_at(stored):
    X, V = matrix(), weights_of("some entries")[1]
    settings = {"init": start_of("W H"), "solver": "multiplicative", "divergence": 0, "max_iter": 4, "tol": 0, "weights": V}
    expected = factorize(X, "W H", **settings)
    for place, hidden in zip(PLACES * 2, (np.nan, -1.0, np.inf, 0.0, 1e30, np.nan), strict=True):
        assert_same(factorize(stored(np.where(V > 0, X, hidden), place), "W H", **settings), expected)


def bad(kind):
    X, V = matrix(), weights_of("entries")[1]
    match kind:
        case "NaN with a weight":
            X[30, 5] = np.nan
            return X, {"weights": V}, r"nan in row 30, column 5"
        case "infinite":
            X[30, 5] = np.inf
            return X, {"missing": "ignore"}, r"inf in row 30, column 5"
        case "negative":
            X[30, 5] = -1
            return X, {"missing": "ignore"}, r"-1 in row 30, column 5"
        case "nothing":
            return X * np.nan, {"missing": "ignore"}, "no entry that is observed"
        case "no weight":
            return X, {"weights": 0 * V}, "no entry that is observed, or none that has a weight"
        case "negative weight":
            return X, {"weights": V - 1}, r"weights of X must not be negative"
        case "weights that are not finite":
            return X, {"weights": np.where(V > 1, np.nan, V)}, r"weights of X must be finite"
        case "shape":
            return X, {"weights": V[:, 1:]}, r"weights must have the shape of X, \(60, 24\)"
        case _:
            return X, {"weights": (V[:, 0], V[0, 1:])}, "weights of columns must be an array of 24 numbers"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "kind",
    [
        "NaN with a weight",
        "infinite",
        "negative",
        "nothing",
        "no weight",
        "negative weight",
        "weights that are not finite",
        "shape",
        "pair",
    ],
)
def test_invalid_input(kind, place, stored, tmp_path):
    X, settings, says = bad(kind)
    with pytest.raises(DataError, match=says if place != "features" else says.replace("row 30, column 5", "")):
        factorize(stored(X, place), "W H", 2, random_state=0, **settings)
    model = nonneg.NMF(2, random_state=0, missing=settings.get("missing", "raise"))
    with pytest.raises(DataError, match=says if place != "features" else says.replace("row 30, column 5", "")):
        model.fit(stored(X, place), weights=settings.get("weights"))
    if isinstance(settings.get("weights"), np.ndarray) and place != "dask" and kind != "NaN with a weight":
        weights = stored(settings["weights"], place, "V")
        with pytest.raises(DataError, match=says):
            factorize(stored(X, place), "W H", 2, random_state=0, weights=weights)


def test_unobserved_rows_and_columns(stored):
    X = with_gaps(matrix())
    X[5], X[:, 7] = np.nan, np.nan
    settings = {"init": start_of("W H"), "max_iter": 4, "tol": 0, "missing": "ignore"}
    for solver in ("coordinate", "multiplicative"):
        expected = factorize(X, "W H", solver=solver, **settings)
        for place in PLACES:
            found = factorize(stored(X, place), "W H", solver=solver, **settings)
            assert_same(found, expected)
            assert not found.factors["W"][5].any()
            assert not found.factors["H"][:, 7].any()


def test_sparse_blocks(tmp_path):
    h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
    X = sparse.csr_array(np.where(matrix() > 0.5, matrix(), 0.0))
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        file.create_group("obs")
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", X.shape
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(X, part))
    settings = {"solver": "multiplicative", "max_iter": 5, "tol": 0}
    for kind in KINDS:
        has_gaps, weights = weights_of(kind)
        if not has_gaps:
            for form, divergence in (("W H", 1), ("X W W.T", 2), ("X W W.T", 1)):
                own = settings | {"init": start_of(form), "divergence": divergence, "weights": weights}
                assert_same(factorize(open_data(tmp_path / "X.h5ad", block_bytes=BLOCK), form, **own), factorize(X, form, **own))


def test_sparse_blocks_that_are_not_finite(stored):
    X = np.where(matrix() > 0.5, with_gaps(matrix()), 0.0)
    with pytest.raises(DataError, match=r"nan in row .* of dense data"):
        factorize(stored(X, "dask").rechunk((16, 24)).map_blocks(sparse.csr_array), "W H", 2, missing="ignore")


def test_refusals(stored):
    X, V = matrix(), weights_of("entries")[1]
    weighted = read_weighted(stored(X, "file"), weights=V)
    with pytest.raises(DataError, match="have weights already"):
        factorize(weighted, "W H", 2, weights=V)
    with pytest.raises(IncompatibleError, match="cannot be gone over row by row"):
        factorize(stored(with_gaps(X), "file"), "X W W.T", 2, missing="ignore", solver="coordinate")
    with pytest.raises(DataError, match="array, a path, an open file, or a Dask array"):
        factorize(stored(X, "file"), "W H", 2, weights=weighted)


def test_weights_that_change_are_noticed(tmp_path, stored):
    X, V = matrix(), weights_of("entries")[1]
    np.save(tmp_path / "V.npy", V)
    data = read_weighted(stored(X, "file"), weights=tmp_path / "V.npy")
    data.power_sum(2)
    np.save(tmp_path / "V.npy", V[:30])
    with pytest.raises(DataError, match=r"weights of X have changed\. .*V\.npy has changed"):
        data.in_units(2.0).power_sum(3)


@pytest.mark.parametrize("is_dask", [False, True], ids=["file", "dask"])
def test_checkpoints_know_weights_that_are_not_in_memory(is_dask, tmp_path):
    da, generator = pytest.importorskip("dask.array"), np.random.default_rng(0)
    X, weights = generator.random((60, 12)), generator.random((60, 12))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "v.npy", weights)
    given = (da.from_array(X, (20, 12)), da.from_array(weights, (20, 12))) if is_dask else (tmp_path / "x.npy", tmp_path / "v.npy")
    options = {"max_iter": 3, "tol": 0, "random_state": 0, "checkpoint": tmp_path / "run.nonneg"}
    first, again = (nonneg.NMF(2, **options).fit(given[0], weights=given[1]) for _ in range(2))
    np.testing.assert_array_equal(first.components_, again.components_)
    other = da.from_array(2 * weights + 1, (20, 12)) if is_dask else tmp_path / "x.npy"
    with pytest.raises(DataError, match="weights of X is"):
        nonneg.NMF(2, **options).fit(given[0], weights=other)


def test_weights_of_samples_beside_those_of_entries_that_are_mapped(tmp_path):
    generator = np.random.default_rng(0)
    X, weights, of_samples = generator.random((30, 8)), generator.random((30, 8)), generator.random(30)
    np.save(tmp_path / "v.npy", weights)
    options = {"n_components": 2, "max_iter": 5, "tol": 0, "random_state": 0}
    mapped = nonneg.NMF(**options).fit(X, weights=np.load(tmp_path / "v.npy", mmap_mode="r"), sample_weight=of_samples)
    np.testing.assert_allclose(
        mapped.components_, nonneg.NMF(**options).fit(X, weights=weights, sample_weight=of_samples).components_
    )
    read = nonneg.NMF(**options).fit(X, weights=str(tmp_path / "v.npy"), sample_weight=of_samples)
    np.testing.assert_allclose(read.components_, mapped.components_)


@pytest.mark.parametrize("estimator", [nonneg.PNMF, nonneg.OPNMF])
def test_projective_models_fit_files_with_gaps(estimator, tmp_path):
    X = with_gaps(matrix())
    np.save(tmp_path / "X.npy", X)
    model = estimator(1, missing="ignore", random_state=0)
    expected = clone(model).fit(X).objective_
    found = model.fit(open_data(tmp_path / "X.npy", block_bytes=BLOCK)).objective_
    assert found == pytest.approx(expected, rel=1e-3)  # the one minimum of positive data and one part, to the tolerance of a run


def test_sparse_files_take_dense_weights(tmp_path):
    import anndata

    X = matrix() * (matrix() > 0.5)
    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(tmp_path / "X.h5ad")
    _, V = weights_of("some entries")
    options = {"weights": V, "random_state": 0, "solver": "multiplicative", "max_iter": 3, "tol": 0, "check_every": 1}
    options["init"] = {name: np.random.default_rng(5).random(shape) + 0.5 for name, shape in FORMS["W H"].items()}
    found = factorize(open_data(tmp_path / "X.h5ad", block_bytes=BLOCK), "W H", 3, **options)
    expected = factorize(X, "W H", 3, **options)
    np.testing.assert_allclose(found.history.objective, expected.history.objective, rtol=1e-9)  # sums in another order


def hidden_somewhere(kind):
    """Data with zeros, which Itakura and Saito's divergence refuses, and weights that hide all of them."""
    X, V = matrix(), weights_of("some entries")[1]
    if kind == "entries":
        return np.where(V > 0, X, 0.0), V
    rows = V[:, 0]
    return np.where(rows[:, None] > 0, X, 0.0), (rows, None)


STORAGES = ("sparse memory", "file", "features", "dask", "sparse dask", "h5ad", "h5ad by columns")


def put(X, storage, stored, tmp_path):
    """A matrix in one of all storages."""
    match storage:
        case "sparse memory":
            return sparse.csr_array(X)
        case "sparse dask":
            return stored(X, "dask").rechunk((16, X.shape[1])).map_blocks(sparse.csr_array)
        case "h5ad" | "h5ad by columns":
            h5py = pytest.importorskip("h5py", reason="files of AnnData need h5py")
            kept = sparse.csr_array(X) if storage == "h5ad" else sparse.csc_array(X)
            with h5py.File(tmp_path / "X.h5ad", "w") as file:
                file.create_group("obs")
                group = file.create_group("X")
                group.attrs["encoding-type"], group.attrs["shape"] = f"{kept.format}_matrix", kept.shape
                for part in ("data", "indices", "indptr"):
                    group.create_dataset(part, data=getattr(kept, part))
            return open_data(tmp_path / "X.h5ad", block_bytes=BLOCK)
        case _:
            return stored(X, storage)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["entries", "samples"])
@pytest.mark.parametrize("storage", STORAGES)
def test_hidden_zeros_are_not_looked_at(storage, kind, stored, tmp_path):
    """X⁻¹ of a zero is infinite, and a weight of 0 does not make it finite."""
    X, V = hidden_somewhere(kind)
    data = put(X, storage, stored, tmp_path)
    for form, divergence in (("W H", 0), ("X W W.T", 0), ("X W W.T", nonneg.divergences.Alpha(-1)), ("W W.T X", 3)):
        settings = {"init": start_of(form), "solver": "multiplicative", "divergence": divergence, "max_iter": 3, "weights": V}
        assert_same(factorize(data, form, **settings), factorize(X, form, **settings))


@pytest.mark.parametrize("divergence", ["kullback-leibler", "itakura-saito", "euclidean"])
@pytest.mark.parametrize("cls", [nonneg.PNMF, nonneg.OPNMF])
@pytest.mark.parametrize("storage", STORAGES)
def test_samples_without_weight_are_not_there(storage, cls, divergence, stored, tmp_path):
    X, (rows, _) = hidden_somewhere("samples")
    settings = {"init": start_of("X W W.T")["W"].T, "max_iter": 5, "solver": "multiplicative", "divergence": divergence}
    expected = cls(3, **settings).fit(X[rows > 0], sample_weight=rows[rows > 0])
    found = cls(3, **settings).fit(put(X, storage, stored, tmp_path), sample_weight=rows)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-6, atol=1e-9)
    more = matrix()[::-1]
    for model in (found, expected):
        model.partial_fit(more)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-5, atol=1e-6)


def test_samples_without_weight_have_no_row_in_a_factor_of_samples():
    X, (rows, _) = hidden_somewhere("samples")
    X, start = np.where(rows[:, None] > 0, X, 7.0), start_of("W W.T X")["W"]
    settings = {"solver": "multiplicative", "max_iter": 5, "divergence": 3}
    seen = rows > 0
    expected = factorize(X[seen], "W W.T X", init={"W": start[seen]}, weights=(rows[seen], None), **settings)
    for data in (X, sparse.csr_array(X)):
        found = factorize(data, "W W.T X", init={"W": start}, weights=(rows, None), **settings)
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)


@pytest.mark.parametrize("form", ["W H", "W S H"])
def test_samples_without_weight_in_single_precision(form, stored):
    X, (rows, _) = hidden_somewhere("samples")
    settings = {"init": start_of(form), "solver": "multiplicative", "max_iter": 3, "weights": (rows, None)}
    found = factorize(stored(X.astype(np.float32), "dask"), form, **settings)
    assert all(factor.dtype == np.float32 for factor in found.factors.values())
    assert found.objective == pytest.approx(factorize(X, form, **settings).objective, rel=1e-4)  # single precision
