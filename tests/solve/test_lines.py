"""Exactly orthogonal factors as partitions of rows."""

from itertools import product as combinations

import numpy as np
import pytest
from scipy import sparse

from nonneg import OPNMF
from nonneg.solve.initialization.lines import k_lines


def energy(K, labels, count):
    """Σₖ λ₁(Kₖₖ)."""
    parts = [np.flatnonzero(labels == k) for k in range(count)]
    return sum(np.linalg.eigvalsh(K[np.ix_(part, part)])[-1] for part in parts if len(part))


def found(K, W, **settings):
    return k_lines(lambda W: K @ W, np.diag(K), W, **settings)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_a_partition_with_leading_eigenvectors(seed):
    g = np.random.default_rng(seed)
    X = g.random((30, 12))
    K = X @ X.T
    W = found(K, g.random((30, 4)))
    np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-12)
    assert np.all(np.count_nonzero(W, axis=1) <= 1)
    assert np.all(W >= 0)
    assert np.trace(W.T @ K @ W) == pytest.approx(energy(K, W.argmax(axis=1), 4), rel=1e-4)


def test_it_finds_the_best_of_all_partitions_from_some_start():
    g = np.random.default_rng(0)
    X = g.random((8, 5))
    K = X @ X.T
    best = max(energy(K, np.array(labels), 2) for labels in combinations(range(2), repeat=8))
    reached = [np.trace(W.T @ K @ W) for W in (found(K, g.random((8, 2)), tol=1e-12) for _ in range(20))]
    assert max(reached) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_more_iterations_are_never_worse(seed):
    g = np.random.default_rng(seed)
    X = g.random((40, 15))
    K, start = X @ X.T, g.random((40, 5))
    energies = [np.trace(W.T @ K @ W) for W in (found(K, start, max_iter=count, tol=0) for count in (1, 2, 4, 8, 16, 40))]
    assert np.all(np.diff(energies) >= -1e-9 * energies[-1])


@pytest.mark.parametrize("seed", range(5))
def test_no_move_of_a_single_row_gains(seed):
    g = np.random.default_rng(seed)
    X = g.random((20, 9))
    K = X @ X.T
    labels = found(K, g.random((20, 3)), tol=1e-12).argmax(axis=1)
    reached = energy(K, labels, 3)
    for i in range(20):
        for k in range(3):
            moved = labels.copy()
            moved[i] = k
            assert energy(K, moved, 3) <= reached * (1 + 5e-3)  # only sure gains are taken


def test_planted_blocks_are_found():
    K = np.kron(np.eye(3), np.ones((5, 5))) + 0.05
    W = found(K, np.kron(np.eye(3), np.ones((5, 1))) + 0.5 * np.random.default_rng(0).random((15, 3)))
    np.testing.assert_array_equal(W.argmax(axis=1), np.repeat(W[::5].argmax(axis=1), 5))


def test_empty_parts_are_given_a_row():
    g = np.random.default_rng(0)
    X = g.random((10, 6))
    start = np.zeros((10, 3))
    start[:, 0] = g.random(10) + 0.1
    W = found(X @ X.T, start)
    assert np.all(W.any(axis=0))


def test_rows_of_zeros_belong_to_none():
    X = np.random.default_rng(0).random((10, 6))
    X[3] = 0
    W = found(X @ X.T, np.random.default_rng(1).random((10, 2)))
    assert not W[3].any()
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)


def test_a_single_start_is_multiplied_as_a_matrix():
    """Sparse matrices, and data in files, take no stacks."""
    X = sparse.random_array((60, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    model = OPNMF(3, orthogonality="exact", random_state=0).fit(X)
    dense = OPNMF(3, orthogonality="exact", random_state=0).fit(X.toarray())
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6)
