"""Yang, Laaksonen: Multiplicative updates for non-negative projections."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel

from nonneg import Model, NonnegativeKernelFDA, NonnegativeLDA
from nonneg.exceptions import IncompatibleError

from .transcription import assert_close, assert_derived, assert_iterates, nonnegative, positive, spectral, symmetric

V, A = nonnegative(8, 10), symmetric(8)
W, H = positive(8, 3), positive(3, 10)


def eq_28(A, W):
    plus, minus = A * (A > 0), -A * (A < 0)  # Eq. 16
    return (plus @ W + W @ W.T @ minus @ W) / (minus @ W + W @ W.T @ plus @ W)


def eq_32(V, W, H):
    return (V @ H.T) / (W @ H @ H.T)


def eq_33(V, W, H):
    return (W.T @ V) / (W.T @ W @ H)


def eq_36(V, W):
    return 2 * (V @ V.T @ W) / (W @ W.T @ V @ V.T @ W + V @ V.T @ W @ W.T @ W)


def eq_40(V, W):
    return (V @ V.T @ W) / (W @ W.T @ V @ V.T @ W)


def test_eq_28_projection():
    model = Model("W.T A W", "trace", {"W": "orthogonal"}, data="A")
    assert_derived(
        model,
        "W ← W ∘ [(A⁺ W + W Wᵀ A⁻ W) / (A⁻ W + W Wᵀ A⁺ W)]^(1/2)",
        "ONL: ONL Eq. 41, NNP Eq. 28 (printed with exponent 1)",
    )
    assert_iterates(A, model, {"W": W}, {"W": eq_28}, proven=1 / 2, then={"W": spectral})


def test_eq_32_and_33_nmf():
    model = Model("W H", data="V")
    assert_derived(model, "W ← W ∘ [(V Hᵀ) / (W H Hᵀ)]", "NMF: ONL Eq. 25, NNP Eq. 32, FONT Eq. 2")
    assert_derived(model, "H ← H ∘ [(Wᵀ V) / (Wᵀ W H)]", "NMF: NNP Eq. 33, FONT Eq. 3")
    assert_iterates(V, model, {"W": W, "H": H}, {"W": eq_32, "H": eq_33})


def test_eq_36_pnmf():
    model = Model("W W.T V", data="V")
    assert_derived(
        model,
        "W ← W ∘ [(2 V Vᵀ W) / (W Wᵀ V Vᵀ W + V Vᵀ W Wᵀ W)]^(1/3)",
        "PNMF: PNMF Eq. 20, NNP Eq. 36 (printed with exponent 1)",
    )
    assert_iterates(V, model, {"W": W}, {"W": eq_36}, proven=1 / 3)


def test_eq_40_nlhn():
    model = Model("W W.T V", constraints={"W": "orthogonal"}, data="V")
    assert_derived(
        model,
        "W ← W ∘ [(V Vᵀ W) / (W Wᵀ V Vᵀ W)]^(1/3)",
        "OPNMF = NLHN: ONL Eq. 31, NNP Eq. 40 (printed with exponent 1)",
    )
    assert_iterates(V, model, {"W": W}, {"W": eq_40}, proven=1 / 3, then={"W": spectral})


def test_eq_52_the_rule_with_the_total_scatter():
    """NNP Eq. 21 with A = S_T, B = S_W, for features as they are."""
    X, y = np.random.default_rng(0).random((40, 5)), np.arange(40) % 2
    X[y == 1, 0] += 1
    start = positive(5, 1).ravel()
    model = NonnegativeLDA(rule="oja-total", flip=False, init=start, max_iter=3, tol=0).fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    S_T, S_W = np.cov(X.T, bias=True), np.mean([np.cov(X[y == c].T, bias=True) for c in (0, 1)], axis=0)
    assert_close(S_T - S_W, np.cov(means.T, bias=True))
    w = start / np.sqrt(start @ S_W @ start)
    for _ in range(3):
        w = w * (np.maximum(S_T, 0) @ w) / (np.maximum(-S_T, 0) @ w + w * (w @ S_W @ S_T @ w))
    np.testing.assert_allclose(model.components_[0] / model.components_[0].max(), w / w.max(), rtol=1e-12)
    with pytest.raises(IncompatibleError, match=r"Eq\. 52"):
        NonnegativeKernelFDA(rule="oja-total").fit(X, y)


@pytest.mark.parametrize("count", ["auto", 2])
def test_without_the_constraint(count):
    """positive=False is LDA, as scikit-learn has it, and KFDA (NNP Fig. 5): (S_W + ridge) w = d."""
    X, y = load_iris(return_X_y=True)
    X, y = (X[y > 0], y[y > 0]) if count == "auto" else (X, y)
    ours = NonnegativeLDA(count, positive=False, alpha=0.0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    for k, projection in enumerate(ours.transform(X).T):
        assert abs(np.corrcoef(projection, theirs.transform(X)[:, k])[0, 1]) == pytest.approx(1, abs=1e-10)
    assert ours.fisher_ratio_[0] >= NonnegativeLDA(count, alpha=0.0).fit(X, y).fisher_ratio_[0]
    if count == "auto":
        K = rbf_kernel(X, gamma=0.1)
        inner = K - np.array([K[y == c].mean(axis=0) for c in (1, 2)])[y - 1]
        S = inner.T @ inner / len(y)
        alpha = np.linalg.solve(S + 0.1 * np.diag(np.diag(S)), K[y == 2].mean(axis=0) - K[y == 1].mean(axis=0))
        found = NonnegativeKernelFDA(kernel="precomputed", positive=False, alpha=0.1).fit(K, y).dual_coef_[0]
        np.testing.assert_allclose(found / np.abs(found).max(), alpha / np.abs(alpha).max(), atol=1e-8)
    with pytest.raises(IncompatibleError, match="which keeps w ≥ 0"):
        NonnegativeLDA(positive=False, rule="oja").fit(X, y)
