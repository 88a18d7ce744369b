"""Codes of samples, and scikit-learn's tools around them: beyond its own checks."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from nonneg.divergences import Gamma
from nonneg.estimators import NMF, Factorization

from .cases import (
    ITERATIVE,
    MAKERS,
    ORTHOGONAL,
    PAIRWISE,
    PROJECTIVE,
    count,
    data_of,
    given_start,
    half_squares,
    parts,
    unconverged,
)

pytestmark = pytest.mark.wide(one_in=8)


RECONSTRUCT = [name for name in MAKERS if name not in ("KernelPNMF", "ProjectiveClustering")]
ENCODED = ["NMF", "ONMF", "NMTF", "ONMTF", "FONT", "FONT-ALS", "Factorization", "SymmetricNMF", "BiQNMF", "BiORNM3F"]
"""Those whose codes are the best there are for the components, by least squares."""


def i_divergence(X, Y):
    return np.sum(X * np.log(X / Y) - X + Y)


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
    better = clone(estimator).set_params(**count(name, 6), max_iter=1000).fit(X)
    assert better.score(X) > estimator.score(X) - 1e-4 * np.mean(np.square(data))  # three are enough for some, but for noise


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


@unconverged
@pytest.mark.parametrize("store", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("name", MAKERS)
def test_sparse_is_dense(name, store, X):
    """The start is given, since one that is computed from sparse data may be rounded, and so signed, otherwise."""
    X = X * (X > 0.1)
    estimator = MAKERS[name](init=given_start(name, 20, 12, 3), max_iter=20) if name in ITERATIVE else MAKERS[name]()
    if name in ("NMF", "NMTF", "Factorization"):
        estimator.set_params(solver="adaptive")  # coordinate descent goes over rows as often as the products, if sparse, let it
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
    estimator = MAKERS[name](**count(name, 8), max_iter=30)
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


@unconverged
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize(
    "estimator", [NMF(3), NMF(3, divergence="kullback-leibler"), NMF(3, solver="paper"), Factorization("W H", 3)], ids=repr
)
def test_components_have_length_one(estimator, scale):
    """W and H are known up to the scale of each component, which is not to be as the initialization has it."""
    generator = np.random.default_rng(0)
    X = scale * generator.random((30, 3)) @ generator.random((3, 8))
    model = clone(estimator).set_params(random_state=0).fit(X)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    np.testing.assert_array_equal(model.components_, model.factors_["H"])
    np.testing.assert_allclose(model.factors_["W"] @ model.components_ / scale, X / scale, atol=0.2)
    np.testing.assert_allclose(model.transform(X) / scale, model.factors_["W"] / scale, atol=0.2)


@unconverged
def test_components_that_were_given_and_never_moved_are_as_they_were():
    generator = np.random.default_rng(0)
    X, W, H = generator.random((9, 6)) + 0.1, generator.random((9, 2)) + 0.1, generator.random((2, 6)) + 0.1
    model = NMF(2, init={"W": W, "H": H}, max_iter=0, tol=0).fit(X)
    np.testing.assert_array_equal(model.components_, H)
    given = NMF(2, fixed_components=H[:1], random_state=0).fit(X)
    np.testing.assert_array_equal(given.components_[0], H[0])


@unconverged
def test_codes_serve_a_classifier():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(NMF(16, random_state=0), LogisticRegression(max_iter=300))
    assert pipeline.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.75


@unconverged
def test_going_on_is_not_changed_by_the_scale():
    X = np.random.default_rng(0).random((20, 8))
    whole = NMF(3, solver="multiplicative", init="random", max_iter=40, tol=0, random_state=0).fit(X)
    model = NMF(3, solver="multiplicative", init="random", max_iter=20, tol=0, random_state=0, warm_start=True).fit(X)
    np.testing.assert_allclose(model.fit(X).components_, whole.components_, rtol=1e-8)
