"""Weights and missing values: of every divergence and form, the invariants and the changes."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from strategies import AT_ONCE, DIVERGENCES, MODELS, Case, cases, fitting, positive_data

import nonneg
from nonneg import Model, factorize
from nonneg.data import read_weighted
from nonneg.data.dense import DenseData
from nonneg.data.sparse import SparseData
from nonneg.data.weighted import ObservedData, Pair, PairWeighted, WeightedDense
from nonneg.kernels.namespace import Namespace
from nonneg.solve.problem import point_at
from nonneg.solve.solving import objective_of
from nonneg.solvers import Multiplicative
from nonneg.testing import assert_monotone

pytestmark = pytest.mark.wide(one_in=4)


BY_SAMPLES = ("W H", "W S H", "X W W.T", "X W H")
"""Forms in which a sample that occurs twice is one of weight two."""
WITHOUT_DATA = ("W H", "W S H", "W B W.T", "W W.T")
"""Forms in which X itself does not stand, so that nothing has to be filled."""


def weighted_kinds(X, weights):
    """The same weights of the same data, in each way in which they can be given."""
    dense = {"array": (X, weights), "sparse weights": (sparse.csr_array(X), sparse.csr_array(weights))}
    rows, columns = np.nonzero(weights)
    stored = sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    return {**dense, "observed": (nonneg.Observed(stored), weights)}


def case_of(form, constraints, divergence, solver="multiplicative", seed=0):
    model = Model(form, divergence, constraints)
    shape, rank = fitting(model, (2, 3, 4))
    return Case(model, shape, rank, seed, solver)


def assert_same(a, b, rtol=1e-10):
    assert a.objective == pytest.approx(b.objective, rel=rtol, abs=1e-12)
    for name in a.factors:
        np.testing.assert_allclose(a.factors[name], b.factors[name], rtol=rtol, atol=rtol * np.abs(b.factors[name]).max())


def kinds_with_ones(X):
    """Data of each kind, with weights that are all one, as the engine has them."""
    namespace, ones = Namespace(np, np.dtype(np.float64), "cpu"), np.ones(X.shape)
    every = sparse.csr_array((np.ones(X.size), np.indices(X.shape).reshape(2, -1)), shape=X.shape)
    stored = sparse.csr_array((X.ravel(), every.indices, every.indptr), shape=X.shape)
    pair = Pair(np.ones(X.shape[0]), np.ones(X.shape[1]))
    return {
        "dense": WeightedDense(X, namespace),
        "array": WeightedDense(X, namespace, weights=ones),
        "pair": WeightedDense(X, namespace, weights=pair),
        "observed": ObservedData(stored, namespace),
        "weighted": ObservedData(stored, namespace, every),
        "dense rows": PairWeighted(DenseData(X, namespace), pair),
        "sparse rows": PairWeighted(SparseData(sparse.csr_array(X), namespace), pair),
    }


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=str)
def test_weights_of_one_are_none(form, constraints, divergence):
    case = case_of(form, constraints, divergence)
    solver = Multiplicative(exponent=0.25)  # with weights, that of W W.T X is not as large as without
    expected = case.solve(max_iter=3, solver=solver)
    for data in kinds_with_ones(case.X).values():
        assert_same(case.solve(X=data, max_iter=3, solver=solver), expected)


@given(cases())
def test_weights_of_one_are_none_for_any_model(case: Case):
    expected = case.solve(max_iter=3)
    for weights in (np.ones(case.shape), (np.ones(case.shape[0]), None), sparse.csr_array(np.ones(case.shape))):
        if not case.model.signed or not sparse.issparse(weights):
            assert_same(case.solve(weights=weights, max_iter=3), expected)


@pytest.mark.parametrize("solver", AT_ONCE)
@pytest.mark.parametrize("form", BY_SAMPLES)
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
def test_integer_weights_are_repeated_samples(form, divergence, solver):
    case = case_of(form, {}, divergence, solver)
    counts = np.random.default_rng(1).integers(1, 4, case.shape[0])
    again = np.repeat(np.arange(case.shape[0]), counts)
    samples = form.split()[0]
    start = {name: factor[again] if name == samples else factor for name, factor in case.start.items()}
    expected = case.solve(X=case.X[again], init=start, max_iter=4)
    for X, weights in ((case.X, (counts, None)), (case.X, np.outer(counts, np.ones(case.shape[1])))):
        found = case.solve(X=X, weights=weights, max_iter=4)
        found = replace(found, factors={n: F[again] if n == samples else F for n, F in found.factors.items()})
        assert_same(found, expected, rtol=1e-8)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize("form", WITHOUT_DATA)
def test_hidden_entries_do_not_matter(form, divergence):
    case = case_of(form, {}, divergence)
    known = np.random.default_rng(2).random(case.shape) < 0.7
    known[np.arange(5), np.arange(5)] = True
    expected = case.solve(weights=known.astype(float))
    for hidden in (np.nan, 0.0, 1e30, -1.0, np.inf):
        assert_same(case.solve(X=np.where(known, case.X, hidden), weights=known.astype(float)), expected)
    assert_same(case.solve(X=np.where(known, case.X, np.nan), missing="ignore"), expected)
    assert_same(case.solve(X=np.ma.masked_array(case.X, ~known), missing="ignore"), expected)
    for data, weights in weighted_kinds(case.X, known.astype(float)).values():
        assert_same(case.solve(X=data, weights=weights), expected)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=str)
def test_gradient_is_the_derivative(form, constraints, divergence):
    case = case_of(form, constraints, divergence)
    weights = np.random.default_rng(3).uniform(0.2, 3, case.shape)
    data = read_weighted(case.X, weights=weights)
    point = point_at(case.model, data, case.start)
    for name in case.model.learned:
        positive, negative = point.gradient(name)
        direction = np.random.default_rng(4).normal(size=positive.shape)
        step = 1e-6
        ahead, behind = (
            objective_of(data, case.model, case.start | {name: case.start[name] + sign * step * direction}) for sign in (1, -1)
        )
        expected, size = np.sum((positive - negative) * direction), np.sum((abs(positive) + abs(negative)) * abs(direction))
        assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-6 * size + 1e-8)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=str)
def test_the_objective_never_rises(form, constraints, divergence):
    solver = AT_ONCE[crc32(f"{form} {divergence}".encode()) % len(AT_ONCE)]  # each of them with many of both
    case = case_of(form, constraints, divergence, solver)
    weights = np.random.default_rng(5).uniform(0.2, 3, case.shape)
    weights[np.random.default_rng(6).random(case.shape) < 0.3] = 0.0
    weights[np.arange(5), np.arange(5)] = 1.0
    assert_monotone(case.solve(weights=weights, max_iter=20))


def test_the_value_is_the_sum_over_observed_entries():
    generator = np.random.default_rng(0)
    X, weights = generator.random((8, 6)) + 0.1, generator.random((8, 6)) * (generator.random((8, 6)) < 0.6)
    W, H = generator.random((8, 2)), generator.random((2, 6))
    for data, given_weights in weighted_kinds(X, weights).values():
        model = Model("W H")
        value = objective_of(read_weighted(data, weights=given_weights), model, {"W": W, "H": H})
        assert value == pytest.approx(np.sum(weights * (X - W @ H) ** 2) / 2)
        value = objective_of(read_weighted(data, weights=given_weights), Model("W H", 1), {"W": W, "H": H})
        assert value == pytest.approx(np.sum(weights * (X * np.log(X / (W @ H)) - X + W @ H)))


def test_extreme_scales_keep_their_weights():
    X = positive_data((7, 5), Model("W H").divergence, 0)
    weights = np.random.default_rng(0).uniform(0.5, 2, X.shape)
    start = {"W": np.random.default_rng(1).random((7, 2)), "H": np.random.default_rng(2).random((2, 5))}
    expected = factorize(X, "W H", 2, init=start, weights=weights, solver="multiplicative", max_iter=10, tol=0)
    for scale in (2.0**-400, 2.0**400):
        scaled = {"W": start["W"] * scale**0.5, "H": start["H"] * scale**0.5}
        found = factorize(X * scale, "W H", 2, init=scaled, weights=weights, solver="multiplicative", max_iter=10, tol=0)
        np.testing.assert_allclose(found.reconstruct() / scale, expected.reconstruct(), rtol=1e-10)
