"""Oja, Yang: Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial optimization.

The paper maximises, so its ∇⁺ and ∇⁻ are the engine's ∇⁻ and ∇⁺. The S + W and S − W of its Eq. 39 to 42 are S⁺ W and S⁻ W.
"""

import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.algebra.expression import Letter, parse
from nonneg.algebra.rewriting import Sum, cancel, reduce_identity
from nonneg.constraints import Orthogonal
from nonneg.divergences import Alpha
from nonneg.solve.solvers.multiplicative import moved
from nonneg.solvers import Multiplicative

from .transcription import (
    SWEEPS,
    assert_close,
    assert_derived,
    assert_iterates,
    at,
    frobenius,
    nonnegative,
    orthonormal,
    positive,
    spectral,
    symmetric,
    times,
    transcribed,
)

ORTHOGONAL = {"W": "orthogonal"}

X, S = nonnegative(8, 10), symmetric(8)
W, H, B = positive(8, 3), positive(3, 10), positive(3, 3)


def eq_12(plus, minus, W):
    return (plus + W @ W.T @ minus) / (minus + W @ W.T @ plus)


def eq_25(X, W, H):
    return (X @ H.T) / (W @ H @ H.T)


def eq_28(X, W, H):
    return (X @ H.T) / (W @ W.T @ X @ H.T)


def weights(X, W, H):
    """The rule of H beside Eq. 25 and 28 (§3.4)."""
    return (W.T @ X) / (W.T @ W @ H)


def eq_31(X, W):
    return (X @ X.T @ W) / (W @ W.T @ X @ X.T @ W)


def parts_of_eq_33(X, W):
    Z = X / (W @ W.T @ X)
    plus = X @ Z.T @ W + Z @ X.T @ W
    minus = (W.T @ X).sum(axis=1)[None, :] + X.sum(axis=1)[:, None] * W.sum(axis=0)[None, :]
    return plus, minus


def eq_34(X, W):
    plus, minus = parts_of_eq_33(X, W)
    return plus / minus


def eq_35(X, W):
    B, C = parts_of_eq_33(X, W)
    return (B + W @ W.T @ C) / (C + W @ W.T @ B)


def eq_39(S, W):
    plus, minus = (abs(S) + S) / 2, (abs(S) - S) / 2
    return (plus @ W) / (minus @ W)


def eq_41(S, W):
    plus, minus = (abs(S) + S) / 2, (abs(S) - S) / 2
    return (plus @ W + W @ W.T @ minus @ W) / (minus @ W + W @ W.T @ plus @ W)


UNSIMPLIFIED = [
    ("W H", "kullback-leibler", X, {"H": H}),
    ("W W.T X", "kullback-leibler", X, {}),
    ("W B W.T", Alpha(0.5), X[:, :8], {"B": B}),
    ("W.T X W", "trace", S, {}),
]
SIMPLIFIED = [("W H", X, {"H": H}), ("W W.T X", X, {}), ("W B W.T", X[:, :8], {"B": B})]


@pytest.mark.parametrize(("form", "divergence", "data", "others"), UNSIMPLIFIED)
@pytest.mark.parametrize("exponent", [1, 1 / 2], ids=["eq_12", "eq_20"])
def test_eq_12_and_20_principle(form, divergence, data, others, exponent):
    """Where Wᵀ W = I simplifies nothing, the orthogonal rule is Eq. 12, and Eq. 20 with the square root."""
    minus, plus = at(Model(form, divergence), data, W=W, **others).gradient("W")
    derived = moved(at(Model(form, divergence, ORTHOGONAL), data, W=W, **others), "W", exponent)
    assert_close(derived, W * eq_12(plus, minus, W) ** exponent)


@pytest.mark.parametrize(("form", "data", "others"), SIMPLIFIED)
def test_simplified_eq_12(form, data, others):
    """Steps 2 and 3 of Fig. 4 leave numerator − denominator as it is where Wᵀ W = I."""
    W = orthonormal(8, 3)
    minus, plus = at(Model(form), data, W=W, **others).gradient("W")
    numerator, denominator = at(Model(form, constraints=ORTHOGONAL), data, W=W, **others).sides("W")
    expected = (plus + W @ W.T @ minus) - (minus + W @ W.T @ plus)
    np.testing.assert_allclose(numerator - denominator, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_eq_25_nmf():
    model = Model("W H")
    assert_derived(model, "W ← W ∘ [(X Hᵀ) / (W H Hᵀ)]", "NMF: ONL Eq. 25, NNP Eq. 32, FONT Eq. 2")
    assert_iterates(X, model, {"W": W, "H": H}, {"W": eq_25, "H": weights})


def test_eq_26_to_28_steps():
    """The principle of Fig. 4 on NMF: add the multiplier terms, use Wᵀ W = I, remove duplicates."""
    rule = Model("W H").rules["W"]
    steps = principle(rule.negative, rule.positive)
    assert next(steps) == ("X Hᵀ + W Wᵀ W H Hᵀ", "W H Hᵀ + W Wᵀ X Hᵀ")  # Eq. 26
    assert next(steps) == ("X Hᵀ + W H Hᵀ", "W H Hᵀ + W Wᵀ X Hᵀ")  # Eq. 27
    assert next(steps) == ("X Hᵀ", "W Wᵀ X Hᵀ")  # Eq. 28


def eq_26(X, W, H):
    return (X @ H.T + W @ W.T @ W @ H @ H.T) / (W @ H @ H.T + W @ W.T @ X @ H.T)


def eq_27(X, W, H):
    return (X @ H.T + W @ H @ H.T) / (W @ W.T @ X @ H.T + W @ H @ H.T)


@pytest.mark.parametrize(
    ("steps", "line", "where", "printed", "proven"),
    [
        (
            1,
            "W ← W ∘ [(X Hᵀ + W Wᵀ W H Hᵀ) / (W H Hᵀ + W Wᵀ X Hᵀ)]^(1/2)",
            "ONMF: ONL Eq. 26, a case of QNMF Eq. 11 (printed with exponent 1)",
            eq_26,
            1 / 2,
        ),
        (2, "W ← W ∘ [(X Hᵀ + W H Hᵀ) / (W H Hᵀ + W Wᵀ X Hᵀ)]", "ONMF: ONL Eq. 27", eq_27, 1),
    ],
)
def test_eq_26_and_27_as_rules(steps, line, where, printed, proven):
    """The steps before Eq. 28 are rules too; the scale of W is kept, without which they overflow."""
    model = Model("W H", constraints={"W": Orthogonal(steps=steps)})
    assert_derived(model, line, where)
    assert_derived(model, "H ← H ∘ [(Wᵀ X) / (Wᵀ W H)]", "ONMF: ONL §3.4")
    start = {"W": W, "H": H}
    for solver, exponent in (Multiplicative(1), 1), (Multiplicative(), proven):
        ratios = {"W": lambda exponent=exponent, **matrices: printed(**matrices) ** exponent, "H": weights}
        expected = transcribed({"X": X, **start}, ratios, 1, {"W": spectral})
        for data in X, sparse.csr_array(X):
            solution = factorize(data, model, init=start, solver=solver, max_iter=SWEEPS, tol=0)
            for name in start:
                assert_close(solution.factors[name], expected[name])


def test_eq_29_to_31_steps():
    """The same on PNMF, from the parts of Eq. 29, one of which is a difference."""
    KW = Sum.of(parse("X X.T W"))
    minus = Sum.of(parse("W W.T X X.T W"), parse("X X.T W W.T W")) - KW
    rule = Model("W W.T X").rules["W"]
    assert KW - minus == rule.negative - rule.positive  # Eq. 29 divides up the same gradient
    steps = principle(KW, minus)
    assert next(steps) == (
        "X Xᵀ W + W Wᵀ W Wᵀ X Xᵀ W + W Wᵀ X Xᵀ W Wᵀ W − W Wᵀ X Xᵀ W",
        "2 W Wᵀ X Xᵀ W + X Xᵀ W Wᵀ W − X Xᵀ W",  # two of its terms are alike
    )  # Eq. 30
    assert next(steps) == ("X Xᵀ W + W Wᵀ X Xᵀ W", "2 W Wᵀ X Xᵀ W")
    assert next(steps) == ("X Xᵀ W", "W Wᵀ X Xᵀ W")  # Eq. 31


def principle(plus, minus):
    """Fig. 4, printed after each of its three steps."""
    WWT, inner = parse("W W.T"), Letter("W", transposed=True)
    numerator = plus + minus.rewritten(lambda word: WWT + word)
    denominator = minus + plus.rewritten(lambda word: WWT + word)
    yield str(numerator), str(denominator)
    numerator, denominator = (side.rewritten(lambda word: reduce_identity(word, inner)) for side in (numerator, denominator))
    yield str(numerator), str(denominator)
    numerator, denominator = cancel(numerator, denominator)
    yield str(numerator), str(denominator)


def test_eq_28_onmf():
    model = Model("W H", constraints=ORTHOGONAL)
    assert_derived(model, "W ← W ∘ [(X Hᵀ) / (W Wᵀ X Hᵀ)]", "ONMF: ONL Eq. 28")
    assert_derived(model, "H ← H ∘ [(Wᵀ X) / (Wᵀ W H)]", "ONMF: ONL §3.4")
    assert_iterates(X, model, {"W": W, "H": H}, {"W": eq_28, "H": weights}, then={"W": spectral})


def test_eq_31_opnmf():
    model = Model("W W.T X", constraints=ORTHOGONAL)
    assert_derived(
        model,
        "W ← W ∘ [(X Xᵀ W) / (W Wᵀ X Xᵀ W)]^(1/3)",
        "OPNMF = NLHN: ONL Eq. 31, NNP Eq. 40 (printed with exponent 1)",
    )
    assert_iterates(X, model, {"W": W}, {"W": eq_31}, proven=1 / 3, then={"W": spectral})


PLUS = "Z Xᵀ W + X Zᵀ W".replace("Z", "(X/X̂)")
MINUS = "1 Xᵀ W + X 1ᵀ W"  # Σ_j (Wᵀ X)_kj + (Σ_j X_ij)(Σ_a W_ak)


def test_eq_34_pnmf_divergence():
    model = Model("W W.T X", "kullback-leibler")
    assert_derived(
        model,
        f"W ← W ∘ [({PLUS}) / ({MINUS})]^(1/2)",
        "PNMF: PNMF Eq. 29, ONL Eq. 34 (printed with exponent 1)",
    )
    assert_iterates(X, model, {"W": W}, {"W": eq_34}, proven=1 / 2)


def test_eq_35_opnmf_divergence():
    model = Model("W W.T X", "kullback-leibler", ORTHOGONAL)
    assert_derived(
        model,
        f"W ← W ∘ [({PLUS} + {times('W Wᵀ', MINUS)}) / ({MINUS} + {times('W Wᵀ', PLUS)})]^(1/2)",
        "OPNMF: ONL Eq. 35 (printed with exponent 1)",
    )
    assert_iterates(X, model, {"W": W}, {"W": eq_35}, proven=1 / 2, then={"W": spectral})


def test_eq_39_and_40_nl():
    model = Model("W.T S W", "trace", data="S")
    assert_derived(
        model,
        "W ← W ∘ [(S⁺ W) / (S⁻ W)]^(1/2)",
        "√NL: ONL Eq. 40",
        "NL: ONL Eq. 39 (printed with exponent 1)",
    )
    near = 1 + W / 4  # further out, Eq. 39 takes entries to zero within a few steps
    assert_iterates(S, model, {"W": near}, {"W": eq_39}, printed=1, proven=1 / 2, then={"W": frobenius})


def test_eq_41_and_42_onl():
    model = Model("W.T S W", "trace", ORTHOGONAL, data="S")
    assert_derived(
        model,
        "W ← W ∘ [(S⁺ W + W Wᵀ S⁻ W) / (S⁻ W + W Wᵀ S⁺ W)]^(1/2)",
        "√ONL: ONL Eq. 42",
        "ONL: ONL Eq. 41, NNP Eq. 28 (printed with exponent 1)",
    )
    assert_iterates(S, model, {"W": W}, {"W": eq_41}, printed=1, proven=1 / 2, then={"W": spectral})
