"""Newton's method along entries: each step is that of the bound, nothing rises, and where it ends the K.K.T. conditions hold."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import Model
from nonneg.constraints import Disjoint, PartlyFixed, Sparse
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Polynomial, Renyi
from nonneg.exceptions import IncompatibleError
from nonneg.kernels.threads import limited
from nonneg.solve.problem import bind, point_at
from nonneg.solve.solvers import Newton, QuasiNewton, best_solver

pytestmark = pytest.mark.wide(one_in=2)


rng = np.random.default_rng(0)
X = rng.random((14, 19)) + 0.02
HOLES = X * (rng.random(X.shape) < 0.6)
HOLES[3], HOLES[:, 5] = 0, 0
TEXT = sparse.random_array((40, 50), density=0.15, format="csr", rng=rng, dtype=np.float64)
CUSTOM = Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (1 / 2, 0, 2), (-1, 1, 1)])
DIVERGENCES = [
    *(Beta(b) for b in (-1, 0, 0.5, 1, 1.3, 1.5, 2, 3)),
    *(Alpha(a) for a in (-1, 0.5, 2)),
    DualI(),
    Beta(1) + 0.5 * Beta(2),
    CUSTOM,
]
PROBLEMS = {
    "W H": (X, "W H", 3, {}),
    "W H.T": (X, "W H.T", 3, {}),
    "W S H": (X, "W S H", (3, 4), {}),
    "zeros": (HOLES, "W H", 3, {}),
    "sparse": (TEXT, "W H", 3, {}),
    "sparse codes": (X, "W H", 3, {"W": Sparse(0.3), "H": Sparse(0.1)}),
    "disjoint components": (X, "W H", 3, {"W": Sparse(0.1), "H": Disjoint(0.5, "rows")}),
    "components given": (X, "W H", 4, {"H": PartlyFixed(rng.random((2, 19)), "rows")}),
    "rows given": (X, "W H", 4, {"W": PartlyFixed(rng.random((3, 4)), "rows")}),
}


def solved(data, form, rank, constraints=None, divergence=1, **settings):
    settings = {"solver": "newton", "tol": 0, "check_every": 1, "random_state": 1} | settings
    return nonneg.factorize(data, form, rank, divergence=divergence, constraints=constraints or {}, **settings)


def residual(data, solution):
    return point_at(solution.model, data, solution.factors).kkt_residual()


def never_rises(solution):
    values = np.array(solution.history.objective)
    assert np.all(np.diff(values) <= 1e-12 * abs(values[0]))
    assert values[-1] < values[0]


# ---- one sweep, in plain words

LOWEST = {Beta(1): 0.0, Beta(0): -1.0, Beta(1.5): 0.5, Alpha(0.5): 0.5, Alpha(2): -1.0, DualI(): 1.0}
"""The lowest power of X̂ among what is convex: of x ln X̂, x/X̂, x √X̂, √x √X̂, x²/X̂ and X̂ ln X̂."""
SLOPES = {
    Beta(1): (lambda x, y: 1 - x / y, lambda x, y: x / y**2),
    Beta(0): (lambda x, y: 1 / y - x / y**2, lambda x, y: 2 * x / y**3),  # without ln X̂, which is concave
    Beta(1.5): (lambda x, y: y**0.5 - x * y**-0.5, lambda x, y: 0.5 * y**-0.5 + 0.5 * x * y**-1.5),
    Beta(3): (lambda x, y: y**2 - x * y, lambda x, y: 2 * y),
    Alpha(0.5): (lambda x, y: 2 - 2 * (x / y) ** 0.5, lambda x, y: x**0.5 * y**-1.5),
    Alpha(2): (lambda x, y: 0.5 - 0.5 * (x / y) ** 2, lambda x, y: x**2 / y**3),
    DualI(): (lambda x, y: np.log(y / x), lambda x, y: 1 / y),
}


def naive_rows(X, F, V, divergence):
    F = F.copy()
    slope_of, curvature_of = SLOPES[divergence]
    for x, f in zip(X, F, strict=True):
        for k in range(len(f)):
            y = f @ V
            slope, curvature = V[k] @ slope_of(x, y), V[k] ** 2 @ curvature_of(x, y)
            if slope > 0:
                steepness = 1 / f[k] if slope <= 0.1 * curvature * f[k] else min(1 / f[k], max(V[k] / y))
                power = LOWEST.get(divergence, 2.0)
            else:
                steepness, power = max(V[k] / y), 3.0 if divergence == Beta(3) else 2.0
            z = slope * steepness / curvature
            if power == 1:
                step = (np.exp(-z) - 1) / steepness
            else:
                step = (max(1 + (1 - power) * z, 0) ** (-1 / (1 - power)) - 1) / steepness
            f[k] = max(f[k] + step, 0)
    return F


@pytest.mark.parametrize("divergence", SLOPES, ids=str)
def test_a_sweep_is_the_one_in_plain_words(divergence):
    problem = bind(Model("W H", divergence), X, 3)
    W, H = rng.random((14, 3)), rng.random((3, 19))
    solver = Newton(momentum=0, warmup=0)
    point = solver.step(problem.point({"W": W, "H": H}), solver.new_state(problem))
    expected = naive_rows(X, W, H, divergence)
    np.testing.assert_allclose(point.factors["W"], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(point.factors["H"], naive_rows(X.T, H.T, expected.T, divergence).T, rtol=1e-9, atol=1e-12)


def test_a_divergence_that_is_not_convex_is_approached_by_quasi_newton_steps():
    """Thirty of them; what they have learned is let go of, and sweeps go on from there."""
    for divergence, is_convex in ((Beta(0), False), (Beta(1), True), (Beta(1.5), True), (Alpha(0.5), True)):
        assert divergence.curve.is_convex == is_convex
    problem, solver, other = bind(Model("W H", Beta(0)), X, 3), Newton(), QuasiNewton()
    start = {"W": rng.random((14, 3)), "H": rng.random((3, 19))}
    point, state = problem.point(start), solver.new_state(problem)
    twin, known = problem.point(start), other.new_state(problem)
    for _ in range(30):
        point, twin = solver.step(point, state), other.step(twin, known)
        np.testing.assert_array_equal(point.factors["W"], twin.factors["W"])
    assert state.corrections
    point, twin = solver.step(point, state), Newton(warmup=0).step(twin, Newton().new_state(problem))
    assert not state.corrections
    np.testing.assert_array_equal(point.factors["W"], twin.factors["W"])


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
class TestEveryDivergence:
    def test_nothing_rises_and_it_is_stationary(self, divergence):
        solution = solved(X, "W H", 3, divergence=divergence, max_iter=400)
        never_rises(solution)
        if divergence != Beta(-1):  # entries of X̂ that are too large cost next to nothing: factors grow without end
            assert residual(X, solution) < 2e-3

    def test_a_sweep_returns_the_objective(self, divergence):
        problem = bind(Model("W H", divergence), X, 3)
        solver = Newton(warmup=0)
        state, point = solver.new_state(problem), problem.point({"W": rng.random((14, 3)), "H": rng.random((3, 19))})
        for _ in range(5):
            point = solver.step(point, state)
            assert point.objective()[0] == pytest.approx(problem.point(point.factors).objective()[0], rel=1e-10)

    @pytest.mark.parametrize("scale", [1e-3, 1e3])
    def test_from_starts_that_are_far_away(self, divergence, scale):
        start = {"W": scale * rng.random((14, 3)), "H": rng.random((3, 19))}
        never_rises(solved(X, "W H", 3, divergence=divergence, init=start, solver=Newton(warmup=0), max_iter=60))

    def test_float32(self, divergence):
        single = solved(X.astype(np.float32), "W H", 3, divergence=divergence, max_iter=300)
        assert all(factor.dtype == np.float32 for factor in single.factors.values())
        values = np.array(single.history.objective)
        assert np.all(np.diff(values) <= 1e-6 * abs(values[0]))
        if divergence != Beta(-1):
            assert residual(X, single) < 1e-2

    def test_it_ends_at_the_objective_of_quasi_newton(self, divergence):
        """From the end of each, the other finds nothing lower; from random starts, local minima differ."""
        solvers = (Newton(warmup=0), 400), (QuasiNewton(warmup=0), 3000)
        for (first, long), (second, _) in (solvers, solvers[::-1]):
            end = solved(X, "W H", 3, divergence=divergence, solver=first, max_iter=long)
            after = solved(X, "W H", 3, divergence=divergence, solver=second, init=end.factors, max_iter=100)
            assert after.objective <= end.objective * (1 + 1e-9)
            if divergence != Beta(-1):
                assert after.objective >= end.objective * (1 - 2e-3)


@pytest.mark.parametrize("name", PROBLEMS)
class TestEveryProblem:
    def test_nothing_rises_and_it_is_stationary(self, name):
        data, form, rank, constraints = PROBLEMS[name]
        solution = solved(data, form, rank, constraints, max_iter=600)
        never_rises(solution)
        assert residual(data, solution) < 5e-3
        for factor, constraint in constraints.items():
            if isinstance(constraint, PartlyFixed):
                np.testing.assert_array_equal(solution.factors[factor][: len(constraint.values)], constraint.values)

    def test_without_momentum(self, name):
        data, form, rank, constraints = PROBLEMS[name]
        never_rises(solved(data, form, rank, constraints, solver=Newton(warmup=0, momentum=0, passes=2), max_iter=40))


@pytest.mark.parametrize("divergence", [Beta(1), Alpha(0.5), Alpha(2), Beta(1.5)], ids=str)
def test_sparse_is_dense(divergence):
    start = {"W": rng.random((14, 3)), "H": rng.random((3, 19))}
    ends = [
        solved(store(HOLES), "W H", 3, divergence=divergence, init=start, solver=Newton(warmup=0), max_iter=30)
        for store in (np.asarray, sparse.csr_array)
    ]
    for name in ("W", "H"):
        np.testing.assert_allclose(ends[0].factors[name], ends[1].factors[name], rtol=1e-6, atol=1e-9)


def test_rows_and_columns_of_zeros_become_zero():
    factors = solved(HOLES, "W H", 3, max_iter=60).factors
    np.testing.assert_allclose(factors["W"][3], 0, atol=1e-30)  # the least that a multiplicative step leaves
    np.testing.assert_allclose(factors["H"][:, 5], 0, atol=1e-30)


def test_single_precision_at_first(monkeypatch):
    """It ends where double precision does, nothing rises, and the objective of a point is that of double precision."""
    monkeypatch.setattr("nonneg.solve.solvers.newton._LARGE", 0)
    start = {"W": rng.random((14, 3)), "H": rng.random((3, 19))}
    for divergence in (1, 0, Beta(0.5)):
        model, solver = Model("W H", divergence), Newton(warmup=0)
        problem = bind(model, X, 3)
        state = solver.new_state(problem)
        assert state.is_single
        point, values = problem.point(problem.units.from_user(start)), []
        while state.is_single:
            point = solver.step(point, state)
            assert point.factors["W"].dtype == np.float64
            values.append(problem.point(point.factors).objective()[0])
            assert state.value is None or state.value == pytest.approx(values[-1], rel=1e-5)
        assert len(values) > 5
        assert all(after < before for before, after in pairwise(values))
        single = solved(X, "W H", 3, divergence=divergence, init=start, max_iter=300, solver=solver)
        monkeypatch.setattr("nonneg.solve.solvers.newton._may_be_single", lambda problem: False)
        double = solved(X, "W H", 3, divergence=divergence, init=start, max_iter=300, solver=solver)
        monkeypatch.undo()
        monkeypatch.setattr("nonneg.solve.solvers.newton._LARGE", 0)
        assert single.objective == pytest.approx(double.objective, rel=0.01)


def test_a_zero_comes_back():
    W, H = rng.random((14, 3)), rng.random((3, 19))
    W[:, 1:][rng.random((14, 2)) < 0.5] = 0
    problem = bind(Model("W H", 1), X, 3)
    solver = Newton(warmup=0)
    point = solver.step(problem.point({"W": W, "H": H}), solver.new_state(problem))
    assert np.count_nonzero(point.factors["W"][W == 0]) > 0


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_extreme_scales(scale):
    usual, extreme = (solved(X * by, "W H", 3, max_iter=40) for by in (1.0, scale))
    assert extreme.objective / scale == pytest.approx(usual.objective, rel=1e-6)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_same_bits_with_any_number_of_threads(store):
    data = store(rng.random((700, 900)) * (rng.random((700, 900)) < 0.3))
    ends = []
    for count in (1, 2, 3):
        with limited(count):
            ends.append(solved(data, "W H", 5, solver=Newton(warmup=2), max_iter=6).factors)
    for name in ("W", "H"):
        assert ends[0][name].tobytes() == ends[1][name].tobytes() == ends[2][name].tobytes()


class TestObstacles:
    @pytest.mark.parametrize("divergence", [Gamma(0.5), Gamma(0), Renyi(0.5)], ids=str)
    def test_not_separable(self, divergence):
        with pytest.raises(IncompatibleError, match="not a sum over entries"):
            solved(X, "W H", 3, divergence=divergence)
        assert isinstance(best_solver(bind(Model("W H", divergence), X, 3).signature), QuasiNewton)

    def test_a_factor_that_occurs_twice(self):
        with pytest.raises(IncompatibleError, match="more than once"):
            solved(X, "W W.T X", 3)

    def test_a_factor_alone(self):
        with pytest.raises(IncompatibleError, match="stands alone"):
            solved(X, "W", None)
        assert nonneg.factorize(X, "W", None, divergence=1, max_iter=30).objective < 1e-6

    def test_constraints_that_tie_entries(self):
        with pytest.raises(IncompatibleError, match="ties the entries"):
            solved(X, "W H", 3, {"W": "stochastic"})

    def test_nothing_at_an_end(self):
        with pytest.raises(IncompatibleError, match="stands at an end"):
            solved(X, "A W B", None, {"A": "fixed", "B": "fixed"}, init={"A": rng.random((14, 2)), "B": rng.random((4, 19))})

    @pytest.mark.parametrize("divergence", [1, 0, 0.5, Alpha(0.5), Beta(1) + 0.5 * Beta(2)], ids=str)
    def test_choices_of_auto(self, divergence):
        assert isinstance(best_solver(bind(Model("W H", divergence), X, 3).signature), Newton)

    @pytest.mark.parametrize("divergence", [1.5, 3, 0.9, DualI()], ids=str)
    def test_problems_it_does_not_suit(self, divergence):
        """Entries that bend at zero are stuck there; other powers, and logarithms, take long."""
        assert isinstance(best_solver(bind(Model("W H", divergence), X, 3).signature), QuasiNewton)

    def test_settings(self):
        for settings in ({"warmup": -1}, {"passes": 0}, {"momentum": 1.0}, {"enough": -1}):
            with pytest.raises(IncompatibleError):
                Newton(**settings)


def test_large_dense_data_start_from_the_euclidean_solution(monkeypatch, capsys):
    """A sweep for another divergence takes long there; small and sparse data begin with their own."""
    generator = np.random.default_rng(0)
    X = generator.gamma(1.0, 1.0, (60, 4)) @ generator.gamma(1.0, 1.0, (4, 40)) + 0.1 * generator.random((60, 40)) + 0.01
    models = [nonneg.NMF(4, divergence=name, random_state=0, verbose=1) for name in ("kullback-leibler", "itakura-saito")]
    before = [model.fit(X).objective_ for model in models]
    assert "Euclidean" not in "".join(capsys.readouterr())
    monkeypatch.setattr("nonneg.solve.starts.euclidean._LARGE", 1)
    for model, objective in zip(models, before, strict=True):
        assert model.fit(X).objective_ <= objective * (1 + 1e-2)
        assert "found a start for the Euclidean distance" in "".join(capsys.readouterr())
    models[0].fit(sparse.csr_array(np.where(np.quantile(X, 0.8) < X, X, 0.0)))
    assert "Euclidean" not in "".join(capsys.readouterr())
