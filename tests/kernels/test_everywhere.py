"""Products with powers of X̂ at all entries of sparse data, beside those of an m × n array."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from nonneg import divergences, factorize
from nonneg.data import Request
from nonneg.data import sparse as of_sparse
from nonneg.data.reading import read_data
from nonneg.divergences.base import Operand
from nonneg.kernels.threads import limited

NEVER = 2**62


@pytest.fixture
def by_kernel(monkeypatch):
    """Lets small data go the way of large ones, in double precision or in single."""

    def choose(*, single: bool = False) -> None:
        monkeypatch.setattr(of_sparse, "_MANY", 0)
        monkeypatch.setattr(of_sparse, "_HUGE", 0 if single else NEVER)

    return choose


def made_up(rng, shape, share=0.02):
    return sparse.csr_array((1 + rng.random(shape)) * (rng.random(shape) < share))


@pytest.mark.parametrize("shape", [(1003, 517), (9, 256), (513, 3), (1, 1)])
@pytest.mark.parametrize("rank", [1, 5, 7, 11])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("power", [0.5, 0.3, 1.0, -0.5, -1.0])
def test_products(shape, rank, single, power, by_kernel, rng):
    """Rows, columns and components that do not fill what is worked on together; several products, on both sides."""
    by_kernel(single=single)
    (m, n), U, V = shape, 0.1 + rng.random((shape[0], rank)), 0.1 + rng.random((rank, shape[1]))
    data, E = read_data(made_up(rng, shape, 0.5)), (U @ V) ** power
    matrices = [("right", V.T), ("left", U.T), ("right", rng.random((n, 6))), ("left", rng.random((3, m)))]
    requests = [Request(Operand(0, power), side, matrix) for side, matrix in matrices]
    requests.append(Request(Operand(0, 1.0), "left", U.T))
    found, _ = data.visit(U, V, requests)
    wanted = [E @ matrix if side == "right" else matrix @ E for side, matrix in matrices]
    tolerance = 1e-5 if single and power > 0 else 1e-12  # of sums of a few hundred terms; negative powers stay in double precision
    for mine, theirs in zip(found, [*wanted, U.T @ (U @ V)], strict=True):
        assert mine.dtype == np.float64
        np.testing.assert_allclose(mine, theirs, rtol=tolerance)


@pytest.mark.parametrize("single", [False, True])
def test_zeros_of_factors(single, by_kernel, rng):
    by_kernel(single=single)
    U, V = rng.random((300, 6)), rng.random((6, 270))
    U[3], V[:, 5] = 0, 0
    (right, left), _ = read_data(made_up(rng, (300, 270))).visit(
        U, V, [Request(Operand(0, 0.5), "right", V.T), Request(Operand(0, 0.5), "left", U.T)]
    )
    E = np.sqrt(U @ V)
    np.testing.assert_allclose(right, E @ V.T, rtol=1e-5, atol=1e-6)  # X̂ is taken for at least 1e-19 in single precision
    np.testing.assert_allclose(left, U.T @ E, rtol=1e-5, atol=1e-6)


def test_values_beyond_single_precision(by_kernel, rng):
    by_kernel(single=True)
    U, V = 1e-60 * rng.random((40, 3)), 1e60 * rng.random((3, 30))
    (right,), _ = read_data(made_up(rng, (40, 30), 0.5)).visit(U, V, [Request(Operand(0, 0.5), "right", V.T)])
    np.testing.assert_allclose(right, np.sqrt(U @ V) @ V.T, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e5, 1e-5])
@pytest.mark.parametrize("power", [4, 6])
def test_powers_that_single_precision_cannot_hold(scale, power, by_kernel, rng):
    """As those of Beta(5) and Beta(7) are: the factors alone would be within its range."""
    by_kernel(single=True)
    U, V = scale * (rng.random((40, 3)) + 0.1), scale * (rng.random((3, 30)) + 0.1)
    (right,), _ = read_data(made_up(rng, (40, 30), 0.5)).visit(U, V, [Request(Operand(0, power), "right", V.T)])
    np.testing.assert_allclose(right, (U @ V) ** power @ V.T, rtol=1e-12)


def test_nan_is_kept(by_kernel, rng):
    by_kernel()
    U, V = rng.random((20, 3)), rng.random((3, 30))
    U[4, 1] = np.nan
    (right,), _ = read_data(made_up(rng, (20, 30), 0.5)).visit(U, V, [Request(Operand(0, 0.5), "right", V.T)])
    assert np.isnan(right[4]).all()
    assert np.isfinite(np.delete(right, 4, axis=0)).all()


@pytest.mark.parametrize("divergence", [divergences.Beta(1.5), divergences.Beta(1.3), divergences.Beta(0.5)])
@pytest.mark.parametrize("single", [False, True])
def test_fit(divergence, single, by_kernel, rng):
    """The same fit as by blocks of rows, and an objective that is that of the dense array, and never rises."""
    X = made_up(rng, (300, 280), 0.05)
    settings = {"divergence": divergence, "random_state": 0, "max_iter": 30, "tol": 0, "check_every": 1}
    plain = factorize(X, "W H", 4, **settings)
    by_kernel(single=single)
    found = factorize(X, "W H", 4, **settings)
    # Roundings grow over thirty steps.
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-3 if single else 1e-5)
    W, H = found.factors["W"], found.factors["H"]
    dense = factorize(X.toarray(), "W H", 4, **{**settings, "init": {"W": W, "H": H}, "max_iter": 0}).objective
    np.testing.assert_allclose(found.objective, dense, rtol=1e-6 if single else 1e-10)
    assert (np.diff(found.history.objective) <= 1e-7 * found.objective).all()


@pytest.mark.parametrize("single", [False, True])
def test_threads_and_memory(single, by_kernel, rng):
    """The same bits with any number of threads, and no m × n array."""
    by_kernel(single=single)
    m, n = 3000, 2000
    X = sparse.random_array((m, n), density=1e-3, rng=rng, format="csr")
    U, V, found = rng.random((m, 4)), rng.random((4, n)), []
    requests = [Request(Operand(0, 0.5), "right", V.T), Request(Operand(0, 0.5), "left", U.T)]
    data = read_data(X)
    data.visit(U, V, requests)  # compiled
    for threads in (1, 2, 3):
        tracemalloc.start()
        with limited(threads):
            found.append(b"".join(product.tobytes() for product in data.visit(U, V, requests)[0]))
        assert tracemalloc.get_traced_memory()[1] < m * n * 8 / 10
        tracemalloc.stop()
    assert found[0] == found[1] == found[2]
