"""Factors, data and fixed matrices of either sign: nothing rises, runs end at stationary points, and sparse is dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.constraints import EitherSign, Fixed, Sparse
from nonneg.divergences import Beta, Gamma, Polynomial
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.solve.problem import point_at
from nonneg.testing import assert_kkt, assert_monotone, dense_gradient

pytestmark = pytest.mark.wide(one_in=6)


RNG = np.random.default_rng(0)
X = np.where(RNG.random((12, 10)) < 0.7, RNG.normal(size=(12, 10)), 0.0)
FIXED = {"A": RNG.normal(size=(12, 5)), "B": RNG.normal(size=(3, 3)), "C": RNG.normal(size=(5, 10))}
MODELS = {
    "Semi-NMF": (Model("F G.T", constraints={"F": "signed"}), 3),
    "turned": (Model("G F", constraints={"F": "signed"}), 3),
    "in the middle": (Model("W S H", constraints={"S": "signed"}), 3),
    "transposed": (Model("W S.T H", constraints={"S": "signed"}), 3),
    "stochastic": (Model("F G", constraints={"F": "signed", "G": "stochastic-columns"}), 3),
    "sparse": (Model("F G", constraints={"F": "signed", "G": Sparse(0.5)}), 3),
    "convex": (Model("X W H", signed=["X"]), 3),
    "convex, separate": (Model("X W H", signed=["X"], split="separate"), 3),
    "projective, separate": (Model("W W.T X", signed=["X"], split="separate"), 3),
    "fixed twice, separate": (Model("A W B W.T C", constraints=dict.fromkeys(FIXED, "fixed"), split="separate"), None),
    "projective": (Model("W W.T X", signed=["X"]), 3),
    "on both sides": (Model("L L.T X R R.T", signed=["X"]), 3),
    "all but the data": (Model("W H", signed=["X"]), 3),
    "fixed": (Model("A W", constraints={"A": "fixed"}), None),
    "fixed twice": (Model("A W B W.T C", constraints=dict.fromkeys(FIXED, "fixed")), None),
}
ALL = pytest.mark.parametrize("name", MODELS)


def run(name, data=X, **options):
    model, rank = MODELS[name]
    init = {matrix: FIXED[matrix] for matrix in model.fixed} or "random"
    return factorize(data, model, rank, **{"init": init, "max_iter": 200, "tol": 0, "check_every": 1, "random_state": 0, **options})


@ALL
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["multiplicative", "adaptive", "auto"])
def test_nothing_rises(name, store, solver):
    solution = run(name, store(X), solver=solver)
    # Where columns of G become nearly dependent, F is large, and the value a difference of large terms.
    assert_monotone(solution, rtol=1e-9)
    assert solution.objective < solution.history[0].objective
    if not any(constraint.has_penalty for constraint in solution.model.constraints.values()):
        assert solution.objective == pytest.approx(np.sum((X - solution.reconstruct()) ** 2) / 2, rel=1e-7)
    for factor, constraint in solution.model.constraints.items():
        assert constraint.is_signed or not constraint.is_learned or np.all(solution.factors[factor] >= 0)


@ALL
@pytest.mark.parametrize("solver", ["multiplicative", "auto"])
def test_sparse_is_dense(name, solver):
    dense, packed = (run(name, data, solver=solver, max_iter=20) for data in (X, sparse.csr_array(X)))
    for factor in dense.factors:
        np.testing.assert_allclose(dense.factors[factor], packed.factors[factor], rtol=1e-8, atol=1e-10)


@ALL
def test_gradient(name):
    """Both parts of a factor that is non-negative are; their difference is the derivative."""
    model, _ = MODELS[name]
    factors = run(name, solver="multiplicative", max_iter=2).factors
    point = point_at(model, X, factors)
    for factor in model.learned:
        parts = point.gradient(factor)
        if not model.constraints[factor].is_signed:
            assert all(np.all(part >= 0) for part in parts)
        gradient, size = dense_gradient(model, factor, {**factors, "X": X})
        np.testing.assert_allclose(parts[0] - parts[1], gradient, rtol=0, atol=1e-10 * size.max())


@pytest.mark.parametrize("name", ["in the middle", "stochastic", "convex", "projective", "fixed", "fixed twice"])
def test_the_end_of_a_long_run(name):
    solution = run(name, max_iter=4000, check_every=25)
    assert_kkt(solution.model, X, solution.factors, tol=1e-3)


@ALL
def test_data_without_negative_entries(name):
    """Parts that are zero are left out, and nothing else changes."""
    solution = run(name, abs(X), max_iter=20)
    assert "X" not in solution.model.signed
    assert_monotone(solution, rtol=1e-9)


def test_float32_and_extreme_units():
    wide = run("Semi-NMF", X, max_iter=20)
    narrow = run("Semi-NMF", X.astype(np.float32), max_iter=20)
    assert narrow.factors["F"].dtype == np.float32
    assert narrow.objective == pytest.approx(wide.objective, rel=1e-3)
    for scale in (1e-150, 1e150):
        far = run("Semi-NMF", scale * X, max_iter=20)
        assert np.sum((X - far.reconstruct() / scale) ** 2) / 2 == pytest.approx(wide.objective, rel=1e-3)


@pytest.mark.parametrize("init", ["kmeans", "nndsvd", "angular"])
def test_starts(init):
    solution = factorize(X, MODELS["Semi-NMF"][0], 3, init=init, random_state=0, max_iter=50)
    assert solution.objective < np.sum(X**2) / 2
    given = factorize(X, MODELS["Semi-NMF"][0], init=solution.factors, max_iter=1, tol=0)
    assert given.history[0].objective == pytest.approx(solution.objective)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: factorize(X, "W H", 2), DataError, "negative entries.*'signed'"),
        (lambda: factorize(X, "X W H", 2), DataError, "negative entries"),
        (lambda: factorize(X, "F H", 2, constraints={"F": "signed"}, divergence="kl"), IncompatibleError, "Use 'euclidean'"),
        (lambda: factorize(X, "F F.T X", 2, constraints={"F": "signed"}), IncompatibleError, "occurs 2 times"),
        (lambda: Model("W H", signed=["Y"]), IncompatibleError, "no matrix 'Y'"),
        (lambda: Model("W H", signed=["W"]), IncompatibleError, "W is learned"),
        (lambda: Model("X W H", signed=["X"], split="each"), IncompatibleError, "'joint' or 'separate'; got 'each'"),
        (
            lambda: factorize(abs(X), "A W", constraints={"A": "fixed"}, init={"A": FIXED["A"]}, divergence="kl"),
            DataError,
            "negative entries",
        ),
        (
            lambda: factorize(X, "F H", 2, constraints={"F": "signed"}, solver="quasi-newton"),
            IncompatibleError,
            "F is of either sign",
        ),
    ],
)
def test_refused_signed_factors(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(
    "model",
    [
        Model("X W H", signed=["X"]),
        Model("F G.T", constraints={"F": "signed"}),
        Model("X W H", signed=["X"], split="separate"),
        Model("F G.T", constraints={"F": "signed"}, signed=[]),
        Model("A W", constraints={"A": "fixed"}, signed=["A"]),
    ],
    ids=repr,
)
def test_models_compare_and_print(model):
    names = {"Model": Model, "Beta": Beta, "EitherSign": EitherSign, "Fixed": Fixed}
    assert eval(repr(model), names) == model
    assert model != Model("X W H")


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_become_parallel(seed):
    """Least squares for nearly parallel columns are large numbers that cancel, and so would the objective be."""
    Y = np.random.default_rng(seed).standard_normal((9, 7))
    solution = factorize(Y, Model("F G.T", constraints={"F": "signed"}), 3, random_state=0)
    rest = Y - solution.factors["F"] @ solution.factors["G"].T
    assert solution.objective == pytest.approx(np.sum(rest**2) / 2, rel=1e-7)
    assert np.diff(solution.history.objective).max() <= 1e-6 * solution.objective


def test_only_multiples_of_the_euclidean_distance_take_signs():
    twice = Polynomial([(1.0, 0, 2), (-2.0, 1, 1)])
    assert twice.takes_signs
    assert not Polynomial([(0.5, 0, 2), (-2.0, 1, 1)]).takes_signs


def test_a_start_of_zeros_at_an_extreme_scale():
    X = 1e-200 * np.random.default_rng(0).standard_normal((6, 5))
    start = {"F": np.zeros((6, 2)), "G": np.random.default_rng(1).random((5, 2))}
    assert np.isfinite(factorize(X, Model("F G.T", constraints={"F": "signed"}), init=start).factors["F"]).all()


def test_a_divergence_without_scale_is_not_for_numbers_of_either_sign():
    """γ = 1 has the powers of the Euclidean distance, in logarithms."""
    with pytest.raises(IncompatibleError, match="may be negative"):
        Model("W H", Gamma(1), {"H": "signed"})


def test_terms_that_cancel_within_a_product():
    """Three components of a single entry, which is 10⁵ times smaller than each of them: the rest is rounding, not infinite."""
    one = 1e-6 * np.random.default_rng(75).standard_normal((1, 1))
    solution = factorize(one, "W H", 3, constraints={"H": "signed"}, solver="coordinate", max_iter=30, random_state=0)
    assert solution.objective <= 1e-10 * one[0, 0] ** 2
    assert solution.status == "converged"
