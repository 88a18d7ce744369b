import gc
import math
import weakref

import numpy as np
import pytest
from scipy import sparse

from divergences.test_derivatives import defined
from nonneg import Model, factorize
from nonneg.algebra.expression import parse
from nonneg.data.reading import read_data
from nonneg.exceptions import DataError
from nonneg.planning import canonical
from nonneg.solve.execute import compile_plan
from nonneg.solve.signature import infer_shapes
from nonneg.solvers import Multiplicative
from tests.problems import problem_of

CLOSED = ("W", "W X", "X W", "W X H")
"""Forms without a rank to choose."""
FORMS = ["W", "W H", "W W.T X", "W S H", "H.T W.T", "W X", "X W W.T", "W V.T X"]


def bound(form, divergence, X, rng, *, fixed=None, constraints=None, convert=lambda X: X, horizon=100):
    """A problem with random factors, the point there, and its approximation, multiplied out."""
    model = Model(form, divergence, {**dict.fromkeys(fixed or {}, "fixed"), **(constraints or {})})
    rank = None if form in CLOSED else 2
    shapes = infer_shapes(model, X.shape, rank, {name: value.shape for name, value in (fixed or {}).items()})
    problem = problem_of(model, read_data(convert(X)), shapes, fixed or {}, horizon=horizon)
    factors = {name: rng.random(shapes[name]) + 0.1 for name in problem.learned}
    everything = {**factors, **(fixed or {}), "X": X}

    def approximation(**changed):
        values = {**everything, **changed}
        matrices = [values[name].T if flipped else values[name] for name, flipped in model.form]
        return matrices[0] if len(matrices) == 1 else np.linalg.multi_dot(matrices)

    return problem.point(factors), approximation


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("horizon", [1, 10**4])
def test_objective_is_the_divergence_of_the_product(form, horizon, divergence, X, rng):
    point, approximation = bound(form, divergence, X, rng, horizon=horizon)
    for factor in (None, *point.problem.learned):
        fresh = point.problem.point(point.factors)
        value, magnitude = fresh.objective(factor)
        assert value == pytest.approx(defined(divergence, X, approximation()), rel=1e-8)
        assert magnitude >= value * (1 - 1e-12)
        assert fresh.objective() == (value, magnitude)
    assert point.total() == pytest.approx(approximation().sum())


@pytest.mark.parametrize(
    "form",
    [
        "W H",
        "W W.T X",
        "W S H",
        "X W W.T",
        "W V.T X",
        "W X H",
        "W X",
        "X W",
    ],
)
@pytest.mark.parametrize("divergence", [1, 0, 1.5], ids=str)
def test_sparse_data_give_the_same(form, divergence, X, rng):
    dense, _ = bound(form, divergence, X, np.random.default_rng(1))
    thin, _ = bound(form, divergence, X, np.random.default_rng(1), convert=sparse.csr_array)
    assert thin.objective()[0] == pytest.approx(dense.objective()[0])
    for factor in dense.problem.learned:
        for one, other in zip(dense.sides(factor), thin.sides(factor), strict=True):
            np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("form", ["W H", "W W.T X", "A W B W.T A.T"])
def test_gradient(form, divergence, X, rng):
    fixed = {"A": rng.random((6, 4)), "B": rng.random((2, 2))} if "A" in form else {}
    data = X @ X.T if fixed else X
    point, approximation = bound(form, divergence, data, rng, fixed=fixed)
    for name, F in point.factors.items():
        positive, negative = point.gradient(name)
        expected, step = np.empty_like(F), 1e-6
        for place in np.ndindex(F.shape):
            moved = [F.copy(), F.copy()]
            moved[0][place] += step
            moved[1][place] -= step
            up, down = (defined(divergence, data, approximation(**{name: value})) for value in moved)
            expected[place] = (up - down) / (2 * step)
        np.testing.assert_allclose(positive - negative, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_valid_products_survive(divergence, X, rng):
    """A point that was reached by changing factors knows the same as one that starts there."""
    point, _ = bound("W S H", divergence, X, rng)
    for name in point.problem.learned:
        point.objective(name)
        point.sides(name)
        moved = point.with_factor(name, point.factors[name] * (1 + rng.random(point.factors[name].shape)))
        scaled = point.with_scaled(name, 1.7)
        for changed in (moved, scaled):
            fresh = point.problem.point(changed.factors)
            assert changed.objective() == pytest.approx(fresh.objective())
            for factor in point.problem.learned:
                for one, other in zip(changed.sides(factor), fresh.sides(factor), strict=True):
                    np.testing.assert_allclose(one, other)
        point = moved


def test_points_are_not_changed(X, rng):
    point, _ = bound("W H", 2, X, rng)
    before = point.objective()
    W = point.factors["W"].copy()
    point.with_factor("W", 2 * W).objective()
    np.testing.assert_array_equal(point.factors["W"], W)
    assert point.objective() == before


PNMF_WORDS = {"W.T W", "X X.T W", "W.T X X.T W", "X X.T W W.T W", "W W.T X X.T W"}


class Noted(dict):
    """The products of a point, with a note of each time that one is made."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __setitem__(self, word, product):
        self.made.append(word)
        super().__setitem__(word, product)


def test_the_objective_takes_only_products_of_a_step(rng):
    """⟨W, W WᵀXXᵀW⟩ is as good as ⟨W, XXᵀW WᵀW⟩, and nothing is computed twice."""
    point, _ = bound("W W.T X", 2, rng.random((6, 50)), rng)
    point.known = Noted()
    point.objective()
    assert len({canonical(parse(text))[0] for text in ("X X.T W W.T W", "W W.T X X.T W")} & point.known.keys()) == 1
    for _ in range(3):
        point.sides("W")
        point.objective()
    assert sorted(point.known.made) == sorted(canonical(parse(text))[0] for text in PNMF_WORDS)


@pytest.mark.parametrize("constraints", [{}, {"W": "orthogonal"}], ids=str)
def test_the_objective_in_single_precision(constraints, rng):
    """Half of a rounding error of its terms, though entries of W are far below the largest, as after many steps."""
    X = (rng.random((361, 12)) @ rng.random((12, 500))).astype(np.float32)
    W = (np.exp(-30 * rng.random((361, 25))) / 4).astype(np.float32)
    model = Model("W W.T X", constraints=constraints)
    (value, terms), (expected, _) = (
        problem_of(model, read_data(X.astype(dtype)), {"W": W.shape}, {}).point({"W": W.astype(dtype)}).objective()
        for dtype in (np.float32, np.float64)
    )
    assert abs(value - expected) < 0.5 * np.finfo(np.float32).eps * terms


def test_the_sum_of_an_approximation_in_single_precision():
    """Of a product with 1, all rows are rounded alike, which does not average out."""
    rng, n = np.random.default_rng(0), 30_000
    X = rng.random((2, n)).astype(np.float32)
    factors = {name: rng.random(shape).astype(np.float32) for name, shape in {"W": (2, 1), "S": (1, 1), "H": (1, n)}.items()}
    shapes = {name: factor.shape for name, factor in factors.items()}
    point = problem_of(Model("W S H", "kullback-leibler"), read_data(X), shapes, {}).point(factors)
    W, S, H = (factor.astype(np.float64) for factor in factors.values())
    for name in factors:
        assert abs(point.sums(name).terms[0] / np.sum(W @ S @ H) - 1) < 1e-9


def test_trace_of_a_matrix_of_either_sign(rng):
    S = rng.standard_normal((6, 6))
    S = S + S.T
    for convert in (np.asarray, sparse.csr_array):
        model = Model("W.T X W", "trace")
        problem = problem_of(model, read_data(convert(S), signed=True), {"W": (6, 2)}, {})
        W = rng.random((6, 2))
        value, _ = problem.point({"W": W}).objective()
        assert -value == pytest.approx(np.trace(W.T @ S @ W))
        positive, negative = problem.point({"W": W}).gradient("W")
        assert np.all(positive >= 0)
        np.testing.assert_allclose(negative - positive, 2 * S @ W)


def test_stochastic_multipliers_join_the_sides(X, rng):
    point, _ = bound("W H", 2, X, rng, constraints={"W": "stochastic"})
    numerator, denominator = point.sides("W")
    W, H = point.factors["W"], point.factors["H"]
    np.testing.assert_allclose(numerator, X @ H.T + np.sum(W * (W @ H @ H.T), axis=0))
    np.testing.assert_allclose(denominator, W @ H @ H.T + np.sum(W * (X @ H.T), axis=0))
    assert math.isfinite(point.objective()[0])


def test_programs_do_not_hold_on_to_their_problem(rng):
    """A problem and its Gram matrix are let go of with the last that uses them, not when Python next looks for cycles."""
    point, _ = bound("W W.T X", 2, rng.random((6, 50)), rng)
    point.sides("W")
    problem = weakref.ref(point.problem)
    gc.disable()
    try:
        del point
        assert problem() is None
    finally:
        gc.enable()


def test_a_plan_is_made_ready_once(rng, monkeypatch):
    """In every iteration but the first, the same steps are taken from the same products."""
    point, _ = bound("W H", 2, rng.random((6, 50)), rng)
    made = []
    monkeypatch.setattr(
        "nonneg.solve.problem.compile_plan", lambda *given, **how: made.append(given) or compile_plan(*given, **how)
    )
    solver = Multiplicative()
    state = solver.new_state(point.problem)
    for _ in range(6):
        point = solver.step(point, state)
    assert len(made) <= 4  # of two factors, with and without what the last step has left


def test_factors_that_do_not_fit_into_memory_are_refused():
    """A sparse X of three entries may have any shape."""
    X = sparse.csr_array((np.ones(3), np.arange(3), np.arange(4)), shape=(3, 2**50))
    with pytest.raises(DataError, match=r"X is 3 × 1125899906842624, so that W and H would take .* of memory are free"):
        factorize(X, "W H", 2)
