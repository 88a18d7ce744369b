"""Li, Wu, Lu: Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering.

Eq. 7 is printed as S ∘ (Wᵀ W Hᵀ)/(Wᵀ S H Hᵀ), whose products do not even fit; it is S ∘ (Wᵀ V Hᵀ)/(Wᵀ W S H Hᵀ).
"""

from nonneg import Model

from .transcription import assert_derived, assert_iterates, nonnegative, positive, spectral

V = nonnegative(8, 10)
W, S, H = positive(8, 3), positive(3, 4), positive(4, 10)

NMF = Model("W H", data="V")
ONMTF = Model("W S H", constraints={"W": "orthogonal", "H": "orthogonal-rows"}, data="V")


def eq_2(V, W, H):
    return (V @ H.T) / (W @ H @ H.T)


def eq_3(V, W, H):
    return (W.T @ V) / (W.T @ W @ H)


def eq_7(V, W, S, H):
    return (W.T @ V @ H.T) / (W.T @ W @ S @ H @ H.T)


def eq_11(V, W, S, H):
    return (V @ H.T @ S.T) / (W @ W.T @ V @ H.T @ S.T)


def eq_12(V, W, S, H):
    return (S.T @ W.T @ V) / (S.T @ W.T @ V @ H.T @ H)


def test_eq_2_nmf():
    assert_derived(NMF, "W ← W ∘ [(V Hᵀ) / (W H Hᵀ)]", "NMF: ONL Eq. 25, NNP Eq. 32, FONT Eq. 2")


def test_eq_3_nmf():
    assert_derived(NMF, "H ← H ∘ [(Wᵀ V) / (Wᵀ W H)]", "NMF: NNP Eq. 33, FONT Eq. 3")


def test_eq_2_and_3_iterates():
    assert_iterates(V, NMF, {"W": W, "H": H[:3]}, {"W": eq_2, "H": eq_3})


def test_eq_7_onmtf():
    assert_derived(ONMTF, "S ← S ∘ [(Wᵀ V Hᵀ) / (Wᵀ W S H Hᵀ)]", "ONMTF: FONT Eq. 7 (its misprints corrected)")


def test_eq_11_onmtf():
    assert_derived(ONMTF, "W ← W ∘ [(V Hᵀ Sᵀ) / (W Wᵀ V Hᵀ Sᵀ)]", "ONMTF: FONT Eq. 11")


def test_eq_12_onmtf():
    assert_derived(ONMTF, "H ← H ∘ [(Sᵀ Wᵀ V) / (Sᵀ Wᵀ V Hᵀ H)]", "ONMTF: FONT Eq. 12")


def test_eq_7_11_and_12_iterates():
    ratios = {"W": eq_11, "S": eq_7, "H": eq_12}
    assert_iterates(V, ONMTF, {"W": W, "S": S, "H": H}, ratios, then={"W": spectral, "H": spectral})
