"""Learning from a stream."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from nonneg import load, open_data
from nonneg.estimators import NMF, OPNMF, PNMF, ConsensusNMF
from nonneg.exceptions import DataError, ShapeError

from .cases import given_start, half_squares, parts, unconverged

pytestmark = pytest.mark.wide(one_in=3)


STREAMS = {"parts": (lambda: parts(300, 24, 4, noise=0.3), 4), "digits": (lambda: load_digits().data[:600], 8)}


def naive_objective(X, W, divergence="euclidean"):
    Y = X @ W @ W.T
    if divergence == "euclidean":
        return half_squares(X - Y)
    logs = np.log(X / np.where(X > 0, Y, 1), out=np.zeros_like(X), where=X > 0)
    return np.sum(X * logs - X + Y)


def streamed(estimator, X, n_batches=6, passes=1, store=np.asarray):
    for _ in range(passes):
        for batch in np.array_split(X, n_batches):
            estimator.partial_fit(store(batch))
    return estimator


@pytest.mark.parametrize("data", STREAMS)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_a_single_pass_is_nearly_as_good_as_all_at_once(cls, data):
    make, rank = STREAMS[data]
    X = make()
    whole = cls(rank, random_state=0).fit(X)
    stream = streamed(cls(rank, random_state=0), X)
    assert naive_objective(X, stream.factors_["W"]) <= 1.02 * whole.objective_
    np.testing.assert_array_equal(stream.components_, stream.factors_["W"].T)
    assert stream.objective_ == pytest.approx(naive_objective(X, stream.factors_["W"]), rel=0.02)


def bytes_in(value):
    """Of the arrays in an object, however deep."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(bytes_in, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(bytes_in, value))
    return bytes_in(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else 0


@pytest.mark.parametrize("params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_memory_does_not_grow_with_the_stream(cls, params):
    X = parts(400, 24, 4, noise=0.3)
    estimator = cls(4, random_state=0, **params)
    sizes = []
    for batch in np.array_split(X, 10):
        estimator.partial_fit(batch)
        sizes.append(bytes_in(vars(estimator)))
    assert sizes[2] > 0
    assert set(sizes[2:]) == {sizes[2]}


@pytest.mark.parametrize(
    "params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler", "solver": "adaptive"}], ids=str
)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_sparse_batches_are_dense_batches(cls, params):
    X = parts(120, 24, 4, noise=0.3)
    X = X * (X > 0.15)
    start = {"init": given_start("PNMF", 120, 24, 4), "max_iter": 200, "tol": 0}
    dense, stored = (streamed(cls(4, random_state=0, **params | start), X, 4, store=s) for s in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(stored.components_, dense.components_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("params", "bound"),
    [({"solver": "paper", "init": "kmeans"}, 1.10), ({"divergence": "kullback-leibler"}, 1.06)],
    ids=["paper", "kullback-leibler"],
)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_an_averaged_rule_approaches_the_batch_solution(cls, params, bound):
    """Slowly: each batch is one step. The bounds are what was measured after eight passes, and a little more."""
    X = parts(300, 24, 4, noise=0.3)
    divergence = params.get("divergence", "euclidean")
    whole = cls(4, random_state=0, **params).fit(X).objective_
    estimator = cls(4, random_state=0, **params).partial_fit(X[:50])
    first = naive_objective(X, estimator.factors_["W"], divergence)
    later = naive_objective(X, streamed(estimator, X, 6, 8).factors_["W"], divergence)
    assert later < first
    assert later < bound * whole


@pytest.mark.parametrize("params", [{"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_features_that_appear_later_do_not_upset_the_stream(cls, params):
    """Pixels that are zero in the first batch: their rows of W are next to nothing, and what is missing there is not."""
    X = load_digits().data[:600]
    divergence = params.get("divergence", "euclidean")
    estimator = cls(8, random_state=0, **params).partial_fit(X[:60])
    assert ((X[:60].sum(axis=0) == 0) & (X.sum(axis=0) > 0)).any()
    first = naive_objective(X, estimator.factors_["W"], divergence)
    assert naive_objective(X, streamed(estimator, X, 10, 3).factors_["W"], divergence) < first


@pytest.mark.parametrize("params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_partial_fit_after_fit_goes_on(cls, params, X):
    estimator = cls(3, random_state=0, **params).fit(X)
    before = estimator.components_
    estimator.partial_fit(X)
    assert not np.array_equal(estimator.components_, before)
    np.testing.assert_allclose(estimator.components_, before, atol=0.1 * before.max())
    np.testing.assert_allclose(estimator.fit(X).components_, before)  # fit forgets what partial_fit has seen


@unconverged
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_partial_fit_refuses_another_number_of_features(cls, X):
    estimator = cls(3, random_state=0, max_iter=10).partial_fit(X)
    with pytest.raises(ValueError, match=r"X has 11 features, but .* is expecting 12 features"):
        estimator.partial_fit(X[:, :-1])


def test_partial_fit_with_fixed_components(X, rng):
    fixed = rng.uniform(0, 0.3, (1, 12))
    estimator = streamed(PNMF(3, fixed_components=fixed, random_state=0), X, 2)
    np.testing.assert_array_equal(estimator.components_[:1], fixed)


def test_partial_fit_with_orthogonal_rows(X):
    estimator = streamed(OPNMF(3, orthogonality="rows", random_state=0), X, 2)
    assert np.all(np.count_nonzero(estimator.components_, axis=0) == 1)
    assert estimator.orthogonality_["W"] == pytest.approx((1, 0), abs=1e-12)


@unconverged
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_names_of_features_are_kept(cls, X):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    estimator = cls(3, random_state=0, max_iter=10).partial_fit(table[:12])
    assert estimator.feature_names_in_.tolist() == table.columns.tolist()
    assert estimator.partial_fit(table[12:]).feature_names_in_.tolist() == table.columns.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.partial_fit(table.rename(columns={"gene 0": "another"}))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_a_few_rows_do_not_make_a_fit_forgotten(cls, params, store):
    """Five rows of one part, after three hundred of all four: they are a hundredth of what is known."""
    X = parts(300, 24, 4, noise=0.3)
    few = np.zeros((5, 24))
    few[:, :6] = 1.0
    estimator = cls(4, random_state=0, **params).fit(store(X))
    fitted = naive_objective(X, estimator.factors_["W"], params.get("divergence", "euclidean"))
    estimator.partial_fit(store(few))
    assert naive_objective(X, estimator.factors_["W"], params.get("divergence", "euclidean")) <= 1.02 * fitted


@pytest.mark.parametrize("data", STREAMS)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_a_fit_and_a_stream_after_it_are_nearly_as_good_as_all_at_once(cls, data):
    make, rank = STREAMS[data]
    X = make()
    half = len(X) // 2
    whole = cls(rank, random_state=0).fit(X)
    estimator = streamed(cls(rank, random_state=0).fit(X[:half]), X[half:], 3)
    assert naive_objective(X, estimator.factors_["W"]) <= 1.02 * whole.objective_
    assert estimator.objective_ == pytest.approx(naive_objective(X, estimator.factors_["W"]), rel=0.02)


@unconverged
@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_streams_of_extreme_scale(cls, params, scale):
    X = parts(60, 12, 3)
    plain, extreme = (streamed(cls(3, random_state=0, max_iter=50, **params), data, 3) for data in (X, X * scale))
    products = [stream.factors_["W"] @ stream.components_ for stream in (extreme, plain)]  # components may be numbered otherwise
    np.testing.assert_allclose(*products, rtol=1e-4, atol=1e-6)


@unconverged
def test_another_number_of_components_is_refused(X):
    model = PNMF(3, random_state=0).partial_fit(X).set_params(n_components=4)
    with pytest.raises(ShapeError, match="n_components=4, but 3 components have been learned"):
        model.partial_fit(X)


def test_fixed_components_may_be_sparse(X):
    from scipy import sparse

    fixed = X[:1] / X.max()
    dense, thin = (PNMF(3, fixed_components=kind(fixed), random_state=0).fit(X) for kind in (np.asarray, sparse.csr_array))
    np.testing.assert_array_equal(dense.components_, thin.components_)


def test_files_are_checked_before_a_stream_takes_them_up(tmp_path):
    X = np.random.default_rng(0).random((60, 9))
    model = OPNMF(2, random_state=0).fit(X)
    before = model.components_.copy()
    X[33, 4] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(DataError, match="nan in row 33, column 4"):
        model.partial_fit(open_data(tmp_path / "X.npy", block_bytes=800))
    np.testing.assert_array_equal(model.components_, before)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize(("first", "second"), [(1.0, 1e200), (1e200, 1.0), (1e-200, 1.0)])
def test_batches_of_very_different_scale(first, second, divergence):
    """The larger one is all there is beside the other."""
    X = np.random.default_rng(0).random((30, 6))
    model = OPNMF(2, random_state=0, divergence=divergence, max_iter=50).partial_fit(X * first).partial_fit(X[::-1] * second)
    alone = OPNMF(2, random_state=0, divergence=divergence, max_iter=50).partial_fit(X * max(first, second))
    assert np.isfinite(model.components_).all()
    error, least = (naive_objective(X, one.components_.T, divergence) for one in (model, alone))
    assert error <= 1.05 * least


class TestNMF:
    """W H: batches are encoded, and H takes a step along averaged sides."""

    @pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", "itakura-saito"])
    def test_a_single_pass_is_nearly_as_good_as_all_at_once(self, divergence):
        X = parts(600, 24, 4, noise=0.3)
        whole = NMF(4, divergence=divergence, random_state=0).fit(X)
        stream = streamed(NMF(4, divergence=divergence, random_state=0), X, n_batches=12)
        assert stream.score(X) >= 1.12 * whole.score(X)  # negative; 12 steps for H
        first = NMF(4, divergence=divergence, random_state=0).fit(X[:50])
        assert stream.score(X) > first.score(X)

    def test_attributes_are_of_the_last_batch(self):
        X = parts(300, 24, 4, noise=0.3)
        stream = streamed(NMF(4, divergence="kl", random_state=0), X)
        assert stream.factors_["W"].shape == (50, 4)
        assert stream.row_labels_.shape == (50,)
        assert stream.n_iter_ == NMF(4, divergence="kl", random_state=0).fit(X[:50]).n_iter_ + 5
        np.testing.assert_allclose(np.linalg.norm(stream.components_, axis=1), 1)
        np.testing.assert_allclose(stream.reconstruction_err_, np.sqrt(2 * stream.objective_), rtol=1e-6)

    @pytest.mark.parametrize("store", [sparse.csr_array, np.float32], ids=["sparse", "float32"])
    def test_storages(self, store):
        X = np.round(parts(300, 24, 4, noise=0.3))
        dense, other = (streamed(NMF(4, divergence="kl", random_state=0), X, store=one) for one in (np.asarray, store))
        np.testing.assert_allclose(other.components_, dense.components_, atol=1e-3)
        assert other.components_.dtype == (np.float32 if store is np.float32 else np.float64)

    def test_a_fit_goes_on_and_weighs_as_much_as_its_samples(self):
        X = parts(400, 24, 4, noise=0.3)
        model = NMF(4, divergence="kl", random_state=0).fit(X[:350])
        before = model.components_
        model.partial_fit(X[350:])
        assert 0 < np.abs(model.components_ - before).max() < 0.05
        assert model._stream.n_samples == 400

    def test_known_components_stay(self):
        known = np.repeat([[1.0, 0]], 12, axis=1)
        model = streamed(NMF(3, fixed_components=known / np.linalg.norm(known), random_state=0), parts(300, 24, 4, noise=0.3))
        np.testing.assert_allclose(model.components_[0], known[0] / np.linalg.norm(known))

    def test_a_stream_goes_on_from_a_file(self, tmp_path):
        X = parts(300, 24, 4, noise=0.3)
        model = NMF(4, divergence="kl", random_state=0).partial_fit(X[:150])
        model.save(tmp_path / "model.nonneg")
        read = load(tmp_path / "model.nonneg").partial_fit(X[150:])
        np.testing.assert_array_equal(read.components_, model.partial_fit(X[150:]).components_)

    def test_data_of_extreme_scale(self):
        X = parts(300, 24, 4, noise=0.3)
        plain, huge = streamed(NMF(4, random_state=0), X), streamed(NMF(4, random_state=0), X * 2.0**600)
        np.testing.assert_allclose(huge.components_, plain.components_, rtol=1e-6)

    def test_mistakes(self):
        X = parts(300, 24, 4, noise=0.3)
        model = NMF(4, random_state=0).partial_fit(X)
        with pytest.raises(ShapeError, match="a stream keeps their number"):
            model.set_params(n_components=5).partial_fit(X)
        assert not hasattr(ConsensusNMF(4), "partial_fit")
