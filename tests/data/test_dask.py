"""Data on a Dask cluster: the results of the same blocks on one machine, whatever the number of workers, also if one is lost."""

import os
import signal

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import factorize
from nonneg.data import opened
from nonneg.data.base import apply_both, as_dense
from nonneg.exceptions import DataError

da = pytest.importorskip("dask.array", reason="collections of Dask need dask")
pytestmark = [pytest.mark.wide(one_in=3), pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


def matrix(shape=(70, 40), rank=3):
    generator = np.random.default_rng(1)
    return generator.gamma(0.5, 1.0, (shape[0], rank)) @ generator.gamma(0.5, 1.0, (rank, shape[1])) + 0.1 * generator.random(shape)


def collection(X, rows=16):
    return da.from_array(X, chunks=(rows, 15))


def sparse_collection(X, rows=16):
    """Blocks that are SciPy's sparse arrays."""
    return da.from_array(X, chunks=(rows, X.shape[1])).map_blocks(sparse.csr_array)


@pytest.mark.parametrize("store", [collection, sparse_collection])
def test_every_operation_equals_dense_data(store, rng):
    X = np.where(matrix() > 0.3, matrix(), 0.0)
    data = opened(store(X))
    assert (data.shape, data.facts.non_zeros) == (X.shape, np.count_nonzero(X))
    assert data.power_sum(2) == pytest.approx(np.square(X).sum())
    for transposed in (False, True):
        own = X.T if transposed else X
        M = rng.random((own.shape[1], 2))
        np.testing.assert_allclose(data.apply(M, transposed=transposed), own @ M)
        np.testing.assert_allclose(data.apply_gram(own[:, :3], transposed=transposed), own @ own.T @ own[:, :3])
        items = np.array([5, 0, 30, 5])
        np.testing.assert_array_equal(as_dense(data.take(items, int(transposed))), own[items])
    for found, expected in zip(apply_both(data, X[:4].T, X[:, :2]), (X @ X[:4].T, X.T @ X[:, :2]), strict=True):
        np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(data.in_units(4.0).apply(np.eye(40)), X / 4)
    np.testing.assert_array_equal(np.concatenate([as_dense(block) for _, block in data.blocks()]), X)


@pytest.mark.parametrize("divergence", [2, 1])
@pytest.mark.parametrize("form", ["W H", "X W W.T", "W S H"])
def test_the_same_steps_lead_to_the_same_objective(form, divergence, rng):
    X = matrix()
    shapes = {"W": (40 if form == "X W W.T" else 70, 3), "S": (3, 3), "H": (3, 40)}
    start = {name: rng.random(shape) for name, shape in shapes.items() if name in form.split()}
    settings = {"divergence": divergence, "init": start, "solver": "multiplicative", "max_iter": 6, "tol": 0}
    found, expected = (factorize(own, form, **settings) for own in (collection(X), X))
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)


def test_few_readings_and_lazy_codes():
    X = matrix((150, 60))
    model = nonneg.OPNMF(3, random_state=0).fit(collection(X, 30))
    assert model.history_[-1].readings <= 4
    assert model.objective_ <= nonneg.OPNMF(3, random_state=0).fit(X).objective_ * (1 + 1e-3)
    codes = model.transform(collection(X, 30))
    assert isinstance(codes, da.Array)
    assert codes.shape == (150, 3)
    np.testing.assert_allclose(codes.compute(), model.transform(X))


def test_partial_fit():
    X = matrix()
    found, expected = (nonneg.OPNMF(3, random_state=0).partial_fit(own).partial_fit(own) for own in (collection(X), X))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)


def test_tables():
    dataframe = pytest.importorskip("dask.dataframe", reason="tables of Dask need dask[dataframe]")
    pandas = pytest.importorskip("pandas")
    X = matrix()
    table = dataframe.from_pandas(pandas.DataFrame(X, columns=[f"gene {j}" for j in range(40)]), npartitions=4)
    np.testing.assert_allclose(opened(table).apply(np.eye(40)), X)


def test_partitions_without_rows():
    """A filter leaves them."""
    dataframe = pytest.importorskip("dask.dataframe", reason="tables of Dask need dask[dataframe]")
    pandas = pytest.importorskip("pandas")
    X = matrix((40, 6))
    table = pandas.DataFrame(X, columns=list("abcdef"))
    parts = dataframe.from_pandas(table, npartitions=4)
    for first, last in ((15, 40), (0, 25)):
        some = parts.map_partitions(lambda rows, first=first, last=last: rows[(rows.index >= first) & (rows.index < last)])
        model = nonneg.NMF(2, random_state=0).fit(some)
        np.testing.assert_allclose(opened(some).apply(np.eye(6)), X[first:last])
        np.testing.assert_allclose(model.transform(some).compute(), model.transform(table[first:last]), atol=1e-9)
        weights = da.from_array(np.ones((25, 6)) + np.arange(25)[:, None], chunks=(8, 6))
        own, expected = (nonneg.NMF(2, random_state=0).fit(given, weights=weights) for given in (some, collection(X[first:last])))
        assert own.objective_ == pytest.approx(expected.objective_, rel=1e-3)
    with pytest.raises(DataError, match="X is empty"):
        nonneg.NMF(2).fit(parts.map_partitions(lambda rows: rows[rows.index < 0]))


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "float64[pyarrow]", "int32[pyarrow]"])
def test_tables_with_nullable_types(dtype):
    dataframe = pytest.importorskip("dask.dataframe", reason="tables of Dask need dask[dataframe]")
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    X = matrix((40, 6))
    X = X.mean() < X if dtype == "boolean" else X if dtype.lower().startswith("float") else np.round(9 * X)
    table = pandas.DataFrame(X, columns=list("abcdef")).astype(dtype)
    table.iloc[17, 2] = pandas.NA
    parts = dataframe.from_pandas(table, npartitions=3)
    gaps = np.where(table.isna(), np.nan, X)
    settings = {"missing": "ignore", "random_state": 0, "max_iter": 20}
    found = nonneg.NMF(2, **settings).fit(parts)
    expected = nonneg.NMF(2, **settings).fit(da.from_array(gaps, chunks=(opened(parts).rows, 6)))
    np.testing.assert_allclose(found.components_, expected.components_)
    np.testing.assert_allclose(found.transform(parts).compute(), found.transform(table), rtol=1e-5, atol=1e-9)
    with pytest.raises(DataError, match="not finite, nan in row 17, column 2 "):
        nonneg.NMF(2).fit(parts)
    np.testing.assert_allclose(opened(parts[["a", "b"]]).apply(np.eye(2)), X[:, :2])


@pytest.mark.parametrize(("value", "says"), [(np.nan, "not finite, nan"), (-2.0, "Negative .*: -2")])
def test_entries_that_cannot_be(value, says):
    X = matrix()
    X[37, 5] = value
    with pytest.raises(DataError, match=rf"{says} in row 37, column 5 \(row 5 of block 2\)"):
        nonneg.NMF(3).fit(collection(X))


@pytest.mark.parametrize(("value", "says"), [(np.nan, "not finite, nan"), (-2.0, "Negative .*: -2")])
def test_entries_that_cannot_be_in_new_samples(value, says):
    """Rows are counted in the whole collection, where the sizes of its blocks are known."""
    dataframe, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X = matrix()
    model = nonneg.NMF(3, random_state=0).fit(X)
    X[37, 5] = value
    codes = model.transform(collection(X))
    with pytest.raises(DataError, match=rf"{says} in row 37, column 5 \(row 5 of block 2\)"):
        codes.compute()
    codes = model.transform(dataframe.from_pandas(pandas.DataFrame(X), npartitions=5))
    with pytest.raises(DataError, match=rf"{says} in row 9 of block 2, column 5"):
        codes.compute()


def test_columns_that_hold_no_numbers():
    dataframe, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    table = pandas.DataFrame(matrix((40, 3)), columns=list("abc"))
    parts = dataframe.from_pandas(table.assign(name="x", day=pandas.Timestamp("2020-01-01")), npartitions=2)
    with pytest.raises(
        DataError, match=r"2 columns that hold no numbers: 'name' .*, 'day' \(datetime.*X\.drop\(columns=\['name'\]\)"
    ):
        nonneg.NMF(2).fit(parts)
    with pytest.raises(DataError, match=r"weights has a column that holds no numbers: 'name'"):
        nonneg.NMF(2).fit(parts[list("abc")], weights=parts[["a", "b", "name"]])


def test_shares_and_samples_are_lazy_too(tmp_path):
    X = matrix()
    clusters = nonneg.ProjectiveClustering(3, random_state=0).fit(X)
    shares = clusters.transform(collection(X))
    assert isinstance(shares, da.Array)
    np.testing.assert_allclose(shares.compute(), clusters.transform(X))
    model = nonneg.OPNMF(3, random_state=0).fit(X)
    codes = model.transform(collection(X))
    samples = model.inverse_transform(codes)
    assert (type(samples), samples.shape, samples.dtype) == (da.Array, X.shape, X.dtype)
    np.testing.assert_allclose(samples.compute(), model.inverse_transform(model.transform(X)))
    for wrong in (collection(X), X):
        with pytest.raises(ValueError, match=r"one column for each of the 3 components; got shape \(70, 40\)"):
            model.inverse_transform(wrong)
    np.save(tmp_path / "codes.npy", codes.compute())
    for where in (tmp_path / "codes.npy", str(tmp_path / "codes.npy"), nonneg.open_data(tmp_path / "codes.npy")):
        with pytest.raises(DataError, match=r"Codes are an array, or a Dask array.* got a file"):
            model.inverse_transform(where)


@pytest.mark.parametrize("estimator", [nonneg.OPNMF, nonneg.NMF])
def test_masked_entries_are_missing(estimator, rng, tmp_path):
    """What lies under a mask is no data, on a cluster as in memory."""
    X = matrix((30, 8))
    hidden = rng.random(X.shape) < 0.2
    masked, gaps = np.ma.masked_array(np.where(hidden, 1e3, X), hidden), np.where(hidden, np.nan, X)
    found, expected = (
        estimator(3, missing="ignore", random_state=0, max_iter=30).fit(da.from_array(own, chunks=(7, 8))) for own in (masked, gaps)
    )
    np.testing.assert_array_equal(found.components_, expected.components_)
    np.testing.assert_allclose(found.transform(da.from_array(masked, chunks=(7, 8))).compute(), expected.transform(gaps), atol=1e-9)
    row, column = np.argwhere(hidden)[0]
    with pytest.raises(DataError, match=f"not finite, nan in row {row}, column {column} "):
        estimator(3).fit(da.from_array(masked, chunks=(7, 8)))
    np.save(tmp_path / "X.npy", X)
    for place in (collection(X, 7), tmp_path / "X.npy"):
        with pytest.raises(DataError, match="weights of X must be finite"):
            estimator(3).fit(place, weights=da.from_array(masked, chunks=(7, 8)))


# ---- a cluster


@pytest.fixture(scope="module")
def distributed():
    return pytest.importorskip("distributed", reason="clusters need distributed")


def test_the_number_of_workers_does_not_matter(distributed):
    X, found = matrix((120, 40)), []
    for workers in (1, 2):
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
            distributed.Client(cluster),
        ):
            found.append(nonneg.OPNMF(3, random_state=0).fit(collection(X, 20)))
    np.testing.assert_array_equal(found[0].components_, found[1].components_)


def test_few_ways_to_the_workers_and_few_tasks(distributed, monkeypatch, rng):
    """On the way there and back, and for each task, a scheduler takes as long as for a product with a block."""
    X, count = matrix((400, 40)), 40
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        held = client.persist(da.from_array(X, chunks=(X.shape[0] // count, -1)))
        distributed.wait(held)
        data, sent, tasks = opened(held), [], []
        scatter, compute = client.scatter, client.compute
        monkeypatch.setattr(client, "scatter", lambda values, **settings: sent.append(len(values)) or scatter(values, **settings))

        def counted(wanted, **settings):
            tasks.append(len({key for each in wanted for key in each.dask if "nonneg-" in str(key)}))
            return compute(wanted, **settings)

        monkeypatch.setattr(client, "compute", counted)
        M = rng.random((X.shape[0], 2))
        for _ in range(2):  # the first reading tells more
            np.testing.assert_allclose(data.apply_gram(X[:3].T, transposed=True), X.T @ X @ X[:3].T)
        assert data.facts.non_zeros == np.count_nonzero(X)
        assert (sent, tasks) == ([1, 1], [count + 6, count + 6])
        sent.clear()
        product, other = apply_both(data, X[:3].T, M)
        np.testing.assert_allclose(product, X @ X[:3].T)
        np.testing.assert_allclose(other, X.T @ M)
        assert sent == [1, 16, 16, 8]


def test_a_scheduler_that_cannot_be_reached_any_more(distributed):
    """It is said so, soon; nothing is computed elsewhere instead."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):

        def callback(progress):
            if progress.iteration == 2:
                cluster.close()

        settings = {"solver": "multiplicative", "init": "random", "max_iter": 8, "tol": 0}
        with pytest.raises(DataError, match=r"scheduler at .* cannot be reached any more"):
            factorize(collection(matrix()), "W H", 3, **settings, check_every=1, callback=callback)
    with pytest.raises(OSError, match=r"127\.0\.0\.1:1"):
        distributed.Client("tcp://127.0.0.1:1", timeout=0.5)


def test_a_worker_that_is_killed(distributed):
    """Its blocks are computed again by the other one, or by what takes its place."""
    X = matrix((120, 40))
    settings = {"solver": "multiplicative", "init": "random", "random_state": 0, "max_iter": 12, "tol": 0}
    expected = nonneg.NMF(3, **settings).fit(collection(X, 20))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        seen = []

        def callback(progress):
            seen.append(progress.iteration)
            if len(seen) == 2:
                pids = list(client.run(os.getpid).values())
                os.kill(pids[0], signal.SIGKILL)

        found = nonneg.NMF(3, **settings, callback=callback).fit(collection(X, 20))
    assert len(seen) >= 2
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-12)


def test_arrays_that_begin_anywhere():
    """As those from the network do: products with them would be made without BLAS, and differ in their last digits."""
    from nonneg.data.dask import aligned
    from nonneg.data.steps import Request

    def displaced(A):
        room = np.empty(A.nbytes + 16, np.uint8)
        shifted = room[-room.ctypes.data % 8 + 3 :][: A.nbytes].view(A.dtype).reshape(A.shape)
        shifted[...] = A
        return shifted

    A, few = np.random.default_rng(0).random((30, 20)), sparse.random_array((9, 7), density=0.4, rng=0, format="csr")
    assert not displaced(A).flags.aligned
    stray = sparse.csr_array((displaced(few.data), few.indices, few.indptr), shape=few.shape)
    found = aligned((displaced(A), ("words", Request("x", "right", displaced(A))), stray))
    for array in (found[0], found[1][1].matrix):
        assert array.flags.aligned
        np.testing.assert_array_equal(array, A)
    assert isinstance(found[1][1], Request)
    assert found[2].data.flags.aligned
    np.testing.assert_array_equal(found[2].toarray(), few.toarray())
