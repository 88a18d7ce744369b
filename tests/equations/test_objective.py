"""A user's own objective: one step beside a transcription, three objectives that nothing else has, honest statuses."""

import math

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import Objective, Status
from nonneg.constraints import Orthogonal
from nonneg.exceptions import DataError, ExpressionError, IncompatibleError, ShapeError
from nonneg.solvers import Adaptive, Additive, Coordinate, Multiplicative
from nonneg.testing import assert_monotone
from tests.equations.transcription import positive, spectral

X, W, H = positive(9, 12), positive(9, 3), positive(3, 12, seed=1)
A = positive(9, 9, seed=2) + positive(9, 9, seed=2).T
D = np.diag(A.sum(axis=1))
SIGNED = np.random.default_rng(0).standard_normal((9, 9))


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=0)


def stepped(objective, start, exponent=None):
    return objective.optimize(start, solver=Multiplicative(exponent), max_iter=1, tol=0)


# ---- the rules


@pytest.mark.parametrize("exponent", [1, 1 / 2], ids=["eq_9_12", "eq_18_20"])
def test_the_rules_of_any_objective(exponent):
    """ONL Eq. 9 and 18, and 12 and 20, of functions: those of a maximised objective, as ONL has it."""

    def up(W):
        return A @ W

    def down(W):
        return D @ W @ W.T @ W

    settings = {"positive": up, "negative": down, "maximize": True}
    close(stepped(Objective(**settings), W, exponent).factors["W"], W * (up(W) / down(W)) ** exponent)
    P, N = up(W), down(W)
    ratio = (P + W @ W.T @ N) / (N + W @ W.T @ P)
    found = stepped(Objective(**settings, constraints="orthogonal"), W, exponent)
    close(found.factors["W"], spectral(W * ratio**exponent))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_parts_as_text(store):
    """ONL Eq. 29, which is not ready for use, and what its three steps lead to: Eq. 30, and Eq. 31."""
    K = X @ X.T
    parts = {"positive": "W W.T X X.T W + X X.T W W.T W - X X.T W", "negative": "X X.T W", "given": {"X": store(X)}}
    start = W / np.linalg.norm(W, 2) * 1.2
    up = start @ start.T @ K @ start + K @ start @ start.T @ start - K @ start
    close(stepped(Objective(**parts), start, 1).factors["W"], start * (K @ start) / up)
    unsimplified = Objective(**parts, constraints=Orthogonal(steps=1))
    eq_30 = (K @ start + start @ start.T @ up) / (up + start @ start.T @ K @ start)
    close(stepped(unsimplified, start, 1).factors["W"], spectral(start * eq_30))
    simplified = Objective(**parts, constraints="orthogonal")
    assert "W ← W ∘ [(X Xᵀ W) / (W Wᵀ X Xᵀ W)]" in str(simplified)
    close(stepped(simplified, start, 1).factors["W"], spectral(start * (K @ start) / (start @ start.T @ K @ start)))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("constraint", ["free", "orthogonal"])
def test_a_signed_expression_is_split(store, constraint):
    """tr(WᵀSW) + ½‖WᵀW‖² with S of either sign: S⁺ and S⁻ are its entries."""
    S = SIGNED + SIGNED.T
    objective = Objective("tr(W.T S W) + ½‖W.T W‖²", given={"S": store(S)}, constraints=constraint)
    P, N = np.maximum(S, 0), np.maximum(-S, 0)
    up, down = 2 * P @ W + 2 * W @ W.T @ W, 2 * N @ W
    if constraint == "free":
        exponent, expected = 1 / 4, W * (down / up) ** (1 / 4)
    else:  # WᵀW = I makes 2 W of the last term, on both sides
        down, up = N @ W + W @ W.T @ P @ W, P @ W + W @ W.T @ N @ W
        exponent = 1 / 4
        expected = spectral(W * (down / up) ** exponent)
    assert objective.rules["W"].exponent == exponent
    close(stepped(objective, W).factors["W"], expected)


def test_an_expression_is_the_model_of_the_same_name():
    """The rule, the exponent and the steps of PNMF, from the formula alone."""
    objective, model = Objective("½‖X − W W.T X‖²", given={"X": X}), nonneg.Model("W W.T X")
    assert objective.rules["W"].exponent == model.rules["W"].exponent == 1 / 3
    own = objective.optimize(W, solver="multiplicative", max_iter=7, tol=0)
    expected = nonneg.factorize(X, model, init={"W": W}, solver="multiplicative", max_iter=7, tol=0)
    close(own.factors["W"], expected.factors["W"])
    assert own.objective == pytest.approx(expected.objective, rel=1e-10)


@pytest.mark.parametrize("along", ["natural", "gradient", "oja", "stiefel"])
def test_additive_rules_of_any_objective(along):
    """ONL Eq. 8, NNP Eq. 7, 27 and 29 of functions, those of a maximised objective."""
    up, down, rate = A @ W, D @ W @ W.T @ W, 1e-2
    G = up - down
    objective = Objective(positive=lambda W: A @ W, negative=lambda W: D @ W @ W.T @ W, maximize=True)
    found = objective.optimize(W, solver=Additive(rate, along), max_iter=1, tol=0).factors["W"]
    step = {
        "natural": W * G / down,
        "gradient": G,
        "oja": (2 * G - W @ W.T @ G - W @ G.T @ W) / 2,
        "stiefel": G - W @ G.T @ W,
    }[along]
    np.testing.assert_allclose(found, np.maximum(W + rate * step, 0), rtol=1e-12, atol=1e-30)  # zeros are raised to a least entry


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_oja_s_rule_with_any_metric(store):
    """NNP Eq. 14 and 19 with wᵀBw = 1, and Eq. 20 and 21, which they lead to: the normalisation is a part of the gradient."""
    K, B, gamma = X @ X.T, A, 1e-3
    w = W[:, :1] / np.sqrt(W[:, 0] @ B @ W[:, 0])
    objective = Objective(positive="W W.T B K W", negative="K W", given={"B": store(B), "K": store(K)})
    g = K @ w
    additive = objective.optimize(w, solver=Additive(gamma, "gradient"), max_iter=1, tol=0).factors["W"]
    close(additive, np.maximum(w + gamma / 2 * (2 * g - w @ w.T @ B @ g - w @ g.T @ B @ w), 0))
    close(stepped(objective, w, 1).factors["W"], w * 2 * g / (w @ w.T @ (B @ K + K @ B) @ w))


# ---- three objectives of users


def smoothed_cut():
    """Minus the normalised association of soft parts, Σₖ wₖᵀA wₖ / (wₖᵀD wₖ + 1): ratios, which no form has."""
    A = np.kron(np.eye(3), np.ones((3, 3))) + 0.2 * positive(9, 9) @ positive(9, 9).T / 9
    D = np.diag(A.sum(axis=1))

    def within(W):
        return np.sum(W * (A @ W), axis=0)

    def size(W):
        return np.sum(W * (D @ W), axis=0) + 1.0

    return Objective(
        lambda W: 3.0 - float(np.sum(within(W) / size(W))) + 1e-3 * float(np.sum(W**2)),
        positive=lambda W: 2 * within(W) / size(W) ** 2 * (D @ W) + 2e-3 * W,
        negative=lambda W: 2 * (A @ W) / size(W),
    ), {"W": (9, 3)}


def graph_regularised():
    """GNMF: ‖X − W H‖² + λ tr(Wᵀ(D − A)W)."""
    text = "½‖X − W H‖² + 0.3 tr(W.T D W) − 0.3 tr(W.T A W)"
    return Objective(text, given={"X": X, "A": A, "D": sparse.csr_array(D)}), {"W": (9, 3), "H": (3, 12)}


def robust():
    """Cauchy's loss Σ ln(1 + (X − W H)²), by W and H."""
    E = lambda W, H: X - W @ H  # noqa: E731
    V = lambda W, H: 1 / (1 + E(W, H) ** 2)  # noqa: E731
    return Objective(
        lambda W, H: float(np.sum(np.log1p(E(W, H) ** 2))),
        positive={"W": lambda W, H: 2 * (V(W, H) * (W @ H)) @ H.T, "H": lambda W, H: 2 * W.T @ (V(W, H) * (W @ H))},
        negative={"W": lambda W, H: 2 * (V(W, H) * X) @ H.T, "H": lambda W, H: 2 * W.T @ (V(W, H) * X)},
    ), {"W": (9, 3), "H": (3, 12)}


@pytest.mark.wide(one_in=2)
@pytest.mark.parametrize("make", [smoothed_cut, graph_regularised, robust], ids=lambda make: make.__name__)
def test_three_objectives_free(make):
    objective, shapes = make()
    solution = objective.optimize(shapes, random_state=0, check_every=1)
    assert_monotone(solution)
    assert solution.objective < 0.8 * solution.history[0].objective
    assert solution.status == "converged"
    again = objective.optimize(shapes, random_state=0, check_every=1)
    for name in shapes:
        np.testing.assert_array_equal(solution.factors[name], again.factors[name])
    best = objective.optimize(shapes, random_state=0, n_init=3)
    assert best.objective <= solution.objective * (1 + 1e-2)


@pytest.mark.parametrize("make", [smoothed_cut, graph_regularised, robust], ids=lambda make: make.__name__)
def test_three_objectives_orthogonal(make):
    objective, shapes = make()
    parts = {"positive": None, "negative": None}
    if not isinstance(objective.value, str):
        parts = {
            mark: {name: objective._functions[f"∇{sign}" if len(shapes) == 1 else f"∇{sign}({name})"] for name in shapes}
            for mark, sign in (("positive", "⁺"), ("negative", "⁻"))
        }
    given = {name: objective.given[name] for name in objective.given}
    own = Objective(objective.value, **parts, given=given, constraints={"W": "orthogonal"})
    assert "Wᵀ W = I" in str(own)
    solution = own.optimize(shapes, random_state=0)
    gram = solution.factors["W"].T @ solution.factors["W"]
    start = solution.history[0].violation["W"]
    assert np.linalg.norm(gram - np.eye(3)) < start
    assert solution.status in ("converged", "no_progress")
    assert np.isfinite(solution.objective)


# ---- honest statuses


def test_without_a_value_the_status_names_the_unchecked_condition():
    objective = Objective(positive=lambda W: W @ H @ H.T, negative=lambda W: X @ H.T)
    assert "cannot be checked" in str(objective)
    solution = objective.optimize((9, 3), random_state=0, max_iter=5000)
    assert solution.status is Status.UNCHECKED
    assert "nothing shows whether it fell" in solution.status.sentence
    assert math.isnan(solution.objective)
    assert np.isnan(solution.history.objective).all()
    assert objective.optimize((9, 3), random_state=0, max_iter=3).status == "max_iter"
    seen = []
    objective.optimize((9, 3), random_state=0, max_iter=20, callback=lambda progress: seen.append(progress.objective))
    assert np.isnan(seen).all()


def test_a_negative_side_ends_the_run_and_says_so():
    """ONL Eq. 29 from where its denominator becomes negative."""
    parts = {"positive": "W W.T X X.T W + X X.T W W.T W - X X.T W", "negative": "X X.T W", "given": {"X": X}}
    with pytest.raises(DataError, match=r"denominator of the rule of W has negative entries.* at the start"):
        Objective(**parts).optimize(W / 100)
    with pytest.warns(UserWarning, match="denominator of the rule of W has negative"):
        solution = Objective(**parts).optimize(1.5 * W / np.linalg.norm(W, 2), solver=Multiplicative(1), max_iter=500)
    assert solution.status == "no_progress"
    assert all(np.all(factor >= 0) for factor in solution.factors.values())


def test_the_line_search_accepts_more_than_a_plain_step():
    """An exponent of 8 overshoots; it is halved until the objective does not rise."""
    objective, shapes = robust()
    plain = objective.optimize(shapes, solver=Multiplicative(8.0), random_state=0, max_iter=30, tol=0, check_every=1)
    with pytest.raises(AssertionError):
        assert_monotone(plain)
    searched = objective.optimize(shapes, random_state=0, max_iter=30, tol=0, check_every=1)
    assert_monotone(searched)
    assert searched.solver == "line-search"


def test_given_bounds_are_used():
    """½‖X − W H‖² by W: ψ = (2, 1), the exponent 1 of Lee and Seung."""
    value = lambda W: 0.5 * float(np.sum((X - W @ H) ** 2))  # noqa: E731
    objective = Objective(value, positive=lambda W: W @ H @ H.T, negative=lambda W: X @ H.T, bounds=(2, 1))
    assert objective.rules["W"].exponent == 1
    solution = objective.optimize(W, max_iter=20, tol=0, check_every=1)
    assert solution.solver == "adaptive"
    assert_monotone(solution)


def test_explain_and_print():
    objective, shapes = graph_regularised()
    explained = str(nonneg.explain(objective, shapes))
    assert "W 9 × 3, H 3 × 12" in explained
    assert "adaptive exponents" in explained
    solution = objective.optimize(shapes, random_state=0, max_iter=5)
    assert str(solution.strategy) == explained
    assert "‖X − W H‖²" in str(solution)
    assert "‖X − W H‖²" in repr(solution)
    with pytest.raises(IncompatibleError, match="no product to reconstruct"):
        solution.reconstruct()


def test_array_api():
    torch = pytest.importorskip("torch")
    given = torch.asarray(X), torch.asarray(H)
    objective = Objective(
        lambda W: 0.5 * torch.sum((given[0] - W @ given[1]) ** 2),
        positive=lambda W: W @ given[1] @ given[1].T,
        negative=lambda W: given[0] @ given[1].T,
        bounds=(2, 1),
    )
    found = objective.optimize(torch.asarray(W), max_iter=5, tol=0)
    assert isinstance(found.factors["W"], torch.Tensor)
    by_numpy = Objective("½‖X − W H‖²", given={"X": X, "H": H}).optimize(W, max_iter=5, tol=0)
    np.testing.assert_allclose(found.factors["W"].numpy(), by_numpy.factors["W"], rtol=1e-10)


def half(W):
    return 0.5 * float(np.sum((X - W @ H) ** 2))


def up(W):
    return W @ H @ H.T


def down(W):
    return X @ H.T


def own():
    return Objective(half, positive=up, negative=down)


def unvalued():
    return Objective(positive=up, negative=down)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Objective(half), IncompatibleError, "both parts of the gradient"),
        (lambda: Objective(half, positive=up), IncompatibleError, "both parts of the gradient"),
        (lambda: Objective(half, positive=3, negative=down), IncompatibleError, "function of the factors, or text; got 3"),
        (lambda: Objective("‖X − W H"), ExpressionError, "should close a norm"),
        (lambda: Objective("‖X − W H‖² +"), ExpressionError, "a term begins with"),
        (lambda: Objective("tr(X.T X)", given={"X": X}), IncompatibleError, "nothing to learn"),
        (lambda: Objective("tr(W.T A W)", given={"A": A}), IncompatibleError, "nothing to multiply with"),
        (lambda: Objective("-tr(W.T A W)", given={"A": A}), IncompatibleError, "nothing to divide by"),
        (lambda: Objective(half, positive=up, negative=down, bounds=(1, 2)), IncompatibleError, "first is larger"),
        (lambda: Objective(half, positive=up, negative=down, constraints={"V": "free"}), IncompatibleError, "no factor"),
        (lambda: Objective(half, positive=up, negative=down, constraints="signed"), IncompatibleError, "non-negative and learned"),
        (lambda: Objective(half, positive={"W": up}, negative={"V": down}), IncompatibleError, "the same ones"),
        (lambda: Objective("‖W.T X W‖² - tr(W.T A W)", given={"X": X, "A": A}).optimize((9, 2)), ShapeError, "cannot be formed"),
        (lambda: Objective(half, positive=down, negative=up).optimize(W), IncompatibleError, "is not the gradient of J by W"),
        (lambda: Objective(half, positive=lambda W: W, negative=down).optimize(W), IncompatibleError, "is not the gradient"),
        (lambda: Objective(half, positive=lambda W: 1.0, negative=down).optimize(W), ShapeError, "must be an array of the shape"),
        (lambda: own().optimize(-W), DataError, "negative entries"),
        (lambda: own().optimize(0 * W), DataError, "zero everywhere"),
        (lambda: own().optimize({"V": W}), IncompatibleError, "the factors are W"),
        (lambda: own().optimize(W, n_init=2), IncompatibleError, "repeat the same run"),
        (lambda: unvalued().optimize((9, 3), n_init=2), IncompatibleError, "cannot be compared"),
        (
            lambda: unvalued().optimize(W, solver="line-search"),
            IncompatibleError,
            "compares values of J",
        ),
        (lambda: own().optimize(W, solver=Adaptive()), IncompatibleError, "proven exponent"),
        (
            lambda: own().optimize(W, solver=Coordinate()),
            IncompatibleError,
            "products with X",
        ),
        (lambda: own().optimize(W, solver="newton"), IncompatibleError, "newton"),
        (lambda: Objective(lambda W: "a", positive=up, negative=down).optimize(W), IncompatibleError, "must give one number"),
        (lambda: Objective(lambda W: math.nan, positive=up, negative=down).optimize(W), DataError, "J is nan at the start"),
        (
            lambda: Objective("‖X − W H‖²", given={"X": X}).optimize({"W": (9, 2), "H": (3, 12)}),
            ShapeError,
            r"part X Hᵀ must have the shape of W, \(9, 2\); it is \(9, 3\)",
        ),
        (
            lambda: Objective("tr(W.T A W)", given={"A": A}, maximize=True, constraints="orthogonal").optimize((9, 12)),
            ShapeError,
            "do not fit",
        ),
    ],
)
def test_bad_input(call, error, match):
    with np.errstate(all="ignore"), pytest.raises(error, match=match):
        call()
