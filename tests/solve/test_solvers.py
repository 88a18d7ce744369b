import math

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from nonneg import Status, factorize
from nonneg.exceptions import IncompatibleError
from nonneg.solve.stopping import Watch
from nonneg.solvers import NAMES, Adaptive, Multiplicative, Solver, State, Stopping, get_solver


class Still(Solver):
    """Never moves."""

    def new_state(self, problem):
        return State()

    def step(self, point, state):
        return point


class Stalled(Still):
    """Says that it cannot move."""

    def step(self, point, state):
        state.stalled = True
        return point


class Spoils(Still):
    """Moves to nowhere in its third step."""

    def step(self, point, state):
        state.exponents["steps"] = state.exponents.get("steps", 0) + 1
        return point.with_factor("W", point.factors["W"] * (math.nan if state.exponents["steps"] == 3 else 0.5))


REACHED = {
    Status.CONVERGED: ({"tol": 1e-3, "max_iter": 10**5}, "Converged (relative change below tol, KKT residual below 0.02)."),
    Status.MAX_ITER: ({"tol": 0, "max_iter": 7}, "before convergence (raise max_iter or tol)"),
    Status.NO_PROGRESS: ({"solver": Stalled(), "tol": 0}, "no step improves the objective or a constraint"),
    Status.NON_FINITE: ({"solver": Spoils(), "check_every": 1}, "the last finite point is returned (try float64"),
    Status.STOPPED_BY_CALLBACK: (
        {"callback": lambda progress: progress.iteration >= 5, "check_every": 5, "tol": 0},
        "Stopped by the callback.",
    ),
}


@pytest.mark.parametrize("status", list(REACHED))  # others: test_wholeness, and test_objective
def test_every_status_is_reached_and_explains_itself(status, X):
    kwargs, sentence = REACHED[status]
    solution = factorize(X, "W H", 2, random_state=0, **kwargs)
    assert solution.status is status
    assert solution.status == status.value
    assert sentence in solution.status.sentence
    assert solution.status.sentence in str(solution)
    assert solution.n_iter == solution.history[-1].iteration
    assert all(np.all(np.isfinite(factor)) for factor in solution.factors.values())
    assert math.isfinite(solution.objective)


def test_n_iter_of_each_status(X):
    n_iter = {status: factorize(X, "W H", 2, random_state=0, **kwargs).n_iter for status, (kwargs, _) in REACHED.items()}
    assert n_iter[Status.MAX_ITER] == 7
    assert n_iter[Status.NO_PROGRESS] == 1
    assert n_iter[Status.NON_FINITE] == 3
    assert n_iter[Status.STOPPED_BY_CALLBACK] == 5


def test_after_a_spoilt_step_the_best_point_is_returned(X):
    kwargs, _ = REACHED[Status.NON_FINITE]
    start = factorize(X, "W H", 2, init="random", random_state=0, max_iter=0)
    for scale, steps in ((4.0, 2), (1.0, 0)):  # too large a W, which the steps mend, and one of the right size
        init = {"W": start.factors["W"] * scale, "H": start.factors["H"]}
        solution = factorize(X, "W H", init=init, **kwargs)
        np.testing.assert_allclose(solution.factors["W"], init["W"] / 2**steps)
        assert solution.objective == solution.history[steps].objective
        assert math.isnan(solution.history[-1].objective)


class Worse(Multiplicative):
    def step(self, point, state):
        return point.with_factor("W", point.factors["W"] * 1.01)


@pytest.mark.parametrize("check_every", [1, 100])
def test_patience_ends_a_run_that_only_gets_worse(X, check_every):
    solution = factorize(X, "W H", 2, random_state=0, solver=Worse(), check_every=check_every)
    assert solution.status is Status.NO_PROGRESS
    assert solution.n_iter == Stopping().patience


class Rises(Multiplicative):
    """Leaves the start for a worse point, and stays there."""

    def step(self, point, state):
        state.stalled = True
        return point.with_factor("W", point.factors["W"] * 1.01)


def test_the_lowest_point_is_returned(X):
    start = factorize(X, "W H", 2, random_state=0, max_iter=500, tol=0)
    for solver, status in ((Worse(), Status.MAX_ITER), (Rises(), Status.NO_PROGRESS)):
        solution = factorize(X, "W H", init=start.factors, solver=solver, max_iter=20, check_every=5)
        assert solution.objective == solution.history.objective.min() == solution.history[0].objective
        assert solution.history[-1].objective > solution.objective
        np.testing.assert_array_equal(solution.factors["W"], start.factors["W"])
        assert solution.status is status, "an earlier point than the last has not converged"


def test_the_last_point_is_returned_for_constraints_met_in_the_limit(X):
    """The objective of orthogonal factors rises while they become orthogonal."""
    solution = factorize(X, "W H", 2, constraints={"W": "orthogonal"}, random_state=0, solver=Worse(), max_iter=5, tol=0)
    assert solution.objective == solution.history[-1].objective > solution.history[0].objective


def test_without_tolerance_a_run_goes_on(X):
    solution = factorize(X, "W H", 2, random_state=0, solver=Worse(), tol=0, max_iter=400)
    assert solution.status is Status.MAX_ITER


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        ([(0, 9.0, 0.0), (10, 5.0, 0.0)], None),
        ([(0, 5.0, 0.0), (10, 5.0 - 1e-6, 0.0)], None),
        ([(0, 5.0, 0.0), *((t, 5.0 - 1e-6, 0.0) for t in (10, 11, 12, 13, 14))], Status.CONVERGED),
        ([(0, 5.0, 0.0), *((t, 5.0 + 1e-6, 0.0) for t in (10, 11, 12, 13, 14))], Status.CONVERGED),
        ([(0, math.inf, 0.0)], Status.NON_FINITE),
        ([(0, 9.0, 0.0), (10, math.nan, 0.0)], Status.NON_FINITE),
        ([(0, 9.0, 0.0), (100, 5.0, 0.0)], Status.MAX_ITER),
        ([(0, 5.0, 1.0), (10, 6.0, 1.0), (20, 7.0, 1.0)], Status.NO_PROGRESS),
        ([(0, 5.0, 1.0), (10, 6.0, 0.9), (20, 7.0, 0.8)], None),
    ],
)
def test_watch(checks, status):
    watch = Watch(Stopping(tol=1e-5, max_iter=100, patience=20), eps=1e-16, window=0.2)
    said = [watch.check(iteration, value, abs(value), violation, stalled=False) for iteration, value, violation in checks]
    assert said == [None] * (len(checks) - 1) + [status]


@pytest.mark.parametrize(
    ("check_every", "max_iter", "iterations"), [(1, 3, [0, 1, 2, 3]), (2, 5, [0, 2, 4, 5]), (10, 4, [0, 4]), (3, 0, [0])]
)
def test_checks(check_every, max_iter, iterations, X):
    history = factorize(X, "W H", 2, tol=0, check_every=check_every, max_iter=max_iter, random_state=0).history
    assert history.iteration.tolist() == iterations
    assert np.all(np.diff(history.seconds) >= 0)


def test_large_factors_move_as_small_ones_do(rng):
    """OPNMF as NNP Eq. 40 prints it, with W in more than one piece and X in more than one block, from a start in columns."""
    X, W = rng.random((3000, 40)), rng.random((3000, 30))
    with threadpool_limits(1, user_api="blas"):
        settings = {"constraints": {"W": "orthogonal"}, "init": {"W": np.asfortranarray(W)}, "max_iter": 2, "tol": 0}
        solution = factorize(X, "W W.T X", solver=Multiplicative(exponent=1), **settings)
    for _ in range(2):
        W = W * (X @ (X.T @ W)) / (W @ (W.T @ (X @ (X.T @ W))))
        W = W / np.linalg.norm(W, 2)
    np.testing.assert_allclose(solution.factors["W"], W, rtol=1e-12)


@pytest.mark.parametrize("solver", ["adaptive", "multiplicative", Multiplicative(rescale=True)], ids=str)
def test_the_objective_falls(solver, divergence, X):
    objective = factorize(
        X, "W H", 2, divergence=divergence, solver=solver, tol=0, max_iter=30, check_every=1, random_state=0
    ).history.objective
    assert np.all(np.diff(objective) <= 1e-10 * objective[0])
    assert objective[-1] < 0.9 * objective[0]


def test_the_exponents_of_a_run(X):
    proven = factorize(X, "W W.T X", 2, solver="multiplicative", max_iter=20, random_state=0)
    assert set(proven.history.exponent["W"]) == {1 / 3}
    given = factorize(X, "W W.T X", 2, solver=Multiplicative(exponent=0.5), max_iter=20, random_state=0)
    assert set(given.history.exponent["W"]) == {0.5}
    grown = factorize(X, "W W.T X", 2, solver=Adaptive(growth=2, largest=3), max_iter=20, check_every=1, tol=0, random_state=0)
    assert 1 / 3 < grown.history.exponent["W"].max() <= 3
    assert grown.objective <= proven.objective


def test_rescaling_is_best_after_every_step(X):
    """PNMF Eq. 21: tr(Xᵀ X̂) = tr(X̂ᵀ X̂)."""
    solution = factorize(X, "W H", 2, solver=Multiplicative(rescale=True), max_iter=3, tol=0, random_state=0)
    approximation = solution.reconstruct()
    assert np.sum(X * approximation) == pytest.approx(np.sum(approximation**2))


def test_the_callback_sees_the_factors_in_the_users_units(X):
    seen = []
    solution = factorize(1e200 * X, "W H", 2, max_iter=4, check_every=2, tol=0, random_state=0, divergence=1, callback=seen.append)
    assert [progress.iteration for progress in seen] == [0, 2, 4]
    assert [progress.objective for progress in seen] == solution.history.objective.tolist()
    np.testing.assert_array_equal(seen[-1].factors["W"], solution.factors["W"])


@pytest.mark.parametrize("name", NAMES)
def test_solvers_by_name(name):
    assert get_solver(name) is get_solver(NAMES[name]) is NAMES[name]


@pytest.mark.parametrize("unknown", ["foo", 5, None, Adaptive])
def test_unknown_solvers_are_told_the_known_ones(unknown):
    with pytest.raises(
        IncompatibleError,
        match=r"Unknown solver .* Known names: 'coordinate', 'block-coordinate', 'newton', 'quasi-newton', 'adaptive', 'mult",
    ):
        get_solver(unknown)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Stopping(tol=-1), "tol must be a number that is not negative; got -1"),
        (lambda: Stopping(tol=math.nan), "tol must be"),
        (lambda: Stopping(tol="a"), "tol must be .* got 'a'"),
        (lambda: Stopping(max_iter=-1), "max_iter must be an int of at least 0; got -1"),
        (lambda: Stopping(max_iter=2.5), "max_iter must be an int"),
        (lambda: Stopping(check_every=0), "check_every must be an int of at least 1; got 0"),
        (lambda: Stopping(patience=0), "patience must be"),
        (lambda: Multiplicative(0), "exponent of a multiplicative rule must be a positive number; got 0"),
        (lambda: Multiplicative(math.nan), "exponent .* must be a positive number"),
        (lambda: Adaptive(1), "growth must be above 1 .*got growth=1"),
        (lambda: Adaptive(largest=-1), "largest positive"),
        (lambda: Stopping(max_iter=True), "max_iter must be an int"),
        (lambda: Adaptive(math.nan), "growth must be above 1"),
    ],
)
def test_settings_that_cannot_be(make, match):
    with pytest.raises(IncompatibleError, match=match):
        make()
