"""The parts of every derived gradient: non-negative, and their difference the derivative of the textbook's objective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import DIVERGENCES, MODELS, Case, cases, fitting, positive_data

from nonneg import Model
from nonneg.solve.problem import point_at
from nonneg.testing import check_gradient, dense_gradient

pytestmark = pytest.mark.wide(one_in=3)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=str)
def test_gradient_is_the_derivative(form, constraints, divergence):
    model = Model(form, divergence, constraints)
    shape, rank = fitting(model, (2, 3, 4))
    check_gradient(model, positive_data(shape, divergence, seed=0), rank)


@given(cases())
def test_gradient_of_any_form(case: Case):
    check_gradient(case.model, case.X, factors=case.start)


@given(cases())
def test_gradient_equals_the_dense_one(case: Case):
    # Both are exact up to the order of summation; the largest form has five factors of at most eight rows.
    point, matrices = point_at(case.model, case.X, case.start), {**case.start, "X": case.X}
    for name in case.model.learned:
        positive, negative = point.gradient(name)
        gradient, size = dense_gradient(case.model, name, matrices)
        np.testing.assert_allclose(positive - negative, gradient, rtol=0, atol=1e-12 * size.max())


def test_gradient_of_the_trace():
    S = np.random.default_rng(0).normal(size=(8, 8))
    check_gradient(Model("W.T X W", "trace"), S + S.T, rank=3)


def test_check_gradient_notices_a_wrong_one(monkeypatch):
    model, X = Model("W W.T X", 1), positive_data((7, 5), Model("W H", 1).divergence, seed=0)
    gradient = type(point_at(model, X, {"W": np.ones((7, 2))})).gradient
    monkeypatch.setattr(
        "nonneg.solve.point.Point.gradient", lambda point, name: tuple(1.001 * part for part in gradient(point, name))
    )
    with pytest.raises(AssertionError, match="gradient by W is off by"):
        check_gradient(model, X, rank=2)
