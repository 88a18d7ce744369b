"""Yang, Oja: Quadratic nonnegative matrix factorization.

The β of the paper is one less than the number of ``Beta``. For α < 0 Table 1 keeps P = 1 and Q = (X/X̂)^α and has a negative
η = 1/(2α − 2); the engine has P and Q the other way round and η = 1/(2 − 2α), which is the same rule. The exponents for a factor
that occurs once are not in the paper, but derived as it does.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from nonneg import Gram, Model, factorize
from nonneg.constraints import Orthogonal
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Polynomial, Renyi
from nonneg.solve.solvers.multiplicative import moved
from nonneg.solvers import Multiplicative
from nonneg.testing import assert_kkt, divergence_parts, divergence_value

from .transcription import (
    SWEEPS,
    assert_close,
    assert_derived,
    assert_iterates,
    assert_printed,
    at,
    nonnegative,
    orthonormal,
    positive,
    transcribed,
)

pytestmark = pytest.mark.wide(one_in=3)


LINEAR, QUADRATIC = "A W C", "A W B W.T C"
FORMS = pytest.mark.parametrize("form", [LINEAR, QUADRATIC], ids=["linear", "quadratic"])

X, W = positive(6, 7), positive(5, 3)
GIVEN = {
    LINEAR: {"A": positive(6, 5), "C": positive(3, 7)},
    QUADRATIC: {"A": positive(6, 5), "B": positive(3, 3), "C": positive(5, 7)},
}


def approximation(form):
    if form == LINEAR:
        A, C = GIVEN[form].values()
        return A @ W @ C
    A, B, C = GIVEN[form].values()
    return A @ W @ B @ W.T @ C


def gradient(form, M):
    """What M = P or Q of ∂D/∂X̂ makes in the gradient by W: each side of Eq. 9, or its one term where W occurs once."""
    if form == LINEAR:
        A, C = GIVEN[form].values()
        return A.T @ M @ C.T
    A, B, C = GIVEN[form].values()
    return A.T @ M @ C.T @ W @ B.T + C @ M.T @ A @ W @ B


def model(form, divergence, constraint=None):
    return Model(form, divergence, dict.fromkeys(GIVEN[form], "fixed") | {"W": constraint})


def point(form, divergence, constraint=None):
    return at(model(form, divergence, constraint), X, W=W, **GIVEN[form])


# Table 1


def one(X, Y, p):
    return np.ones_like(X)


def ratio(X, Y, p):
    return X**p * Y**-p


def power(X, Y, p):
    return Y**p


def weighted(X, Y, p):
    return X * Y ** (p - 1)


def no_theta(X, Y, p):
    return 1.0


def gamma_theta(X, Y, p):
    return (Y ** (p + 1)).sum() / (X * Y**p).sum()


def renyi_theta(X, Y, p):
    return Y.sum() / (X**p * Y ** (1 - p)).sum()


def beta(p):
    return Beta(p + 1)


class Row(NamedTuple):
    """A line of Table 1: P, Q and θ as functions of X, X̂ and the parameter; the exponents as functions of the parameter."""

    divergence: Callable
    P: Callable
    Q: Callable
    theta: Callable
    linear: Callable
    """(ψmax, ψmin) for a factor that occurs once."""
    quadratic: Callable
    """(ψmax, ψmin) for one that occurs twice."""
    eta: Callable
    """The η of the paper, for one that occurs twice."""

    def psi(self, form, p):
        return self.linear(p) if form == LINEAR else self.quadratic(p)


TABLE = {
    "α > 1": (
        Row(Alpha, one, ratio, no_theta, lambda a: (1, 1 - a), lambda a: (2, 2 - 2 * a), lambda a: 1 / (2 * a)),
        (1, 1.5, 2, 3),
    ),
    "0 < α < 1": (
        Row(Alpha, one, ratio, no_theta, lambda a: (1, 1 - a), lambda a: (2, 0), lambda a: 1 / 2),
        (0.25, 0.5, 0.75, 1),
    ),
    "α < 0": (
        Row(Alpha, ratio, one, no_theta, lambda a: (1 - a, 1), lambda a: (2 - 2 * a, 0), lambda a: 1 / (2 - 2 * a)),
        (-0.25, -1, -2),
    ),
    "β ≥ 1": (
        Row(beta, power, weighted, no_theta, lambda b: (1 + b, 1), lambda b: (2 + 2 * b, 0), lambda b: 1 / (2 + 2 * b)),
        (1, 1.5, 2),
    ),
    "0 ≤ β < 1": (
        Row(beta, power, weighted, no_theta, lambda b: (1 + b, b), lambda b: (2 + 2 * b, 0), lambda b: 1 / (2 + 2 * b)),
        (0, 0.25, 0.5, 0.75, 1),
    ),
    "β < 0": (
        Row(beta, power, weighted, no_theta, lambda b: (1, b), lambda b: (2, 2 * b), lambda b: 1 / (2 - 2 * b)),
        (-0.5, -1, -2),
    ),
    "γ > 0": (
        Row(Gamma, power, weighted, gamma_theta, lambda g: (1 + g, 0), lambda g: (2 + 2 * g, 0), lambda g: 1 / (2 + 2 * g)),
        (0, 0.5, 1, 2),
    ),
    "γ < 0": (
        Row(Gamma, power, weighted, gamma_theta, lambda g: (1, g), lambda g: (2, 2 * g), lambda g: 1 / (2 - 2 * g)),
        (-0.5, -1.5, -2),
    ),
    "r > 1": (
        Row(Renyi, one, ratio, renyi_theta, lambda r: (1, 1 - r), lambda r: (2, 2 - 2 * r), lambda r: 1 / (2 * r)),
        (1, 1.5, 2),
    ),
    "0 < r < 1": (
        Row(Renyi, one, ratio, renyi_theta, lambda r: (1, 0), lambda r: (2, 0), lambda r: 1 / 2),
        (0.25, 0.5, 1),
    ),
}
TABLE_1 = pytest.mark.parametrize(
    ("row", "p"), [pytest.param(row, p, id=f"{name}, {p:g}") for name, (row, values) in TABLE.items() for p in values]
)


@FORMS
@TABLE_1
def test_table_1_exponents(form, row, p):
    rule = model(form, row.divergence(p)).rules["W"]
    psi_max, psi_min = row.psi(form, p)
    assert (rule.bounds.psi_max, rule.bounds.psi_min) == pytest.approx((psi_max, psi_min))
    assert rule.exponent == pytest.approx(1 / (psi_max - psi_min))
    if form == QUADRATIC:
        assert rule.exponent == pytest.approx(row.eta(p))


@TABLE_1
def test_table_1_parts(row, p):
    """P, Q and θ entry by entry: for X̂ = W the two sides of the rule are θQ and P."""
    Y = positive(*X.shape, seed=1)
    here = at(Model("W", row.divergence(p)), X, W=Y)
    P, Q, theta = row.P(X, Y, p), row.Q(X, Y, p), row.theta(X, Y, p)
    for derived, expected in zip(here.sides("W"), (theta * Q, P), strict=True):
        assert_close(derived, expected)


@FORMS
@TABLE_1
def test_eq_9_with_table_1(form, row, p):
    Y = approximation(form)
    numerator, denominator = gradient(form, row.Q(X, Y, p)), gradient(form, row.P(X, Y, p))
    psi_max, psi_min = row.psi(form, p)
    here, solver = point(form, row.divergence(p)), Multiplicative()
    derived = solver.step(here, solver.new_state(here.problem)).factors["W"]
    assert_close(derived, W * (numerator / denominator * row.theta(X, Y, p)) ** (1 / (psi_max - psi_min)))


@pytest.mark.parametrize("alpha", [-0.25, -1, -2])
def test_table_1_as_printed_for_negative_alpha(alpha):
    """P = 1, Q = (X/X̂)^α and a negative η, as for any other α, is the rule of the engine."""
    Y = approximation(QUADRATIC)
    printed = W * (gradient(QUADRATIC, (X / Y) ** alpha) / gradient(QUADRATIC, np.ones_like(X))) ** (1 / (2 * alpha - 2))
    here = point(QUADRATIC, Alpha(alpha))
    assert_close(moved(here, "W", here.problem.model.rules["W"].exponent), printed)


@FORMS
@TABLE_1
def test_table_1_gradient(form, row, p):
    """The gradient has the numbers that a ratio loses: 1/|α|, or one over each of the two sums in θ."""
    Y = approximation(form)
    P, Q = row.P(X, Y, p), row.Q(X, Y, p)
    if row.divergence is Alpha:
        P, Q = P / abs(p), Q / abs(p)
    elif row.theta is not no_theta:
        P, Q = P / (P * Y).sum(), Q / (Q * Y).sum()
    for derived, M in zip(point(form, row.divergence(p)).gradient("W"), (P, Q), strict=True):
        assert_close(derived, gradient(form, M))


@FORMS
@TABLE_1
def test_table_1_best_scale(form, row, p):
    """The λ of min D(X ‖ λX̂), where there is one: ΣP∘X̂ = ΣQ∘X̂ at λX̂, as in Lemmas 1 and 2 of PNMF."""
    Y = approximation(form)
    scale = row.divergence(p).scale(point(form, row.divergence(p)).sums("W"))
    if row.theta is no_theta:
        assert_close((row.P(X, scale * Y, p) * Y).sum(), (row.Q(X, scale * Y, p) * Y).sum())
    else:
        assert scale == 1


@pytest.mark.parametrize(
    ("divergence", "P", "Q", "eta"),
    [
        (Alpha(2), "1", "[(X/X̂)^(2)]", "1/4"),
        (Alpha(0.5), "1", "[(X/X̂)^(1/2)]", "1/2"),
        (Alpha(-1), "[(X/X̂)^(-1)]", "1", "1/4"),
        (Beta(3), "[X̂^(2)]", "[(X/X̂)∘X̂^(2)]", "1/6"),
        (Beta(2), "A W B Wᵀ C", "X", "1/4"),
        (Beta(1.5), "[X̂^(1/2)]", "[(X/X̂)∘X̂^(1/2)]", "1/3"),
        (Beta(1), "1", "(X/X̂)", "1/2"),
        (Beta(0), "[X̂^(-1)]", "[(X/X̂)∘X̂^(-1)]", "1/4"),
        (Gamma(0.5), "[X̂^(1/2)]", "θ [(X/X̂)∘X̂^(1/2)]", "1/3"),
        (Gamma(-2), "[X̂^(-2)]", "θ [(X/X̂)∘X̂^(-2)]", "1/6"),
        (Renyi(2), "1", "θ [(X/X̂)^(2)]", "1/4"),
        (Renyi(0.5), "1", "θ [(X/X̂)^(1/2)]", "1/2"),
    ],
    ids=repr,
)
def test_eq_9_in_print(divergence, P, Q, eta):
    def side(M):
        theta, M = ("θ ", M.removeprefix("θ ")) if "θ" in M else ("", M)
        MT = " ".join(letter + "ᵀ" if not letter.endswith("ᵀ") else letter[:-1] for letter in reversed(M.split()))
        return f"{theta}Aᵀ {M} Cᵀ W Bᵀ + {theta}C {MT} A W B"

    derived = model(QUADRATIC, divergence)
    assert_derived(derived, f"W ← W ∘ [({side(Q)}) / ({side(P)})]^({eta})", "QNMF Eq. 9, Table 1")
    assert ("θ = ΣP∘X̂ / ΣQ∘X̂ (QNMF Table 1)" in str(derived)) == ("θ" in Q)


# The dual I-divergence, the exception to Eq. 8


def test_eq_9_dual_i_in_print():
    assert_printed(
        model(QUADRATIC, "dual-i"),
        "W ← W ∘ exp[1/2 (Aᵀ ln(X/X̂) Cᵀ W Bᵀ + C ln(X/X̂)ᵀ A W B) / (Aᵀ 1 Cᵀ W Bᵀ + C 1ᵀ A W B)]",
        "QNMF §3.2, dual I-divergence",
    )


@pytest.mark.parametrize(("form", "half"), [(LINEAR, 1), (QUADRATIC, 1 / 2)])
def test_eq_9_dual_i(form, half):
    P, Q = np.ones_like(X), np.log(X / approximation(form))
    here, solver = point(form, DualI()), Multiplicative()
    derived = solver.step(here, solver.new_state(here.problem)).factors["W"]
    assert_close(derived, W * np.exp(half * gradient(form, Q) / gradient(form, P)))
    plus, minus = here.gradient("W")
    assert_close(plus - minus, -gradient(form, Q))


@FORMS
@pytest.mark.parametrize("constraint", [None, "stochastic", "stochastic-rows", "stochastic-matrix", "orthogonal"])
def test_dual_i_is_a_limit(form, constraint):
    """The sides of the exponential rule are where […]^(1/α) of Eq. 8, 10 and 11 goes for α → 0."""
    alpha = 1e-6
    numerator, denominator = point(form, Alpha(alpha), constraint).sides("W")
    above, below = point(form, DualI(), constraint).sides("W")
    np.testing.assert_allclose((numerator / denominator) ** (1 / alpha), np.exp(above / below), rtol=1e-4)


# Theorem 1 and its examples


@pytest.mark.parametrize("form", ["W H", "W H W.T", "W W.T X"])
@pytest.mark.parametrize("divergence", [Alpha(-1), Alpha(2), Beta(0), Beta(1), Beta(2), Gamma(0.5), Renyi(0.5)], ids=repr)
def test_eq_8_multiplicative_rule(form, divergence):
    derived, S = Model(form, divergence), positive(6, 6)
    factors = {"W": positive(6, 3), "H": positive(3, 6) if form == "W H" else positive(3, 3)}
    here = at(derived, S, **{name: factors[name] for name in derived.learned})
    plus, minus = here.gradient("W")
    eta = 1 / (derived.rules["W"].bounds.psi_max - derived.rules["W"].bounds.psi_min)
    solver = Multiplicative()
    assert_close(solver.step(here, solver.new_state(here.problem)).factors["W"], factors["W"] * (minus / plus) ** eta)


def eq_9_example(X, W, B):
    return (X @ W @ B.T + X.T @ W @ B) / (W @ B @ W.T @ W @ B.T + W @ B.T @ W.T @ W @ B)


def test_eq_9_example():
    example = Model("W B W.T", constraints={"B": "fixed"})
    line = "W ← W ∘ [(X W Bᵀ + Xᵀ W B) / (W B Wᵀ W Bᵀ + W Bᵀ Wᵀ W B)]^(1/4)"
    assert_derived(Model("W B W.T"), line, "QNMF Eq. 9 (example)")
    start = {"W": positive(7, 3), "B": positive(3, 3)}
    assert_iterates(nonnegative(7, 7), example, start, {"W": eq_9_example}, printed=1 / 4, proven=1 / 4)


def convex_basis(X, W, H):
    """The rule of Ding, Li and Jordan for W in X ≈ X W Gᵀ, its G being Hᵀ; of XᵀX they take the parts of either sign."""
    A = X.T @ X
    plus, minus = (abs(A) + A) / 2, (abs(A) - A) / 2
    return (plus @ H.T + minus @ W @ H @ H.T) / (minus @ H.T + plus @ W @ H @ H.T)


def convex_codes(X, W, H):
    """Their rule for G."""
    A, G = X.T @ X, H.T
    plus, minus = (abs(A) + A) / 2, (abs(A) - A) / 2
    return ((plus @ W + G @ W.T @ minus @ W) / (minus @ W + G @ W.T @ plus @ W)).T


CONVEX = "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)"


def test_convex_nmf():
    """§2: the input is a factor. For non-negative X the rule is Ding, Li and Jordan's, which they print with a square root."""
    convex = Model("X W H")
    assert_derived(convex, "W ← W ∘ [(Xᵀ X Hᵀ) / (Xᵀ X W H Hᵀ)]", f"{CONVEX} (printed with exponent 0.5)")
    assert_derived(convex, "H ← H ∘ [(Wᵀ Xᵀ X) / (Wᵀ Xᵀ X W H)]", f"{CONVEX} (printed with exponent 0.5)")
    start = {"W": positive(7, 3), "H": positive(3, 7)}
    assert_iterates(nonnegative(6, 7), convex, start, {"W": convex_basis, "H": convex_codes}, printed=1 / 2)
    assert Model("H W X").rules["W"].published == (f"{CONVEX}, transposed (printed with exponent 0.5)",)


@pytest.mark.parametrize("seed", range(3))
def test_convex_nmf_by_default(seed):
    """The default solver ends where the K.K.T. conditions hold, no higher than the printed rule from the same start."""
    data, start = nonnegative(12, 9, seed=seed), {"W": positive(9, 2, seed=seed), "H": positive(2, 9, seed=seed)}
    solution = factorize(data, "X W H", init=start, tol=0)
    assert_kkt(Model("X W H"), data, solution.factors, tol=1e-5)
    printed = factorize(data, "X W H", init=start, solver=Multiplicative(1 / 2), max_iter=2000, tol=0)
    assert solution.objective <= printed.objective * (1 + 1e-6)


def kernel_pnmf(K, W):
    return (2 * K @ W) / (W @ W.T @ K @ W + K @ W @ W.T @ W)


def test_kernel_pnmf():
    """§5.1: the exponent is 1/3, from data as from their Gram matrix alone."""
    pnmf, data = Model("W W.T X"), nonnegative(6, 9)
    line = "W ← W ∘ [(2 X Xᵀ W) / (W Wᵀ X Xᵀ W + X Xᵀ W Wᵀ W)]^(1/3)"
    assert_derived(pnmf, line, "PNMF: QNMF §5.1")
    assert (pnmf.rules["W"].bounds.psi_max, pnmf.rules["W"].bounds.psi_min) == (4, 1)
    start = {"W": positive(6, 3)}
    expected = transcribed({"K": data @ data.T, **start}, {"W": kernel_pnmf}, 1 / 3)
    for given in data, Gram(data @ data.T):
        solution = factorize(given, pnmf, init=start, solver=Multiplicative(), max_iter=SWEEPS, tol=0)
        assert_close(solution.factors["W"], expected["W"])
        assert_close(solution.objective, np.sum((data - expected["W"] @ expected["W"].T @ data) ** 2) / 2)


# Theorem 2

AXES = {"columns": 0, "rows": 1, "matrix": None}


def eq_10(minus, plus, W, axis):
    more, less = ((part * W).sum(axis=AXES[axis], keepdims=True) for part in (plus, minus))
    return (minus + more) / (plus + less)


@FORMS
@pytest.mark.parametrize("axis", AXES)
@TABLE_1
def test_eq_10_stochastic(form, axis, row, p):
    Y = approximation(form)
    minus, plus = gradient(form, row.theta(X, Y, p) * row.Q(X, Y, p)), gradient(form, row.P(X, Y, p))
    psi_max, psi_min = row.psi(form, p)
    sigma = 1 / (max(psi_max, 1) - min(psi_min, 1))
    here = point(form, row.divergence(p), f"stochastic-{axis}")
    exponent = here.problem.model.rules["W"].exponent
    assert exponent == pytest.approx(sigma)
    assert_close(moved(here, "W", exponent), W * eq_10(minus, plus, W, axis) ** sigma)


@pytest.mark.parametrize(
    ("axis", "more", "less"),
    [
        ("columns", "1 1ᵀ(W∘(W H Hᵀ))", "1 1ᵀ(W∘(X Hᵀ))"),
        ("rows", "(W∘(W H Hᵀ))1 1ᵀ", "(W∘(X Hᵀ))1 1ᵀ"),
        ("matrix", "1 1ᵀ(W∘(W H Hᵀ))1 1ᵀ", "1 1ᵀ(W∘(X Hᵀ))1 1ᵀ"),
    ],
)
def test_eq_10_in_print(axis, more, less):
    derived = Model("W H", constraints={"W": f"stochastic-{axis}"})
    assert_printed(derived, f"W ← W ∘ [(X Hᵀ + {more}) / (W H Hᵀ + {less})]", "QNMF Theorem 2, Eq. 10")


def test_eq_10_hidden_markov_chain():
    """§5.3: X ≈ W Y Wᵀ, the columns of W and all of Y summing to one, several sweeps."""

    def basis(X, W, Y):
        minus, plus = X @ W @ Y.T + X.T @ W @ Y, W @ Y @ W.T @ W @ Y.T + W @ Y.T @ W.T @ W @ Y
        return eq_10(minus, plus, W, "columns") ** (1 / 4)

    def core(X, W, Y):
        return eq_10(W.T @ X @ W, W.T @ W @ Y @ W.T @ W, Y, "matrix")

    hmm = Model("W Y W.T", constraints={"W": "stochastic-columns", "Y": "stochastic-matrix"})
    assert [rule.exponent for rule in hmm.rules.values()] == pytest.approx([1 / 4, 1])
    data = nonnegative(7, 7)
    then = {"W": lambda W: W / W.sum(axis=0), "Y": lambda Y: Y / Y.sum()}
    start = {"W": then["W"](positive(7, 3)), "Y": then["Y"](positive(3, 3))}
    expected = transcribed({"X": data, **start}, {"W": basis, "Y": core}, 1, then)
    solution = factorize(data, hmm, init=start, solver=Multiplicative(), max_iter=SWEEPS, tol=0)
    for name in start:
        assert_close(solution.factors[name], expected[name])


# Theorem 3 and Corollary 4


@FORMS
@TABLE_1
def test_eq_11_orthogonal(form, row, p):
    """Between given matrices Wᵀ W = I simplifies nothing, and the rule is Eq. 11 as it stands."""
    Y = approximation(form)
    minus, plus = gradient(form, row.theta(X, Y, p) * row.Q(X, Y, p)), gradient(form, row.P(X, Y, p))
    psi_max, psi_min = row.psi(form, p)
    sigma = 1 / (max(psi_max, 2) - min(psi_min, 0))
    here = point(form, row.divergence(p), "orthogonal")
    exponent = here.problem.model.rules["W"].exponent
    assert exponent == pytest.approx(sigma)
    assert_close(moved(here, "W", exponent), W * ((minus + W @ W.T @ plus) / (plus + W @ W.T @ minus)) ** sigma)


def test_eq_11_in_print():
    assert_derived(
        Model("W H", "kullback-leibler", {"W": "orthogonal"}),
        "W ← W ∘ [((X/X̂) Hᵀ + W Wᵀ 1 Hᵀ) / (1 Hᵀ + W Wᵀ (X/X̂) Hᵀ)]^(1/2)",
        "QNMF Theorem 3, Eq. 11",
    )


UNSIMPLIFIED = {
    ("W H", "H.T V"): {"H": positive(3, 7)},
    ("W W.T X", "X V.T V"): {},
    ("W S H", "H.T S.T V"): {"S": positive(3, 4), "H": positive(4, 7)},
}


@pytest.mark.parametrize("forms", UNSIMPLIFIED)
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Alpha(-1)], ids=repr)
def test_eq_11_unsimplified(forms, divergence):
    """With one step of ONL Fig. 4 the rule is Eq. 11 as it stands, also where Wᵀ W = I would simplify it; for V = Wᵀ likewise."""
    (form, transposed), data, others = forms, positive(5, 7), UNSIMPLIFIED[forms]
    free = at(Model(form, divergence), data, W=W, **others)
    plus, minus = free.gradient("W")
    bounds = free.problem.model.rules["W"].bounds
    sigma = 1 / (max(bounds.psi_max, 2) - min(bounds.psi_min, 0))
    expected = W * ((minus + W @ W.T @ plus) / (plus + W @ W.T @ minus)) ** sigma
    here = at(Model(form, divergence, {"W": Orthogonal(steps=1)}), data, W=W, **others)
    assert here.problem.model.rules["W"].exponent == pytest.approx(sigma)
    assert_close(moved(here, "W", sigma), expected)
    there = at(Model(transposed, divergence, {"V": Orthogonal("rows", steps=1)}), data.T, V=W.T, **others)
    assert there.problem.model.rules["V"].exponent == pytest.approx(sigma)
    assert_close(moved(there, "V", sigma), expected.T)


@pytest.mark.parametrize("form", ["W H", "W W.T X"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_eq_11_keeps_its_scale(form, steps):
    """Eq. 11 makes W grow without bound where Wᵀ W is too large; after every step W's largest singular value is one again."""
    data, W = nonnegative(20, 30), 10 * positive(20, 3)
    start = {"W": W} | ({"H": positive(3, 30)} if "H" in form else {})
    model = Model(form, constraints={"W": Orthogonal(steps=steps)})
    for max_iter in (1, 300):
        found = factorize(data, model, init=start, solver=Multiplicative(), max_iter=max_iter, tol=0).factors["W"]
        assert np.linalg.norm(found, 2) == pytest.approx(1)


def test_eq_11_rows_in_print():
    assert_derived(
        Model("W H", "kullback-leibler", {"H": "orthogonal-rows"}),
        "H ← H ∘ [(Wᵀ (X/X̂) + Wᵀ 1 Hᵀ H) / (Wᵀ 1 + Wᵀ (X/X̂) Hᵀ H)]^(1/2)",
        "QNMF Theorem 3, Eq. 11",
    )


@pytest.mark.parametrize(
    ("form", "divergence", "psi", "semidefinite"),
    [
        ("W H", Beta(2), (2, 1), True),
        ("W S H", Beta(2), (2, 1), True),
        ("W W.T X", Beta(2), (4, 1), True),
        ("W B W.T", Beta(2), (4, 0), True),
        ("W H", Gamma(1), (2, 0), True),
        ("W H", Beta(1), (1, 0), False),
        ("W H", Beta(1.5), (1.5, 0.5), False),
        ("W H", Beta(3), (3, 1), False),
        ("W W.T X", Beta(1), (2, 0), False),
    ],
)
def test_corollary_4(form, divergence, psi, semidefinite):
    """Where Λ⁺ = ½Wᵀ∇⁺ is known to be positive semi-definite, min(ψmin, 1) stands in the place of min(ψmin, 0)."""
    derived = Model(form, divergence, {"W": "orthogonal"})
    psi_max, psi_min = psi
    expected = 1 / (max(psi_max, 2) - min(psi_min, 1 if semidefinite else 0))
    assert derived.rules["W"].exponent == pytest.approx(expected)
    if semidefinite:
        W, shapes = orthonormal(8, 3), {"S": (3, 4), "H": (4, 8) if "S" in form else (3, 8), "B": (3, 3)}
        others = {name: positive(*shapes[name]) for name in derived.learned if name != "W"}
        plus, _ = at(Model(form, divergence), positive(8, 8), W=W, **others).gradient("W")
        assert_close(W.T @ plus, plus.T @ W)
        assert np.linalg.eigvalsh(W.T @ plus)[0] > -1e-12


def test_corollary_4_rows():
    rules = Model("W S H", constraints={"W": "orthogonal", "H": "orthogonal-rows"}).rules
    assert [rule.exponent for rule in rules.values()] == [1, 1, 1]


# Eq. 5 and §3.2: any generalized polynomial, additive hybrids among them


HYBRIDS = [
    pytest.param(0.3 * Beta(1) + Beta(2), [(0.3, Beta(1)), (1.0, Beta(2))], id="I and Euclidean"),
    pytest.param(2 * Beta(0) + Alpha(0.5), [(2.0, Beta(0)), (1.0, Alpha(0.5))], id="Itakura–Saito and Hellinger"),
    pytest.param(Alpha(0.5) + Alpha(2) + Beta(3), [(1.0, Alpha(0.5)), (1.0, Alpha(2)), (1.0, Beta(3))], id="three"),
]


@FORMS
@pytest.mark.parametrize(("hybrid", "parts"), HYBRIDS)
def test_additive_hybrids(form, hybrid, parts):
    """P and Q are the sums of those of the parts, each with its slope; ψmax is the largest, ψmin the smallest."""
    Y = approximation(form)
    P, Q = (sum(weight * divergence_parts(part, X, Y)[side] for weight, part in parts) for side in (0, 1))
    bounds = [model(form, part).rules["W"].bounds for _, part in parts]
    exponent = 1 / (max(b.psi_max for b in bounds) - min(b.psi_min for b in bounds))
    here, solver = point(form, hybrid), Multiplicative()
    assert here.problem.model.rules["W"].exponent == pytest.approx(exponent)
    derived = solver.step(here, solver.new_state(here.problem)).factors["W"]
    assert_close(derived, W * (gradient(form, Q) / gradient(form, P)) ** exponent)
    assert_close(here.objective()[0], sum(weight * divergence_value(part, X, Y) for weight, part in parts))


def test_common_terms_of_a_hybrid_cancel():
    """α = −1 has −X̂ and α = 2 has X̂/2: −X̂/2 together, which stands on one side of the rule."""
    rule = model(LINEAR, Alpha(-1) + Alpha(2)).rules["W"]
    assert str(rule.negative) == "1/2 Aᵀ 1 Cᵀ + 1/2 Aᵀ [(X/X̂)^(2)] Cᵀ"
    assert str(rule.positive) == "Aᵀ [(X/X̂)^(-1)] Cᵀ"


@FORMS
def test_eq_5(form):
    """X̂⁴/4 − X X̂³/3 + 2 X̂ − 2 X ln X̂: ψ of the monomials are 4, 1, 1, 0 for a factor that occurs once, 8, 0, 2, 0 for two."""
    Y = approximation(form)
    P, Q = Y**3 + 2, X * Y**2 + 2 * X / Y
    here, solver = point(form, Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (2, 0, 1), (-2, 1, 0)])), Multiplicative()
    derived = solver.step(here, solver.new_state(here.problem)).factors["W"]
    assert_close(derived, W * (gradient(form, Q) / gradient(form, P)) ** (1 / 4 if form == LINEAR else 1 / 8))


# §2 and §3: matrices of either sign, by the decomposition of Ding, Li and Jordan (2010)


SIGNED = np.random.default_rng(0).normal(size=(6, 7))


def plus(A):
    return (abs(A) + A) / 2


def minus(A):
    return (abs(A) - A) / 2


def test_semi_nmf():
    """F = X G (GᵀG)⁻¹; G ∘ √[((XᵀF)⁺ + G(FᵀF)⁻)/((XᵀF)⁻ + G(FᵀF)⁺)]: Ding, Li and Jordan, Eq. 10 and 11."""
    semi = Model("F G.T", constraints={"F": "signed"})
    assert_printed(semi, "F solves F Gᵀ G = X G", "Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)")
    assert_printed(
        semi,
        "G ← G ∘ [((Xᵀ F)⁺ + G (Fᵀ F)⁻) / ((Xᵀ F)⁻ + G (Fᵀ F)⁺)]^(1/2)",
        "Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)",
    )
    start = positive(7, 3)
    G = start
    for _ in range(SWEEPS):
        F = SIGNED @ G @ np.linalg.inv(G.T @ G)
        XF, FF = SIGNED.T @ F, F.T @ F
        G = G * np.sqrt((plus(XF) + G @ minus(FF)) / (minus(XF) + G @ plus(FF)))
    for data in SIGNED, sparse.csr_array(SIGNED):
        solution = factorize(data, semi, init={"G": start}, solver="multiplicative", max_iter=SWEEPS, tol=0)
        np.testing.assert_allclose(solution.factors["F"], F, rtol=1e-12)
        np.testing.assert_allclose(solution.factors["G"], G, rtol=1e-12)
        assert solution.objective == pytest.approx(np.sum((SIGNED - F @ G.T) ** 2) / 2, rel=1e-12)


def test_convex_nmf_of_either_sign():
    """X W Gᵀ with X of either sign: the rules of Ding, Li and Jordan, which split XᵀX by its entries."""
    model = Model("X W G.T", signed=["X"], split="separate")
    assert_printed(
        model,
        "W ← W ∘ [((Xᵀ X)⁺ G + (Xᵀ X)⁻ W Gᵀ G) / ((Xᵀ X)⁻ G + (Xᵀ X)⁺ W Gᵀ G)]^(1/2)",
        "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)",
    )
    assert_printed(
        model,
        "G ← G ∘ [((Xᵀ X)⁺ W + G Wᵀ (Xᵀ X)⁻ W) / ((Xᵀ X)⁻ W + G Wᵀ (Xᵀ X)⁺ W)]^(1/2)",
        "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)",
    )

    def ratio_W(X, W, G):
        Kp, Km = plus(X.T @ X), minus(X.T @ X)
        return (Kp @ G + Km @ W @ G.T @ G) / (Km @ G + Kp @ W @ G.T @ G)

    def ratio_G(X, W, G):
        Kp, Km = plus(X.T @ X), minus(X.T @ X)
        return (Kp @ W + G @ W.T @ Km @ W) / (Km @ W + G @ W.T @ Kp @ W)

    assert_iterates(SIGNED + 0.5, model, CONVEX_START, {"W": ratio_W, "G": ratio_G}, printed=1 / 2, proven=1 / 2)


def test_convex_nmf_with_products_split_as_a_whole():
    """The same model by the parts of whole products, (XᵀX G)⁺, where XᵀX is multiplied by the parts of X, not formed."""
    model = Model("X W G.T", signed=["X"])
    in_parts = "QNMF Theorem 1, Eq. 8, matrices of either sign in parts (QNMF §3; Ding, Li, Jordan 2010)"
    assert {rule.published for rule in model.rules.values()} == {(in_parts,)}
    data = SIGNED + 0.5
    Xp, Xm = plus(data), minus(data)

    def ratio_W(X, W, G):
        K, XXG = X.T @ X, X.T @ X @ G
        Kp, Km = Xp.T @ Xp + Xm.T @ Xm, Xp.T @ Xm + Xm.T @ Xp
        assert_close(Kp - Km, K)
        return (plus(XXG) + Km @ W @ G.T @ G) / (minus(XXG) + Kp @ W @ G.T @ G)

    def ratio_G(X, W, G):
        KW, WKW = X.T @ X @ W, W.T @ X.T @ X @ W
        return (plus(KW) + G @ minus(WKW)) / (minus(KW) + G @ plus(WKW))

    assert_iterates(data, model, CONVEX_START, {"W": ratio_W, "G": ratio_G}, printed=1 / 2, proven=1 / 2)


CONVEX_START = {"W": positive(7, 2), "G": positive(7, 2, seed=1)}


def test_signed_fixed_matrices():
    """A W B WᵀC with A, B, C and X of either sign: each product between the W's goes to the side where it is non-negative."""
    rng = np.random.default_rng(1)
    given = {"A": rng.normal(size=(6, 5)), "B": rng.normal(size=(3, 3)), "C": rng.normal(size=(5, 7))}
    A, B, C = given.values()
    solution = factorize(
        SIGNED,
        QUADRATIC,
        constraints=dict.fromkeys(given, "fixed"),
        init={**given, "W": W},
        solver="multiplicative",
        max_iter=1,
        tol=0,
    )
    AXC, AA, CC = A.T @ SIGNED @ C.T, A.T @ A, C @ C.T

    def product(*pieces):
        """The positive and negative parts of a product of pieces, of which those that are W stay as they are."""
        both = [(piece, np.zeros_like(piece)) if piece is W or piece is W.T else (plus(piece), minus(piece)) for piece in pieces]
        result = both[0]
        for p, m in both[1:]:
            result = result[0] @ p + result[1] @ m, result[0] @ m + result[1] @ p
        return result

    down = [product(AXC, W, B.T), product(AXC.T, W, B)]
    up = [product(AA, W, B, W.T, CC, W, B.T), product(CC, W, B.T, W.T, AA, W, B)]
    numerator = sum(p for p, _ in down) + sum(m for _, m in up)
    denominator = sum(m for _, m in down) + sum(p for p, _ in up)
    assert_close(numerator - denominator, gradient_of_signed(SIGNED, W, **given))
    assert_close(solution.factors["W"], W * (numerator / denominator) ** (1 / 4))
    assert solution.model.signed == {"A", "B", "C", "X"}


def gradient_of_signed(X, W, A, B, C):
    """Minus the gradient of ½‖X − A W B WᵀC‖² by W, as it is."""
    E = X - A @ W @ B @ W.T @ C
    return A.T @ E @ C.T @ W @ B.T + C @ E.T @ A @ W @ B
