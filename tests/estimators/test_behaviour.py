"""What scikit-learn's checks do not ask: codes, starts, orthogonality, and learning from a stream."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.estimators import NMF, ONMF, OPNMF, PNMF, KernelPNMF, Orthogonality, ProjectiveClustering
from nonneg.metrics import orthogonality, orthogonality_error

from .cases import ITERATIVE, MAKERS, ORTHOGONAL, PAIRWISE, PROJECTIVE, WITH_ARRAY_INIT, array_start, given_start, parts

RECONSTRUCT = [name for name in MAKERS if name not in ("KernelPNMF", "ProjectiveClustering")]
ENCODED = ["NMF", "ONMF", "NMTF", "ONMTF", "FONT", "FONT-ALS", "Factorization", "SymmetricNMF"]
"""Those whose codes are the best there are for the components, by least squares."""
STARTS = ["auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular"]

unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def half_squares(A):
    return 0.5 * np.sum(A**2)


def i_divergence(X, Y):
    return np.sum(X * np.log(X / Y) - X + Y)


def data_of(estimator, X):
    """What is approximated."""
    return X @ X.T if type(estimator).__name__ in PAIRWISE else X


# ---- codes


@unconverged
@pytest.mark.parametrize("name", MAKERS)
def test_fit_transform_is_fit_and_transform(name, X):
    params = {"max_iter": 50} if name in ITERATIVE else {}
    together, apart = MAKERS[name](**params).fit_transform(X), MAKERS[name](**params).fit(X).transform(X)
    if name in PROJECTIVE:
        np.testing.assert_array_equal(together, apart)
    np.testing.assert_allclose(together, apart, rtol=1e-10, atol=1e-12)


@unconverged
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", Gamma(0.5)], ids=str)
@pytest.mark.parametrize("name", ["NMF", "NMTF", "PNMF", "ProjectiveClustering"])
def test_codes_do_not_depend_on_other_samples(name, divergence, X):
    """A code has converged to 1e-7 of its size; a sum of products may be rounded otherwise when there are fewer of them."""
    estimator = MAKERS[name](divergence=divergence, max_iter=300).fit(X)
    whole = estimator.transform(X)
    for rows in (slice(3), slice(5, 6), [1, 7, 2]):
        np.testing.assert_allclose(estimator.transform(X[rows]), whole[rows], rtol=1e-5, atol=1e-7 * whole.max())


@pytest.mark.parametrize("name", ENCODED)
def test_codes_are_those_of_non_negative_least_squares(name, X):
    estimator = MAKERS[name]().fit(X)
    data = data_of(estimator, X)
    codes, residuals = zip(*(nnls(estimator.components_.T, row) for row in data), strict=True)
    np.testing.assert_allclose(estimator.transform(X) @ estimator.components_, codes @ estimator.components_, rtol=1e-4, atol=1e-5)
    assert estimator.score(X) == pytest.approx(-0.5 * np.mean(np.square(residuals)), rel=1e-5)


def test_score_of_clusters_is_that_of_the_best_codes(X):
    estimator = MAKERS["ProjectiveClustering"]().fit(X)
    residuals = [nnls(estimator.components_.T, row)[1] for row in X]
    assert estimator.score(X) == pytest.approx(-0.5 * np.mean(np.square(residuals)), rel=1e-5)


def test_sparse_codes_satisfy_the_conditions_of_an_optimum(X):
    """∇ = (W H − X) Hᵀ + α is zero where a code is positive, and not negative where it is zero."""
    estimator = MAKERS["NonnegativeSparseCoding"](alpha=0.5).fit(X)
    codes, H = estimator.transform(X), estimator.components_
    gradient = (codes @ H - X) @ H.T + 0.5
    size = (X @ H.T).max()
    assert gradient.min() > -1e-5 * size
    assert np.abs(gradient * codes).max() < 1e-5 * size * codes.max()
    assert (codes == 0).any()
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1)


@unconverged
@pytest.mark.parametrize("name", RECONSTRUCT)
def test_inverse_transform_and_score(name, X):
    params = {"max_iter": 100} if name in ITERATIVE else {}
    estimator = MAKERS[name](**params).fit(X)
    data, codes = data_of(estimator, X), estimator.transform(X)
    approximation = estimator.inverse_transform(codes)
    assert approximation.shape == data.shape
    np.testing.assert_allclose(estimator.inverse_transform(sparse.csr_array(codes)), approximation)
    if name == "TruncatedNonnegativeSVD":
        np.testing.assert_allclose(approximation, np.maximum(codes @ estimator.components_, 0))
        return
    np.testing.assert_allclose(approximation, codes @ estimator.components_)
    assert estimator.score(X) == pytest.approx(-half_squares(data - approximation) / len(X), rel=1e-7)
    assert estimator.score(X) <= 0
    better = clone(estimator).set_params(n_components=6, max_iter=1000).fit(X)
    assert better.score(X) > estimator.score(X)


@unconverged
@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF", "NMTF"])
def test_score_of_another_divergence(name, X):
    estimator = MAKERS[name](divergence="kullback-leibler", max_iter=200).fit(X)
    approximation = estimator.inverse_transform(estimator.transform(X))
    assert estimator.score(X) == pytest.approx(-i_divergence(X, approximation) / len(X), rel=1e-6)


@pytest.mark.parametrize("name", PROJECTIVE)
def test_projective_codes_are_products(name, X):
    estimator = MAKERS[name]().fit(X)
    new = parts(7, 12, 3, seed=9)
    np.testing.assert_allclose(estimator.transform(new), new @ estimator.factors_["W"], rtol=1e-12)
    np.testing.assert_array_equal(estimator.components_, estimator.factors_["W"].T)
    assert estimator.objective_ == pytest.approx(half_squares(X - X @ estimator.factors_["W"] @ estimator.components_), rel=1e-6)
    assert estimator.reconstruction_err_ == pytest.approx(np.sqrt(2 * estimator.objective_))


# ---- containers, types and scikit-learn's tools


@unconverged
@pytest.mark.parametrize("store", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("name", MAKERS)
def test_sparse_is_dense(name, store, X):
    """The start is given, since one that is computed from sparse data may be rounded, and so signed, otherwise."""
    X = X * (X > 0.1)
    estimator = MAKERS[name](init=given_start(name, 20, 12, 3), max_iter=20) if name in ITERATIVE else MAKERS[name]()
    from_dense, from_sparse = clone(estimator).fit(X), clone(estimator).fit(store(X))
    for factor, value in getattr(from_dense, "factors_", {}).items():
        np.testing.assert_allclose(from_sparse.factors_[factor], value, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.abs(from_sparse.transform(store(X))), np.abs(from_dense.transform(X)), rtol=1e-5, atol=1e-8)


@unconverged
@pytest.mark.parametrize("name", MAKERS)
def test_float32_stays_float32(name, X):
    estimator = MAKERS[name](**({"max_iter": 30} if name in ITERATIVE else {})).fit(X.astype(np.float32))
    assert {factor.dtype for factor in getattr(estimator, "factors_", {}).values()} <= {np.dtype(np.float32)}
    assert estimator.components_.dtype == np.float32
    codes = estimator.transform(X.astype(np.float32))
    assert codes.dtype == np.float32
    if name in RECONSTRUCT:
        assert estimator.inverse_transform(codes).dtype == np.float32


@unconverged
@pytest.mark.parametrize("orthogonality_", ["rows", "polar"])
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_hardened_float32_stays_float32(name, orthogonality_, X):
    estimator = MAKERS[name](max_iter=30, orthogonality=orthogonality_).fit(X.astype(np.float32))
    assert {factor.dtype for factor in estimator.factors_.values()} == {np.dtype(np.float32)}


@unconverged
@pytest.mark.parametrize("name", MAKERS)
def test_names_of_features(name, X):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(12)], index=[f"patient {i}" for i in range(20)])
    estimator = MAKERS[name](**({"max_iter": 10} if name in ITERATIVE else {})).set_output(transform="pandas")
    codes = estimator.fit_transform(table)
    assert estimator.feature_names_in_.tolist() == table.columns.tolist()
    prefix = type(estimator).__name__.lower()
    assert codes.columns.tolist() == estimator.get_feature_names_out().tolist() == [f"{prefix}{k}" for k in range(codes.shape[1])]
    assert codes.index.tolist() == table.index.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.transform(table.rename(columns={"gene 0": "another"}))


@unconverged
@pytest.mark.parametrize("method", ["score", "predict"])
@pytest.mark.parametrize("name", MAKERS)
def test_tables_are_for_transform_alone(name, method, X):
    pytest.importorskip("pandas")
    plain = MAKERS[name](**({"max_iter": 10} if name in ITERATIVE else {})).fit(X)
    if hasattr(plain, method):
        table = clone(plain).set_output(transform="pandas").fit(X)
        np.testing.assert_allclose(getattr(table, method)(X), getattr(plain, method)(X), rtol=1e-9)


@unconverged
@pytest.mark.parametrize("name", MAKERS)
def test_pickle_and_clone(name, X):
    estimator = MAKERS[name](**({"max_iter": 10} if name in ITERATIVE else {})).fit(X)
    loaded = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_allclose(loaded.transform(X), estimator.transform(X), rtol=1e-10)  # copied, and so aligned otherwise
    assert repr(clone(estimator)) == repr(estimator) == repr(loaded)
    assert not hasattr(clone(estimator), "components_")
    np.testing.assert_array_equal(clone(estimator).fit(X).components_, estimator.components_)


@unconverged
@pytest.mark.parametrize("name", [name for name in ITERATIVE if name not in PAIRWISE])
def test_pipeline(name):
    X, labels = load_digits(return_X_y=True)
    X, labels = X[:120], labels[:120]
    count = "n_clusters" if name == "ProjectiveClustering" else "n_components"
    estimator = MAKERS[name](**{count: 8}, max_iter=30)
    pipeline = make_pipeline(MinMaxScaler(clip=True), estimator, KNeighborsClassifier(1)).fit(X[:80], labels[:80])
    assert pipeline.score(X[:80], labels[:80]) > 0.95  # each its own neighbour: codes of fit and of transform are the same
    assert pipeline.score(X[80:], labels[80:]) > 0.3  # a guess is 0.1


@unconverged
@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF"])
def test_grid_search(name, X):
    """More components leave less error, on other samples too, up to as many as there are parts."""
    search = GridSearchCV(MAKERS[name](max_iter=300), {"n_components": [1, 2, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 3}
    assert np.all(np.diff(search.cv_results_["mean_test_score"]) > 0)


# ---- starts


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_seeds(name, X):
    def components(seed):
        return MAKERS[name](init="random", max_iter=3, random_state=seed).fit(X).components_

    np.testing.assert_array_equal(components(0), components(0))
    assert not np.allclose(components(0), components(1))
    np.testing.assert_array_equal(components(np.random.default_rng(7)), components(np.random.default_rng(7)))
    np.testing.assert_array_equal(components(np.random.RandomState(7)), components(np.random.RandomState(7)))


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_the_best_of_several_starts(name, X):
    params = {"init": "random", "max_iter": 5}
    one, many = MAKERS[name](**params).fit(X), MAKERS[name](n_init=4, **params).fit(X)
    assert many.objectives_.shape == (4,)
    assert many.objective_ == many.objectives_.min()
    assert many.objectives_[0] == one.objective_
    assert len(set(many.objectives_)) == 4
    side_by_side = MAKERS[name](n_init=4, n_jobs=2, **params).fit(X)
    np.testing.assert_allclose(side_by_side.objectives_, many.objectives_, rtol=1e-9)
    np.testing.assert_allclose(side_by_side.components_, many.components_, rtol=1e-7)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", ITERATIVE)
def test_every_start(name, start, X):
    """From wherever, a fit explains most of the data, except what clusters of samples cannot: mixtures."""
    estimator = MAKERS[name](init=start).fit(X)
    data = data_of(estimator, X)
    whole = np.trace(data) / 2 if name == "KernelPNMF" else half_squares(data)
    assert estimator.objective_ < 0.25 * whole
    assert all(np.isfinite(factor).all() for factor in estimator.factors_.values())


@pytest.mark.parametrize("name", WITH_ARRAY_INIT)
def test_an_array_is_where_a_factor_starts(name, X):
    start = given_start(name, 20, 12, 3)
    estimator = MAKERS[name](init=array_start(name, start), max_iter=0, tol=0).fit(X)
    factor = WITH_ARRAY_INIT[name].removesuffix(".T")
    expected = start[factor]
    if name == "NonnegativeSparseCoding":
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(estimator.factors_[factor], expected, rtol=1e-12)


@pytest.mark.parametrize("which", [[0], [0, 1], [0, 1, 2, 3]], ids=["an entry", "two", "a part"])
@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF"])
def test_zeros_in_a_start_come_back(name, which, X):
    """The first part is four features; a start that lacks some of them ends where one that has them does."""
    complete = np.kron(np.eye(3), np.ones(4)) + 0.1
    lacking = complete.copy()
    lacking[0, which] = 0
    factor = WITH_ARRAY_INIT[name].removesuffix(".T")

    def fitted(components):
        start = given_start(name, 20, 12, 3) | {factor: components if factor == "H" else components.T}
        return MAKERS[name](init=start).fit(X)

    plain, back = fitted(complete), fitted(lacking)
    # Both are fits to a relative error of two in a thousand, which is where `tol` lets them stop.
    assert back.objective_ < 1.1 * plain.objective_
    assert back.components_[:, which].max(axis=0) == pytest.approx(plain.components_[:, which].max(axis=0), rel=0.5)


@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF"])
def test_zeros_of_nndsvd_come_back(name, X):
    from_zeros = MAKERS[name](init="nndsvd").fit(X)
    assert from_zeros.objective_ < 1.05 * MAKERS[name](init="random", n_init=3).fit(X).objective_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["OPNMF", "ONMF", "ONMTF"])
def test_the_default_is_no_worse_than_the_printed_rule(name, seed):
    """From the same start, and not at the price of orthogonality: worse in both respects is no optimum of anything."""
    X = np.random.default_rng(seed).random((12, 8)) + 0.05
    start = given_start(name, 12, 8, 2)
    default, printed = (MAKERS[name](n_components=2, init=start, solver=solver).fit(X) for solver in ("auto", "paper"))
    worse = default.objective_ > 1.01 * printed.objective_
    less = all(default.orthogonality_[f].rho < printed.orthogonality_[f].rho - 0.01 for f in default.orthogonality_)
    assert not (worse and less)


# ---- going on


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_warm_start_goes_on(name, X):
    estimator = MAKERS[name](max_iter=10, warm_start=True, tol=1e-9).fit(X)
    first = estimator.objective_
    estimator.fit(X)
    assert estimator.history_.objective[0] == pytest.approx(first, rel=1e-9)
    assert estimator.objective_ < first
    cold = clone(estimator).set_params(warm_start=False).fit(X)
    assert cold.objective_ == pytest.approx(first, rel=1e-9)


@unconverged
@pytest.mark.parametrize("name", [name for name in ITERATIVE if name not in PAIRWISE])
def test_warm_start_with_other_samples(name, X):
    """What does not depend on the number of samples is kept; what does starts anew."""
    estimator = MAKERS[name](max_iter=10, warm_start=True, tol=1e-9).fit(X)
    kept = {factor: value for factor, value in estimator.factors_.items() if 20 not in value.shape}
    estimator.set_params(max_iter=0).fit(X[:9])
    for factor, value in kept.items():
        np.testing.assert_allclose(estimator.factors_[factor], value, rtol=1e-9, atol=1e-2 * value.mean())  # but for zeros
    assert estimator.transform(X).shape == (20, 3)


@unconverged
@pytest.mark.parametrize("name", ["NMF", "PNMF"])
@pytest.mark.parametrize("change", ["n_components", "features"])
def test_warm_start_starts_anew_where_sizes_differ(name, change, X):
    estimator = MAKERS[name](max_iter=10, warm_start=True).fit(X)
    estimator.set_params(n_components=2) if change == "n_components" else None
    data = X if change == "n_components" else X[:, :8]
    expected = MAKERS[name](max_iter=10, n_components=estimator.n_components).fit(data)
    np.testing.assert_allclose(estimator.fit(data).components_, expected.components_)


@pytest.mark.parametrize("name", ITERATIVE)
def test_progress_is_printed_if_asked_for(name, X, capsys):
    MAKERS[name](tol=0, max_iter=2).fit(X)
    assert capsys.readouterr().out == ""
    MAKERS[name](tol=0, max_iter=2, verbose=1, n_init=2, init="random").fit(X)
    printed = capsys.readouterr().out
    assert "start 1 of 2" in printed
    assert "start 2 of 2" in printed
    assert "objective" in printed


@pytest.mark.parametrize("name", ITERATIVE)
def test_convergence_warning(name, X):
    estimator = MAKERS[name](max_iter=2)
    with pytest.warns(ConvergenceWarning, match=f"{type(estimator).__name__}: Stopped at max_iter"):
        estimator.fit(X)
    assert estimator.status_ == "max_iter"
    assert estimator.set_params(tol=0).fit(X).n_iter_ == 2  # and no warning, which would be an error here


# ---- orthogonality


def largest_of_rows(W):
    kept = np.zeros_like(W)
    rows = np.arange(len(W))
    kept[rows, W.argmax(axis=1)] = W[rows, W.argmax(axis=1)]
    return kept / np.linalg.norm(kept, axis=0)


def closest_orthogonal(W):
    values, vectors = np.linalg.eigh(W.T @ W)
    return np.maximum(W @ vectors @ np.diag(values**-0.5) @ vectors.T, 0)


PROCESSES = {"rows": largest_of_rows, "polar": closest_orthogonal}
AXES = {"OPNMF": {"W": 0}, "ONMF": {"H": 1}, **{name: {"W": 0, "H": 1} for name in ("ONMTF", "FONT", "FONT-ALS")}}
"""The orthogonal factors, and whether their columns (0) or rows (1) are."""


@pytest.mark.parametrize("how", ["soft", "rows", "polar"])
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_orthogonality_is_measured(name, how, X):
    estimator = MAKERS[name](orthogonality=how).fit(X)
    assert set(estimator.orthogonality_) == set(AXES[name])
    for factor, axis in AXES[name].items():
        W = estimator.factors_[factor] if axis == 0 else estimator.factors_[factor].T
        assert estimator.orthogonality_[factor] == Orthogonality(orthogonality(W), orthogonality_error(W))


@pytest.mark.parametrize("name", ORTHOGONAL)
def test_orthogonal_rows_do_not_overlap(name, X):
    estimator = MAKERS[name](orthogonality="rows").fit(X)
    for factor, axis in AXES[name].items():
        W = estimator.factors_[factor] if axis == 0 else estimator.factors_[factor].T
        assert np.all(np.count_nonzero(W, axis=1) == 1)
        np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1, rtol=1e-12)
        assert estimator.orthogonality_[factor] == pytest.approx((1, 0), abs=1e-12)


@pytest.mark.parametrize("how", PROCESSES)
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_hardening_is_that_of_the_paper_and_the_rest_is_fitted_again(name, how, X):
    """ONL §2.4. Where there is no other factor, "polar" leaves the scale to be fitted: PNMF Eq. 21."""
    soft, hard = (MAKERS[name](orthogonality=orthogonality).fit(X) for orthogonality in ("soft", how))
    factors = dict(soft.factors_)
    for factor, axis in AXES[name].items():
        W = factors[factor] if axis == 0 else factors[factor].T
        W = PROCESSES[how](W)
        if name == "OPNMF" and how == "polar":
            W = W * np.sqrt(np.trace(W.T @ X.T @ X @ W) / np.trace(W.T @ W @ W.T @ X.T @ X @ W))
        factors[factor] = W if axis == 0 else W.T
        np.testing.assert_allclose(hard.factors_[factor], factors[factor], rtol=1e-6, atol=1e-9)
    if name == "OPNMF":
        assert hard.objective_ == pytest.approx(half_squares(X - X @ factors["W"] @ factors["W"].T), rel=1e-6)
    else:
        before, after = (f["W"] @ f.get("S", np.eye(3)) @ f["H"] for f in (factors, hard.factors_))
        assert half_squares(X - after) <= half_squares(X - before) * (1 + 1e-9)
        assert hard.reconstruction_err_ == pytest.approx(np.linalg.norm(X - after), rel=1e-5)


def test_components_that_vanish_are_warned_of():
    """Three components for one part: two of them are nowhere the largest."""
    X = np.outer(np.arange(1, 9), np.ones(6))
    start = {"W": np.array([1.0, 0.6, 0.3]) * np.ones((6, 3))}
    with pytest.warns(UserWarning, match="orthogonality='rows' leaves 2 of the 3 components of W empty"):
        OPNMF(3, init=start, orthogonality="rows", max_iter=1, tol=0).fit(X)


# ---- fixed components


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize("cls", [NMF, PNMF, OPNMF])
def test_fixed_components_stay(cls, divergence, X, rng):
    fixed = rng.uniform(0, 0.3, (2, 12))
    estimator = cls(4, divergence=divergence, fixed_components=fixed, init="random", random_state=0).fit(X)
    np.testing.assert_array_equal(estimator.components_[:2], fixed)
    assert estimator.components_.shape == (4, 12)
    steps = np.diff(estimator.history_.objective)
    if cls is not OPNMF:
        assert steps.max() <= 1e-10 * estimator.history_.objective[0]
    assert estimator.objective_ < 0.9 * estimator.history_.objective[0]


@pytest.mark.parametrize("name", ["NMF", "PNMF"])
def test_components_fixed_at_the_solution_change_nothing(name, X):
    free = MAKERS[name]().fit(X)
    again = MAKERS[name](fixed_components=free.components_[:2]).fit(X)
    assert again.objective_ < 1.05 * free.objective_


# ---- divergences


@pytest.mark.parametrize(
    "divergence",
    [Alpha(0.5), Alpha(2), Alpha(-1), Beta(0), Beta(0.5), Beta(1), Beta(2), Beta(3), Gamma(0.5), Renyi(2), DualI()],
    ids=str,
)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
@unconverged
def test_every_divergence_falls(cls, divergence, X):
    estimator = cls(3, divergence=divergence, init="random", random_state=0, max_iter=200).fit(X)
    objective = estimator.history_.objective
    assert np.isfinite(objective).all()
    assert objective[-1] < 0.5 * objective[0]
    if cls is PNMF:
        assert np.diff(objective).max() <= 1e-10 * objective[0]
    assert all(np.isfinite(factor).all() for factor in estimator.factors_.values())
    assert np.isfinite(estimator.score(X))
    assert estimator.score(X) <= 1e-12


# ---- a stream

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


@pytest.mark.parametrize("params", [{}, {"solver": "paper", "init": "kmeans"}, {"divergence": "kullback-leibler"}], ids=str)
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
def test_an_averaged_rule_approaches_what_all_at_once_gives(cls, params, bound):
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


# ---- clusters and kernels


def test_clusters_are_what_the_factor_says(X):
    estimator = ProjectiveClustering(3, random_state=0).fit(X)
    W = estimator.factors_["W"]
    np.testing.assert_array_equal(estimator.labels_, W.argmax(axis=1))
    np.testing.assert_allclose(estimator.memberships_, W / W.sum(axis=1, keepdims=True))
    centres = [np.average(X, axis=0, weights=W[:, k]) for k in range(3)]
    np.testing.assert_allclose(estimator.cluster_centers_, centres)
    np.testing.assert_allclose(estimator.components_, W.T @ X)
    np.testing.assert_array_equal(estimator.predict(X), estimator.transform(X).argmax(axis=1))
    np.testing.assert_allclose(estimator.transform(X).sum(axis=1), 1)
    np.testing.assert_array_equal(clone(estimator).fit_predict(X), estimator.labels_)


@pytest.mark.parametrize(("data", "least"), [("separate", 1.0), ("parts", 0.95), ("digits", 0.9)])
def test_how_often_predict_agrees_with_the_labels(data, least):
    """Measured: 1, 0.99 and 0.96."""
    rng = np.random.default_rng(0)
    X, k = {
        "separate": lambda: (np.kron(np.eye(3), np.ones((10, 4))) + 0.1 * rng.random((30, 12)), 3),
        "parts": lambda: (parts(200, 24, 4, noise=0.3), 4),
        "digits": lambda: (load_digits().data[:500], 10),
    }[data]()
    estimator = ProjectiveClustering(k, random_state=0).fit(X)
    assert np.mean(estimator.predict(X) == estimator.labels_) >= least


def kernel_objective(K, W):
    rest = np.eye(len(K)) - W @ W.T
    return 0.5 * np.trace(rest @ K @ rest)


def exponential(x, y, rate=1.0):
    return np.exp(-rate * np.abs(x - y).sum())


@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        ("linear", {}),
        ("poly", {"degree": 2}),
        ("polynomial", {"degree": 2, "gamma": 0.5, "coef0": 2}),
        ("rbf", {}),
        ("rbf", {"gamma": 0.3}),
        ("laplacian", {"gamma": 0.2}),
        ("cosine", {}),
        ("chi2", {"gamma": 0.5}),
        ("sigmoid", {"gamma": 0.01}),
    ],
)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_kernels(kernel, params, store, X):
    store = np.asarray if kernel == "chi2" else store  # scikit-learn's is for dense samples
    model = KernelPNMF(3, kernel=kernel, random_state=0, **params).fit(store(X))
    used = {
        name: value
        for name, value in {"coef0": 1, **params}.items()
        if name != "coef0" or kernel in ("poly", "polynomial", "sigmoid")
    }
    K, new = pairwise_kernels(X, metric=kernel, **used), pairwise_kernels(X[:5] + 0.1, X, metric=kernel, **used)
    assert model.objective_ == pytest.approx(kernel_objective(K, model.factors_["W"]), rel=1e-6, abs=1e-9 * np.trace(K))
    assert model.objective_ < 0.6 * np.trace(K)
    np.testing.assert_allclose(model.transform(store(X[:5] + 0.1)), new @ model.factors_["W"], rtol=1e-7)
    precomputed = KernelPNMF(3, kernel="precomputed", random_state=0, init=model.components_, max_iter=0, tol=0).fit(K)
    np.testing.assert_allclose(precomputed.transform(new), new @ model.factors_["W"], rtol=1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "poly", "cosine", "linear"])
def test_kernels_by_name_alone(kernel, X):
    """Every parameter has scikit-learn's default."""
    model = KernelPNMF(3, kernel=kernel, random_state=0, max_iter=5, tol=0).fit(X)
    np.testing.assert_allclose(model.transform(X), pairwise_kernels(X, metric=kernel) @ model.factors_["W"], rtol=1e-7)


def test_a_kernel_may_be_a_function(X):
    model = KernelPNMF(3, kernel=exponential, kernel_params={"rate": 0.2}, random_state=0).fit(X)
    K = pairwise_kernels(X, metric="laplacian", gamma=0.2)
    assert model.objective_ == pytest.approx(kernel_objective(K, model.factors_["W"]), rel=1e-6)
    np.testing.assert_allclose(model.transform(X[:4]), K[:4] @ model.factors_["W"], rtol=1e-7)


@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
def test_a_linear_kernel_is_clustering(solver, X):
    """W WᵀX with K = X Xᵀ: the same W from the same start, to what rounding does in a hundred iterations."""
    start = {"W": given_start("ProjectiveClustering", 20, 12, 3)["W"]}
    params = {"init": start, "solver": solver, "max_iter": 100, "tol": 0}
    clusters, by_kernel = ProjectiveClustering(3, **params).fit(X), KernelPNMF(3, kernel="precomputed", **params).fit(X @ X.T)
    np.testing.assert_allclose(by_kernel.factors_["W"], clusters.factors_["W"], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(by_kernel.labels_, clusters.labels_)
    np.testing.assert_allclose(by_kernel.memberships_, clusters.memberships_, rtol=1e-6, atol=1e-9)
    assert by_kernel.objective_ == pytest.approx(clusters.objective_, rel=1e-9)


@pytest.mark.parametrize("name", PAIRWISE)
def test_items_of_a_graph_are_grouped(name):
    K = np.kron(np.eye(3), np.ones((5, 5))) + 0.1 + np.eye(15)
    estimator = MAKERS[name](**{"kernel" if name == "KernelPNMF" else "affinity": "precomputed"}).fit(K)
    assert adjusted_rand_score(estimator.labels_, np.repeat(range(3), 5)) == 1
    np.testing.assert_array_equal(estimator.fit_predict(K), estimator.labels_)
    np.testing.assert_allclose(estimator.memberships_.sum(axis=1), 1)
    np.testing.assert_array_equal(estimator.components_, estimator.factors_["W"].T)
    assert estimator.transform(K[:4]).shape == (4, 3)


def test_fewer_components_than_asked_for_is_never_the_answer(X):
    for name in ("PNMF", "OPNMF", "ONMF"):
        assert (MAKERS[name]().fit(X).components_.max(axis=1) > 1e-3).all(), name


def test_onmf_error_is_below_that_of_opnmf(X):
    """Codes are free in the one and projections in the other."""
    assert ONMF(3, random_state=0).fit(X).objective_ <= OPNMF(3, random_state=0).fit(X).objective_ * (1 + 1e-2)


def test_of_several_starts_the_one_that_is_best_early_is_gone_on_from(X):
    """The default of PNMF takes short runs from several starts first: no worse at its first check than any of them alone at theirs."""
    several = PNMF(3, random_state=0).fit(X)
    alone = [PNMF(3, init=init, random_state=0).fit(X).history_.objective[0] for init in ("angular", "kmeans", "random")]
    assert several.history_.objective[0] < min(alone)
