import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.constraints import PartlyFixed, Sparse, Unit
from nonneg.data.dense import DenseData
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Polynomial, Renyi
from nonneg.exceptions import IncompatibleError
from nonneg.solve.problem import point_at
from nonneg.solve.solvers import Adaptive, quasi_newton
from nonneg.solve.solvers.quasi_newton import QuasiNewton, QuasiNewtonState
from nonneg.testing import assert_kkt, assert_monotone, dense_gradient

pytestmark = pytest.mark.wide(one_in=8)


DIVERGENCES = [Beta(2), Beta(1), Beta(0), Beta(1.5), Alpha(0.5), Alpha(-1), Gamma(0.5), Gamma(0), Renyi(2), DualI()]
SOLVER = QuasiNewton(warmup=3)


def parts(shape, seed=0, rank=4):
    """Positive data that are nearly of low rank, as data are that are worth factorizing."""
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, size=(shape[0], rank)) @ rng.gamma(1.0, size=(rank, shape[1])) + 0.1 * rng.uniform(0.1, 1.1, size=shape)


def run(X, form, rank=3, solver=SOLVER, **settings):
    usual = {"init": "random", "tol": 0, "max_iter": 60, "check_every": 1, "random_state": 0}
    return factorize(X, form, rank, solver=solver, **usual | settings)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize("form", ["W H", "W S H", "W W.T X", "W W.T", "L L.T X R R.T"])
def test_the_objective_never_rises(form, divergence):
    X = parts((12, 12) if form == "W W.T" else (14, 12))
    solution = run(X, form, divergence=divergence)
    assert_monotone(solution, rtol=0)
    assert solution.objective < solution.history[3].objective, "there is more to gain than the warm-up does"


@pytest.mark.parametrize("divergence", [Beta(1), Alpha(0.5), Gamma(0.5)], ids=str)
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
def test_it_takes_fewer_iterations(form, divergence):
    """To where the adaptive exponent stands after 300; the median of five starts, since starts may end in different minima."""
    X, ratios = parts((30, 40), rank=6), []
    for seed in range(5):
        settings = {"rank": 5, "divergence": divergence, "max_iter": 300, "random_state": seed}
        target = run(X, form, solver=Adaptive(), **settings).objective
        reached = np.flatnonzero(run(X, form, solver=QuasiNewton(), **settings).history.objective <= target)
        ratios.append(reached[0] / 300 if reached.size else np.inf)
    assert np.median(ratios) < 0.75


@pytest.mark.parametrize("divergence", [Beta(1), Beta(1.5), Alpha(0.5)], ids=str)
def test_a_convex_problem_is_solved(divergence):
    """With one factor given there is one minimum: all conditions hold there, and nobody is lower."""
    X, C = parts((10, 30)), np.random.default_rng(1).gamma(1.0, size=(4, 30))
    settings = {"init": {"C": C}, "constraints": {"C": "fixed"}, "divergence": divergence}
    solution = run(X, "W C", None, max_iter=400, **settings)
    assert_kkt(solution.model, X, solution.factors, tol=1e-4)
    assert solution.objective <= run(X, "W C", None, solver="adaptive", max_iter=4000, **settings).objective * (1 + 1e-7)


def test_ends_are_as_low_as_those_of_the_adaptive_exponent():
    X = parts((20, 30), rank=6)
    ends = [
        [factorize(X, "W H", 5, divergence=1, solver=solver, random_state=seed).objective for seed in range(7)]
        for solver in (Adaptive(), QuasiNewton())
    ]
    assert np.median(ends[1]) <= np.median(ends[0])


STOCHASTIC = [({"W": "stochastic-columns"}, 1e-12), ({"H": "stochastic-rows"}, 1e-12), ({"W": "doubly-stochastic"}, 1e-7)]


@pytest.mark.parametrize("divergence", [Beta(1), Beta(0), Gamma(0.5), DualI()], ids=str)
@pytest.mark.parametrize(("constraints", "tolerance"), STOCHASTIC, ids=str)
def test_constraints_that_can_be_restored_hold(constraints, tolerance, divergence):
    X = parts((8, 12))
    solution = run(X, "W H", 8 if "doubly" in str(constraints) else 3, divergence=divergence, constraints=constraints)
    assert_monotone(solution, rtol=0)
    for name in constraints:
        assert solution.model.constraints[name].violation(np, solution.factors[name]) < tolerance


def test_penalties_are_paid():
    X = parts((14, 12))
    constraints = {"W": Unit(), "H": Sparse(0.3)}
    solution = run(X, "W H", constraints=constraints, divergence=1, max_iter=200)
    assert_monotone(solution, rtol=0)
    np.testing.assert_allclose(np.linalg.norm(solution.factors["W"], axis=0), 1)
    assert solution.objective <= run(X, "W H", solver="adaptive", constraints=constraints, divergence=1, max_iter=200).objective


def test_fixed_entries_stay_and_do_not_disturb_free_ones():
    X = parts((14, 12))
    given = X[:, :2]
    constraints = {"W": PartlyFixed(given, "columns")}
    solution = run(X, "W H", 4, constraints=constraints, divergence=1, max_iter=100)
    np.testing.assert_array_equal(solution.factors["W"][:, :2], given)
    assert_monotone(solution, rtol=0)
    adaptive = run(X, "W H", 4, solver="adaptive", constraints=constraints, divergence=1, max_iter=100)
    assert solution.objective < adaptive.objective


@pytest.mark.parametrize("divergence", [Beta(1), Alpha(0.5), Gamma(0.5)], ids=str)
@pytest.mark.parametrize(
    ("form", "constraints"), [("W W.T X", {"W": "orthogonal"}), ("W S H", {"W": "orthogonal", "H": "orthogonal-rows"})], ids=str
)
def test_orthogonal_factors_keep_their_scale(form, constraints, divergence):
    solution = run(parts((14, 12)), form, divergence=divergence, constraints=constraints)
    assert solution.objective < solution.history[0].objective
    for name in constraints:
        assert np.linalg.norm(solution.factors[name], 2) == pytest.approx(1)
        assert solution.history.violation[name][-1] < solution.history.violation[name][0]


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
def test_the_gradient_is_that_by_the_square_roots(divergence):
    """Up to one number for all entries of all factors."""
    X, rng = parts((7, 6)), np.random.default_rng(0)
    model = Model("W S W.T X", divergence)
    factors = {"W": rng.uniform(0.5, 1.5, (7, 3)), "S": rng.uniform(0.5, 1.5, (3, 3))}
    roots, gradient, weight = quasi_newton._in_one_vector(point_at(model, X, factors))
    slopes = [dense_gradient(model, name, {**factors, "X": X})[0].ravel() for name in model.learned]
    expected = 2 * roots * np.concatenate(slopes)
    np.testing.assert_allclose(roots**2, np.concatenate([factor.ravel() for factor in factors.values()]))
    np.testing.assert_allclose(
        gradient, expected * (gradient @ expected) / (expected @ expected), rtol=1e-9, atol=1e-9 * weight.max()
    )
    assert gradient @ expected > 0


@pytest.mark.parametrize("divergence", [Beta(1), Alpha(0.5), Gamma(0.5), DualI()], ids=str)
def test_the_first_guess_is_the_multiplicative_rule(divergence):
    """Near the minimum, gradient / weight is what the rule with exponent one does to the square roots."""
    W, H = np.random.default_rng(0).uniform(0.5, 1.5, (7, 3)), np.random.default_rng(1).uniform(0.5, 1.5, (3, 6))
    point = point_at(Model("W H", divergence), W @ H, {"W": W * (1 + 1e-3 * np.sin(np.arange(21).reshape(7, 3))), "H": H})
    roots, gradient, weight = quasi_newton._in_one_vector(point)
    sides = [point.sides(name) for name in ("W", "H")]
    law = point.problem.model.divergence.law
    multipliers = np.concatenate([law.multiplier(np, *pair, 1.0).ravel() for pair in sides])
    np.testing.assert_allclose(-gradient / weight, roots * (np.sqrt(multipliers) - 1), atol=1e-3 * np.abs(multipliers - 1).max())


def test_the_direction_maps_the_last_gradient_change_to_its_step():
    """The secant equation: where the gradient is what the last step changed, the way back is that step."""
    rng, state = np.random.default_rng(0), QuasiNewtonState()
    hessian = rng.normal(size=(9, 9))
    hessian = hessian @ hessian.T + np.eye(9)
    weight, roots = np.full(9, 10.0), rng.normal(size=9)
    for _ in range(6):
        state.roots, state.gradient = roots, hessian @ roots
        roots = roots + rng.normal(size=9)
        quasi_newton._learn(np, state, roots, hessian @ roots, weight)
    last = state.corrections[-1]
    for pairs in (state.corrections, state.corrections[-4:]):
        np.testing.assert_allclose(quasi_newton._direction(pairs, state.exponent, last.change, weight), -last.move)


def test_negative_curvature_teaches_nothing():
    state = QuasiNewtonState(exponent=0.5, roots=np.zeros(3), gradient=np.zeros(3))
    quasi_newton._learn(np, state, np.ones(3), -np.ones(3), np.ones(3))
    direction = quasi_newton._direction(state.corrections, state.exponent, np.arange(3.0), np.full(3, 2.0))
    np.testing.assert_array_equal(direction, -np.arange(3.0) / 4)


@pytest.mark.parametrize("memory", [1, 4])
def test_no_more_is_remembered_than_was_asked_for(memory):
    solver = QuasiNewton(memory=memory, warmup=0)
    X = parts((14, 12))
    point = point_at(Model("W H", 1), X, run(X, "W H", divergence=1, solver=SOLVER, max_iter=3).factors)
    state = solver.new_state(point.problem)
    counts = []
    for _ in range(9):
        point = solver.step(point, state)
        counts.append(len(state.corrections))
    assert max(counts) == memory


def test_steps_that_would_raise_the_objective_leave_the_adaptive_exponent(monkeypatch):
    X = parts((14, 12))
    monkeypatch.setattr(quasi_newton, "_direction", lambda pairs, exponent, gradient, weight: gradient / weight)
    uphill, adaptive = (run(X, "W H", divergence=1, solver=solver, max_iter=20) for solver in (SOLVER, Adaptive()))
    for name in ("W", "H"):
        np.testing.assert_allclose(uphill.factors[name], adaptive.factors[name])


def test_a_step_walks_over_the_data_once(monkeypatch):
    walks, visit = [], DenseData.visit
    monkeypatch.setattr(DenseData, "visit", lambda self, *arguments: walks.append(1) or visit(self, *arguments))
    iterations, rejected = 50, 25  # one step in ten is a sweep, which walks twice
    run(parts((14, 12)), "W H", solver=QuasiNewton(warmup=0), divergence=0, max_iter=iterations)
    assert len(walks) <= iterations + rejected


def test_runs_can_be_repeated():
    X = parts((14, 12))
    first, second = (run(X, "W W.T X", divergence=1) for _ in range(2))
    np.testing.assert_array_equal(first.factors["W"], second.factors["W"])


@pytest.mark.parametrize("divergence", [Beta(1), Alpha(0.5)], ids=str)
def test_sparse_data_equal_dense_data(divergence):
    X = np.where(np.random.default_rng(0).random((14, 12)) < 0.5, parts((14, 12)), 0)
    dense, thin = (run(data, "W H", divergence=divergence, max_iter=20) for data in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.factors["W"], thin.factors["W"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("divergence", [Beta(1), Gamma(0.5), DualI()], ids=str)
def test_every_library_goes_the_same_way(library, divergence):
    xp, X = pytest.importorskip(library), parts((14, 12))
    ours, theirs = (run(data, "W H", divergence=divergence, max_iter=20) for data in (X, xp.asarray(X)))
    np.testing.assert_allclose(ours.history.objective, theirs.history.objective, rtol=1e-9)


def test_single_precision_stays_and_suffices():
    X = parts((14, 12)).astype(np.float32)
    solution = run(X, "W H", divergence=1, max_iter=100)
    assert solution.factors["W"].dtype == np.float32
    assert_monotone(solution, rtol=0)
    assert solution.objective == pytest.approx(run(X.astype(float), "W H", divergence=1, max_iter=100).objective, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"memory": 0}, "memory must be an int of at least 1; got 0"),
        ({"warmup": -1}, "warmup must be an int of at least 0; got -1"),
        ({"memory": 2.5}, "memory must be an int"),
    ],
)
def test_settings_that_cannot_be(settings, match):
    with pytest.raises(IncompatibleError, match=match):
        QuasiNewton(**settings)


def test_curvature_learned_from_a_step_does_not_depend_on_rounding():
    """A factor of one number may move by a rounding in one order of rows and not at all in another."""
    X = np.array([[4.0, 3.0, 2.0], [4.0, 3.0, 2.0], [1.0, 1.0, 0.0]])
    shapes = {"A": (3, 1), "W": (1, 1), "B": (1, 1), "C": (1, 3)}
    start = {name: np.random.default_rng(i).uniform(0.5, 1.5, shape) for i, (name, shape) in enumerate(shapes.items())}
    order = [2, 0, 1]
    options = {"divergence": "hellinger", "solver": QuasiNewton(memory=2, warmup=0), "max_iter": 2, "tol": 0, "check_every": 1}
    plain = factorize(X, "A W B W.T C", init=start, **options)
    permuted = factorize(X[order], "A W B W.T C", init=start | {"A": start["A"][order]}, **options)
    assert permuted.objective == pytest.approx(plain.objective, rel=1e-10)


@pytest.mark.parametrize("seed", [0, 14, 22, 29])
def test_entries_made_tiny_by_long_steps_come_back(seed):
    """An entry that had fallen to 1e-16 and should grow: to come back by itself, it would have taken hundreds of steps."""
    X = np.random.default_rng(seed).random((7, 5)) + 0.1
    model = Model("W W.T X", Polynomial([(0.25, 0, 4), (-1 / 3, 1, 3), (2.0, 0, 1), (-2.0, 1, 0)]))
    solution = factorize(X, model, 2, solver=QuasiNewton(), init="random", random_state=seed, tol=0, max_iter=2000)
    assert_kkt(model, X, solution.factors, tol=1e-6)
