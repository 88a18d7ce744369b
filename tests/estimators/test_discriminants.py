"""Non-negative discriminants: the papers' equations written out, the best of other optimizers, and refusals."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nonneg import NonnegativeKernelFDA, NonnegativeLDA
from nonneg.estimators.discriminant import base, fisher, ridges
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.kernels import memory

pytestmark = pytest.mark.wide(one_in=8)


ESTIMATORS = [
    NonnegativeLDA(),
    NonnegativeLDA(2),
    NonnegativeLDA(flip=False),
    NonnegativeLDA(solver="multiplicative"),
    NonnegativeLDA(rule="oja"),
    NonnegativeKernelFDA(),
    NonnegativeKernelFDA(kernel="rbf"),
    NonnegativeKernelFDA(kernel="precomputed"),
    NonnegativeKernelFDA(kernel="rbf", rule="oja"),
]


def expected_failures(estimator):
    if isinstance(estimator, NonnegativeKernelFDA) and estimator.rule == "oja":
        reason = "the paper's rule gives the leading eigenvector of KUK, which does not discriminate"
        return {"check_classifiers_train": reason}
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The means say nothing")
@pytest.mark.filterwarnings("ignore:.* all that tells")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def scatters(X, y):
    """S_B and S_W as NNP Eq. 47 and 48 print them."""
    n, mean = len(X), X.mean(axis=0)
    S_B, S_W = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for c in np.unique(y):
        own = X[y == c]
        S_B += len(own) / n * np.outer(own.mean(axis=0) - mean, own.mean(axis=0) - mean)
        S_W += (own - own.mean(axis=0)).T @ (own - own.mean(axis=0)) / n
    return S_B, S_W


def flipped(X, y):
    """NNP Eq. 57, with the largest value as the bound."""
    larger = np.median(X[y == y.max()], axis=0) > np.median(X[y != y.max()], axis=0)
    return np.where(larger, X.max(axis=0) - X, X)


def best_by_lbfgsb(S_B, S_W, starts):
    """The largest ratio that a bound-constrained optimizer finds, in units in which S_W has ones on its diagonal."""
    units = np.sqrt(np.where(np.diag(S_W) > 0, np.diag(S_W), 1.0))
    S_B, S_W = S_B / np.outer(units, units), S_W / np.outer(units, units)

    def negative_log(w):
        above, below = w @ S_B @ w, w @ S_W @ w
        return np.log(below) - np.log(above), 2 * S_W @ w / below - 2 * S_B @ w / above

    options = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10}
    bounds = [(0, None)] * len(S_B)
    return max(np.exp(-minimize(negative_log, w, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun) for w in starts)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, y


def threes_and_eights():
    X, y = load_digits(return_X_y=True)
    return X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]


def blobs(n=60, m=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    mixing = rng.normal(size=(m, m)) + 2 * np.eye(m)
    return (rng.normal(size=(n, m)) + 1.5 * rng.normal(size=(classes, m))[y]) @ mixing + 100, y


# ---- the ratio


@pytest.mark.parametrize(("data", "least"), [(cancer, 2.684), (threes_and_eights, 8.270)])
def test_ratio_of_methods(data, least):
    """METHODS §3; equal to the best of bound-constrained L-BFGS-B from five starts."""
    X, y = data()
    model = NonnegativeLDA(alpha=0).fit(X, y)
    (ratio,) = model.fisher_ratio_
    assert ratio >= least
    S_B, S_W = scatters(flipped(X, y), y)
    rng = np.random.default_rng(0)
    other = best_by_lbfgsb(S_B, S_W, [np.ones(len(S_B)), *rng.uniform(0.1, 1, (4, len(S_B)))])
    assert ratio >= other * (1 - 1e-9)
    assert ratio == pytest.approx(other, rel=1e-3)  # L-BFGS-B stops a little short
    S_B, S_W = scatters(X, y)
    (w,) = model.components_
    assert w @ S_B @ w / (w @ S_W @ w) == pytest.approx(ratio, rel=1e-8)  # flips undone, no ridge
    assert w @ S_W @ w == pytest.approx(1, rel=1e-8)  # NNP Eq. 46
    assert np.all(np.where(model.flipped_[0], -w, w) >= 0)
    assert model.alpha_ == 0
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("data", [cancer, threes_and_eights])
def test_multiplicative_reaches_the_same(data):
    X, y = data()
    exact = NonnegativeLDA(alpha=0).fit(X, y).fisher_ratio_
    slow = NonnegativeLDA(solver="multiplicative", max_iter=6000, tol=0, alpha=0).fit(X, y).fisher_ratio_
    np.testing.assert_allclose(slow, exact, rtol=1e-5)


def test_classes_may_change_places():
    X, y = threes_and_eights()
    np.testing.assert_allclose(NonnegativeLDA().fit(X, -y).fisher_ratio_, NonnegativeLDA().fit(X, y).fisher_ratio_)


@pytest.mark.parametrize("seed", range(5))
def test_optimality(seed):
    """At the optimum the gradient of the log of the ratio is zero where w > 0, and not positive elsewhere."""
    X, y = blobs(seed=seed, m=8)
    model = NonnegativeLDA(flip=False, alpha=0).fit(X, y)
    S_B, S_W = scatters(X, y)
    (w,) = model.components_
    unit = np.sqrt(np.diag(S_W))
    gradient = (S_B @ w / (w @ S_B @ w) - S_W @ w / (w @ S_W @ w)) / unit
    assert np.all(w >= 0)
    assert np.abs(gradient[w > 0]).max() < 1e-8
    assert gradient.max() < 1e-8
    other = best_by_lbfgsb(S_B, S_W, np.random.default_rng(0).uniform(0.1, 1, (5, 8)))
    assert model.fisher_ratio_[0] >= other * (1 - 1e-9)


def dense_rayleigh(S_B, S_W, w):
    """METHODS §3, with the parts of NNP Eq. 16."""
    ratio = (w @ S_B @ w) / (w @ S_W @ w)
    above = np.maximum(S_B, 0) @ w + ratio * np.maximum(-S_W, 0) @ w
    below = np.maximum(-S_B, 0) @ w + ratio * np.maximum(S_W, 0) @ w
    w = w * np.sqrt(above / below)
    return w / np.sqrt(w @ S_W @ w)


@pytest.mark.parametrize("n_iter", [1, 2, 20])
def test_rayleigh_transcribed(n_iter):
    X, y = blobs(m=7)
    S_B, S_W = scatters(flipped(X, y), y)
    start = np.random.default_rng(1).uniform(size=7)
    model = NonnegativeLDA(solver="multiplicative", init=start, max_iter=n_iter, tol=0, alpha=0)
    unit = np.sqrt(np.diag(S_W))
    w = start + 1e-3 * (start * unit).max() / unit  # a start has no zeros, lest they stay
    for _ in range(n_iter):
        w = dense_rayleigh(S_B, S_W, w)
    np.testing.assert_allclose(np.abs(model.fit(X, y).components_[0]), w, rtol=1e-9)


@pytest.mark.parametrize("formed", [0, 2000])
@pytest.mark.parametrize("flip", [True, False])
def test_multiplicative_rule_never_lowers_the_ratio(monkeypatch, formed, flip):
    monkeypatch.setattr(base, "FORMED", formed)
    X, y = blobs(m=12, n=50, seed=3)
    ratios = [
        NonnegativeLDA(solver="multiplicative", flip=flip, init=np.ones(12), max_iter=k, tol=0, alpha=0).fit(X, y).fisher_ratio_[0]
        for k in range(1, 40)
    ]
    assert np.all(np.diff(ratios) >= -1e-12 * ratios[-1])  # rounding
    assert ratios[-1] > 1.01 * ratios[0]


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("solver", ["exact", "multiplicative"])
@pytest.mark.parametrize("classes", [2, 3])
def test_products_equal_the_formed_matrix(monkeypatch, to, solver, classes):
    X, y = blobs(m=9, classes=classes, seed=2)
    X = np.maximum(X - 99, 0)
    model = NonnegativeLDA(solver=solver, max_iter=20_000, tol=1e-7, alpha=0).fit(X, y)
    monkeypatch.setattr(base, "FORMED", 0)
    other = NonnegativeLDA(solver=solver, max_iter=20_000, tol=1e-7, alpha=0).fit(to(X), y)
    np.testing.assert_allclose(other.fisher_ratio_, model.fisher_ratio_, rtol=1e-6 if solver == "exact" else 5e-3)
    if solver == "exact":
        np.testing.assert_allclose(other.components_, model.components_, atol=1e-6 * np.abs(model.components_).max())
        np.testing.assert_allclose(other.decision_function(to(X)), model.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("m", [8, 50])
def test_conjugate_gradients_equal_factorizations(monkeypatch, to, m):
    X, y = blobs(m=m, seed=2)
    X = np.maximum(X - 99, 0)
    model = NonnegativeLDA(alpha=0.1).fit(X, y)
    monkeypatch.setattr(base, "FORMED", 0)
    by_rows = NonnegativeLDA(alpha=0.1).fit(to(X), y)
    monkeypatch.setattr(fisher, "DIRECT", 0)
    monkeypatch.setattr(fisher, "DIRECT_SPARSE", 0)
    by_gradients = NonnegativeLDA(alpha=0.1).fit(to(X), y)
    np.testing.assert_allclose(by_rows.coef_, model.coef_, atol=1e-7 * np.abs(model.coef_).max())
    np.testing.assert_allclose(by_gradients.coef_, model.coef_, atol=1e-6 * np.abs(model.coef_).max())


def test_parts_are_parts():
    rng = np.random.default_rng(0)
    A, M, signs, w = rng.normal(size=(5, 7)), rng.normal(size=(2, 7)), rng.choice([-1.0, 1.0], 7), rng.uniform(size=7)
    S = A.T @ A - M.T @ M
    for scatter in (
        fisher.Summed([(1.0, A), (-1.0, M)]),
        fisher.Formed(S),
        fisher.Summed([(1.0, sparse.csr_array(A)), (-1.0, M)]),
    ):
        G = fisher.Metric(scatter, signs, np.full(7, 0.1))
        positive, negative = G.parts(w)
        full = signs[:, None] * S * signs + 0.1 * np.eye(7)
        np.testing.assert_allclose(positive - negative, full @ w, atol=1e-12)
        assert positive.min() >= 0
        assert negative.min() >= 0
        np.testing.assert_allclose(
            scatter.diagonal, np.maximum(np.diag(S), 0) if isinstance(scatter, fisher.Summed) else np.diag(S)
        )
        np.testing.assert_allclose(scatter.block(np.array([1, 4])), S[np.ix_([1, 4], [1, 4])], atol=1e-12)


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
def test_least_point_is_that_of_nnls(shape):
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    for _ in range(20):
        A, b = rng.normal(size=shape), rng.normal(size=shape[0])
        ridge = 1e-3
        G = fisher.Metric(fisher.Summed([(1.0, A)]), np.ones(shape[1]), np.full(shape[1], ridge))
        full = np.vstack([A, np.sqrt(ridge) * np.eye(shape[1])])
        expected, _ = nnls(full, np.concatenate([b, np.zeros(shape[1])]))
        for find in (fisher.least_point, lambda G, c, guess: fisher._one_by_one(G, c, np.zeros(len(c)))):
            found = find(G, A.T @ b, np.zeros(shape[1], dtype=bool))
            np.testing.assert_allclose(found, expected, atol=1e-8)


# ---- the paper's rule


def oja_printed(S_B, S_W, w, n_iter):
    """NNP Eq. 55, after wᵀS_W w = 1."""
    w = w / np.sqrt(w @ S_W @ w)
    for _ in range(n_iter):
        w = w * (np.maximum(S_B, 0) @ w) / (np.maximum(-S_B, 0) @ w + w * (w @ S_W @ S_B @ w))
    return w


@pytest.mark.parametrize("n_iter", [1, 2, 3, 10])
def test_oja_transcribed(monkeypatch, n_iter):
    X, y = cancer()
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    S_B, S_W = scatters(flipped(X, y), y)
    start = np.random.default_rng(0).uniform(size=30)
    expected = oja_printed(S_B, S_W, start, n_iter)
    seen = {}
    printed = base.oja

    def spy(*args):
        seen["result"] = printed(*args)
        return seen["result"]

    monkeypatch.setattr(base, "oja", spy)
    model = NonnegativeLDA(rule="oja", init=start, max_iter=n_iter, tol=0).fit(X, y)
    np.testing.assert_allclose(seen["result"].w, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.abs(model.components_[0]), expected / np.sqrt(expected @ S_W @ expected), rtol=1e-9, atol=1e-15)
    assert model.n_iter_ == n_iter


def test_oja_finds_an_eigenvector_of_the_between_scatter():
    """METHODS §3: ratios 2.11 and 3.95, cosines 1.000 and 0.999 with the leading eigenvector; features from 0 to 1.

    Which weights become zero depends on the start, so that the second ratio is a little different here.
    """
    for data, ratio in ((cancer, 2.11), (threes_and_eights, 3.95)):
        X, y = data()
        X = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
        model = NonnegativeLDA(rule="oja", tol=1e-8).fit(X, y)
        assert model.fisher_ratio_[0] == pytest.approx(ratio, abs=0.04)
        S_B, _ = scatters(X, y)
        d = np.linalg.eigh(S_B)[1][:, -1]
        assert abs(model.components_[0] @ d) / np.linalg.norm(model.components_[0]) > 0.99


def test_oja_of_many_classes_uses_the_parts_of_the_whole_matrix(monkeypatch):
    monkeypatch.setattr(fisher, "BLOCK", 2)
    X, y = blobs(classes=3, m=5)
    S_B, S_W = scatters(X, y)
    start = np.ones(5)
    w = oja_printed(S_B, S_W, start, 1)
    assert w.min() >= 0
    found = NonnegativeLDA(1, rule="oja", init=start, max_iter=1, tol=0).fit(X, y).components_[0]
    np.testing.assert_allclose(found, w / np.sqrt(w @ S_W @ w), rtol=1e-9)


def test_oja_leaves_the_point_of_all_ones():
    """Rows that sum to one: all ones is where the means differ by nothing, and a start from there stays."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.dirichlet(np.where(np.arange(5) == c, 4.0, 1.0), 40) for c in range(3)])
    y = np.repeat([0, 1, 2], 40)
    found = [NonnegativeLDA(1, rule="oja", alpha=0, random_state=seed).fit(X, y).fisher_ratio_[0] for seed in range(3)]
    assert min(found) > 2


def test_oja_stops_before_weights_become_negative():
    """At w ≈ (0, 1) wᵀd > 0 and wᵀS_W d < 0, against NNP Eq. 56."""
    y = np.arange(400) % 2
    X = np.random.default_rng(0).normal(size=(400, 2)) @ np.linalg.cholesky([[1, -0.9], [-0.9, 1]]).T
    X += np.outer(y, [5, 0.5])
    model = NonnegativeLDA(rule="oja", flip=False, init=[1e-3, 1.0])
    with pytest.warns(ConvergenceWarning, match=r"would have negative entries: NNP Eq\. 56"):
        model.fit(X, y)
    assert np.isfinite(model.components_).all()
    assert model.components_.min() >= 0


def test_definiteness():
    X, y = blobs(m=5)
    S_B, S_W = scatters(X, y)
    model = NonnegativeLDA(flip=False).fit(X, y)
    values = np.linalg.eigvalsh(S_W @ S_B + S_B @ S_W)
    np.testing.assert_allclose(model.definiteness_[0], values[[0, -1]] / np.abs(values).max(), rtol=1e-8)
    assert model.definite_ is False
    X, y = blobs(classes=4, m=9)
    S_B, S_W = scatters(X, y)
    values = np.linalg.eigvalsh(S_W @ S_B + S_B @ S_W)
    expected = values[[0, -1]] / np.abs(values).max()
    np.testing.assert_allclose(NonnegativeLDA(1).fit(X, y).definiteness_[0], expected, rtol=1e-8)
    X, y = blobs(m=1)
    assert NonnegativeLDA().fit(X, y).definite_ is True  # of one feature it is a number


# ---- features, classes, samples


def test_shifts_and_units_of_features_change_nothing():
    X, y = blobs(m=6)
    model = NonnegativeLDA().fit(X, y)
    units = 10.0 ** np.arange(-3, 3)
    other = NonnegativeLDA().fit(X * units - 50, y)
    np.testing.assert_allclose(other.fisher_ratio_, model.fisher_ratio_, rtol=1e-8)
    np.testing.assert_allclose(other.components_ * units, model.components_, rtol=1e-6, atol=1e-10)
    np.testing.assert_array_equal(other.predict(X * units - 50), model.predict(X))


def test_a_flipped_feature_changes_its_sign_only():
    X, y = blobs(m=6)
    turned = X.copy()
    turned[:, [1, 4]] = 300 - turned[:, [1, 4]]
    signs = np.array([1, -1, 1, 1, -1, 1])
    np.testing.assert_allclose(NonnegativeLDA().fit(turned, y).coef_, NonnegativeLDA().fit(X, y).coef_ * signs, atol=1e-9)


def test_without_flipping_weights_are_not_negative():
    X, y = threes_and_eights()
    with_flips, without = NonnegativeLDA().fit(X, y), NonnegativeLDA(flip=False).fit(X, y)
    assert without.components_.min() >= 0
    assert not without.flipped_.any()
    assert with_flips.flipped_.any()
    assert with_flips.fisher_ratio_[0] > without.fisher_ratio_[0]


def test_iris_one_direction_a_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    model = NonnegativeLDA(alpha=0.01).fit(X, names)
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.components_.shape == (3, 4)
    assert model.transform(X).shape == (150, 3)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names) > 0.95
    for c, name in enumerate(model.classes_):
        alone = NonnegativeLDA(alpha=0.01).fit(X, names == name)
        np.testing.assert_allclose(alone.fisher_ratio_, model.fisher_ratio_[c], rtol=1e-8)
        cosine = alone.components_[0] @ model.components_[c]
        cosine /= np.linalg.norm(alone.components_[0]) * np.linalg.norm(model.components_[c])
        assert cosine == pytest.approx(1, abs=1e-8)


def test_several_directions():
    X, y = load_digits(return_X_y=True)
    model = NonnegativeLDA(9).fit(X, y)
    assert model.components_.shape == (9, 64)
    assert model.components_.min() >= 0
    assert model.score(X, y) > 0.9
    S_B, S_W = scatters(X, y)
    w = model.components_[0]
    assert w @ S_B @ w / (w @ S_W @ w) == pytest.approx(model.fisher_ratio_[0], rel=1e-8)
    keep = np.diag(S_W) > 0
    starts = np.random.default_rng(0).uniform(0.1, 1, (3, keep.sum()))
    other = best_by_lbfgsb(S_B[np.ix_(keep, keep)], S_W[np.ix_(keep, keep)], starts)
    assert model.fisher_ratio_[0] >= other * (1 - 1e-3)  # several classes have several maxima
    assert model.fisher_ratio_[0] > model.fisher_ratio_[-1]


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3000)), np.arange(30) % 2
    X[:, :5] += 2 * y[:, None]
    model = NonnegativeLDA().fit(X, y)
    assert model.alpha_[0] > 0
    assert model.score(X, y) == 1
    fresh = rng.normal(size=(200, 3000))
    fresh[:100, :5] += 2
    assert NonnegativeLDA(alpha=10.0).fit(X, y).score(fresh, np.repeat([1, 0], 100)) > 0.6
    small = NonnegativeLDA().fit(X[:, :40], y)
    assert small.alpha_[0] > 0


def test_constant_features_have_no_weight():
    X, y = blobs(m=4)
    model = NonnegativeLDA().fit(X, y)
    wide = NonnegativeLDA().fit(np.column_stack([X, np.full(60, 0.1), np.zeros(60)]), y)
    np.testing.assert_allclose(wide.coef_[:, :4], model.coef_, rtol=1e-9)
    assert not wide.coef_[:, 4:].any()
    assert wide.alpha_ == 0


def test_a_feature_that_is_the_class():
    X, y = blobs(m=4)
    model = NonnegativeLDA().fit(np.column_stack([X, y]), y)
    assert model.score(np.column_stack([X, y]), y) == 1
    assert model.alpha_[0] > 0
    with pytest.raises(DataError, match=r"alpha=0, but 1 of the 5 features do not vary within any class"):
        NonnegativeLDA(alpha=0).fit(np.column_stack([X, y]), y)


def test_duplicated_features():
    X, y = blobs(m=4)
    twice = NonnegativeLDA().fit(np.hstack([X, X]), y)
    assert twice.alpha_[0] > 0
    assert twice.fisher_ratio_[0] == pytest.approx(NonnegativeLDA().fit(X, y).fisher_ratio_[0], rel=0.05)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_sample_a_class(classes):
    """There is no scatter within: what is left are the means."""
    X = np.random.default_rng(0).normal(size=(classes, 5))
    model = NonnegativeLDA().fit(X, np.arange(classes))
    np.testing.assert_array_equal(model.predict(X), np.arange(classes))
    assert np.isfinite(model.coef_).all()


def test_a_class_in_the_middle_has_no_direction():
    X, y = np.array([[0.0], [1], [1], [2], [2], [3], [-3], [5]]), np.array([0, 0, 1, 1, 2, 2, 1, 1])
    X[y == 1] += 1.5 - X[y == 1].mean()
    with pytest.warns(UserWarning, match="tell class 1 from the others: its direction is zero"):
        model = NonnegativeLDA().fit(X, y)
    assert not model.components_[1].any()
    assert np.isfinite(model.decision_function(X)).all()


def test_float32_and_pipelines():
    X, y = blobs()
    model = NonnegativeLDA().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(model.fisher_ratio_, NonnegativeLDA().fit(X, y).fisher_ratio_, rtol=1e-3)
    pipeline = make_pipeline(StandardScaler(), NonnegativeLDA()).fit(X, y)
    np.testing.assert_array_equal(pipeline.predict(X), NonnegativeLDA().fit(X, y).predict(X))
    assert NonnegativeLDA().set_output(transform="pandas").fit(X, y).transform(X).columns.tolist() == ["nonnegativelda0"]


# ---- scales

POWERS = [-1020, -600, -500, 480, 520, 1000]
"""Of two: from the least normal numbers to the largest, and about the square roots of these."""


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(
    "model",
    [
        NonnegativeLDA(),
        NonnegativeLDA(2, alpha=0.1),
        NonnegativeLDA(rule="oja", random_state=0),
        NonnegativeLDA(solver="multiplicative", max_iter=30, tol=0),
        NonnegativeLDA(init=[1.0, 0, 2, 0, 0, 1], alpha=0.1),
        NonnegativeKernelFDA(),
        NonnegativeKernelFDA(flip=True),
        NonnegativeKernelFDA(rule="oja", random_state=0),
    ],
    ids=repr,
)
def test_the_scale_of_the_data_changes_nothing(model, power, to):
    """Bit for bit, since a power of two rounds nothing."""
    X, y = blobs(classes=2 if getattr(model, "flip", "auto") is True else 3)
    X = np.maximum(X - 99, 0)
    one = clone(model).fit(to(X), y)
    large = np.ldexp(X, power)
    other = clone(model).fit(to(large), y)
    np.testing.assert_array_equal(other.fisher_ratio_, one.fisher_ratio_)
    np.testing.assert_array_equal(other.definiteness_, one.definiteness_)
    np.testing.assert_array_equal(other.alpha_, one.alpha_)
    np.testing.assert_array_equal(other.transform(to(large)), one.transform(to(X)))
    np.testing.assert_array_equal(other.decision_function(to(large)), one.decision_function(to(X)))
    if isinstance(model, NonnegativeLDA):
        np.testing.assert_array_equal(other.components_, np.ldexp(one.components_, -power))
    else:
        np.testing.assert_array_equal(other.sample_importance_, one.sample_importance_)


@pytest.mark.parametrize("factor", [1e-45, 1e-38, 1e-30, 1e30, 3e38 / 110])
def test_scales_of_single_precision(factor):
    X, y = blobs()
    X = (X.astype(np.float64) * factor).astype(np.float32)
    assert np.isfinite(X).all()
    if factor > 1e-40:  # smaller ones have lost their digits
        assert NonnegativeLDA().fit(X, y).score(X, y) >= NonnegativeLDA().fit(*blobs()).score(*blobs()) - 0.02
        assert NonnegativeKernelFDA().fit(X, y).score(X, y) > 0.5
    assert np.isfinite(NonnegativeLDA().fit(X, y).coef_).all()


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("ridge", ["auto", 0.1])
def test_features_of_very_different_scale(to, ridge):
    """A feature's unit does not matter, whatever it is: the ridge is a share of its own scatter."""
    X, y = blobs(m=6)
    X = np.maximum(X - 99, 0)
    powers = np.array([-1000, -500, 0, 3, 600, 1000])
    one, other = (NonnegativeLDA(alpha=ridge).fit(to(data), y) for data in (X, np.ldexp(X, powers)))
    np.testing.assert_allclose(other.fisher_ratio_, one.fisher_ratio_, rtol=1e-12)
    np.testing.assert_allclose(other.components_, np.ldexp(one.components_, -powers), rtol=1e-9)
    np.testing.assert_allclose(other.decision_function(to(np.ldexp(X, powers))), one.decision_function(to(X)), rtol=1e-9)


def test_numbers_below_the_normal_ones():
    """Weights would be beyond the largest number; projections and predictions are right."""
    X, y = blobs()
    X -= X.min(axis=0)
    tiny = np.round(X / X.max() * 2**20) * 5e-324
    model, other = (NonnegativeLDA().fit(data, y) for data in (tiny, tiny / 5e-324))
    np.testing.assert_array_equal(model.predict(tiny), other.predict(tiny / 5e-324))
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(tiny)).all()


def test_a_kernel_that_overflows_is_told():
    X, y = blobs()
    with pytest.raises(DataError, match=r"kernel='poly' is infinite or not a number .* Scale X"):
        NonnegativeKernelFDA(kernel="poly").fit(X * 1e200, y)


@pytest.mark.parametrize("make", [NonnegativeLDA, NonnegativeKernelFDA])
def test_single_precision_stays(make):
    X, y = blobs()
    model = make().fit(X.astype(np.float32), y)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.transform(X).dtype == np.float64


# ---- the ridge that is chosen


def test_the_ridge_is_chosen_on_samples_held_out():
    """The rule written out: five runs of samples of each class, Fisher's ratio of all that was held out, the least within 1 %."""
    rng = np.random.default_rng(3)
    y = np.arange(50) % 2
    X = rng.normal(size=(50, 30)) + 0.6 * y[:, None] * (np.arange(30) < 8)
    ratios = {}
    for ridge in (0.0, *ridges.RIDGES[1:]):
        z = np.zeros(50)
        for fold in range(5):
            held = np.isin(np.arange(50), np.arange(10 * fold, 10 * fold + 10))
            model = NonnegativeLDA(alpha=ridge or 1e-3 * (ridge == 0)).fit(X[~held], y[~held])
            z[held] = model.transform(X[held])[:, 0] - model.transform(X[~held]).mean()
        own, others = z[y == 1], z[y == 0]
        ratios[ridge] = 0.25 * (own.mean() - others.mean()) ** 2 / (0.5 * own.var() + 0.5 * others.var())
    expected = min(ridge for ridge, ratio in ratios.items() if ratio >= 0.99 * max(ratios.values()))
    assert expected > 0
    assert NonnegativeLDA().fit(X, y).alpha_[0] == expected


def test_no_ridge_if_none_helps():
    X, y = cancer()
    assert NonnegativeLDA().fit(X, y).alpha_[0] == 0


@pytest.mark.parametrize("make", [NonnegativeLDA, NonnegativeKernelFDA])
def test_a_chosen_ridge_generalizes(make):
    """Few samples and many features of which few matter: on fresh samples better than next to no ridge, in the mean of ten."""
    gains = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(440) % 2
        X = rng.normal(size=(440, 100)) + 0.7 * y[:, None] * (np.arange(100) < 10)
        chosen, least = (make(alpha=ridge).fit(X[:40], y[:40]) for ridge in ("auto", 1e-3))
        gains.append(chosen.score(X[40:], y[40:]) - least.score(X[40:], y[40:]))
    assert np.mean(gains) > 0


def test_many_samples_are_not_all_used_to_choose():
    codes = np.array([0] * 9000 + [1] * 999 + [2])
    some = ridges.evenly_chosen(codes, 2000)
    assert len(some) <= 2003
    counts = np.bincount(codes[some])
    assert counts[2] == 1
    assert counts[1] == pytest.approx(200, abs=3)
    np.testing.assert_array_equal(ridges.in_runs(np.array([0, 0, 1, 1, 0, 0, 0, 2])), [0, 1, 0, 2, 2, 3, 4, -1])


# ---- the same each time


def test_fits_are_the_same_each_time():
    X, y = cancer()
    np.testing.assert_array_equal(NonnegativeLDA().fit(X, y).coef_, NonnegativeLDA().fit(X, y).coef_)


# ---- with a kernel


def test_linear_kernel_is_the_linear_discriminant_of_its_columns():
    X, y = blobs(n=30)
    K = X @ X.T
    model = NonnegativeKernelFDA(alpha=1e-2).fit(X, y)
    other = NonnegativeLDA(alpha=1e-2, flip=False).fit(K, y)
    np.testing.assert_allclose(model.dual_coef_, other.components_, rtol=1e-6, atol=1e-12)
    assert model.sample_importance_.shape == (30,)
    assert model.sample_importance_.sum() == pytest.approx(1)
    assert model.sample_importance_.min() >= 0


@pytest.mark.parametrize("rule", ["rayleigh", "oja"])
def test_precomputed_kernel(rule):
    X, y = blobs(n=40, classes=3)
    X = StandardScaler().fit_transform(X)
    K = rbf_kernel(X, gamma=0.3)
    named = NonnegativeKernelFDA(kernel="rbf", gamma=0.3, rule=rule, random_state=0).fit(X, y)
    given = NonnegativeKernelFDA(kernel="precomputed", rule=rule, random_state=0).fit(K, y)
    np.testing.assert_allclose(given.dual_coef_, named.dual_coef_)
    np.testing.assert_allclose(given.decision_function(K[:5]), named.decision_function(X[:5]), rtol=1e-6)
    function = NonnegativeKernelFDA(kernel=lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)), rule=rule, random_state=0).fit(X, y)
    np.testing.assert_allclose(function.dual_coef_, named.dual_coef_, rtol=1e-6, atol=1e-9)


def test_circles():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    assert NonnegativeKernelFDA(kernel="rbf", gamma=1).fit(X, y).score(X, y) == 1
    assert NonnegativeLDA().fit(X, y).score(X, y) < 0.8


def test_optimality_with_a_kernel():
    X, y = make_circles(60, noise=0.1, factor=0.4, random_state=0)
    K = rbf_kernel(X, gamma=1)
    S_B, S_W = scatters(K, y)
    S_W += 1e-2 * np.diag(np.diag(S_W))
    model = NonnegativeKernelFDA(kernel="rbf", gamma=1, alpha=1e-2).fit(X, y)
    other = best_by_lbfgsb(S_B, S_W, np.random.default_rng(0).uniform(0.1, 1, (5, 60)))
    assert model.fisher_ratio_[0] >= other * (1 - 1e-9)
    assert model.fisher_ratio_[0] == pytest.approx(other, rel=5e-3)  # L-BFGS-B stops a little short


def test_flipped_samples():
    """Samples of the other class count negatively: the same as the discriminant of K with their columns turned round."""
    X, y = blobs(n=40)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.2)
    model = NonnegativeKernelFDA(kernel="precomputed", flip=True, alpha=1e-3).fit(K, y)
    signs = np.where(y == 1, 1, -1)
    assert np.all(model.dual_coef_[0] * signs >= 0)
    other = NonnegativeLDA(flip=False, alpha=1e-3).fit(K * signs, y)
    np.testing.assert_allclose(model.fisher_ratio_, other.fisher_ratio_, rtol=1e-8)
    assert model.fisher_ratio_[0] > NonnegativeKernelFDA(kernel="precomputed", alpha=1e-3).fit(K, y).fisher_ratio_[0]
    assert model.sample_importance_.min() >= 0
    assert model.sample_importance_.sum() == pytest.approx(1)


def class_means(y):
    """U of NNP Eq. 61."""
    return sum(np.outer(y == c, y == c) / np.sum(y == c) for c in np.unique(y))


@pytest.mark.parametrize("n_iter", [1, 3])
def test_kernel_oja_transcribed(n_iter):
    """NNP Eq. 21 with A = KUK, B = KK; Eq. 63 lacks KUK in its denominator."""
    X, y = blobs(n=25)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.5)
    A, B = K @ class_means(y) @ K, K @ K
    alpha = start = np.random.default_rng(0).uniform(size=25)
    alpha = alpha / np.sqrt(alpha @ B @ alpha)
    for _ in range(n_iter):
        alpha = alpha * (A @ alpha) / (alpha * (alpha @ B @ A @ alpha))
    model = NonnegativeKernelFDA(kernel="precomputed", rule="oja", init=start, max_iter=n_iter, tol=0).fit(K, y)
    np.testing.assert_allclose(model.sample_importance_, alpha / alpha.sum(), rtol=1e-9)


def test_kernel_oja_is_the_power_method():
    X, y = blobs(n=25)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.5)
    leading = np.abs(np.linalg.eigh(K @ class_means(y) @ K)[1][:, -1])
    model = NonnegativeKernelFDA(kernel="precomputed", rule="oja", tol=1e-13, max_iter=10_000).fit(K, y)
    np.testing.assert_allclose(model.sample_importance_, leading / leading.sum(), rtol=1e-6)


def test_the_paper_s_kernel_ratio_is_one_for_equal_projections():
    """NNP Eq. 61 and 62 are for centred samples: K alpha = 1 has the largest ratio that there is."""
    X, y = blobs(n=25)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.5)
    alpha = np.linalg.solve(K, np.ones(25))
    assert alpha @ K @ class_means(y) @ K @ alpha / (alpha @ K @ K @ alpha) == pytest.approx(1, abs=1e-9)


# ---- what cannot be


@pytest.mark.parametrize("make", [NonnegativeLDA, NonnegativeKernelFDA])
class TestBadInput:
    def test_one_class(self, make):
        with pytest.raises(DataError, match=r"y has one class, 1: there is nothing to tell apart"):
            make().fit(blobs()[0], np.ones(60, dtype=int))
        with pytest.raises(DataError, match=r"y has one class, 0\.0: there is nothing to tell apart"):
            make().fit(blobs()[0], np.zeros(60))

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_not_finite(self, make, value):
        X, y = blobs()
        X[3, 2] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make().fit(X, y)

    def test_the_same_means(self, make):
        X, y = np.tile(blobs(n=10)[0], (2, 1)), np.repeat([0, 1], 10)
        with pytest.raises(DataError, match="The classes have the same mean in each of the"):
            make().fit(X, y)
        with pytest.raises(DataError, match="The classes have the same mean in each of the"):
            make().fit(np.full((6, 3), 7.3), [0, 0, 0, 1, 1, 1])

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"rule": "fisher"}, IncompatibleError, "Unknown rule 'fisher'. Known names: 'rayleigh', 'oja'"),
            ({"solver": "svd"}, IncompatibleError, "Unknown solver 'svd'"),
            ({"solver": "exact", "rule": "oja"}, IncompatibleError, "rule='oja' is multiplicative"),
            ({"alpha": -1}, IncompatibleError, "alpha must be a number of at least 0, or 'auto'; got -1"),
            ({"alpha": 0.1, "rule": "oja"}, IncompatibleError, "which inverts nothing"),
            ({"max_iter": 0}, IncompatibleError, "max_iter must be an int of at least 1; got 0"),
            ({"tol": -1}, IncompatibleError, "tol must be a number of at least 0; got -1"),
            ({"n_components": 0}, ShapeError, "n_components must be an int of at least 1, or 'auto'; got 0"),
            ({"n_components": 61}, ShapeError, "n_components=61 directions cannot be had from"),
            ({"n_components": 2, "rule": "oja"}, IncompatibleError, "n_components=2 with rule='oja'"),
            ({"init": "random"}, IncompatibleError, "init must be 'auto' or an array; got 'random'"),
            ({"init": [1.0]}, ShapeError, "init must have one weight for each of the"),
            ({"init": {"w": 1}}, DataError, "init must be numbers, one for each of the"),
            ({"init": None}, ShapeError, "init must have one weight for each of the"),
            ({"rule": ["oja"]}, IncompatibleError, "Unknown rule"),
            ({"solver": 1}, IncompatibleError, "Unknown solver 1"),
            ({"alpha": "ledoit"}, IncompatibleError, "alpha must be a number of at least 0, or 'auto'; got 'ledoit'"),
            ({"alpha": True}, IncompatibleError, "alpha must be a number"),
            ({"max_iter": "many"}, IncompatibleError, "max_iter must be an int of at least 1; got 'many'"),
            ({"tol": "small"}, IncompatibleError, "tol must be a number of at least 0; got 'small'"),
            ({"n_components": "two"}, ShapeError, "n_components must be an int of at least 1, or 'auto'; got 'two'"),
            ({"flip": "x"}, IncompatibleError, "flip must be True"),
        ],
    )
    def test_parameters(self, make, parameters, error, message):
        X, y = blobs()
        with pytest.raises(error, match=message):
            make(**parameters).fit(np.abs(X), y)

    @pytest.mark.parametrize("parameters", [{"rule": 3}, {"tol": "x"}, {"n_components": -1}, {"flip": 3}, {"init": "random"}])
    def test_parameters_are_read_before_the_data(self, make, parameters):
        (name,) = parameters
        with pytest.raises((IncompatibleError, ShapeError), match=name):
            make(**parameters).fit("no data at all", None)


@pytest.mark.parametrize("init", [np.zeros(6), -np.ones(6), np.full(6, np.nan)])
def test_bad_start(init):
    with pytest.raises(DataError, match="init must be finite, must not be negative anywhere, and not zero everywhere"):
        NonnegativeLDA(init=init).fit(*blobs())


def test_bad_flip():
    with pytest.raises(IncompatibleError, match="flip must be True, False or 'auto'; got 'median'"):
        NonnegativeLDA(flip="median").fit(*blobs())
    with pytest.raises(IncompatibleError, match="flip must be True or False; got 'auto'"):
        NonnegativeKernelFDA(flip="auto").fit(*blobs())
    with pytest.raises(IncompatibleError, match="flip=True with rule='oja'"):
        NonnegativeKernelFDA(flip=True, rule="oja").fit(*blobs())
    with pytest.raises(IncompatibleError, match="samples are flipped for one class against the others"):
        NonnegativeKernelFDA(2, flip=True).fit(*blobs(classes=3))
    with pytest.raises(IncompatibleError, match="features are flipped for one class against the others"):
        NonnegativeLDA(2, flip=True).fit(*blobs(classes=3))


def test_bad_kernels():
    X, y = blobs()
    with pytest.raises(IncompatibleError, match="Unknown kernel 'gauss'"):
        NonnegativeKernelFDA(kernel="gauss").fit(X, y)
    with pytest.raises(IncompatibleError, match="kernel must be a name or a function of two samples; got 5"):
        NonnegativeKernelFDA(kernel=5).fit(X, y)
    with pytest.raises(IncompatibleError, match="gamma must be a number; got 'scale'"):
        NonnegativeKernelFDA(kernel="rbf", gamma="scale").fit(X, y)
    with pytest.raises(DataError, match=r"X must be square with kernel='precomputed'.*\(60, 6\)"):
        NonnegativeKernelFDA(kernel="precomputed").fit(X, y)
    with pytest.raises(DataError, match="The kernel must be symmetric"):
        NonnegativeKernelFDA(kernel="precomputed").fit(np.triu(np.ones((60, 60))), y)
    with pytest.raises(DataError, match="The kernel has negative entries, down to"):
        NonnegativeKernelFDA(rule="oja").fit(X - 100, y)


def test_kernel_parameters_that_cannot_be():
    X, y = blobs()
    with pytest.raises(IncompatibleError, match="kernel_params must be a dict, or None; got 5"):
        NonnegativeKernelFDA(kernel=lambda a, b: a @ b, kernel_params=5).fit(X, y)
    with pytest.raises(IncompatibleError, match="degree must be a number; got 'three'"):
        NonnegativeKernelFDA(kernel="poly", degree="three").fit(X, y)


def test_a_kernel_that_does_not_fit_into_memory(monkeypatch):
    """Said before any work, with how much it would take; of 100 000 samples 4 matrices of 80 GB."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**11)
    X, y = np.zeros((100_000, 1)), np.arange(100_000) % 2
    with pytest.raises(ShapeError, match=r"100000 samples.* 320 GB of memory, and 100 GB are free.*Nystroem"):
        NonnegativeKernelFDA(kernel="rbf").fit(X, y)


def test_too_few_iterations_are_told():
    X, y = cancer()
    with pytest.warns(ConvergenceWarning, match="3 iterations unsettled"):
        NonnegativeLDA(solver="multiplicative", max_iter=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NonnegativeLDA(solver="multiplicative", max_iter=3, tol=0).fit(X, y)


def test_nothing_left_for_more_directions():
    X, y = blobs(m=2)
    X[:, 1] = X[:, 0]
    with pytest.warns(UserWarning, match="One direction has all that tells the classes apart; n_components=2 cannot be had"):
        model = NonnegativeLDA(2, alpha=0.01).fit(X, y)
    assert model.components_.shape == (1, 2)
    assert clone(model).get_params() == model.get_params()


def test_a_ratio_without_bound_is_refused_and_not_computed():
    """There are weights under which no class varies: their length is zero, and one over it is not a number."""
    X = np.random.default_rng(64).random((6, 4)) * (np.arange(6) % 3 > 0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=r"the ratio has no bound\. Use alpha='auto'"):
            NonnegativeKernelFDA(rule="rayleigh", alpha=0).fit(X - 0.5 * X.max(), np.arange(6) % 3)
