"""Invariants of every model, on random ones: words of any letters, any divergence, any constraint."""

from __future__ import annotations

from math import isclose, log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import AT_ONCE, DIVERGENCES, SOLVERS, SWEEPS, Case, cases, forms, without

from nonneg import Model
from nonneg.algebra.expression import Word, parse
from nonneg.kernels.namespace import to_host
from nonneg.planning.plans import multiply
from nonneg.solve.problem import point_at
from nonneg.solve.solvers.multiplicative import moved
from nonneg.testing import divergence_value

pytestmark = pytest.mark.wide(one_in=4)


ROUNDING = 1e-9
"""Two ways of summing differ by 1e-15; four sweeps with powers up to the fifth of sums of seven leave more than half the digits."""
GROWN = 1e-6
"""What is left of them after the 14 steps that solvers with a warm-up are given."""


def assert_same(first, second, tol=ROUNDING):
    """Solutions, dicts of arrays or arrays, equal relative to their largest entries."""
    if hasattr(first, "factors"):
        first, second = first.factors, second.factors
    if not isinstance(first, dict):
        first, second = {"": first}, {"": second}
    assert first.keys() == second.keys()
    for name, expected in second.items():
        expected = to_host(expected)
        np.testing.assert_allclose(to_host(first[name]), expected, rtol=tol, atol=tol * np.max(expected), err_msg=name)


@given(forms())
def test_print_and_parse(form: Word):
    assert parse(form.text) == parse(str(form)) == parse(form.text.replace(" ", " @ ")) == form
    assert form == form.T.T
    assert [form.count(name) for name in form.names] == [len(list(form.around(name))) for name in form.names]


@given(cases())
def test_product_of_the_transpose(case: Case):
    matrices = {**case.start, "X": case.X}
    assert_same(multiply(case.model.form.T, matrices), multiply(case.model.form, matrices).T)


@given(cases())
def test_objective_is_the_textbooks(case: Case):
    solution = case.solve()
    _, magnitude = point_at(case.model, case.X, solution.factors).objective()
    expected = divergence_value(case.model.divergence, case.X, solution.reconstruct())
    assert abs(solution.objective - expected) <= ROUNDING * magnitude  # what it is a difference of


@given(cases(solvers=AT_ONCE), st.integers(0, 99))
def test_permutation(case: Case, seed: int):
    """Rows, columns and components may be numbered in any way: what is permuted in X and in the start is permuted in the result."""
    size = case.shape[seed % 2] if seed % 3 else [*case.rank, *case.shape][0]
    order = np.random.default_rng(seed).permutation(size)

    def permuted(array):
        for axis in range(2):
            array = np.take(array, order, axis) if array.shape[axis] == size else array
        return array

    start = {name: permuted(factor) for name, factor in case.start.items()}
    expected = {name: permuted(factor) for name, factor in case.solve().factors.items()}
    tol = ROUNDING if case.solver in SWEEPS else GROWN
    assert_same(case.solve(X=permuted(case.X), init=start).factors, expected, tol)


@given(cases())
def test_mirror(case: Case):
    """Xᵀ with the transposed form: every factor takes the same step."""
    model = case.model
    form = Word(letter.T if letter.name == "X" else letter for letter in model.form.T)
    mirror = Model(form, model.divergence, model.constraints)
    here, there = point_at(model, case.X, case.start), point_at(mirror, case.X.T, case.start)
    assert isclose(here.objective()[0], there.objective()[0], rel_tol=ROUNDING, abs_tol=ROUNDING * here.objective()[1])
    for name in model.learned:
        assert mirror.rules[name].exponent == model.rules[name].exponent
        first, second = moved(there, name, 0.5), moved(here, name, 0.5)
        if not model.constraints[name].is_signed:
            assert_same(first, second)
            continue
        # Least squares beside products without an inverse leave open a part of the factor that does not change X̂.
        assert_same(first, second, 1e-4)
        values = [point.with_factor(name, factor).objective()[0] for point, factor in ((there, first), (here, second))]
        assert isclose(*values, rel_tol=ROUNDING, abs_tol=ROUNDING * here.objective()[1])


@given(cases(), st.sampled_from([-500, -3, 2, 500]))
def test_scale(case: Case, power: int):
    """c·X, from a start whose product is c·X̂: the objective is c^degree times what it was, the product c times."""
    model = case.model
    movable = [name for name in case.start if model.constraints[name].is_free or name in model.fixed]
    occurrences = sum(model.form.count(name) for name in movable)
    missing = 1 - model.form.count("X")
    assume(occurrences or not missing)
    power -= power % max(occurrences, 1)  # so that each factor is multiplied by a power of two, too
    divergence, doublings = model.divergence.in_units(power)  # of a sum, with other weights
    assume(abs(doublings) < 1000 and abs(power * missing) < 1000)  # what double precision can represent
    scales = {name: 2.0 ** (power * missing // occurrences) if name in movable else 1.0 for name in case.start}
    scaled = Model(model.form, divergence, model.constraints)
    small = case.solve(form=scaled)
    large = case.solve(X=case.X * 2.0**power, init={name: factor * scales[name] for name, factor in case.start.items()})
    magnitude = point_at(scaled, case.X, small.factors).objective()[1]
    assert abs(large.objective / 2.0**doublings - small.objective) <= ROUNDING * magnitude
    assert_same(large.reconstruct() / 2.0**power, small.reconstruct())


@given(cases(constraints=()), st.sampled_from([1e-150, 1e-3, 1e150]))
def test_scale_of_a_random_start(case: Case, scale: float):
    divergence, doublings = case.model.divergence.in_units(log2(scale))
    assume(abs(doublings) <= 1000 and case.model.form.count("X") <= 2)  # X X X overflows whatever else it meets
    arguments = {"init": "random", "rank": case.rank, "random_state": 0}
    small = case.solve(form=Model(case.model.form, divergence), **arguments)
    large = case.solve(X=case.X * scale, **arguments)
    assert_same(large.reconstruct() / scale, small.reconstruct())


@given(cases())
def test_sparse_is_dense(case: Case):
    assert_same(case.solve(X=sparse.csr_array(case.X)), case.solve())


@given(cases())
def test_single_precision(case: Case):
    single = case.solve(X=case.X.astype(np.float32))
    assert {factor.dtype for factor in single.factors.values()} == {np.dtype(np.float32)}
    assert single.reconstruct().dtype == np.float32
    assert_same(single.reconstruct(), case.solve().reconstruct(), tol=2e-3)  # √eps would be 3e-4; the sweeps amplify it


@given(cases(solvers=AT_ONCE))
def test_torch_is_numpy(case: Case):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    solution, expected = case.solve(X=torch.tensor(case.X)), case.solve()
    assert all(isinstance(factor, torch.Tensor) for factor in solution.factors.values())
    assert_same(solution, expected)
    assert isclose(solution.objective, expected.objective, rel_tol=1e-6, abs_tol=ROUNDING)


@given(cases())
def test_gradient_is_autograd(case: Case):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model, point = case.model, point_at(case.model, case.X, case.start)
    tensors = {name: torch.tensor(factor, requires_grad=True) for name, factor in case.start.items()} | {"X": torch.tensor(case.X)}
    divergence_value(model.divergence, tensors["X"], multiply(model.form, tensors)).backward()
    for name in model.learned:
        positive, negative = point.gradient(name)
        size = np.max(positive + np.abs(negative))
        np.testing.assert_allclose(positive - negative, tensors[name].grad.numpy(), rtol=0, atol=ROUNDING * size)


@given(cases(solvers=("multiplicative",)), st.integers(1, 4))
def test_k_and_k_more(case: Case, k: int):
    """A run of the multiplicative rules has no memory but its factors.

    (Those of scale-invariant divergences are scaled at the end: compare the products.)
    """
    half = case.solve(max_iter=k)
    again, whole = case.solve(max_iter=k, init=half.factors), case.solve(max_iter=2 * k)
    assert_same(again.reconstruct(), whole.reconstruct())
    assert isclose(again.objective, whole.objective, rel_tol=1e-6, abs_tol=ROUNDING)


@given(cases(forms("WHSB"), constraints=without("orthogonal")))
def test_fixed_point_stays(case: Case):
    """X = X̂ is where every rule rests; under orthogonality only where that holds, too.

    Sums that are restored by iteration are left where they nearly hold, and restored further by the next step.
    """
    constraints = case.model.constraints
    assume(all(constraints[name].violation(np, factor) < ROUNDING / 10 for name, factor in case.start.items()))
    X = multiply(case.model.form, case.start)
    solution = case.solve(X=X)
    assert_same(solution.reconstruct(), X)
    if not any(constraint.is_signed for constraint in constraints.values()):  # these are solved for, and may have many solutions
        assert_same(solution.factors, case.start)


@given(cases(constraints=without("fixed")), st.integers(0, 99))
def test_same_seed_same_result(case: Case, seed: int):
    first, second, other = (
        case.solve(init="random", rank=case.rank, random_state=state) for state in (seed, np.random.default_rng(seed), seed + 1)
    )
    assert_same(first, second, tol=0)
    assert first.history.objective.tolist() == second.history.objective.tolist()
    if any(constraint.is_free for constraint in case.model.constraints.values()):
        assert first.history[0].objective != other.history[0].objective


@given(cases(), st.integers(0, 6), st.integers(1, 3))
def test_callback_stops(case: Case, when: int, check_every: int):
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.iteration >= when

    solution = case.solve(callback=stop, max_iter=9, check_every=check_every)
    assert solution.status == "stopped_by_callback"
    assert solution.n_iter == seen[-1].iteration == -(-when // check_every) * check_every
    assert [progress.objective for progress in seen] == solution.history.objective.tolist()
    assert_same(case.solve(max_iter=solution.n_iter).reconstruct(), solution.reconstruct())


@given(cases(), st.integers(0, 14), st.integers(1, 4))
def test_history(case: Case, max_iter: int, check_every: int):
    solution = case.solve(max_iter=max_iter, check_every=check_every)
    history, model = solution.history, case.model
    checks = [i for i in range(solution.n_iter + 1) if i % check_every == 0 or i == solution.n_iter]
    assert history.iteration.tolist() == checks
    assert solution.n_iter == max_iter or solution.status == "no_progress"
    assert solution.objective == history[-1].objective == history.objective[-1]
    assert np.all(np.diff(history.seconds) >= 0)
    assert tuple(history.exponent) == model.learned
    assert set(history.violation) == {name for name in model.learned if not model.constraints[name].is_free}
    assert {len(column) for column in (*history.exponent.values(), *history.violation.values())} == {len(history)}
    assert len(history[1:]) == len(history) - 1


@pytest.mark.parametrize("divergence", [d for d in DIVERGENCES if not d.requires_positive_data], ids=str)
@pytest.mark.parametrize("rank", [1, 9])
@pytest.mark.parametrize("solver", SOLVERS)
def test_empty_rows_and_extreme_ranks(divergence, rank, solver):
    case = Case(Model("W H", divergence), (7, 5), (rank,), 0, solver)
    if not case.allows(solver):
        pytest.skip("there is an obstacle to this solver")
    case.X[2], case.X[:, 3] = 0, 0
    solution = case.solve(max_iter=30)
    assert np.all(np.diff(solution.history.objective) <= 1e-13 * solution.history.objective[0])
    assert all(np.all(np.isfinite(factor)) for factor in solution.factors.values())


@pytest.mark.wide
def test_the_models_differ():
    """Hypothesis draws what the properties are about: each kind of form, constraint and divergence turns up."""
    drawn = []
    settings(max_examples=200)(given(cases())(lambda case: drawn.append(case)))()
    seen, solvers = [case.model for case in drawn], {case.solver for case in drawn}
    assert {len(model.form) for model in seen} >= {1, 2, 3, 4, 5}
    assert any(model.form.count(name) > 2 for model in seen for name in model.learned)
    assert any("X" in model.form.names for model in seen)
    assert any(model.fixed for model in seen)
    assert solvers == set(SOLVERS)
    assert len({type(model.divergence) for model in seen}) == 7
    assert len({constraint for model in seen for constraint in model.constraints.values() if not constraint.is_signed}) == 11
