"""Iterations as they are printed, order and normalisation included: PNMF Eq. 6–7; the additive rules of NNP and ONL."""

import numpy as np
import pytest
from scipy import sparse

from nonneg import NMF, OPNMF, Model, factorize
from nonneg.exceptions import IncompatibleError
from nonneg.solvers import Additive, Multiplicative
from tests.equations.transcription import nonnegative, positive, spectral

STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=0)


@STORES
def test_pnmf_eq_6_and_7(store):
    """Six iterations; V is features × samples in print, W its basis. NMF gives components length one at the end."""
    V, W, H = nonnegative(9, 12), positive(9, 3), positive(3, 12)
    start = {"W": H.T.copy(), "H": W.T.copy()}
    model = NMF(3, divergence="kullback-leibler", solver="paper", init=start, max_iter=6, tol=0).fit(store(V.T))
    printed = factorize(
        store(V), Model("W H", "kullback-leibler"), init={"W": W, "H": H}, solver=Multiplicative(basis="W"), max_iter=6, tol=0
    )
    for _ in range(6):
        W = W * ((V / (W @ H)) @ H.T)
        W = W / W.sum(axis=0)
        H = H * (W.T @ (V / (W @ H)))
    close(printed.factors["W"], W)
    close(printed.factors["H"], H)
    lengths = np.linalg.norm(W, axis=0)
    close(model.components_.T, W / lengths)
    close(model.factors_["W"].T, H * lengths[:, None])


def test_a_basis_of_other_forms():
    with pytest.raises(IncompatibleError, match="none of two factors"):
        factorize(positive(9, 12), Model("W S H"), 2, solver=Multiplicative(basis="W"))


A = nonnegative(9, 12) @ nonnegative(9, 12).T
START = spectral(positive(9, 3))
TRACE = Model("W.T S W", "trace", {"W": "orthogonal"}, data="S")
RATE = 1e-2


def oja(W):
    """NNP Eq. 14 and 27, A = Aᵀ, of half the trace; with W Wᵀ A W twice it is NNP Eq. 39, ONL Eq. 3."""
    G = A @ W
    return np.maximum(W + RATE / 2 * (2 * G - W @ W.T @ G - W @ G.T @ W), 0)


def stiefel(W):
    """NNP Eq. 29."""
    G = A @ W
    return np.maximum(W + RATE * (G - W @ G.T @ W), 0)


@STORES
@pytest.mark.parametrize(("along", "rule"), [("oja", oja), ("stiefel", stiefel)])
def test_oja(store, along, rule):
    found = factorize(store(A), TRACE, init={"W": START}, solver=Additive(RATE / 2, along), max_iter=4, tol=0).factors["W"]
    W = START
    for _ in range(4):
        W = rule(W)
    close(found, W)


@STORES
def test_oja_of_samples(store):
    """NNP Eq. 39 and ONL Eq. 3: both terms are the same where Wᵀ X Xᵀ W is symmetric."""
    W, gamma = START, 1e-3
    expected = np.maximum(W + gamma * (A @ W - W @ W.T @ A @ W), 0)
    found = factorize(store(A), TRACE, init={"W": W}, solver=Additive(gamma / 2, "oja"), max_iter=1, tol=0).factors["W"]
    close(found, expected)


@STORES
@pytest.mark.parametrize("zeta", [0.3, 1.0, 1.5])
def test_nnp_eq_7(store, zeta):
    """The step ζ in the metric g⁻/w; ζ = 1 is the multiplicative rule."""
    V, W = nonnegative(9, 12), positive(9, 3)
    K = V @ V.T
    plus, minus = 2 * K @ W, W @ W.T @ K @ W + K @ W @ W.T @ W
    found = factorize(store(V), Model("W W.T X"), init={"W": W}, solver=Additive(zeta), max_iter=1, tol=0).factors["W"]
    close(found, np.maximum(W + zeta * W / minus * (plus - minus), 0))
    if zeta == 1:
        rule = factorize(store(V), Model("W W.T X"), init={"W": W}, solver=Multiplicative(1), max_iter=1, tol=0).factors["W"]
        close(found, rule)


def test_the_gradient():
    """NNP Eq. 1 and 23, of ½‖X − W H‖²."""
    V, W, H = nonnegative(9, 12), positive(9, 3), positive(3, 12)
    found = factorize(V, Model("W H"), init={"W": W, "H": H}, solver=Additive(1e-3, "gradient"), max_iter=1, tol=0).factors
    W = np.maximum(W + 1e-3 * (V - W @ H) @ H.T, 0)
    close(found["W"], W)
    close(found["H"], np.maximum(H + 1e-3 * W.T @ (V - W @ H), 0))


@STORES
def test_nnp_eq_38(store):
    """One sample after the other, and nothing kept of those before it; W is divided by its spectral norm."""
    V = positive(9, 12)
    model = OPNMF(3, solver="paper", forgetting=0, init=START.T, max_iter=1, tol=0).fit(store(V.T))
    W = model.factors_["W"]
    for v in V.T[:, :, None]:
        model.partial_fit(store(v.T))
        W = spectral(W * (v @ (v.T @ W)) / (W @ (W.T @ v) @ (v.T @ W)))
    close(model.factors_["W"], W)


@STORES
@pytest.mark.parametrize(("divergence", "exponent"), [("euclidean", 1 / 4), ("kullback-leibler", 1 / 2)])
def test_a_diagonal_factor(store, divergence, exponent):
    """W B Wᵀ with B diagonal, QNMF §2: the rules of QNMF Eq. 8 and 9, and zeros off the diagonal."""
    X, W, b = A, positive(9, 3), np.diag(positive(3, 1).ravel())
    model = Model("W B W.T", divergence, {"B": "diagonal"})
    found = factorize(store(X), model, init={"W": W, "B": b}, solver=Multiplicative(), max_iter=1, tol=0).factors

    def sides(W, b):
        Y = W @ b @ W.T
        return (X, Y) if divergence == "euclidean" else (X / Y, np.ones_like(Y))

    Q, P = sides(W, b)
    W = W * ((Q @ W @ b + Q.T @ W @ b) / (P @ W @ b + P.T @ W @ b)) ** exponent
    Q, P = sides(W, b)
    close(found["W"], W)
    close(found["B"], np.where(np.eye(3), b * (W.T @ Q @ W) / (W.T @ P @ W), 0))
    solution = factorize(store(X), model, 3, random_state=0)
    assert solution.status.name == "CONVERGED"
    assert np.count_nonzero(solution.factors["B"]) <= 3
    assert solution.objective >= factorize(store(X), Model("W B W.T", divergence), 3, random_state=0).objective * (1 - 1e-2)


def test_a_small_rate_leads_to_the_subspace_rule_of_pca():
    """The rule of ONL Eq. 3 ends at non-negative W with WᵀW near I, where its multiplicative kin ends."""
    S = np.kron(np.eye(3), np.ones((3, 3))) + 0.01
    solution = factorize(S, TRACE, 3, init={"W": START}, solver=Additive(0.02, "oja"), max_iter=3000, tol=0)
    W = solution.factors["W"]
    assert np.abs(W.T @ W - np.eye(3)).max() < 0.05
    assert solution.objective == pytest.approx(9, rel=0.02)


def test_refusals_of_additive_steps():
    for settings, told in (((0,), "rate must be"), ((1, "uphill"), "along must be one of 'natural'")):
        with pytest.raises(IncompatibleError, match=told):
            Additive(*settings)
    with pytest.raises(IncompatibleError, match="H has some"):
        factorize(A, Model("W H", constraints={"H": "signed"}), 2, solver=Additive())
