"""Yuan, Yang, Oja: Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering."""

import numpy as np
import pytest

from nonneg import Model
from nonneg.solve.solvers.multiplicative import moved

from .transcription import SWEEPS, assert_close, assert_derived, assert_iterates, at, nonnegative, positive

V, W, H = nonnegative(8, 10), positive(8, 3), positive(3, 10)

NMF = Model("W H", "kullback-leibler", data="V")
EUCLIDEAN = Model("W W.T V", data="V")
DIVERGENCE = Model("W W.T V", "kullback-leibler", data="V")


def eq_6(V, W, H):
    return np.einsum("iu,au->ia", V / (W @ H), H)


def eq_7(V, W, H):
    return np.einsum("ia,iu->au", W, V / (W @ H))


def eq_20(V, W):
    return 2 * (V @ V.T @ W) / (W @ W.T @ V @ V.T @ W + V @ V.T @ W @ W.T @ W)


def eq_21(V, W):
    return np.sqrt(np.trace(W @ W.T @ V @ V.T) / np.trace(W @ W.T @ V @ V.T @ W @ W.T))


def eq_29(V, W):
    ratio, ones = V / (W @ W.T @ V), np.ones_like(V)
    numerator = np.einsum("jk,ik->ij", W.T @ V, ratio) + np.einsum("ik,lj,lk->ij", V, W, ratio)
    return numerator / (np.einsum("jk,ik->ij", W.T @ V, ones) + np.einsum("lj,ik->ij", W, V))


def eq_30(V, W):
    return np.sqrt(V.sum() / (W @ W.T @ V).sum())


def test_eq_6_nmf_divergence():
    assert_derived(
        NMF,
        "W ← W ∘ [((V/X̂) Hᵀ) / (1 Hᵀ)]",
        "NMF: PNMF Eq. 6 (whose normalisation stands for the denominator)",
    )


def test_eq_7_nmf_divergence():
    assert_derived(
        NMF,
        "H ← H ∘ [(Wᵀ (V/X̂)) / (Wᵀ 1)]",
        "NMF: PNMF Eq. 7 (whose normalisation of W stands for the denominator)",
    )


def test_eq_6_and_7_iterates():
    """The denominator of W's rule is the same down a column, that of H's is one where columns of W sum to one."""
    basis, weights = W / W.sum(axis=0), H
    for _ in range(SWEEPS):
        printed = basis * eq_6(V, basis, weights)
        derived = moved(at(NMF, V, W=basis, H=weights), "W", 1)
        basis = printed / printed.sum(axis=0)
        assert_close(derived / derived.sum(axis=0), basis)
        derived = moved(at(NMF, V, W=basis, H=weights), "H", 1)
        weights = weights * eq_7(V, basis, weights)
        assert_close(derived, weights)


def test_eq_6_and_7_with_their_denominators():
    ratios = {
        "W": lambda V, W, H: eq_6(V, W, H) / H.sum(axis=1),
        "H": lambda V, W, H: eq_7(V, W, H) / W.sum(axis=0)[:, None],
    }
    assert_iterates(V, NMF, {"W": W, "H": H}, ratios)


def test_eq_20_pnmf_euclidean():
    assert_derived(
        EUCLIDEAN,
        "W ← W ∘ [(2 V Vᵀ W) / (W Wᵀ V Vᵀ W + V Vᵀ W Wᵀ W)]^(1/3)",
        "PNMF: PNMF Eq. 20, NNP Eq. 36 (printed with exponent 1)",
    )
    assert_iterates(V, EUCLIDEAN, {"W": W}, {"W": eq_20}, proven=1 / 3)


def test_eq_29_pnmf_divergence():
    assert_derived(
        DIVERGENCE,
        "W ← W ∘ [((V/X̂) Vᵀ W + V (V/X̂)ᵀ W) / (1 Vᵀ W + V 1ᵀ W)]^(1/2)",
        "PNMF: PNMF Eq. 29, ONL Eq. 34 (printed with exponent 1)",
    )
    assert_iterates(V, DIVERGENCE, {"W": W}, {"W": eq_29}, proven=1 / 2)


def normalised(equation):
    return {"W": lambda W: W * equation(V, W)}


def test_eq_21_normalisation():
    assert_iterates(V, EUCLIDEAN, {"W": W}, {"W": eq_20}, proven=1 / 3, then=normalised(eq_21), rescale=True)


def test_eq_30_normalisation():
    assert_iterates(V, DIVERGENCE, {"W": W}, {"W": eq_29}, proven=1 / 2, then=normalised(eq_30), rescale=True)


@pytest.mark.parametrize(("model", "expected"), [(EUCLIDEAN, eq_21), (DIVERGENCE, eq_30)], ids=["eq_14", "eq_22"])
def test_eq_14_and_22_best_scale(model, expected):
    """Lemmas 1 and 2: the λ of min D(V ‖ λ W Wᵀ V)."""
    assert_close(model.divergence.scale(at(model, V, W=W).sums("W")), expected(V, W) ** 2)
