"""NMF with scikit-learn's penalties: one step beside a transcription, the objective beside theirs, and codes of new samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition

from nonneg import NMF, Model, factorize
from nonneg.constraints import Sparse
from nonneg.exceptions import IncompatibleError
from nonneg.solvers import Multiplicative
from nonneg.testing import assert_monotone

from .cases import parts

X = parts(30, 12, 3, noise=0.3)
N, M = X.shape
PENALTIES = [(1e-3, "same", 0.0), (1e-3, 1e-4, 0.5), (2e-3, "same", 1.0)]


def objective(X, W, H, alpha_W, alpha_H, l1_ratio):
    """As scikit-learn's documentation has it."""
    alpha_H = alpha_W if alpha_H == "same" else alpha_H
    value = np.sum((X - W @ H) ** 2) / 2
    for F, alpha in ((W, alpha_W * X.shape[1]), (H, alpha_H * X.shape[0])):
        value += alpha * (l1_ratio * np.abs(F).sum() + (1 - l1_ratio) / 2 * np.sum(F**2))
    return value


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("divergence", "exponent"), [("euclidean", 1), ("kullback-leibler", 1 / 2)])
def test_a_step(store, divergence, exponent):
    W, H = np.random.default_rng(0).uniform(0.1, 1, (N, 3)), np.random.default_rng(1).uniform(0.1, 1, (3, M))
    model = Model("W H", divergence, {"W": Sparse(0.3, 0.2), "H": Sparse(0, 0.7)})
    found = factorize(store(X), model, init={"W": W, "H": H}, solver=Multiplicative(), max_iter=1, tol=0).factors

    def sides(W, H):
        if divergence == "euclidean":
            return X, W @ H
        return X / (W @ H), np.ones_like(X)

    Q, P = sides(W, H)
    W = W * ((Q @ H.T) / (P @ H.T + 0.3 + 0.2 * W)) ** (1 if divergence == "euclidean" else exponent)
    Q, P = sides(W, H)
    H = H * ((W.T @ Q) / (W.T @ P + 0.7 * H)) ** exponent
    np.testing.assert_allclose(found["W"], W, rtol=1e-12)
    np.testing.assert_allclose(found["H"], H, rtol=1e-12)


@pytest.mark.parametrize("solver", ["multiplicative", "adaptive", "coordinate", "quasi-newton"])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_the_objective_falls(solver, size):
    """In any units of X."""
    model = Model("W H", constraints={"W": Sparse(0.1 * size, 0.3), "H": Sparse(0, 0.2 * size**2)})
    solution = factorize(size * X, model, 3, init="random", solver=solver, max_iter=60, tol=0, random_state=0, check_every=1)
    assert_monotone(solution)
    W, H = solution.factors["W"], solution.factors["H"]
    squares = np.sum((size * X - W @ H) ** 2) / 2
    penalty = 0.1 * size * W.sum() + 0.15 * np.sum(W**2) + 0.1 * size**2 * np.sum(H**2)
    assert solution.objective == pytest.approx(squares + penalty, rel=1e-10)


@pytest.mark.parametrize(("alpha_W", "alpha_H", "l1_ratio"), PENALTIES)
def test_beside_scikit_learn(alpha_W, alpha_H, l1_ratio):
    settings = {"alpha_W": alpha_W, "alpha_H": alpha_H, "l1_ratio": l1_ratio, "random_state": 0}
    ours = NMF(3, **settings, tol=1e-7).fit(X)
    theirs = decomposition.NMF(3, **settings, init="nndsvda", max_iter=20_000, tol=1e-9)
    V = theirs.fit_transform(X)
    least = objective(X, V, theirs.components_, alpha_W, alpha_H, l1_ratio)
    assert ours.objective_ == pytest.approx(
        objective(X, ours.factors_["W"], ours.components_, alpha_W, alpha_H, l1_ratio), rel=1e-9
    )
    assert ours.objective_ <= least * (1 + 1e-5)
    ours.components_[:] = theirs.components_  # the same problem for codes
    np.testing.assert_allclose(ours.transform(X[:5]), theirs.transform(X[:5]), atol=2e-4 * V.max())


def test_refused_input():
    for settings, told in (
        ({"alpha_W": -1}, "alpha_W must be a number"),
        ({"alpha_H": "none"}, "or 'same'; got 'none'"),
        ({"l1_ratio": 2}, "from 0 to 1"),
    ):
        with pytest.raises(IncompatibleError, match=told):
            NMF(3, **settings).fit(X)
    assert not hasattr(NMF(3, alpha_W=0.1), "partial_fit")
    with pytest.raises(IncompatibleError, match="penalty on its squares"):
        factorize(X, Model("W S H", constraints={"S": Sparse(0, 1)}), 3, solver="coordinate")
