"""float32 data of any shape: the objective at each check agrees with an evaluation in double precision, and does not rise."""

from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from nonneg import NMF, ONMF, OPNMF, factorize
from nonneg.algebra.expression import parse
from nonneg.data.dense import DenseData
from nonneg.data.sketch import Nystrom
from nonneg.data.steps import Sweep
from nonneg.divergences import Alpha, Beta
from nonneg.kernels.namespace import namespace_of
from nonneg.testing import divergence_value

pytestmark = pytest.mark.wide(one_in=4)


MODELS = {
    "OPNMF": ("X W W.T", "euclidean", {}, "auto"),
    "OPNMF rule": ("X W W.T", "euclidean", {"W": "orthogonal"}, "adaptive"),
    "PNMF of samples": ("W W.T X", "euclidean", {}, "auto"),
    "PNMF KL": ("X W W.T", "kl", {}, "auto"),
    "PNMF IS": ("X W W.T", "itakura-saito", {}, "auto"),
    "NMF": ("W H", "euclidean", {}, "auto"),
    "NMF KL": ("W H", "kl", {}, "auto"),
    "NMF alpha": ("W H", Alpha(0.5), {}, "quasi-newton"),
    "NMF quasi-Newton": ("W H", "euclidean", {}, "quasi-newton"),
    "NMF rule": ("W H", Beta(1.5), {}, "multiplicative"),
    "NMTF": ("W S H", "euclidean", {}, "auto"),
    "NMTF KL": ("W S H", "kl", {}, "quasi-newton"),
    "Bi-QNMF": ("L L.T X R R.T", "euclidean", {}, "auto"),
    "ONMF": ("W H", "euclidean", {"H": "orthogonal-rows"}, "auto"),
}
SHAPES = {
    "few samples": (5, 50_000),
    "few features": (50_000, 5),
    "wide": (20, 9_000),
    "tall": (9_000, 20),
    "few entries": (12, 5),
}
STEPS = 13  # past the warm-up of every solver


def mixture(samples, features):
    """Three parts and noise, in float32."""
    rng = np.random.default_rng(0)
    parts = rng.gamma(2, 1, (samples, 3)) @ rng.gamma(0.5, 1, (3, features))
    return (parts + rng.gamma(2, 0.3, (samples, features))).astype(np.float32)


def evaluate(X, form, factors, divergence):
    """The divergence of X from the product of a form, in double precision, entry by entry."""
    matrices = {name: np.asarray(factor, np.float64) for name, factor in factors.items()} | {"X": X.astype(np.float64)}
    words = [matrices[name].T if transposed else matrices[name] for name, transposed in parse(form)]
    approximation = np.linalg.multi_dot(words) if len(words) > 2 else reduce(np.matmul, words)
    if divergence == "euclidean":
        return float(np.sum(np.square(matrices["X"] - approximation)) / 2)
    return float(divergence_value(divergence, matrices["X"], approximation))


def check(X, stored, name):
    form, divergence, constraints, solver = MODELS[name]
    checks = []
    solution = factorize(
        stored,
        form,
        (3, 2) if form.count("R") else 3,
        divergence=divergence,
        constraints=constraints,
        solver=solver,
        init="random",
        random_state=0,
        max_iter=STEPS,
        tol=0,
        check_every=1,
        callback=lambda progress: checks.append((progress.objective, evaluate(X, form, progress.factors, divergence))),
    )
    found, true = np.transpose(checks)
    allowed = np.maximum(1e-6 * np.abs(true), 1e-9 * np.sum(np.square(X, dtype=np.float64)) / 2)
    assert len(found) > 3
    np.testing.assert_array_less(np.abs(found - true), allowed)
    if not constraints:  # a constraint that is approached may raise it
        assert np.all(np.diff(found) <= allowed[1:])
    assert all(factor.dtype == np.float32 for factor in solution.factors.values())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MODELS)
def test_the_objective_of_single_precision_has_the_digits_of_double(name, shape):
    X = mixture(*SHAPES[shape])
    check(X, X, name)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [name for name, (_, divergence, *_) in MODELS.items() if divergence != "itakura-saito"])
def test_so_has_that_of_sparse_data(name, shape):
    X = mixture(*SHAPES[shape])
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0
    check(X, sparse.csr_array(X), name)


@pytest.mark.parametrize("shape", [(5, 200_000), (40, 9_000)])
def test_many_features_stop_at_the_iteration_of_double_precision(shape):
    """Sweeps in lanes blew up what FᵀF and its transpose differed by in rounding; the run went on, up and down, for long."""
    X = mixture(*shape)
    runs = [OPNMF(5, random_state=0).fit(X.astype(dtype)) for dtype in (np.float32, np.float64)]
    single, double = (run.history_ for run in runs)
    assert runs[0].n_iter_ == pytest.approx(runs[1].n_iter_, rel=0.1)
    assert np.all(np.diff(single.objective) <= 1e-9 * np.sum(np.square(X, dtype=np.float64)))
    assert single.objective[-1] == pytest.approx(double.objective[-1], rel=1e-3)


@pytest.mark.parametrize("shape", [(3000, 12), (1000, 60), (6000, 30)])
@pytest.mark.parametrize("estimator", [NMF, OPNMF, ONMF])
def test_data_with_little_noise_stop_at_the_iteration_of_double_precision(estimator, shape):
    """The residual is small beside the products whose difference it is: rounded to float32, these hid it, and the run went on."""
    rng = np.random.default_rng(1)
    part = np.arange(shape[1]) * 4 // shape[1]
    X = rng.gamma(1, 1, (shape[0], 4))[:, part] * rng.gamma(3, 1, shape[1])
    X = (X + 0.02 * X.mean() * rng.random(X.shape)).astype(np.float32)
    single, double = (estimator(4, random_state=0).fit(X.astype(dtype)) for dtype in (np.float32, np.float64))
    assert single.status_ is double.status_
    assert single.n_iter_ == pytest.approx(double.n_iter_, rel=0.1, abs=5)
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)
    assert np.all(np.diff(single.history_.objective) <= 1e-9 * np.sum(np.square(X, dtype=np.float64)))


def test_lanes_do_not_enlarge_the_asymmetry_of_a_gram_matrix():
    rng = np.random.default_rng(0)
    X, F = rng.random((20, 9_000)), rng.random((9_000, 4)) / 100
    Y, G = X @ F, F.T @ F
    G[0, 1] *= 1 + 1e-10
    order, options = np.arange(9_000), (0.0, 0.0, 0, 2, 1e-3)
    sweep = Sweep(F, Y, Y.T @ Y, G, order, options)
    DenseData(X, namespace_of(X)).sweep(sweep, transposed=True)
    np.testing.assert_allclose(G, F.T @ F, rtol=1e-9)


def test_a_sketch_has_the_energy_of_the_data():
    """OᵀKO of its directions O, summed in single precision, was too low by 1e-7 of itself: small summands were lost."""
    X = mixture(40, 60_000)
    nystrom = Nystrom(DenseData(X, namespace_of(X)), "rows", 16, np.random.default_rng(0))
    O = nystrom.O.astype(np.float64)  # noqa: E741
    found, true = (np.sum(np.square(np.asarray(R, np.float64) @ O)) for R in (nystrom.sketch.values, X))
    assert found == pytest.approx(true, rel=2e-8)
