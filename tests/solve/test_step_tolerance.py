"""Stopping on the size of a step, and on an exact fit."""

import math
from itertools import pairwise

import numpy as np
import pytest

from nonneg import Status, factorize
from nonneg.constraints import Orthogonal
from nonneg.exceptions import IncompatibleError
from nonneg.solve import run
from nonneg.solve.stopping import Watch
from nonneg.solvers import Multiplicative, Stopping


def relative_steps(progress):
    """The largest ‖F − F_before‖/‖F‖ of each iteration, from what a callback saw of every one."""

    def step(now, before):
        return max(np.linalg.norm(F - before[name]) / np.linalg.norm(F) for name, F in now.items())

    return [step(now.factors, before.factors) for before, now in pairwise(progress)]


@pytest.mark.parametrize("step_tol", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize(("form", "constraints"), [("W H", None), ("W W.T X", {"W": Orthogonal()})], ids=str)
def test_it_stops_at_the_first_step_below_the_tolerance(form, constraints, step_tol, X):
    seen = []
    solution = factorize(
        X,
        form,
        2,
        constraints=constraints,
        solver=Multiplicative(exponent=1),
        random_state=0,
        tol=0,
        step_tol=step_tol,
        check_every=1,
        max_iter=5000,
        callback=seen.append,
    )
    steps = relative_steps(seen)
    assert solution.status is Status.CONVERGED
    assert solution.n_iter == len(steps) == 1 + next(i for i, step in enumerate(steps) if step <= step_tol)


def test_it_is_the_step_of_one_iteration_looked_at_when_checked(X):
    """Not the change since the last check, ten iterations ago."""
    options = {"solver": "multiplicative", "random_state": 0, "tol": 0, "step_tol": 1e-3, "max_iter": 5000}
    each, tenth = (factorize(X, "W H", 2, check_every=every, **options) for every in (1, 10))
    assert each.status is tenth.status is Status.CONVERGED
    assert tenth.n_iter == -(-each.n_iter // 10) * 10


@pytest.mark.parametrize("step_tol", [0, 0.0])
def test_without_it_no_step_is_measured(step_tol, X, monkeypatch):
    def never(point, previous):
        raise AssertionError("measured a step that nobody asked for")

    monkeypatch.setattr(run, "_step", never)
    factorize(X, "W H", 2, random_state=0, step_tol=step_tol, max_iter=5)
    with pytest.raises(AssertionError, match="nobody asked"):
        factorize(X, "W H", 2, random_state=0, step_tol=1e-9, max_iter=5)


def test_no_step_was_made_before_the_first(X):
    """At iteration 0 nothing has moved, and that is not convergence."""
    assert factorize(X, "W H", 2, random_state=0, tol=0, step_tol=1e-12, max_iter=3).status is Status.MAX_ITER


@pytest.mark.parametrize(
    ("step", "tol", "status"),
    [
        (1e-3, 0, Status.CONVERGED),
        (1.1e-3, 0, None),
        (math.inf, 0, None),
        (0.0, 0, Status.CONVERGED),
        (1.0, 1e-5, None),
    ],
)
def test_watch(step, tol, status):
    watch = Watch(Stopping(tol=tol, step_tol=1e-3), eps=1e-16)
    assert watch.check(0, 5.0, 5.0, 0.0, False, 0.0) is None
    assert watch.check(1, 5.0 - (1e-7 if tol else 1), 5.0, 0.0, False, step) is status


@pytest.mark.parametrize("value", [-1, -1e-9, math.nan, "a", None])
def test_invalid_tolerances(value, X):
    with pytest.raises(IncompatibleError, match=r"step_tol must be a number that is not negative; got"):
        Stopping(step_tol=value)
    with pytest.raises(IncompatibleError, match="step_tol must be"):
        factorize(X, "W H", 2, step_tol=value)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize(("form", "divergence"), [("W H", 2), ("W H", 1), ("W W.T", 2)])
def test_an_exact_fit_converges(form, divergence, scale, rng):
    """Its objective falls by a factor forever; a relative error of a hundredth is near enough for that to count as nothing."""
    W = rng.random((20, 3))
    X = scale * (W @ W.T if form == "W W.T" else W @ rng.random((3, 15)))
    solution = factorize(X, form, 3, divergence=divergence, random_state=0, max_iter=20000)
    assert solution.status is Status.CONVERGED
    assert np.linalg.norm(solution.reconstruct() - X) < 0.02 * np.linalg.norm(X)


@pytest.mark.parametrize(
    ("violations", "status"), [((1e-5, 5e-6), Status.CONVERGED), ((1.0, 0.9), None), ((0.5, 0.4999), Status.CONVERGED)]
)
def test_a_violation_near_zero_does_not_keep_a_run_going(violations, status):
    watch = Watch(Stopping(tol=1e-5, check_every=1), eps=1e-16)
    said = [watch.check(i, 5.0, 5.0, violation, False) for i, violation in enumerate(2 * [violations[0]] + 2 * [violations[1]])]
    assert said == [None, None, None, status]
