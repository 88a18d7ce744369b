"""Coordinate descent: each step is the exact minimum, nothing rises, and where it ends the K.K.T. conditions hold."""

import gc
from itertools import product

import numba
import numpy as np
import pytest
from numba.core import event
from scipy import sparse

import nonneg
from nonneg.constraints import Disjoint, PartlyFixed, Sparse
from nonneg.data import dense
from nonneg.data.given import Gram
from nonneg.exceptions import IncompatibleError
from nonneg.kernels import coordinates
from nonneg.kernels.compiler import compiled
from nonneg.kernels.coordinates import least_quartic, linear_rows, linked_rows
from nonneg.kernels.threads import limited
from nonneg.model import Model
from nonneg.solve.problem import point_at
from nonneg.solve.solvers import Adaptive, Coordinate, best_solver
from nonneg.solve.solvers.subproblems import _by_columns as by_columns

pytestmark = pytest.mark.wide(one_in=12)


rng = np.random.default_rng(0)
X = rng.random((12, 17))
TALL = rng.random((60, 9))
TEXT = sparse.random_array((40, 50), density=0.15, format="csr", rng=rng, dtype=np.float64)
AFFINITY = X @ X.T
KERNEL = np.asarray((TEXT @ TEXT.T).todense())

PROBLEMS = {
    "W H": (X, "W H", 3, {}),
    "W H.T": (X, "W H.T", 3, {}),
    "W H sparse": (TEXT, "W H", 3, {}),
    "W S H": (X, "W S H", (3, 4), {}),
    "W W.T X": (X, "W W.T X", 3, {}),
    "X W W.T": (X.T.copy(), "X W W.T", 3, {}),
    "W.T W X": (X, "W.T W X", 3, {}),
    "W W.T X factored": (TALL, "W W.T X", 3, {}),
    "X W W.T factored": (TALL.T.copy(), "X W W.T", 3, {}),
    "W W.T X sparse": (TEXT, "W W.T X", 3, {}),
    "X W W.T sparse": (TEXT, "X W W.T", 3, {}),
    "W W.T": (AFFINITY, "W W.T", 3, {}),
    "W W.T not symmetric": (X[:, :12], "W W.T", 3, {}),
    "W W.T sparse": (sparse.csr_array(KERNEL), "W W.T", 3, {}),
    "Gram": (Gram(AFFINITY), "W W.T X", 3, {}),
    "sparse Gram": (Gram(sparse.csr_array(KERNEL)), "W W.T X", 3, {}),
    "L L.T X R R.T": (X[:, :12], "L L.T X R R.T", (3, 2), {}),
    "sparse codes": (X, "W H", 3, {"W": Sparse(0.3), "H": Sparse(0.1)}),
    "disjoint": (X, "W W.T X", 3, {"W": Disjoint(2.0)}),
    "disjoint factored": (TALL, "W W.T X", 3, {"W": Disjoint(2.0)}),
    "disjoint components": (X, "W H", 3, {"W": Sparse(0.1), "H": Disjoint(0.5, "rows")}),
    "components given": (X, "W H", 4, {"H": PartlyFixed(rng.random((2, 17)), "rows")}),
    "rows given": (X, "W H", 4, {"W": PartlyFixed(rng.random((3, 4)), "rows")}),
    "columns given": (X, "W W.T X", 4, {"W": PartlyFixed(np.eye(12)[:, :2], "columns")}),
    "columns given, sparse": (TEXT, "W W.T X", 4, {"W": PartlyFixed(np.eye(40)[:, :2], "columns")}),
}


def solved(name, **settings):
    data, form, rank, constraints = PROBLEMS[name]
    settings = {"solver": "coordinate", "tol": 0, "check_every": 1, "random_state": 1} | settings
    return nonneg.factorize(data, form, rank, constraints=constraints, **settings)


class TestRows:
    """Rows side by side in lanes of vectors."""

    F, C = rng.random((21, 5)) * (rng.random((21, 5)) < 0.7), rng.normal(size=(21, 5))
    Q = np.cov(rng.random((5, 9)))
    options = 0.1, 0.05, 1, 6, 1e-2

    def swept(self, rows, lanes=True):
        F, C = self.F[rows].copy(), self.C[rows]
        if lanes:
            linear_rows(0, len(F), F, self.Q, C, *self.options)
        else:
            linked_rows(0, len(F), F, np.eye(len(F)), self.Q, C, *self.options)
        return F

    def test_as_one_after_the_other(self):
        rows = np.arange(21)
        np.testing.assert_allclose(self.swept(rows), self.swept(rows, lanes=False), rtol=1e-12, atol=1e-15)

    @pytest.mark.parametrize("start", range(1, 9))
    def test_neighbours_make_no_difference(self, start):
        """Bit by bit: how rows are shared out among threads must not show."""
        np.testing.assert_array_equal(self.swept(np.arange(21))[start:], self.swept(np.arange(start, 21)))

    @pytest.mark.parametrize("options", [(0.1, 0.05, 1, 6, 1e-2), (0.0, 0.0, 0, 50, 1e-9), (0.0, 0.3, 2, 1, 0.0)])
    def test_numpy_does_the_same(self, options):
        Q = self.Q.copy()
        Q[3] = Q[:, 3] = 0.0  # of a component that is zero
        F, same = self.F.copy(), self.F.copy()
        linear_rows(0, len(F), F, Q, self.C, *options)
        by_columns(same, Q, self.C, *options)
        np.testing.assert_allclose(same, F, rtol=1e-12, atol=1e-14)
        assert (F != self.F).any()

    @pytest.mark.parametrize(("rows", "fixed", "is_compiled"), [(40, True, False), (40, False, True), (5000, True, True)])
    def test_a_small_factor_that_is_learned_alone_needs_nothing_compiled(self, rows, fixed, is_compiled, monkeypatch):
        called = []
        monkeypatch.setattr(coordinates, "linear_rows", lambda *given: called.append(given) or linear_rows(*given))
        H = rng.random((2, 6))
        start = {"W": np.ones((rows, 2)), "H": H}
        found = nonneg.factorize(
            rng.random((rows, 2)) @ H, "W H", constraints={"H": "fixed"} if fixed else None, init=start, tol=1e-9
        )
        assert found.objective <= 1e-6 * rows
        assert bool(called) == is_compiled


@compiled
def least_of(c1, c2, c3, c4, least):
    return least_quartic(c1, c2, c3, c4, least)


class TestQuartic:
    @pytest.mark.parametrize("seed", range(200))
    def test_it_is_the_least(self, seed):
        self.check(seed, is_cubic=False)

    def test_a_cubic_or_a_parabola(self):
        for seed in range(200):
            self.check(seed, is_cubic=True)

    def check(self, seed, is_cubic):
        g = np.random.default_rng(seed)
        c1, c2, c3 = g.normal(size=3) * 10.0 ** g.integers(-3, 3, size=3)
        c4, least = 10.0 ** g.uniform(-2, 2), -g.uniform(0, 2)
        if is_cubic:
            c3, c4 = (abs(c3) if seed % 2 else 0.0), 0.0
            c2 = c2 if c3 else abs(c2)  # else it has no minimum
        d = least_of(c1, c2, c3, c4, least)

        def value(x):
            return x * (c1 + x * (c2 + x * (c3 + x * c4)))

        roots = np.roots([4 * c4, 3 * c3, 2 * c2, c1])
        candidates = np.array([least, *roots[np.abs(roots.imag) < 1e-6].real])
        lowest = min(value(x) for x in candidates[candidates >= least])
        assert d >= least
        if c2 > 0:  # Newton's way to the nearest minimum: it need not be the lowest, but must be one
            slope = c1 + d * (2 * c2 + d * (3 * c3 + 4 * c4 * d))
            assert value(d) <= 0
            assert d == least or abs(slope) <= 1e-6 * abs(c1) or value(d) <= lowest + 1e-9 * abs(lowest)
        else:
            assert value(d) <= lowest + 1e-9 * abs(lowest) + 1e-12


@pytest.mark.parametrize("name", PROBLEMS)
class TestEveryProblem:
    def test_nothing_rises(self, name):
        _, form, _, _ = PROBLEMS[name]
        values = [record.objective for record in solved(name, max_iter=60).history]
        assert values[-1] < values[0]
        values = values[Coordinate().warmup if not form.startswith("W H") else 0 :]
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))

    def test_kkt(self, name):
        data, form, _, constraints = PROBLEMS[name]
        factors = solved(name, max_iter=3000).factors
        model = Model(form, "euclidean", constraints)
        point = point_at(model, data, factors)
        for factor in model.learned:
            positive, negative = point.sides(factor)
            F = factors[factor]
            scale = np.abs(positive).max() + np.abs(negative).max()
            gradient = (negative - positive) / scale
            learned = np.ones_like(F, dtype=bool)
            constraint = constraints.get(factor)
            if isinstance(constraint, PartlyFixed):
                count = constraint.values.shape[0 if constraint.axis == "rows" else 1]
                learned[(slice(count),) if constraint.axis == "rows" else (slice(None), slice(count))] = False
            assert gradient[learned].min() > -1e-3
            assert np.abs(gradient * F / F.max())[learned].max() < 1e-3

    def test_kept_products_are_right(self, name):
        """What is kept up to date entry by entry gives the objective that is computed anew."""
        often = solved(name, solver=Coordinate(refresh=1), max_iter=40).history
        rarely = solved(name, solver=Coordinate(refresh=40), max_iter=40).history
        np.testing.assert_allclose([r.objective for r in often], [r.objective for r in rarely], rtol=1e-7)

    def test_float32(self, name):
        data, form, rank, constraints = PROBLEMS[name]
        data = Gram(data.kernel.astype(np.float32)) if isinstance(data, Gram) else data.astype(np.float32)
        single = nonneg.factorize(data, form, rank, constraints=constraints, solver="coordinate", random_state=1, max_iter=300)
        double = solved(name, max_iter=300, check_every=10, tol=1e-5)
        assert all(factor.dtype == np.float32 for factor in single.factors.values())
        assert single.objective == pytest.approx(double.objective, rel=5e-2)

    def test_no_worse_than_multiplicative(self, name):
        data, form, rank, constraints = PROBLEMS[name]
        other = nonneg.factorize(
            data, form, rank, constraints=constraints, solver="multiplicative", tol=0, max_iter=3000, random_state=1
        )
        assert solved(name, max_iter=300).objective <= other.objective * 1.05  # local minima differ

    def test_the_same_every_time(self, name):
        first, second = (solved(name, max_iter=15).factors for _ in range(2))
        for factor in first:
            np.testing.assert_allclose(first[factor], second[factor], rtol=1e-10, atol=1e-12)


def naive_sweep(objective, F, order, columns, degree=2):
    """Every entry, in the given order of rows, at the minimum of the polynomial through the objective's own values.

    Its degree is that of the objective in one entry: coefficients beyond that would be roundings, and so would their roots.
    """
    F = F.copy()
    for i in order:
        for k in range(columns):

            def value(x, i=i, k=k):
                changed = F.copy()
                changed[i, k] = x
                return objective(changed)

            places = np.linspace(0, 2 * F.max(), 5)
            polynomial = np.polynomial.Polynomial.fit(places, [value(x) for x in places], degree)
            roots = polynomial.deriv().roots()
            candidates = [0.0, *(root.real for root in roots if abs(root.imag) < 1e-7 and root.real > 0)]
            F[i, k] = min(candidates, key=polynomial)
    return F


class TestOneSweep:
    """One pass of one sweep, beside a transcription that knows the objective only by its values."""

    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_quadratic(self, store):
        W = np.random.default_rng(3).random((12, 3)) * 0.3
        solution = nonneg.factorize(store(X), "W W.T X", init={"W": W}, solver=Coordinate(warmup=0, passes=1), max_iter=1, tol=0)
        order = np.random.default_rng(0).permutation(np.arange(12))
        expected = naive_sweep(lambda F: 0.5 * np.sum((X - F @ F.T @ X) ** 2), W, order, 3, degree=4)
        np.testing.assert_allclose(solution.factors["W"], expected, atol=1e-5)

    def test_beside_rows_of_zeros(self):
        """The objective has degree two in an entry there."""
        g = np.random.default_rng(3)
        W, A = 0.3 * g.random((12, 3)), g.random((12, 17))
        A[[2, 7]] = 0
        settings = {"init": {"W": W, "A": A}, "solver": Coordinate(warmup=0, passes=1), "max_iter": 1, "tol": 0}
        solution = nonneg.factorize(X, "W W.T A", constraints={"A": "fixed"}, **settings)
        order = np.random.default_rng(0).permutation(np.arange(12))
        expected = naive_sweep(lambda F: 0.5 * np.sum((X - F @ F.T @ A) ** 2), W, order, 3, degree=4)
        np.testing.assert_allclose(solution.factors["W"], expected, atol=1e-5)

    def test_gram_without_a_diagonal(self):
        """The objective has degree three in an entry."""
        W = np.random.default_rng(3).random((12, 3)) * 0.3
        K = AFFINITY - np.diag(np.diag(AFFINITY))
        order = np.random.default_rng(0).permutation(np.arange(12))
        expected = naive_sweep(lambda F: -np.sum(F * (K @ F)) + np.sum((F.T @ K @ F) * (F.T @ F)) / 2, W, order, 3, degree=3)
        settings = {"init": {"W": W}, "solver": Coordinate(warmup=0, passes=1), "max_iter": 1, "tol": 0}
        for kernel in (K, sparse.csr_array(K)):
            solution = nonneg.factorize(Gram(kernel, checked=False), "W W.T X", **settings)
            np.testing.assert_allclose(solution.factors["W"], expected, atol=1e-5)

    def test_linear(self):
        g = np.random.default_rng(3)
        W, H = g.random((12, 3)), g.random((3, 17))
        solution = nonneg.factorize(X, "W H", init={"W": W, "H": H}, solver=Coordinate(passes=1), max_iter=1, tol=0)
        new_W = naive_sweep(lambda F: 0.5 * np.sum((X - F @ H) ** 2), W, range(12), 3, degree=2)
        new_H = naive_sweep(lambda F: 0.5 * np.sum((X - new_W @ F.T) ** 2), H.T, range(17), 3, degree=2).T
        np.testing.assert_allclose(solution.factors["W"], new_W, atol=1e-6)
        np.testing.assert_allclose(solution.factors["H"], new_H, atol=1e-6)

    def test_between_two_others(self):
        g = np.random.default_rng(3)
        W, S, H = g.random((12, 3)), g.random((3, 2)), g.random((2, 17))
        solution = nonneg.factorize(
            X,
            "W S H",
            init={"W": W, "S": S, "H": H},
            constraints={"W": "fixed", "H": "fixed"},
            solver=Coordinate(passes=1),
            max_iter=1,
            tol=0,
        )
        expected = naive_sweep(lambda F: 0.5 * np.sum((X - W @ F @ H) ** 2), S, range(3), 2, degree=2)
        np.testing.assert_allclose(solution.factors["S"], expected, atol=1e-6)


class TestManyRows:
    data = np.random.default_rng(5).random((400, 6))

    @pytest.fixture(autouse=True)
    def lanes_for_few(self, monkeypatch):
        monkeypatch.setattr(dense, "_MANY", 100)

    def run(self, **settings):
        return nonneg.factorize(self.data, "W W.T X", 3, solver="coordinate", random_state=0, tol=0, check_every=1, **settings)

    def test_threads_do_not_change_the_result(self):
        with limited(1):
            one = self.run(max_iter=20)
        with limited(2):
            two = self.run(max_iter=20)
        np.testing.assert_array_equal(one.factors["W"], two.factors["W"])

    def test_nothing_rises(self):
        values = [record.objective for record in self.run(max_iter=60).history][10:]
        assert np.all(np.diff(values) <= 1e-12 * values[0])

    def test_lanes_that_are_in_each_others_way(self, monkeypatch):
        """Where all rows change at once the objective may rise; the sweep is then done again, row by row."""
        monkeypatch.setattr(dense, "_ROUNDS", 1)
        monkeypatch.setattr(dense, "_LANES", 100)
        values = [record.objective for record in self.run(max_iter=40).history][10:]
        assert np.all(np.diff(values) <= 1e-12 * values[0])


def test_components_come_back_to_life():
    W = np.abs(np.random.default_rng(0).random((12, 3)))
    W[:, 1] = 0
    point = point_at(Model("W W.T X"), X, {"W": W})
    solver = Coordinate(warmup=0)
    state = solver.new_state(point.problem)
    for _ in range(5):
        point = solver.step(point, state)
    assert point.factors["W"][:, 1].any()


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_extreme_scales(factor):
    plain = nonneg.factorize(X, "W W.T X", 3, solver="coordinate", random_state=0).factors["W"]
    extreme = nonneg.factorize(X * factor, "W W.T X", 3, solver="coordinate", random_state=0).factors["W"]
    np.testing.assert_allclose(plain, extreme, rtol=1e-6, atol=1e-9)


class TestRefusals:
    @pytest.mark.parametrize(
        ("form", "settings", "words"),
        [
            ("W H", {"divergence": "kullback-leibler"}, "no polynomial"),
            ("W W.T X", {"constraints": {"W": "orthogonal"}}, "has no exact step for a single entry of W"),
            ("W S W.T", {}, "neither once nor as"),
        ],
    )
    def test_by_coordinate(self, form, settings, words):
        data = AFFINITY if form == "W S W.T" else X
        with pytest.raises(IncompatibleError, match=words):
            nonneg.factorize(data, form, 3, solver="coordinate", **settings)
        nonneg.factorize(data, form, 3, random_state=0, max_iter=3, tol=0, **settings)  # "auto" finds another way

    def test_matrices_too_large_for_memory(self):
        with pytest.raises(IncompatibleError, match="larger than the data"):
            nonneg.factorize(np.ones((1200, 5)), "L L.T X R R.T", (3, 2), solver="coordinate")

    @pytest.mark.parametrize(
        "setting", [{"warmup": -1}, {"passes": 0}, {"refresh": 0}, {"enough": 1.0}, {"passes": 2.5}, {"momentum": 2}]
    )
    def test_settings(self, setting):
        with pytest.raises(IncompatibleError):
            Coordinate(**setting)


def test_the_best_solver():
    assert isinstance(
        best_solver(point_at(Model("W H"), X, {"W": np.ones((12, 2)), "H": np.ones((2, 17))}).problem.signature), Coordinate
    )
    kl = Model("W H", "kullback-leibler")
    assert not isinstance(
        best_solver(point_at(kl, X, {"W": np.ones((12, 2)), "H": np.ones((2, 17))}).problem.signature), Coordinate
    )
    assert Adaptive().warm() == Adaptive()
    assert Coordinate().warm() == Coordinate(warmup=0)


def test_momentum_helps_and_never_raises():
    data = np.random.default_rng(0).random((80, 60))
    plain, ahead = (
        nonneg.factorize(data, "W H", 8, solver=Coordinate(momentum=share), random_state=0, tol=0, check_every=1, max_iter=60)
        for share in (0.0, 0.7)
    )
    values = [record.objective for record in ahead.history]
    assert np.all(np.diff(values) <= 1e-12 * values[0])
    assert ahead.objective < plain.objective


def test_momentum_helps_a_factor_that_stands_alone():
    """W Wᵀ for similarities: without momentum, sixty sweeps leave it above what they come to with it."""
    factors = np.random.default_rng(0).random((60, 12))
    data = factors @ factors.T
    runs = {
        share: nonneg.factorize(
            data, "W W.T", 8, solver=Coordinate(momentum=share), init="random", random_state=0, tol=0, check_every=1, max_iter=60
        )
        for share in (0.0, 0.7)
    }
    assert runs[0.7].objective < 0.99 * runs[0.0].objective
    rises = np.diff(runs[0.7].history.objective)
    assert rises.max() <= 1e-12 * np.sum(data**2)


@pytest.mark.parametrize("seed", range(6))
def test_sparse_similarities_need_not_be_symmetric(seed):
    """⟨X, F Fᵀ⟩ depends on the mean of X and Xᵀ alone; dense and sparse X must not differ in that."""
    generator = np.random.default_rng(seed)
    X = generator.random((9, 9)) * (generator.random((9, 9)) < 0.4)
    dense, thin = (
        nonneg.factorize(x, "W W.T", 3, random_state=seed, tol=0, max_iter=60, check_every=1) for x in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin.history.objective, dense.history.objective, rtol=1e-8)
    assert np.diff(thin.history.objective).max() <= 1e-12 * thin.history.objective[0]


def test_the_smallest_sparse_similarity_that_is_not_symmetric():
    X = sparse.csr_array(np.eye(3, k=1))
    assert nonneg.factorize(X, "W W.T", 2, random_state=0).objective == pytest.approx(0.75, rel=1e-4)


def test_a_sparse_matrix_in_the_form_is_not_taken_for_its_square(rng):
    """C = X Bᵀ is known and sparse here, and Q = B Bᵀ is another matrix."""
    B = sparse.random_array((8, 8), density=0.4, rng=rng, format="csr") + sparse.eye_array(8, format="csr")
    X = sparse.csr_array(rng.random((8, 8)))
    model = Model("W W.T B", constraints={"B": "fixed"})
    runs = [
        nonneg.factorize(x, model, 2, init={"B": b}, random_state=0, max_iter=50, tol=0, check_every=1)
        for x, b in ((X, B), (X.toarray(), B.toarray()))
    ]
    np.testing.assert_allclose(runs[0].history.objective, runs[1].history.objective, rtol=1e-8)


@pytest.mark.parametrize("form", ["W W.T", "W W.T X", "X W W.T"])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_nothing_rises_not_even_while_it_warms_up(form, store):
    """With exponent 1 a multiplicative step may overshoot; such a step is not taken."""
    for seed in range(12):
        generator = np.random.default_rng(seed)
        size = int(generator.integers(2, 9))
        X = generator.random((size, size)) * (generator.random((size, size)) < 0.6) + np.eye(size) / 10
        X = X + X.T if seed % 2 else X
        solution = nonneg.factorize(
            store(X), form, min(size, 3), init="random", random_state=seed, tol=0, max_iter=25, check_every=1
        )
        assert np.diff(solution.history.objective).max() <= 1e-12 * solution.history.objective[0]


def test_nothing_rises_while_many_rows_warm_up(rng):
    X = np.kron(np.eye(4), np.ones((2100, 3))) + 1e-3 * rng.random((8400, 12))
    solution = nonneg.factorize(X, "W W.T X", 4, init="random", random_state=0, tol=0, max_iter=12, check_every=1)
    assert np.diff(solution.history.objective).max() <= 1e-12 * solution.history.objective[0]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(20, 100), (200, 30)], ids=["rows", "gram"])
def test_a_feature_without_data_has_no_part(store, shape):
    """All that its row adds to the objective is what it takes from others, however little of the gradient that is."""
    X = np.outer(np.arange(1.0, shape[0] + 1), np.ones(shape[1]))
    X[:, 0] = 0
    start = np.full((shape[1], 1), 0.1)
    solution = nonneg.factorize(store(X), "X W W.T", 1, init={"W": start}, solver=Coordinate(warmup=0))
    assert solution.factors["W"][0, 0] == 0
    assert solution.objective <= 1e-10 * np.sum(X**2)


def test_nothing_rises_beside_zeros_in_other_factors():
    """Rows of zeros in A leave rows of W to be learned: X̂ᵢ = wᵢ WᵀA."""
    data = np.random.default_rng(11).random((12, 5))
    for form, X, side in (("W W.T A", data, 1), ("W W.T A B", data, 1), ("A W W.T", data.T, 0)):
        solution = nonneg.factorize(X, form, 5, max_iter=120, check_every=1, random_state=2)
        assert np.diff(solution.history.objective).max() <= 1e-13 * solution.history.objective[0], form
        assert (solution.factors["A"] == 0).all(axis=side).any(), "there is nothing to see here"


def test_similarities_that_are_not_positive_semidefinite():
    """Three cliques without loops: rows with Kᵢᵢ = 0 have neighbours, and W is the indicator of the cliques."""
    for store, diagonal in product((np.asarray, sparse.csr_array), (0.0, 1e-9, 1e-2)):
        K = Gram(store(np.kron(np.eye(3), 1.0 - np.eye(4)) + diagonal * np.eye(12)), checked=False)
        found = nonneg.factorize(K, "W W.T X", 3, random_state=0, check_every=1)
        assert np.diff(found.history.objective).max() <= 1e-13 * abs(found.objective)
        # The largest eigenvalue of each block is 3 + diagonal, and W has its eigenvectors: ½ tr K − Σλ + ½ Σλ; `tol` is 1e-5.
        assert found.objective == pytest.approx(6 * diagonal - 3 * (3 + diagonal) / 2, rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e100])
def test_fixed_entries_stay_however_small(scale):
    X = np.full((1, 1), scale)
    solution = nonneg.factorize(X, "W.T W", 2, constraints={"W": PartlyFixed(np.ones((1, 1)))}, random_state=0, max_iter=30)
    assert solution.factors["W"][0, 0] == 1


def test_a_step_lets_go_of_products_as_long_as_the_factor():
    """Of tall data they would take as much memory as the factor each, while others like it are made."""
    point = point_at(Model("W W.T X"), TALL, {"W": np.random.default_rng(0).random((60, 3))})
    solver = Coordinate(warmup=0)
    state = solver.new_state(point.problem)
    for _ in range(3):  # momentum begins with the second
        before, point = point, solver.step(point, state)
        assert all(max(product.shape) < 60 for product in before.known.values())
        point.objective()
        assert any(max(product.shape) == 60 for product in point.known.values())


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_collected_while_a_kernel_is_compiled(collects):
    """And is afterwards as it was before."""
    seen = []

    def kernel(x):
        return x + 1

    class Listener(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            seen.append(gc.isenabled())

    was = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with event.install_listener("numba:compile", Listener()):
            assert numba.njit(kernel)(1) == 2  # not kept on disk, so that it is compiled each time
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was else gc.disable)()
    assert seen[0] is False
