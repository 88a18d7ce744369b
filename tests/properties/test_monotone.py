"""The proven exponents: no step raises the objective, whatever the divergence and the form (QNMF Theorems 1 to 3)."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import DIVERGENCES, MODELS, fitting, parse, positive_data, short_forms

from nonneg import Model, factorize
from nonneg.constraints import DoublyStochastic, Orthogonal
from nonneg.divergences import Beta, DualI, Gamma
from nonneg.exceptions import IncompatibleError
from nonneg.solve.solution import History
from nonneg.solvers import NAMES, Multiplicative
from nonneg.testing import assert_monotone

pytestmark = pytest.mark.wide(one_in=16)


SWEEPS = 200
STORED = [(divergence, np.asarray) for divergence in DIVERGENCES] + [
    (divergence, sparse.csr_array) for divergence in DIVERGENCES if not divergence.requires_positive_data
]
SEEDS = [(0, 0.4), (1, 0.9)]
"""Seeds, each with the share of the entries that are not zero where a divergence allows zeros."""
CONSTRAINED = [
    ("W W.T X", {"W": "orthogonal"}),
    ("W H", {"W": "orthogonal"}),
    ("W H", {"H": "orthogonal-rows"}),
    ("W S H", {"W": "orthogonal", "H": "orthogonal-rows"}),
    ("W B W.T", {"W": "orthogonal"}),
    ("L L.T X R R.T", {"L": "orthogonal", "R": "orthogonal"}),
    ("W H", {"W": "stochastic-columns"}),
    ("W H", {"H": "stochastic-rows"}),
    ("W B W.T", {"W": "stochastic-columns", "B": "stochastic-matrix"}),
    ("W X", {"W": "doubly-stochastic"}),
    ("W", {"W": "doubly-stochastic"}),
]
GRID = [(*case, d) for case in CONSTRAINED for d in DIVERGENCES if (case[0], d) != ("W", Gamma(-2))]
FALLING = [case for case in CONSTRAINED if case[0] in ("W W.T X", "W X") or "stochastic-" in str(case)]


def run(form, divergence, constraints, solver="multiplicative", seed=0, store=np.asarray, density=1.0, callback=None):
    """200 sweeps, each of them in the history."""
    generator = np.random.default_rng(seed)
    model = Model(form, divergence, constraints)
    shape = (10, 10) if form in ("W B W.T", "W W.T", "W") else (12, 10)
    init = {name: generator.uniform(0.01, 1, {"A": (12, 6), "C": (6, 10)}[name]) for name in model.fixed}
    X = store(positive_data(shape, model.divergence, seed, density))
    rank = None if form in ("W", "W X") else 3
    options = {"max_iter": SWEEPS, "tol": 0, "check_every": 1, "random_state": seed, "callback": callback}
    return factorize(X, model, rank, init=init, solver=solver, **options)


def identify(value):
    return getattr(value, "__name__", None) or str(value)


def drawn(form, divergence, store):
    """One of the seeds, with its density."""
    seed, density = SEEDS[crc32(f"{form} {divergence} {store.__name__}".encode()) % len(SEEDS)]
    return seed, store, density


@pytest.mark.parametrize(("divergence", "store"), STORED, ids=identify)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=identify)
class TestFree:
    def test_proven_exponent(self, form, constraints, divergence, store):
        for seed, density in SEEDS:
            solution = run(form, divergence, constraints, "multiplicative", seed, store, density)
            # The value is a difference of sums of 120 terms, each at most a hundred times larger: known to 1e-13 of the start.
            assert_monotone(solution, rtol=1e-13)
            assert solution.objective < solution.history[0].objective

    def test_adaptive_exponent(self, form, constraints, divergence, store):
        solution = run(form, divergence, constraints, "adaptive", *drawn(form, divergence, store))
        assert_monotone(solution, rtol=0)  # what would raise the recorded value at all is not taken
        assert solution.objective < solution.history[0].objective
        assert any(len(set(exponents)) > 1 for exponents in solution.history.exponent.values())

    def test_the_default(self, form, constraints, divergence, store):
        solution = run(form, divergence, constraints, "auto", *drawn(form, divergence, store))
        assert_monotone(solution, rtol=1e-13)
        assert solution.objective < solution.history[0].objective


FOR_COORDINATES = [
    parse(text)
    for text in (
        *("W H", "W S H", "W W.T", "W W.T X", "W W.T H", "W W.T H S", "W W.T S H.T", "W W.T H X", "W W.T X H", "W W.T H H.T"),
        *("W H X", "W X H", "W.T W H", "W.T W X", "W H S X", "W X H S", "X W H X", "H X.T W"),
    )
]
"""Words in which every factor occurs once, or as F Fᵀ at an end."""
WIDE_OR_TALL = ((12, 5), (5, 12))
RANKS = ((5, 5, 5, 5), (2, 3, 4, 8))
"""As many components as the smaller side of X, so that entries of factors become zero; and few."""


def check_descent(form, divergence, solver, ranks, seed, shape):
    """Every check of a short run, and what it returns; False where the solver refuses the form."""
    shape, rank = fitting(Model(form, divergence), ranks, [shape, (6, 6)])
    X = np.random.default_rng(seed).uniform(0.05, 1, shape)
    iterations = 30 if divergence == Beta(2) else 12  # past the warm-up of every solver
    try:
        solution = factorize(
            X, Model(form, divergence), rank, solver=solver, random_state=seed, max_iter=iterations, tol=0, check_every=1
        )
    except IncompatibleError:
        return False
    values = solution.history.objective
    size = abs(values).max() + np.sum(X**2)
    # A difference of sums of 72 products of up to six factors.
    assert solution.objective <= values.min() + 1e-12 * size, form.text
    if solver != "least-squares":
        assert np.diff(values).max() <= 1e-12 * size, form.text
    return True


class TestEveryForm:
    """Forms of up to four letters, one to three learned factors, each solver: no check above the last, none below the result."""

    @settings(max_examples=60)
    @given(short_forms(), st.sampled_from(sorted(NAMES)), st.sampled_from(RANKS), st.integers(0, 99), st.sampled_from(WIDE_OR_TALL))
    def test_euclidean(self, form, solver, ranks, seed, shape):
        check_descent(form, Beta(2), solver, ranks, seed, shape)

    @settings(max_examples=20)
    @given(
        short_forms(),
        st.sampled_from(DIVERGENCES),
        st.sampled_from(sorted(NAMES)),
        st.integers(0, 99),
        st.sampled_from(WIDE_OR_TALL),
    )
    def test_other_divergences(self, form, divergence, solver, seed, shape):
        check_descent(form, divergence, solver, RANKS[0], seed, shape)

    @settings(max_examples=40)
    @given(st.sampled_from(FOR_COORDINATES), st.sampled_from(RANKS), st.integers(0, 99), st.sampled_from(WIDE_OR_TALL))
    def test_coordinate_descent(self, form, ranks, seed, shape):
        """The forms that it takes, which are few among all."""
        assert check_descent(form, Beta(2), "coordinate", ranks, seed, shape)


def overlap(factor, axis):
    """‖WᵀW − I‖ for W with unit columns, or rows (PNMF 38)."""
    unit = factor / np.linalg.norm(factor, axis=0 if axis == "columns" else 1, keepdims=True)
    gram = unit.T @ unit if axis == "columns" else unit @ unit.T
    return np.linalg.norm(gram - np.eye(len(gram)))


@pytest.mark.parametrize(("form", "constraints", "divergence"), GRID, ids=identify)
def test_constrained(form, constraints, divergence):
    """QNMF Theorems 2 and 3 are about augmented objectives; in the forms of `FALLING` the plain one never rises either."""
    seen = []
    solution = run(form, divergence, constraints, callback=lambda progress: seen.append(progress.factors))
    assert solution.status != "non_finite"
    assert all(np.all(np.isfinite(factor)) for factor in solution.factors.values())
    assert solution.objective < solution.history[0].objective
    if (form, constraints) in FALLING:
        assert_monotone(solution, rtol=1e-13)
    for name in constraints:
        constraint, factor = solution.model.constraints[name], solution.factors[name]
        match constraint:
            case Orthogonal():  # approached, never reached: a multiplicative rule makes no zeros
                slack = 1.1 if form == "W B W.T" else 1.0  # there B can make up for the overlap, and 200 sweeps are few
                assert overlap(factor, constraint.axis) < slack * overlap(seen[0][name], constraint.axis)
                assert np.linalg.norm(factor, 2) == pytest.approx(1)
            case DoublyStochastic():
                assert constraint.violation(np, factor) < 1e-7
            case _:
                assert constraint.violation(np, factor) < 1e-13


STOCHASTIC = [
    ("W H", {"W": "stochastic-columns"}, 3),
    ("W H", {"H": "doubly-stochastic"}, 10),
    ("W X", {"W": "doubly-stochastic"}, None),
    ("W B W.T", {"W": "stochastic-rows", "B": "stochastic-matrix"}, 3),
]


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), DualI()], ids=identify)
@pytest.mark.parametrize(("form", "constraints", "rank"), STOCHASTIC, ids=identify)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_adaptive_exponent_of_stochastic_factors(form, constraints, rank, divergence, seed):
    """What is restored fully has no excuse: the objective never rises, also with rows and columns that are empty."""
    X = positive_data((10, 10), divergence, seed, density=0.4)
    if not divergence.requires_positive_data:
        X[3], X[:, 2] = 0, 0
    model = Model(form, divergence, constraints)
    solution = factorize(X, model, rank, max_iter=SWEEPS, tol=0, check_every=1, random_state=seed)
    assert_monotone(solution, rtol=0)
    for name in constraints:
        assert model.constraints[name].violation(np, solution.factors[name]) < 1e-7  # entries of 1e-27 slow the scaling


def trace_run(seed):
    S = np.random.default_rng(seed).normal(size=(12, 12))
    model = Model("W.T X W", "trace", {"W": "orthogonal"})
    return factorize(S + S.T, model, 3, solver="multiplicative", max_iter=SWEEPS, tol=0, check_every=1, random_state=seed)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_orthogonal_trace_rises(seed):
    solution = trace_run(seed)
    assert solution.objective > 2 * solution.history[0].objective
    assert solution.history.violation["W"][-1] < solution.history.violation["W"][0]


@pytest.mark.wide
def test_the_cases_differ():
    """The grid is worth its name: rules, proven exponents, data and results vary along every axis of it."""
    models = [Model(form, divergence, constraints) for form, constraints in MODELS for divergence in DIVERGENCES]
    rules = [rule for model in models for rule in model.rules.values()]
    assert {rule.exponent for rule in rules} > {1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 1}
    assert {rule.degree for rule in rules} == {1, 2}
    assert len(set(map(str, rules))) > 0.8 * len(rules)
    results = [run("W H", divergence, {}, seed=seed).objective for divergence in DIVERGENCES for seed in (0, 1)]
    assert len(set(results)) == len(results) - 2  # Gamma(0) and Renyi(1) are one divergence


class TestAssertMonotone:
    @pytest.mark.parametrize("solution", [run("W H", "euclidean", {}), trace_run(0)], ids=["minimised", "maximised"])
    def test_direction(self, solution):
        ordered = sorted(solution.history, key=lambda record: record.objective)
        better, worse = (ordered, ordered[::-1]) if solution.model.divergence.maximised else (ordered[::-1], ordered)
        assert_monotone(replace(solution, history=History(better)))
        with pytest.raises(AssertionError, match="got worse by"):
            assert_monotone(replace(solution, history=History(worse)))

    def test_too_large_an_exponent(self):
        with pytest.raises(AssertionError, match="got worse by"):
            assert_monotone(run("W W.T", "euclidean", {}, Multiplicative(exponent=1)))
