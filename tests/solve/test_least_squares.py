import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.constraints import NearOrthogonal, Sparse, Unit
from nonneg.exceptions import IncompatibleError
from nonneg.solvers import AlternatingLeastSquares, get_solver


@pytest.fixture
def start(rng):
    return {"W": rng.random((6, 2)) + 0.1, "H": rng.random((2, 5)) + 0.1}


def naive(X, W, H, steps, only=("W", "H")):
    """Least squares for W and for H in turn, negative entries set to zero; what is not solved for takes a step of NMF."""
    for _ in range(steps):
        W = np.maximum(X @ np.linalg.pinv(H), 0) if "W" in only else W * (X @ H.T) / (W @ H @ H.T)
        H = np.maximum(np.linalg.pinv(W) @ X, 0) if "H" in only else H * (W.T @ X) / (W.T @ W @ H)
    return W, H


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("only", [("W", "H"), ("W",), ("H",)])
def test_it_is_plain_als(only, store, X, start):
    solver = AlternatingLeastSquares(None if len(only) == 2 else only)
    solution = factorize(store(X), "W H", init=start, solver=solver, max_iter=3, tol=0)
    W, H = naive(X, start["W"], start["H"], 3, only)
    np.testing.assert_allclose(solution.factors["W"], W, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(solution.factors["H"], H, rtol=1e-8, atol=1e-12)
    assert {name: column[-1] for name, column in solution.history.exponent.items()} == {"W": 1.0, "H": 1.0}


def test_a_solved_factor_is_the_best_there_is(X, start):
    """Where nothing is clipped, no other H is closer."""
    H = factorize(X, "W H", constraints={"W": "fixed"}, init=start, solver="least-squares", max_iter=1, tol=0).factors["H"]
    expected = np.linalg.lstsq(start["W"], X)[0]
    np.testing.assert_allclose(H, np.maximum(expected, 0), rtol=1e-9, atol=1e-14)


def test_other_forms(X, rng):
    """A factor that stands last, one behind a product, one that is transposed."""
    A, B = rng.random((6, 3)) + 0.1, rng.random((3, 2)) + 0.1
    fixed = {"A": "fixed", "B": "fixed"}
    H = factorize(X, "A B H", constraints=fixed, init={"A": A, "B": B}, solver="least-squares", max_iter=1, random_state=0).factors[
        "H"
    ]
    np.testing.assert_allclose(H, np.maximum(np.linalg.lstsq(A @ B, X)[0], 0), rtol=1e-8, atol=1e-12)
    H = factorize(
        X, "B H.T", constraints={"B": "fixed"}, init={"B": A}, solver="least-squares", max_iter=1, random_state=0
    ).factors["H"]
    np.testing.assert_allclose(H, np.maximum(np.linalg.lstsq(A, X)[0], 0).T, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "divergence", "constraints", "solver", "factor"),
    [
        ("W H", "kullback-leibler", None, "least-squares", "W"),
        ("W H", 1.5, None, "least-squares", "W"),
        ("W W.T X", "euclidean", None, "least-squares", "W"),
        ("W B W.T", "euclidean", None, AlternatingLeastSquares(("B",)), "B"),
        ("W S H", "euclidean", None, "least-squares", "S"),
        ("W H", "euclidean", {"H": Sparse(0.1)}, "least-squares", "H"),
        ("W H", "euclidean", {"W": Unit()}, "least-squares", "W"),
        ("W H", "euclidean", None, AlternatingLeastSquares(("Q",)), "Q"),
        ("W", "euclidean", None, "least-squares", "W"),
    ],
)
def test_obstacles(form, divergence, constraints, solver, factor, X):
    X = X[:5] if "B" in form else X
    with pytest.raises(
        IncompatibleError, match=rf"Least squares cannot be used here: the rule of {factor} in '{form}' with .*not linear in it"
    ):
        factorize(X, form, None if form == "W" else 2, divergence=divergence, constraints=constraints, solver=solver)


def test_others_beside_one_that_cannot_be_solved(X):
    solver = AlternatingLeastSquares(("W", "H"))
    solution = factorize(X, "W S H", 2, init="random", solver=solver, random_state=0, max_iter=30)
    assert solution.objective < solution.history[0].objective


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda X: np.outer(X[:, 0], X[0]), id="rank one"),
        pytest.param(lambda X: 0 * X, id="zero"),
        pytest.param(lambda X: X * (np.arange(6) != 2)[:, None] * (np.arange(5) != 3), id="empty row and column"),
        pytest.param(lambda X: 1e-30 * X, id="tiny"),
    ],
)
def test_singular_systems_stay_finite(data, dtype, X):
    X = data(X).astype(dtype)
    solution = factorize(X, "W H", 4, solver="least-squares", random_state=0, max_iter=40)
    assert solution.status != "non_finite"
    assert all(np.all(np.isfinite(factor)) and factor.dtype == dtype for factor in solution.factors.values())
    assert solution.objective <= 0.5 * np.sum(X.astype(float) ** 2) * (1 + 1e-6)


def test_a_dead_component_stays_finite(X, start):
    start["W"][:, 1] = 0
    solution = factorize(X, "W H", init=start, solver="least-squares", max_iter=5, tol=0)
    assert all(np.all(np.isfinite(factor)) for factor in solution.factors.values())
    again = factorize(X, "W H", init=start, solver=AlternatingLeastSquares(("H",)), max_iter=1, tol=0)
    assert all(np.all(np.isfinite(factor)) for factor in again.factors.values())


def test_an_exact_fit_is_found(rng):
    X = rng.random((30, 3)) @ rng.random((3, 20))
    fast = factorize(X, "W H", 3, solver="least-squares", init="nndsvd", random_state=0, max_iter=500, tol=1e-8)
    assert np.linalg.norm(X - fast.reconstruct()) < 1e-2 * np.linalg.norm(X)


def test_by_name():
    assert get_solver("least-squares") == AlternatingLeastSquares()
    assert get_solver("Least_Squares").factors is None


def test_a_penalty_is_part_of_the_system(X, start):
    """W (H Hᵀ + w WᵀW) = X Hᵀ + w W, with the W on the right and in WᵀW of the last iterate."""
    model = Model("W H", constraints={"W": NearOrthogonal("columns", 2), "H": "fixed"})
    W = factorize(X, model, init=start, solver="least-squares", max_iter=1, tol=0).factors["W"]
    old, H = start["W"] / np.linalg.norm(start["W"], axis=0), start["H"]
    expected = np.maximum(np.linalg.solve(H @ H.T + 2 * old.T @ old, (X @ H.T + 2 * old).T).T, 0)
    np.testing.assert_allclose(W, expected / np.linalg.norm(expected, axis=0), rtol=1e-9, atol=1e-14)


def test_a_system_that_is_not_symmetric(X, start):
    """Under Wᵀ W = I the rule is X Hᵀ = W (Wᵀ X Hᵀ): G stands on the right."""
    model = Model("W H", constraints={"W": "orthogonal", "H": "fixed"})
    start["W"] /= np.linalg.norm(start["W"], 2)
    W = factorize(X, model, init=start, solver="least-squares", max_iter=1, tol=0).factors["W"]
    G = start["W"].T @ X @ start["H"].T
    assert not np.allclose(G, G.T, rtol=1e-3)
    expected = np.maximum(X @ start["H"].T @ np.linalg.inv(G), 0)
    np.testing.assert_allclose(W, expected / np.linalg.norm(expected, 2), rtol=1e-8, atol=1e-12)
