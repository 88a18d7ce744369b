"""float32 data with many features or samples: the objective at each check is what an evaluation in double precision gives."""

import numpy as np
import pytest
from scipy import sparse

from nonneg import factorize
from nonneg.data import as_dense
from nonneg.testing import divergence_value

MODELS = {
    "OPNMF": ("X W W.T", "euclidean", {}, "auto"),
    "OPNMF rule": ("X W W.T", "euclidean", {"W": "orthogonal"}, "adaptive"),
    "PNMF KL": ("X W W.T", "kl", {}, "auto"),
    "PNMF IS": ("X W W.T", "itakura-saito", {}, "auto"),
    "NMF": ("W H", "euclidean", {}, "auto"),
    "NMF KL": ("W H", "kl", {}, "auto"),
    "NMF quasi-Newton": ("W H", "euclidean", {}, "quasi-newton"),
    "NMTF KL": ("W S H", "kl", {}, "quasi-newton"),
    "ONMF": ("W H", "euclidean", {"H": "orthogonal-rows"}, "auto"),
}
SHAPES = {"few samples": (5, 200_000), "few features": (200_000, 5), "wide": (100, 20_000), "tall": (20_000, 100)}
STEPS = 8


def mixture(samples, features):
    """Three parts and noise, in float32."""
    rng = np.random.default_rng(0)
    parts = rng.gamma(2, 1, (samples, 3)) @ rng.gamma(0.5, 1, (3, features))
    return (parts + rng.gamma(2, 0.3, (samples, features))).astype(np.float32)


def evaluate(X, factors, divergence):
    """The divergence of X from X W Wᵀ, or from W H, in double precision, entry by entry."""
    X, factors = as_dense(X).astype(np.float64), {name: factor.astype(np.float64) for name, factor in factors.items()}
    left, right = (X @ factors["W"], factors["W"].T) if len(factors) == 1 else (factors["W"], factors["H"])
    left = left @ factors["S"] if "S" in factors else left
    if divergence == "euclidean":
        return float(np.sum(np.square(X - left @ right)) / 2)
    return float(divergence_value(divergence, X, left @ right))


def counts(samples, features):
    """Sparse counts, in float32."""
    return sparse.csr_array(np.random.default_rng(0).poisson(0.3, (samples, features)).astype(np.float32))


@pytest.fixture(
    scope="module",
    params=[(make, shape) for make in (mixture, counts) for shape in SHAPES],
    ids=lambda param: f"{param[0].__name__}, {param[1]}",
)
def X(request):
    make, shape = request.param
    return make(*SHAPES[shape])


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_of_single_precision_has_the_digits_of_double(X, name):
    form, divergence, constraints, solver = MODELS[name]
    if divergence == "itakura-saito" and sparse.issparse(X):
        pytest.skip("zeros are infinitely far")
    checks = []
    solution = factorize(
        X,
        form,
        3,
        divergence=divergence,
        constraints=constraints,
        solver=solver,
        init="random",
        random_state=0,
        max_iter=STEPS,
        tol=0,
        check_every=1,
        callback=lambda progress: checks.append((progress.objective, evaluate(X, progress.factors, divergence))),
    )
    found, true = np.transpose(checks)
    allowed = np.maximum(1e-6 * np.abs(true), 1e-9 * np.sum(np.square(as_dense(X), dtype=np.float64)) / 2)
    assert len(found) > 3
    np.testing.assert_array_less(np.abs(found - true), allowed)
    if not constraints:  # a constraint that is approached may raise it
        assert np.all(np.diff(found) <= allowed[1:])
    assert all(factor.dtype == np.float32 for factor in solution.factors.values())
