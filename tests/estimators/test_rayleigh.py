"""The largest wᵀAw with wᵀBw = 1 over w ≥ 0, of any matrices: both rules written out, and other optimizers."""

from itertools import combinations

import networkx
import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from nonneg import Status, maximize_rayleigh
from nonneg.estimators.discriminant import rayleigh
from nonneg.exceptions import DataError, IncompatibleError, ShapeError


def matrices(n=6, seed=0):
    """A of either sign, B positive definite with entries of either sign."""
    rng = np.random.default_rng(seed)
    A, T = rng.normal(size=(n, n)), rng.normal(size=(2 * n, n))
    return A + A.T + 2 * np.eye(n), T.T @ T / (2 * n)


def printed(A, B, w):
    """NNP Eq. 21."""
    return w * (np.maximum(A, 0) @ w) / (np.maximum(-A, 0) @ w + w * (w @ B @ A @ w))


def better(A, B, w):
    """The rule for the quotient, for quotients of either sign."""
    value = (w @ A @ w) / (w @ B @ w)
    P = value * B
    return w * np.sqrt((np.maximum(A, 0) @ w + np.maximum(-P, 0) @ w) / (np.maximum(-A, 0) @ w + np.maximum(P, 0) @ w))


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("rule", "step"), [("oja", printed), ("rayleigh", better)])
@pytest.mark.parametrize("n_iter", [1, 2, 7])
def test_rules_written_out(to, rule, step, n_iter):
    A, B = matrices()
    A = np.abs(A) - 0.3  # so that wᵀBAw > 0 on the way, which Eq. 21 needs
    B = B + 0.5
    w = start = np.random.default_rng(1).uniform(0.5, 1, 6)
    w = w / np.sqrt(w @ B @ w)
    for _ in range(n_iter):
        w = step(A, B, w)
    found = maximize_rayleigh(to(A), to(B), rule=rule, init=start, max_iter=n_iter, tol=0)
    np.testing.assert_allclose(found.w, w / np.sqrt(w @ B @ w), rtol=1e-9)
    assert found.value == pytest.approx(w @ A @ w / (w @ B @ w), rel=1e-9)
    assert found.n_iter == n_iter
    assert found.status is Status.MAX_ITER


@pytest.mark.parametrize("shift", [0, -20])
def test_the_quotient_never_falls(shift):
    """Also where it is negative, as for a negative definite A."""
    A, B = matrices(seed=2)
    A = A + shift * np.eye(6)
    values = [maximize_rayleigh(A, B, init=np.ones(6), max_iter=k, tol=0).value for k in range(1, 60)]
    assert (values[0] < 0) == (shift < 0)
    assert np.all(np.diff(values) >= -1e-12 * abs(values[-1]))
    assert values[-1] > values[0]


def best_of_all_supports(A, B):
    """The largest value: on its support, the best w is an eigenvector of (A, B) without negative entries."""
    best = -np.inf
    for size in range(1, len(A) + 1):
        for support in map(list, combinations(range(len(A)), size)):
            values, vectors = linalg.eigh(A[np.ix_(support, support)], B[np.ix_(support, support)])
            for value, vector in zip(values, vectors.T, strict=True):
                if np.all(vector >= -1e-12) or np.all(vector <= 1e-12):
                    best = max(best, value)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_best_there_is(seed):
    """From ten random starts the rule finds the best of all supports."""
    A, B = matrices(n=5, seed=seed)
    best = maximize_rayleigh(A, B, max_iter=100_000, random_state=seed)
    assert best.value == pytest.approx(best_of_all_supports(A, B), rel=1e-6)
    assert best.w @ B @ best.w == pytest.approx(1)
    assert best.w.min() >= 0
    assert best.status is Status.CONVERGED


def test_the_papers_rule_finds_an_eigenvector_of_A():
    """Whatever B is: it sets the length only, NNP Eq. 21."""
    A = np.abs(matrices()[0])
    leading = np.abs(np.linalg.eigh(A)[1][:, -1])
    for B in (None, np.eye(6) + 1, np.diag(np.arange(1.0, 7))):
        found = maximize_rayleigh(A, B, rule="oja")
        np.testing.assert_allclose(found.w / np.linalg.norm(found.w), leading, atol=1e-6)
    assert maximize_rayleigh(A, B).value > 1.1 * found.value


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("init", [None, "ones"])
@pytest.mark.parametrize(("A", "best"), [([[1, -0.5], [-0.5, 1]], 1.0), ("laplacian", 17.0)])
def test_a_minimum_is_left(to, init, A, best):
    """All ones is the minimum of both: the rule stands still there, and so did its result."""
    if isinstance(A, str):
        A = networkx.laplacian_matrix(networkx.karate_club_graph(), weight=None).toarray()
    found = maximize_rayleigh(to(np.array(A, float)), init=init and np.ones(len(A)), random_state=0)
    assert found.status is Status.CONVERGED
    assert found.value == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_end_is_a_local_maximum(seed):
    """No point near the end is higher, on faces of w ≥ 0 too; more rows than are decomposed densely, and fewer."""
    A, B = matrices(n=30, seed=seed)
    found = maximize_rayleigh(A, B, init=np.ones(30), max_iter=100_000)
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1e-4):
        near = np.maximum(found.w + size * found.w.max() * rng.normal(size=(2000, 30)), 0)
        values = np.einsum("ki,ij,kj->k", near, A, near) / np.einsum("ki,ij,kj->k", near, B, near)
        assert values.max() <= found.value * (1 + 1e-8)


def test_the_leading_vector_by_iterations_is_that_of_the_decomposition(monkeypatch):
    A, B = matrices(n=40)
    found = maximize_rayleigh(A, B, init=np.ones(40))
    monkeypatch.setattr(rayleigh, "_DENSE", 10)
    assert maximize_rayleigh(sparse.csr_array(A), B, init=np.ones(40)).value == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize("powers", [(1000, 0), (-1000, 3), (0, 1001), (1, -1001), (-1000, -1000)])
@pytest.mark.parametrize("rule", ["rayleigh", "oja"])
def test_scales(powers, rule):
    A, B = matrices()
    A, B = np.abs(A), np.abs(B)
    one = maximize_rayleigh(A, B, rule=rule, random_state=0)
    other = maximize_rayleigh(np.ldexp(A, powers[0]), np.ldexp(B, powers[1]), rule=rule, random_state=0)
    assert other.value == np.ldexp(one.value, powers[0] - powers[1])
    np.testing.assert_allclose(other.w, one.w * np.sqrt(2.0) ** -powers[1], rtol=1e-12)


def test_a_next_w_that_would_be_negative():
    d = np.array([5.0, 0.5])
    with pytest.warns(ConvergenceWarning, match=r"rule='oja' stopped after \d+ iterations"):
        found = maximize_rayleigh(np.outer(d, d), [[1, -0.9], [-0.9, 1]], rule="oja", init=[1e-3, 1])
    assert found.status is Status.NO_PROGRESS
    assert found.w.min() >= 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"A": np.ones((2, 3))}, ShapeError, r"A must be a square matrix; its shape is \(2, 3\)"),
        ({"A": "x"}, DataError, "A must be a square matrix of numbers; got str"),
        ({"A": np.zeros((2, 2))}, DataError, "A is zero everywhere"),
        ({"A": [[0, np.nan], [0, 1]]}, DataError, "A has NaN or infinity"),
        ({"A": [[0.0, 1], [2, 0]]}, DataError, "A must be symmetric"),
        ({"B": np.eye(3)}, ShapeError, r"must have the same shape; A has \(2, 2\), and B \(3, 3\)"),
        ({"B": -np.eye(2)}, DataError, "B must be positive semi-definite"),
        ({"B": [[1.0, -1], [-1, 1]]}, DataError, "wᵀBw is not above zero at the start"),
        ({"rule": "power"}, IncompatibleError, "Unknown rule 'power'"),
        ({"rule": None}, IncompatibleError, "Unknown rule None"),
        ({"init": [1.0]}, ShapeError, "init must have one weight for each of the 2 rows of A"),
        ({"init": [-1.0, 1]}, DataError, "init must be finite, must not be negative"),
        ({"init": "random"}, DataError, "init must be numbers"),
        ({"max_iter": 0}, IncompatibleError, "max_iter must be an int of at least 1; got 0"),
        ({"tol": "x"}, IncompatibleError, "tol must be a number of at least 0; got 'x'"),
    ],
)
def test_invalid_input(arguments, error, message):
    with pytest.raises(error, match=message):
        maximize_rayleigh(**({"A": np.eye(2)} | arguments))


@pytest.mark.parametrize("A", [np.eye(2), np.array([[1.0, 0.5], [0.5, 0.0]])], ids=["identity", "mixed"])
def test_a_ratio_without_bound_is_refused(A):
    with pytest.raises(DataError, match=r"there is a w ≥ 0 with wᵀBw = 0, along which the ratio has no bound"):
        maximize_rayleigh(A, np.diag([1.0, 0.0]))
