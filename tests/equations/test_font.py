"""Li, Wu, Lu: Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering.

Eq. 7 is printed as S ∘ (Wᵀ W Hᵀ)/(Wᵀ S H Hᵀ), whose products do not even fit; it is S ∘ (Wᵀ V Hᵀ)/(Wᵀ W S H Hᵀ).
"""

import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.constraints import FixedMultiplier, NearOrthogonal
from nonneg.solvers import AlternatingLeastSquares

from .transcription import assert_close, assert_derived, assert_iterates, at, nonnegative, positive, spectral

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


FONT = Model("W S H", constraints={"W": FixedMultiplier("columns"), "H": FixedMultiplier("rows")}, data="V")
FONT_ALS = Model("W S H", constraints={"W": NearOrthogonal("columns"), "H": FixedMultiplier("rows")}, data="V")


def unit_columns(W):
    return W / np.linalg.norm(W, axis=0)


def unit_rows(H):
    return H / np.linalg.norm(H, axis=1, keepdims=True)


START = {"W": unit_columns(W), "S": S, "H": unit_rows(H)}


def eq_16(V, W, S, H):
    return (V @ H.T @ S.T + W) / (W @ S @ H @ H.T @ S.T)


def eq_17(V, W, S, H):
    return (S.T @ W.T @ V + H) / (S.T @ W.T @ W @ S @ H)


def eq_21(V, W, S, H):
    """(WᵀW + S H HᵀSᵀ) Wᵀ_new = Wᵀ + S H Vᵀ, negative entries set to zero."""
    return np.maximum(np.linalg.solve(W.T @ W + S @ H @ H.T @ S.T, W.T + S @ H @ V.T).T, 0)


def test_eq_16_font():
    assert_derived(FONT, "W ← W ∘ [(V Hᵀ Sᵀ + W) / (W S H Hᵀ Sᵀ)]", "FONT: FONT Eq. 16")


def test_eq_17_font():
    assert_derived(FONT, "H ← H ∘ [(Sᵀ Wᵀ V + H) / (Sᵀ Wᵀ W S H)]", "FONT: FONT Eq. 17")


def test_eq_7_font():
    assert_derived(FONT, "S ← S ∘ [(Wᵀ V Hᵀ) / (Wᵀ W S H Hᵀ)]", "FONT: FONT Eq. 7 (its misprints corrected)")


def test_eq_16_17_and_7_iterates():
    assert_iterates(V, FONT, START, {"W": eq_16, "S": eq_7, "H": eq_17}, then={"W": unit_columns, "H": unit_rows})


def test_eq_21_font():
    assert_derived(FONT_ALS, "W ← W ∘ [(V Hᵀ Sᵀ + W) / (W S H Hᵀ Sᵀ + W Wᵀ W)]^(1/3)", "FONT-ALS: FONT Eq. 21, to be solved for W")
    assert_derived(FONT_ALS, "S ← S ∘ [(Wᵀ V Hᵀ) / (Wᵀ W S H Hᵀ)]", "FONT-ALS: FONT Eq. 7 (its misprints corrected)")
    assert_derived(FONT_ALS, "H ← H ∘ [(Sᵀ Wᵀ V + H) / (Sᵀ Wᵀ W S H)]", "FONT-ALS: FONT Eq. 17")


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("steps", [1, 5])
def test_eq_21_iterates(store, steps):
    """Solved for W, negative entries to zero, columns to length one; then S and H as FONT."""
    matrices = {"V": V, **START}
    for _ in range(steps):
        solved = eq_21(**matrices)
        matrices |= {"W": unit_columns(solved)}
        matrices |= {"S": matrices["S"] * eq_7(**matrices)}
        matrices |= {"H": unit_rows(matrices["H"] * eq_17(**matrices))}
        assert np.any(solved == 0), "clipping is put to the test"
    solution = factorize(store(V), FONT_ALS, init=START, solver=AlternatingLeastSquares(("W",)), max_iter=steps, tol=0)
    for name in START:
        np.testing.assert_allclose(solution.factors[name], matrices[name], rtol=1e-12, atol=1e-15)


def test_fixed_points_of_eq_21_have_zero_penalised_gradient():
    """½‖V − WSH‖² + ¼‖WᵀW − I‖² has the gradient  W(S H HᵀSᵀ + WᵀW) − V HᵀSᵀ − W: zero is Eq. 21."""
    point = at(FONT_ALS, V, W=W, S=S, H=H)
    numerator, denominator = point.sides("W")
    assert_close(denominator - numerator, (W @ S @ H - V) @ H.T @ S.T + W @ W.T @ W - W)


def test_transposed():
    """The same for Vᵀ: rows of H take the part of columns of W."""
    mirror = Model("W S H", constraints={"W": FixedMultiplier("columns"), "H": NearOrthogonal("rows")}, data="V")
    assert mirror.rules["H"].published == ("FONT-ALS: FONT Eq. 21, to be solved for W, transposed",)
    solver = AlternatingLeastSquares(("H",))
    start = {"W": START["H"].T, "S": S.T, "H": START["W"].T}
    solution = factorize(V.T, mirror, init=start, solver=solver, max_iter=1, tol=0)
    W, H = start["W"], start["H"]
    W = unit_columns(W * (V.T @ H.T @ S + W) / (W @ S.T @ H @ H.T @ S))
    assert_close(solution.factors["W"], W)
    middle = S.T * (W.T @ V.T @ H.T) / (W.T @ W @ S.T @ H @ H.T)
    solved = np.linalg.solve(H @ H.T + middle.T @ W.T @ W @ middle, H + middle.T @ W.T @ V.T)
    np.testing.assert_allclose(solution.factors["H"], unit_rows(np.maximum(solved, 0)), rtol=1e-12, atol=1e-15)
