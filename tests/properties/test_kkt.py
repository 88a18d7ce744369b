"""Where a long run ends: the K.K.T. conditions hold, with multipliers for factors whose sums are given."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import DIVERGENCES, positive_data

from nonneg import Model, factorize
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.testing import assert_kkt

pytestmark = pytest.mark.wide(one_in=3)


FREE = ["W H", "W W.T X", "W B W.T"]
STOCHASTIC = [
    ("W H", {"W": "stochastic-columns"}),
    ("W H", {"H": "stochastic-rows"}),
    ("W", {"W": "stochastic-rows"}),
    ("W B W.T", {"W": "stochastic-columns", "B": "stochastic-matrix"}),
]
SLOW = (Beta(-1), Gamma(-2))
"""Their proven exponents are small, and their gradients steep: thousands of sweeps more for the last digits."""


def settled(model, seed=0, **changes):
    """A small problem and where it rests; `tol=0` runs until no step improves anything."""
    shape = (6, 6) if model.form.text in ("W", "W B W.T") else (7, 5)
    X = positive_data(shape, model.divergence, seed, density=1.0)
    rank = None if model.form.text == "W" else 2
    return X, factorize(
        X, model, rank, **{"tol": 0, "max_iter": 2000, "check_every": 25, "init": "random", "random_state": seed, **changes}
    )


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize("form", FREE)
def test_free(form, divergence):
    model = Model(form, divergence)
    X, solution = settled(model)
    # An objective is known to ε of its terms, and so its minimiser, and the gradient there, to √ε = 1.5e-8 at best.
    assert_kkt(model, X, solution.factors, tol=1e-3 if divergence in SLOW else 1e-6)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Alpha(0.5), Gamma(0.5), Renyi(2), DualI()], ids=str)
@pytest.mark.parametrize(("form", "constraints"), STOCHASTIC, ids=str)
def test_stochastic(form, constraints, divergence):
    model = Model(form, divergence, constraints)
    X, solution = settled(model, max_iter=1200)
    assert_kkt(model, X, solution.factors, tol=1e-6)
    if "H" not in model.learned and not divergence.scale_invariant:  # where nothing makes up for the scale, it has a penalty
        with pytest.raises(AssertionError, match="gradient"):
            assert_kkt(Model(form, divergence), X, solution.factors, tol=1e-2)


def nearest_doubly_stochastic(X, rounds=5000):
    """Dykstra's alternating projections onto {all sums are 1}, which has a closed form, and onto {W ≥ 0}."""
    W, correction, n = X, np.zeros_like(X), len(X)
    for _ in range(rounds):
        rows, columns = W.sum(axis=1, keepdims=True) - 1, W.sum(axis=0, keepdims=True) - 1
        flat = W - rows / n - columns / n + rows.sum() / n**2 + correction
        W = np.maximum(flat, 0)
        correction = flat - W
    return W


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_nearest_doubly_stochastic(seed, scale):
    model = Model("W", "euclidean", {"W": "doubly-stochastic"})
    X = scale * positive_data((6, 6), model.divergence, seed, density=1.0)
    expected = nearest_doubly_stochastic(X)
    assert_kkt(model, X, {"W": expected}, tol=1e-9)
    W = factorize(X, model, tol=0, max_iter=500, random_state=seed).factors["W"]
    np.testing.assert_allclose(W, expected, atol=1e-4)  # entries that go to zero do so as 1/iterations


class TestAssertKKT:
    model = Model("W H", "kullback-leibler")

    def test_a_start_is_not_a_solution(self):
        X, solution = settled(self.model, max_iter=1)
        with pytest.raises(AssertionError, match="The gradient by W is negative"):
            assert_kkt(self.model, X, solution.factors, tol=1e-2)

    def test_too_large(self):
        X, solution = settled(self.model)
        with pytest.raises(AssertionError, match="W and its gradient are both positive"):
            assert_kkt(self.model, X, {name: 1.5 * factor for name, factor in solution.factors.items()})

    def test_negative(self):
        X, solution = settled(self.model)
        H = solution.factors["H"]
        with pytest.raises(AssertionError, match="H has negative entries"):
            assert_kkt(self.model, X, {**solution.factors, "H": H - 1.001 * H.min()}, tol=1)
