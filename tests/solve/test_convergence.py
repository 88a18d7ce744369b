"""Convergence: not a cycle, not a plateau, not a factor stuck at zero."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from nonneg import NMF, Model, Status, factorize
from nonneg.constraints import Orthogonal, PartlyFixed
from nonneg.divergences import Renyi
from nonneg.solve.problem import bind, point_at
from nonneg.solve.run import begin, solve
from nonneg.solve.solving import objective_of
from nonneg.solve.stopping import Watch
from nonneg.solve.storing import read, write
from nonneg.solvers import Coordinate, Multiplicative, Stopping
from nonneg.testing import divergence_value

pytestmark = pytest.mark.wide(one_in=2)


def watched(curve, every=10, tol=1e-5, max_iter=400, eps=1e-16, notes=False, shape_by=40, window=1.0, **stopping):
    """The iteration and status at which a run with a given curve of objectives ends, which may be noted between checks."""
    watch = Watch(Stopping(tol=tol, max_iter=max_iter, check_every=every, **stopping), eps, window, shape_by)
    iteration = 0
    while True:
        value = curve(iteration)
        status = watch.check(iteration, value, abs(value), 0.0, stalled=False)
        if status is not None:
            return iteration, status
        previous, iteration = iteration, min(watch.next_check(iteration), max_iter)
        for between in range(previous + 1, iteration if notes else 0):
            watch.curve.append((between, curve(between), watch.violation))


class TestWatch:
    @pytest.mark.parametrize("every", [1, 2, 3, 10])
    def test_a_curve_that_flattens_converges(self, every):
        iteration, status = watched(lambda t: 1 + 0.5**t, every)
        assert status is Status.CONVERGED
        assert iteration <= 22 + 4 * every  # and not long after it is flat

    @pytest.mark.parametrize("period", [2, 3, 4, 5, 6, 10])
    def test_a_cycle_does_not(self, period):
        assert watched(lambda t: 5.0 + (t % period == 0), patience=10**6) == (400, Status.MAX_ITER)

    def test_a_cycle_that_brings_nothing_lower_is_no_progress(self):
        assert watched(lambda t: 5.0 + (t % 2), patience=60)[1] is Status.NO_PROGRESS

    @pytest.mark.parametrize("growth", [1.01, 1.05, 1.2])
    def test_a_plateau_does_not(self, growth):
        """A fast approach to a saddle, and then a way out of it that is too slow to see but for its growing."""
        iteration, status = watched(lambda t: 1 + 0.1**t - 1e-9 * growth**t, max_iter=150)
        assert (iteration, status) == (150, Status.MAX_ITER)

    @pytest.mark.parametrize("seed", range(5))
    def test_a_plateau_in_single_precision_does_not(self, seed):
        """Its way out hardly shows in an objective that wavers as much as it falls in some iterations."""
        noise = 2e-8 * np.random.default_rng(seed).standard_normal(401)
        iteration, _ = watched(lambda t: 1 + 0.1**t - 1e-5 * 1.002**t + noise[t], max_iter=150, eps=1e-8)
        assert iteration == 150

    def test_a_curve_that_wavers_and_flattens_converges(self):
        noise = 1e-8 * np.random.default_rng(0).standard_normal(401)
        assert watched(lambda t: 1 + 1e-2 * 0.95**t + noise[t], eps=1e-9)[1] is Status.CONVERGED

    def test_gains_are_compared_with_chance(self):
        # An objective that goes on falling by a share of itself, far below what chance alone makes it.
        def curve(t):
            return 0.01 * 0.995**t

        assert watched(curve)[1] is Status.MAX_ITER
        assert watched(curve, noise=1.0) == watched(lambda t: 1.0 + curve(t))
        assert watched(curve, noise=1e-9)[1] is Status.MAX_ITER
        # By the change of ten iterations alone, too, which is all that counts where `steady` is infinite.
        assert watched(curve, steady=math.inf)[1] is Status.MAX_ITER
        assert watched(curve, steady=math.inf, noise=1000.0)[1] is Status.CONVERGED

    def test_papers_stop_at_the_first_check(self):
        assert watched(lambda t: 5.0, steady=np.inf) == (10, Status.CONVERGED)
        assert watched(lambda t: 5.0) == (30, Status.CONVERGED)

    def test_a_point_that_is_not_stationary_does_not(self):
        watch = Watch(Stopping(tol=1e-5, check_every=1), 1e-16)
        assert [watch.check(t, 5.0, 5.0, 0.0, stalled=False, kkt_residual=lambda: 0.5) for t in range(8)] == [None] * 8
        said = [watch.check(t, 5.0, 5.0, 0.0, stalled=False, kkt_residual=lambda: 1e-3) for t in (8, 9)]
        assert said[-1] is Status.CONVERGED
        watch = Watch(Stopping(tol=1e-5, check_every=1), 1e-16)
        assert watch.check(1, 5.0, 5.0, 0.0, stalled=True, kkt_residual=lambda: 0.5) is Status.NO_PROGRESS


class TestWhatIsLeft:
    """The rule that looks at the curve as a whole."""

    @pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
    def test_a_slow_curve_ends_near_its_end(self, power, scale):
        def curve(t):
            return scale * (1 + (1 + t) ** -power)

        iteration, status = watched(curve, max_iter=10**4)
        settled = next(t for t in range(10, 10**4, 10) if curve(t - 10) - curve(t) <= 1e-5 * curve(t))
        assert status is Status.CONVERGED
        assert curve(iteration) <= 1.006 * scale
        assert iteration < settled / 1.5

    def test_tol_says_how_much_is_left(self):
        left = []
        for tol in (1e-5, 3e-6, 1e-6):
            iteration, status = watched(lambda t: 1 + 2 / (1 + t), max_iter=10**6, tol=tol)
            assert status is Status.CONVERGED
            left.append(2 / (1 + iteration))
            assert left[-1] <= 600 * tol
        assert left[0] > 2 * left[1] > 4 * left[2]

    def test_a_large_tol_leaves_no_more(self):
        """Beyond the default, `tol` is about what changes from one check to the next."""
        iteration, _ = watched(lambda t: 1 + 2 / (1 + t), max_iter=10**4, tol=1e-4)
        assert 2 / (1 + iteration) <= 0.006

    @pytest.mark.parametrize("rate", [1e-6, 3e-5, 1e-4])
    def test_a_curve_that_falls_evenly_has_not_ended(self, rate):
        """After a fast beginning, which makes the latter half look as if little was left."""
        iteration, status = watched(lambda t: 1 + 0.5 * 0.7**t - rate * t, max_iter=600, tol=1e-9)
        assert (iteration, status) == (600, Status.MAX_ITER)

    @pytest.mark.parametrize("growth", [1.02, 1.05])
    def test_a_plateau_is_no_end(self, growth):
        """A slow approach to a saddle, and a way out of it that is steeper by the time that little seems to be left."""
        assert watched(lambda t: 1 + 0.02 / (1 + t) - 1e-4 * growth**t, max_iter=120) == (120, Status.MAX_ITER)

    @pytest.mark.parametrize("period", [2, 3, 7])
    def test_a_cycle_on_a_slow_curve_is_no_end(self, period):
        iteration, status = watched(lambda t: 1 + 0.2 / (1 + t) + 1e-4 * (t % period == 0), max_iter=400, patience=10**6)
        assert (iteration, status) == (400, Status.MAX_ITER)

    def test_an_exact_fit_goes_on(self):
        """An objective that falls towards zero loses the same share with each doubling, however small it is."""
        curve = lambda t: 1e-3 / (1 + t)  # noqa: E731
        watch = Watch(Stopping(max_iter=10**5), 1e-16)
        iteration = 0
        while watch.check(iteration, curve(iteration), 1.0, 0.0, stalled=False) is None:
            iteration = watch.next_check(iteration)
        assert curve(iteration) < 1e-5  # next to nothing, in relation to the data

    def test_a_constraint_that_comes_closer_to_holding_is_waited_for(self):
        def ends(violation):
            watch, iteration = Watch(Stopping(max_iter=2000), 1e-16), 0
            while watch.check(iteration, 1 + 1 / (1 + iteration), 1.0, violation(iteration), stalled=False) is None:
                iteration = watch.next_check(iteration)
            return iteration

        assert 2 * ends(lambda t: 0.5) < ends(lambda t: 1.5 * 0.998**t)

    def test_a_point_that_is_not_stationary_is_no_end(self):
        watch, iteration = Watch(Stopping(max_iter=500), 1e-16), 0
        status = None
        while status is None:
            status = watch.check(iteration, 1 + 0.2 / (1 + iteration), 1.0, 0.0, stalled=False, kkt_residual=lambda: 0.5)
            iteration = watch.next_check(iteration)
        assert status is Status.MAX_ITER

    @pytest.mark.parametrize("power", [0.8, 1.0])
    def test_from_a_start_with_shape_a_curve_that_is_clear_ends_sooner(self, power):
        """If a solver knows the objective between checks; and it ends as near to its end as without."""

        def curve(t):
            return 1 + 0.3 * (1 + t) ** -power * 0.8**t

        def ended(**settings):
            iteration, status = watched(curve, max_iter=1000, window=0.2, **settings)
            assert status is Status.CONVERGED
            assert curve(iteration) <= 1.006
            return iteration

        assert 20 <= ended(notes=True, shape_by=20) < 40
        assert ended(notes=True) >= 40
        assert ended(shape_by=20) >= 40

    @pytest.mark.parametrize("power", [1.0, 1.5])
    def test_a_slow_curve_that_is_clear_ends_near_its_end_too(self, power):
        iteration, _ = watched(lambda t: 1 + (1 + t) ** -power, max_iter=10**5, notes=True, shape_by=20)
        assert (1 + iteration) ** -power <= 0.006

    @pytest.mark.parametrize("gain", [0.003, 0.001])
    def test_a_curve_that_falls_like_a_logarithm_is_not_waited_for(self, gain):
        """Each doubling brings the same: no end can be told, and none is worth it."""
        iteration, status = watched(lambda t: 2 - gain * np.log2(10 + t), max_iter=10**4)
        assert status is Status.CONVERGED
        assert 70 <= iteration <= 140

    def test_unless_a_doubling_brings_much(self):
        assert watched(lambda t: 3 - 0.02 * np.log2(10 + t), max_iter=1000) == (1000, Status.MAX_ITER)

    @pytest.mark.parametrize("rate", [1e-5, 2e-5])
    def test_a_curve_that_falls_evenly_is_waited_for(self, rate):
        """Each doubling brings twice as much as the one before."""
        assert watched(lambda t: 1 + 0.1 * 0.7**t - rate * t, max_iter=1000, tol=1e-6)[0] == 1000

    @pytest.mark.parametrize("growth", [1.02, 1.05, 1.2])
    def test_a_plateau_that_is_clear_is_no_end(self, growth):
        curve = lambda t: 1 + 0.02 / (1 + t) - 1e-4 * growth**t  # noqa: E731
        assert watched(curve, max_iter=120, notes=True) == (120, Status.MAX_ITER)

    def test_few_checks_far_apart_tell_nothing(self):
        watch, iteration, status = Watch(Stopping(max_iter=390, check_every=100), 1e-16, window=0.05), 0, None
        while status is None:
            status = watch.check(iteration, 1 + 0.2 / (1 + iteration), 1.0, 0.0, stalled=False)
            iteration = min(watch.next_check(iteration), 390)
        assert status is Status.MAX_ITER

    def test_a_resumed_run_ends_at_the_same_objective(self, rng, tmp_path):
        X = planted(40, 30, 4)
        problem = bind(Model("W H"), X, 8)
        solver, stopping = Multiplicative(), Stopping()
        start = {"W": rng.random((40, 8)), "H": rng.random((8, 30))}
        whole = solve(begin(problem, start, solver, stopping), solver, stopping)
        half = solve(begin(problem, start, solver, stopping), solver, stopping, pause_at=whole.n_iter // 2)
        write(half, tmp_path / "run")
        rest = solve(read(tmp_path / "run", problem), solver, stopping)
        assert (rest.n_iter, rest.status) == (whole.n_iter, whole.status)
        assert rest.watch.curve == whole.watch.curve


def planted(m, n, r, seed=0):
    generator = np.random.default_rng(seed)
    W = np.eye(r)[generator.integers(0, r, m)] * (generator.random((m, 1)) + 0.5)
    return W @ generator.gamma(1.0, 1.0, (r, n)) + 0.1 * generator.random((m, n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constraints", [None, {"W": "orthogonal"}], ids=["free", "orthogonal"])
def test_a_random_start_of_many_components_is_not_the_end(constraints, dtype):
    """W Wᵀ is all but constant at first, and what makes the components differ is small, and grows."""
    X = planted(4000, 50, 60).astype(dtype)
    solution = factorize(
        X, "W W.T X", 60, constraints=constraints, solver="multiplicative", init="random", random_state=0, max_iter=120
    )
    assert solution.status is Status.MAX_ITER
    fallen = -np.diff(solution.history.objective)
    assert fallen[-1] > 2 * fallen[3]  # faster and faster


def test_an_orthogonal_factor_whose_lengths_alternate_has_not_converged():
    """With exponent 1 the columns of W are long and short in turn, and S follows the wrong phase."""
    blocks = [np.full((7, 8), 11.0), np.full((9, 11), 55.6), np.full((14, 11), 55.0)]
    X = sparse.block_diag(blocks).toarray()
    model = Model("W S H", constraints={"W": "orthogonal", "H": "orthogonal-rows"})
    solution = factorize(X, model, 3, init="nndsvd", solver=Multiplicative(exponent=1), max_iter=500)
    seen = factorize(X, model, 3, init="nndsvd", solver=Multiplicative(exponent=1), max_iter=500, tol=0, check_every=1).history
    alternates = np.ptp(seen.objective[-4:]) > 0.1 * seen.objective[-1]
    assert (solution.status is Status.CONVERGED) != alternates


@pytest.mark.parametrize("solver", ["auto", "adaptive", "multiplicative", "quasi-newton"])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", "itakura-saito"])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
def test_converged_points_are_stationary_and_stay(form, divergence, solver, rng):
    X = rng.random((12, 9)) + 0.01
    solution = factorize(X, form, 3, divergence=divergence, solver=solver, random_state=0, max_iter=5000)
    if solution.status is not Status.CONVERGED:
        pytest.fail(f"{solution.status} after {solution.n_iter} iterations")
    assert point_at(solution.model, X, solution.factors).kkt_residual() <= 0.02
    more = factorize(X, solution.model, init=solution.factors, solver="adaptive", tol=0, max_iter=400)
    assert solution.objective - more.objective <= 0.01 * solution.objective


class TestImbalance:
    def test_it_is_small_if_the_gradient_vanishes(self, rng):
        W, H = rng.random((6, 2)), rng.random((2, 5))
        assert point_at(Model("W H"), W @ H, {"W": W, "H": H}).kkt_residual() < 1e-12

    def test_it_sees_entries_stuck_at_zero(self, rng):
        """A component that no rule can bring back: the objective is steady, the point is none."""
        X = rng.random((6, 5)) + 1.0
        left, values, right = np.linalg.svd(X)
        W, H = np.abs(left[:, :1]) * values[0], np.abs(right[:1])
        alone = point_at(Model("W H"), X, {"W": W, "H": H})
        assert alone.kkt_residual() < 1e-10
        W, H = np.hstack([W, np.full((6, 1), 1e-12)]), np.vstack([H, [[0.0, 0.0, 0.0, 0.0, 1.0]]])
        assert point_at(Model("W H"), X, {"W": W, "H": H}).kkt_residual() > 1e-3

    def test_it_leaves_out_fixed_entries(self, rng):
        X, given = rng.random((6, 5)), rng.random((1, 5))
        model = Model("W H", constraints={"H": PartlyFixed(given, "rows")})
        solution = factorize(X, model, 3, random_state=0, max_iter=5000)
        assert solution.status is Status.CONVERGED
        np.testing.assert_array_equal(solution.factors["H"][:1], given)

    def test_a_scale_that_is_restored_counts_for_nothing(self, rng):
        X, W = rng.random((6, 5)), rng.random((6, 2))
        point, scaled = (point_at(Model("W W.T X", constraints={"W": "orthogonal"}), X, {"W": c * W}) for c in (1.0, 3.0))
        assert point.kkt_residual() == pytest.approx(scaled.kkt_residual())


def test_fixed_rows_do_not_make_the_rest_orthogonal(rng):
    """The violation of what is learned is looked at, as it is without given columns."""
    X, given = rng.random((8, 12)), np.eye(8)[:, :1]
    partly = PartlyFixed(given, "columns", Orthogonal())
    assert not partly.restores_fully
    assert PartlyFixed(given, "columns").restores_fully
    solution = factorize(X, Model("W W.T X", constraints={"W": partly}), 3, random_state=0)
    np.testing.assert_array_equal(solution.factors["W"][:, :1], given)
    assert solution.history[-1].violation["W"] == pytest.approx(
        np.linalg.norm(solution.factors["W"].T @ solution.factors["W"] - np.eye(3)), rel=1e-10
    )


def test_a_callback_cannot_write_to_the_factors(rng):
    def spoil(progress):
        for factor in progress.factors.values():
            factor[:] = -5.0

    with pytest.raises(ValueError, match="read-only"):
        factorize(rng.random((5, 4)), "W H", 2, callback=spoil, random_state=0)


def test_a_scale_that_does_not_matter_stays_within_reach():
    """With exponent 1, steps for a divergence without scale lead W to 1e-72, where products are no numbers any more."""
    X, model = np.eye(2), Model("W X W.T", Renyi(2))
    solution = factorize(X, model, init="random", solver=Multiplicative(exponent=1), max_iter=60, random_state=0, tol=0)
    assert solution.objective == pytest.approx(objective_of(X, model, solution.factors), rel=1e-9)


def test_a_start_that_is_far_too_large_costs_no_digits():
    """FᵀF is kept up to date entry by entry, and 1e12 less 1e12 is nothing to keep."""
    X, start = np.ones((1, 1)), {"W": np.array([[6e5]])}
    solution = factorize(X, "W W.T X", 1, init=start, solver=Coordinate(warmup=0, passes=2), max_iter=1)
    assert solution.objective == pytest.approx(objective_of(X, solution.model, solution.factors), rel=1e-9)


def test_a_run_that_diverges_beyond_what_numbers_hold_says_so():
    """Steps longer than the proven ones lead to an X̂ near 1e-24, of which χ² cannot be computed in single precision."""
    kwargs = {"divergence": "chi2", "constraints": {"W": PartlyFixed(np.ones((1, 1)))}, "random_state": 0, "check_every": 1}
    for size, is_over in ((364, True), (4, False)):  # few entries are cast to double precision, in which it can
        X = np.eye(size)
        solution = factorize(X.astype(np.float32), "W W.T X", 1, solver=Multiplicative(exponent=1), **kwargs)
        assert (solution.status is Status.NON_FINITE) == is_over
        W = solution.factors["W"].astype(float)
        assert solution.objective == pytest.approx(float(divergence_value("chi2", X, W @ W.T)), rel=1e-4)


def test_more_components_than_are_needed_end_when_the_fit_is_exact():
    """Those that are not needed drift to any scale, and must not make an exact fit look as if it was not stationary."""
    X = load_digits().data[:100]
    model = NMF(100, random_state=0, max_iter=1000).fit(X)
    assert model.status_ is Status.CONVERGED
    assert model.objective_ < 1e-9 * np.sum(X**2)
