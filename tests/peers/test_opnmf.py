"""OPNMF as its MATLAB and R codes compute it, on the faces and from the start that the reference results were made with."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from at_hand import at_hand
from nonneg import OPNMF, Model, factorize, metrics
from nonneg.solvers import Multiplicative
from nonneg_papers import load_opnmf_reference


@pytest.fixture(scope="module")
def reference():
    at_hand("faces/opnmf_ref/faces_data.mat")
    return load_opnmf_reference()


def in_order_of(W, other):
    """The columns of W in the order of the ones they are closest to: the codes sort theirs at the end."""
    unit, other_unit = (columns / np.linalg.norm(columns, axis=0) for columns in (W, other))
    return W[:, linear_sum_assignment(other_unit.T @ unit, maximize=True)[1]]


@pytest.mark.parametrize("code", ["matlab", pytest.param("R", marks=pytest.mark.wide)])
def test_printed_rule(reference, code):
    """ONL Eq. 31 with exponent 1, spectral norm one, and the codes' floor, which their start with its zeros depends on."""
    expected = reference[f"W_{code}"]
    model = Model("W W.T X", constraints={"W": "orthogonal"})
    steps = []

    def small_step(progress):
        """The codes stop when W changes by 1e-5 of its norm."""
        steps.append(progress.factors["W"])
        return len(steps) > 1 and np.linalg.norm(steps[-1] - steps.pop(0)) < 1e-5 * np.linalg.norm(steps[-1])

    solution = factorize(
        reference.data,
        model,
        init={"W": reference.init_W},
        solver=Multiplicative(exponent=1, floor=1e-16),
        max_iter=50_000,
        tol=0,
        check_every=1,
        callback=small_step,
    )
    assert solution.status == "stopped_by_callback"
    W = in_order_of(solution.factors["W"], expected)
    assert np.linalg.norm(W - expected) < 1e-4 * np.linalg.norm(expected)
    assert metrics.relative_error(reference.data, solution.reconstruct()) == pytest.approx(0.180991, abs=2e-6)


@pytest.mark.wide
@pytest.mark.parametrize("code", ["matlab", "R"])
def test_estimator_under_the_papers_protocol(reference, code):
    """The codes take features in rows; the estimator takes samples there."""
    X, expected = reference.data.T, reference[f"W_{code}"]
    model = OPNMF(6, solver="paper", init=reference.init_W.T, max_iter=50_000, tol=1e-5).fit(X)
    assert model.status_ == "converged"
    W = in_order_of(model.components_.T, expected)
    assert np.linalg.norm(W - expected) < 1e-4 * np.linalg.norm(expected)
    assert model.reconstruction_err_ / np.linalg.norm(X) == pytest.approx(0.180991, abs=2e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_default_is_at_least_as_good(reference, seed):
    X = reference.data.T
    model = OPNMF(6, random_state=seed).fit(X)
    assert model.reconstruction_err_ / np.linalg.norm(X) <= 0.180991
    theirs = reference.W_matlab
    assert model.orthogonality_["W"].error < metrics.orthogonality_error(theirs)
    assert model.orthogonality_["W"].rho > metrics.orthogonality(theirs)


@pytest.mark.wide
def test_single_precision(reference):
    """The start has zeros, and what they become decides what the rule ends with: W was 4.9e-2 off in float32."""
    X, expected = reference.data.T.astype(np.float32), reference.W_matlab
    start = reference.init_W.T.astype(np.float32)
    model = OPNMF(6, solver="paper", init=start, max_iter=50_000, tol=1e-5).fit(X)
    assert model.components_.dtype == np.float32
    W = in_order_of(model.components_.T, expected)
    assert np.linalg.norm(W - expected) < 1e-4 * np.linalg.norm(expected)  # as in double precision, above
