"""X of either sign: Semi-NMF, Convex NMF, and forms of one's own, beside the rules of Ding, Li and Jordan written out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import nonneg
from nonneg import ConvexNMF, Factorization, SemiNMF
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.testing import assert_monotone

from .cases import SIGNED, parts

RNG = np.random.default_rng(0)
CENTRES, LABELS = 3 * RNG.standard_normal((3, 8)), RNG.integers(3, size=60)
X = CENTRES[LABELS] + RNG.standard_normal((60, 8))
X[np.abs(X) < 0.3] = 0.0
CODES, WEIGHTS = RNG.uniform(0.1, 1, (60, 3)), RNG.uniform(0.1, 1, (3, 60))
STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def split(A):
    return np.maximum(A, 0), np.maximum(-A, 0)


def semi(X, W):
    """One iteration in their order: F of either sign, then G; their X is Xᵀ, F is Hᵀ, G is W."""
    H = np.linalg.solve(W.T @ W, W.T @ X)
    (cross, minus_cross), (gram, minus_gram) = split(X @ H.T), split(H @ H.T)
    return W * np.sqrt((cross + W @ minus_gram) / (minus_cross + W @ gram))


def convex(X, H, W):
    """One iteration: G, here H, then W, here Wᵀ."""
    plus, minus = split(X @ X.T)
    H = H * np.sqrt((plus @ W.T + H @ W @ minus @ W.T) / (minus @ W.T + H @ W @ plus @ W.T))
    W = W * np.sqrt((H.T @ plus + H.T @ H @ W @ minus) / (H.T @ minus + H.T @ H @ W @ plus))
    return H, W


@STORES
def test_a_step_of_semi_nmf(store):
    """Codes move first here; the components that face the codes of a start are those of least squares."""
    H = np.linalg.lstsq(CODES, X, rcond=None)[0]
    model = SemiNMF(3, init={"W": CODES, "H": H}, solver="paper", max_iter=1, tol=0).fit(store(X))
    W = semi(X, CODES)
    np.testing.assert_allclose(model.factors_["W"], W, rtol=1e-12)
    np.testing.assert_allclose(model.components_, np.linalg.lstsq(W, X, rcond=None)[0], rtol=1e-9)


@STORES
def test_a_step_of_convex_nmf(store):
    model = ConvexNMF(3, init={"H": CODES, "W": WEIGHTS}, solver="paper", max_iter=1, tol=0).fit(store(X))
    H, W = convex(X, CODES, WEIGHTS)
    np.testing.assert_allclose(model.factors_["H"], H, rtol=1e-12)
    np.testing.assert_allclose(model.factors_["W"], W, rtol=1e-12)
    np.testing.assert_allclose(model.components_, W @ X, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("solver", ["paper", "adaptive", "coordinate"])
def test_the_objective_falls(name, solver):
    history = []
    model = SIGNED[name](solver=solver, max_iter=40, tol=0, callback=lambda progress: history.append(progress.objective)).fit(X)
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    codes = model.factors_[model.model_.form[0].name]
    assert model.objective_ == pytest.approx(np.sum((X - codes @ model.components_) ** 2) / 2, rel=1e-9)


@STORES
@pytest.mark.parametrize("name", SIGNED)
def test_clusters_and_codes(name, store):
    """Not above k-means, whose assignments are codes; codes of new samples solve non-negative least squares."""
    model = SIGNED[name](solver="adaptive").fit(store(X))
    assert adjusted_rand_score(LABELS, model.transform(store(X)).argmax(axis=1)) > 0.95
    k_means = KMeans(3, n_init=10, random_state=0).fit(X).inertia_ / 2
    assert SIGNED[name]().fit(store(X)).objective_ < k_means
    codes = model.transform(store(X[:20]))
    slopes = (codes @ model.components_ - X[:20]) @ model.components_.T
    assert codes.min() >= 0
    assert np.abs(np.minimum(codes, slopes)).max() < 1e-4 * np.abs(slopes).max()
    np.testing.assert_allclose(model.inverse_transform(codes), codes @ model.components_)
    loss = np.sum((X[:20] - codes @ model.components_) ** 2) / 2
    assert model.score(store(X[:20])) == pytest.approx(-loss / 20, rel=1e-6)


@pytest.mark.parametrize("name", SIGNED)
def test_files_and_scale(name, tmp_path):
    model = SIGNED[name]().fit(X)
    model.save(tmp_path / "model.nonneg")
    np.testing.assert_array_equal(nonneg.load(tmp_path / "model.nonneg").transform(X), model.transform(X))
    large = clone(model).fit(1e6 * X)
    np.testing.assert_allclose(large.objective_, 1e12 * model.objective_, rtol=1e-4)
    np.save(tmp_path / "X.npy", X)
    if name == "SemiNMF":
        np.testing.assert_allclose(clone(model).fit(str(tmp_path / "X.npy")).objective_, model.objective_, rtol=1e-3)


def test_any_form():
    """X W H with X of either sign, split both ways; codes begin with X."""
    joint, separate = (
        Factorization("X W H", 3, signed=["X"], split=way, solver="multiplicative", max_iter=30, tol=0, random_state=0).fit(X)
        for way in ("joint", "separate")
    )
    assert joint.objective_ != separate.objective_
    assert joint.transform(X).min() < 0
    np.testing.assert_allclose(joint.transform(X), X @ joint.factors_["W"], rtol=1e-10)
    W = Factorization("W H", 3, constraints={"H": "signed"}, random_state=0).fit(X)
    assert W.components_.min() < 0 <= W.transform(X).min()
    assert_monotone(
        nonneg.factorize(X, joint.model_, 3, solver="multiplicative", max_iter=20, tol=0, check_every=1, random_state=0)
    )


def test_refused_input():
    with pytest.raises(ValueError, match="Negative values in data passed to X"):
        Factorization("W H", 3).fit(X)
    with pytest.raises(DataError, match="zero everywhere"):
        SemiNMF(3).fit(0 * X)
    with pytest.raises(IncompatibleError, match="missing values, are for matrices that are"):
        SemiNMF(3, missing="ignore").fit(np.where(X > 4, np.nan, X))
    np.testing.assert_allclose(SemiNMF(3, random_state=0).fit(-np.abs(X)).transform(-np.abs(X)).shape, (60, 3))


def test_without_negative_entries():
    """The rules are those of QNMF then."""
    Y = parts(20, 9, 3)
    assert ConvexNMF(3, random_state=0).fit(Y).model_ == nonneg.Model("H W X", split="separate", signed=[])
