"""Kernels over the entries of sparse matrices, run by Triton's interpreter on the host, beside PyTorch's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels are written in Triton")

import array_api_compat.torch as xp  # noqa: E402

from nonneg import factorize  # noqa: E402
from nonneg.data import device, device_sparse  # noqa: E402
from nonneg.data.device_sparse import DeviceSparse  # noqa: E402
from nonneg.divergences import Beta  # noqa: E402
from nonneg.kernels import compressed, nonzeros  # noqa: E402
from nonneg.kernels.compressed import Compressed  # noqa: E402
from nonneg.kernels.namespace import Namespace  # noqa: E402

TYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "_LENGTH", 15)
    monkeypatch.setattr(compressed, "_GATHERED", 100)


def drawn(dtype: Any = torch.float64, rows: int = 30, columns: int = 90) -> Any:
    """An empty row, a full one, and others, by the kernels and without them."""
    X = sparse.random_array((rows, columns), density=0.15, rng=np.random.default_rng(0), format="lil")
    X[3] = 0
    X[4] = np.random.default_rng(1).random(columns)
    data = DeviceSparse.of(X.tocsr(), Namespace(xp, dtype, torch.device("cpu")))
    plain = data.values
    return X.tocsr(), Compressed(plain.pattern, plain.entries, nonzeros), plain


def draw(*shape: int, dtype: Any = torch.float64, seed: int = 0) -> Any:
    return torch.as_tensor(np.random.default_rng(seed).random(shape) + 0.1, dtype=dtype)


@TYPES
def test_products(dtype: Any) -> None:
    host, X, plain = drawn(dtype)
    assert len(X.pattern.pieces.long) > 1
    rtol = 1e-12 if dtype == torch.float64 else 3e-6
    for M in (draw(90, 1, dtype=dtype), draw(90, 150, dtype=dtype)):
        for found in (X, plain):
            np.testing.assert_allclose(found @ M, host @ M.double().numpy(), rtol=rtol)
    N = draw(30, 5, dtype=dtype)
    for found in (X, plain):
        np.testing.assert_allclose(found.T @ N, host.T @ N.double().numpy(), rtol=rtol)
        np.testing.assert_allclose(found.dense(slice(2, 7)), host[2:7].toarray(), rtol=1e-6)


@TYPES
@pytest.mark.parametrize("rank", [3, 140])
@pytest.mark.parametrize("exponents", [(1.0, -1.0), (2.0, -1.5), (0.5, -0.3), (1.0, 1.0)])
def test_products_with_powers(exponents: tuple[float, float], rank: int, dtype: Any) -> None:
    host, X, plain = drawn(dtype)
    U, V, M = draw(30, rank, dtype=dtype), draw(90, rank, dtype=dtype, seed=1), draw(90, 4, dtype=dtype, seed=2)
    rows, columns = np.repeat(np.arange(30), np.diff(host.indptr)), host.indices
    y = (U.double() @ V.double().T).numpy()[rows, columns]
    E = sparse.csr_array((host.data ** exponents[0] * y ** exponents[1], columns, host.indptr), shape=host.shape)
    rtol = 1e-12 if dtype == torch.float64 else 3e-6
    for found in (X, plain):
        np.testing.assert_allclose(found.at_entries(U, V, 0.0), y, rtol=rtol)
        for matrix in (M, V):
            product, logarithm = found.raised(U, V, exponents, matrix, 1e-19, 1.0)
            np.testing.assert_allclose(product, E @ matrix.double().numpy(), rtol=rtol)
            np.testing.assert_allclose(float(logarithm), float(host.data @ np.log(y)), rtol=1e-6)
        assert found.raised(U, V, exponents, None, 1e-19, 1.0)[0] is None


def test_small_numbers_are_raised_in_double_precision() -> None:
    _, X, _ = drawn()
    U, V = draw(30, 1) * 1e-70, draw(90, 1) * 1e-70
    (found, _), floor = X.raised(U, V, (1.0, -0.3), V, 1e-154), 1e-154
    plain = Compressed(X.pattern, X.entries).raised(U, V, (1.0, -0.3), V, floor)[0]
    np.testing.assert_allclose(found, plain, rtol=1e-9)


@pytest.mark.parametrize("divergence", ["kullback-leibler", Beta(0.5)], ids=str)
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
def test_fits_by_the_kernels_equal_fits_in_main_memory(divergence: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host, *_ = drawn(rows=10, columns=12)
    options = {"divergence": divergence, "max_iter": 2, "solver": "multiplicative", "init": "random", "random_state": 0, "tol": 0}
    expected = factorize(host, form, 3, **options)
    for replaced in (device, device_sparse):
        monkeypatch.setattr(replaced, "has_kernels", lambda namespace: True)
    calls, run = [], nonzeros._run
    monkeypatch.setattr(nonzeros, "_run", lambda *arguments: calls.append(1) or run(*arguments))
    data = DeviceSparse.of(host, Namespace(xp, torch.float64, torch.device("cpu")))
    found = factorize(data, form, 3, **options)
    assert calls
    assert found.objective == pytest.approx(expected.objective, rel=1e-10)
    np.testing.assert_allclose(found.factors["W"], expected.factors["W"], rtol=1e-7, atol=1e-10)
