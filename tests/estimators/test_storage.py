"""How X is stored is none of a fit's business: dense, in rows, in columns, or with stored zeros."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from nonneg import (
    NMF,
    NMTF,
    ONMF,
    OPNMF,
    PNMF,
    BiORNM3F,
    BiQNMF,
    Factorization,
    KernelPNMF,
    NonnegativeSparseCoding,
    ProjectiveClustering,
    SymmetricNMF,
    factorize,
)
from nonneg.data.reading import read_data
from nonneg.model import Model
from nonneg.solve.initialization import NAMES as INITIALIZATIONS
from nonneg.solve.problem import bind
from nonneg.solve.solvers import best_solver
from nonneg.solve.surrogate import Kind, Sketch, kind_for

pytestmark = pytest.mark.wide(one_in=4)


def with_stored_zeros(X):
    """In rows, every other zero of X stored as if it were something."""
    rows, columns = np.nonzero(X + (np.indices(X.shape).sum(axis=0) % 2))
    return sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)


STORES = {"csr": sparse.csr_array, "csc": sparse.csc_array, "stored zeros": with_stored_zeros}
STARTS = ["auto", *INITIALIZATIONS]


def half_empty(m=40, n=30, seed=0):
    """Blocks in noise, half of it zero: what is stored and what is not differ by half."""
    generator = np.random.default_rng(seed)
    blocks = np.kron(np.eye(5), np.ones((m // 5, n // 5)))
    return (blocks + 0.3 * generator.random((m, n))) * (generator.random((m, n)) < 0.5)


def assert_same_path(make, X, store, rtol):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few iterations are enough to part
        ours, theirs = make().fit(X), make().fit(store(X))
    assert theirs.n_iter_ == ours.n_iter_
    assert theirs.status_ == ours.status_
    # Sums in another order are rounded otherwise, and steps make more of it: with every iteration a little, as momentum does.
    assert theirs.objective_ == pytest.approx(ours.objective_, rel=rtol, abs=rtol * (X**2).sum())
    np.testing.assert_allclose(theirs.components_, ours.components_, atol=1e-3 * ours.components_.max())


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("shape", [(40, 30), (30, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("estimator", [NMF, NonnegativeSparseCoding, PNMF, OPNMF, ONMF, ProjectiveClustering])
def test_default_settings(estimator, shape, store):
    assert_same_path(lambda: estimator(5, random_state=0), half_empty(*shape), STORES[store], 1e-7)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("estimator", [NMF, PNMF, NMTF])
def test_starts(estimator, init, store):
    rank = (3, 4) if estimator is NMTF else 5
    assert_same_path(lambda: estimator(rank, init=init, max_iter=20, tol=0, random_state=0), half_empty(), STORES[store], 1e-9)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("solver", ["coordinate", "adaptive", "multiplicative", "least-squares"])
def test_solvers(solver, store):
    assert_same_path(
        lambda: NMF(5, solver=solver, init="random", max_iter=30, tol=0, random_state=1), half_empty(), STORES[store], 1e-9
    )


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("divergence", ["kullback-leibler", "hellinger"])
@pytest.mark.parametrize("estimator", [NMF, PNMF])
def test_divergences(estimator, divergence, store):
    """Ten steps: quasi-Newton steps make much of rounding."""
    make = lambda: estimator(4, divergence=divergence, init="random", max_iter=10, tol=0, random_state=0)  # noqa: E731
    assert_same_path(make, half_empty(), STORES[store], 1e-7)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("estimator", [BiQNMF, BiORNM3F])
def test_both_sides(estimator, store):
    assert_same_path(lambda: estimator((3, 4), max_iter=10, tol=0, random_state=0), half_empty(), STORES[store], 1e-7)


@pytest.mark.parametrize("store", STORES)
def test_both_sides_by_coordinates(store):
    """X R Rᵀ Xᵀ is larger than what is stored of X here, and small."""
    make = lambda: Factorization("L L.T X R R.T", (3, 4), init="kmeans", max_iter=30, tol=0, random_state=0)  # noqa: E731
    assert_same_path(make, half_empty(), STORES[store], 1e-7)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("estimator", [SymmetricNMF, KernelPNMF])
def test_similarities(estimator, store):
    X = half_empty()
    K = np.where(X @ X.T > 0.5, X @ X.T, 0.0) + 10 * np.eye(len(X))
    named = {"kernel": "precomputed"} if estimator is KernelPNMF else {}
    assert_same_path(lambda: estimator(4, random_state=0, **named), K, STORES[store], 1e-7)


def test_more_features_than_a_gram_matrix_is_worth():
    """Wᵀ X Xᵀ W is computed without X Xᵀ, by kernels of their own for dense and sparse X."""
    X = np.hstack([half_empty(60, 50, seed) for seed in range(40)])
    assert_same_path(lambda: PNMF(3, max_iter=40, tol=0, random_state=0), X, sparse.csr_array, 1e-7)


def test_sketches_of_sparse_data():
    """A sketch of X is used wherever it is much smaller than what X is made of, however X is stored."""
    generator = np.random.default_rng(0)
    full = generator.random((200, 600))
    half, thin = (full * (generator.random(full.shape) < share) for share in (0.9, 0.05))
    for X, is_sketched in ((half, True), (thin, False)):
        for stored in (X, sparse.csr_array(X)):
            found = kind_for(bind(Model("X W W.T"), stored, 4).signature)
            assert found is (Kind.SKETCH if is_sketched else None)
    sketches = [Sketch(bind(Model("X W W.T"), stored, 4)).small.data.itself() for stored in (half, sparse.csr_array(half))]
    np.testing.assert_allclose(sketches[1].T @ sketches[1], sketches[0].T @ sketches[0], rtol=1e-9, atol=1e-12 * (half**2).sum())


def test_the_solver_does_not_depend_on_storage():
    for m, n in ((40, 40), (40, 30), (1200, 1200)):
        X = half_empty(m, n)
        solvers = {type(best_solver(bind(Model("L L.T X R R.T"), stored, 4).signature)) for stored in (X, sparse.csr_array(X))}
        assert len(solvers) == 1


def test_rank_is_reached_from_the_same_start():
    """Ten columns of which five are empty: from one start, dense X was approximated exactly and sparse X was not."""
    generator = np.random.RandomState(42)
    A = np.abs(generator.randn(10, 10))
    A[:, 2 * np.arange(5)] = 0
    W, H = generator.rand(10, 5) + 0.1, generator.rand(5, 10) + 0.1
    runs = [
        factorize(stored, "W H", init={"W": W, "H": H}, max_iter=100, tol=0) for stored in (A, *(to(A) for to in STORES.values()))
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(run.factors["W"], runs[0].factors["W"], atol=1e-6 * runs[0].factors["W"].max())
        assert run.objective == pytest.approx(runs[0].objective, rel=1e-6, abs=1e-9)


def test_non_zeros_are_counted():
    X = half_empty()
    counts = {read_data(stored).facts.non_zeros for stored in (X, *(to(X) for to in STORES.values()))}
    assert counts == {np.count_nonzero(X)}
