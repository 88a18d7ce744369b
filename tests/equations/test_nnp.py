"""Yang, Laaksonen: Multiplicative updates for non-negative projections."""

from nonneg import Model

from .transcription import assert_derived, assert_iterates, nonnegative, positive, spectral, symmetric

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
