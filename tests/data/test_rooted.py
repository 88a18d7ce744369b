"""Similarities that are inner products: fits by the features agree with fits of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from nonneg import SymmetricNMF
from nonneg.data import Sweep, read_data
from nonneg.data.dense import DenseData
from nonneg.data.rooted import RootedData, with_root

OPTIONS = (0.0, 0.0, 0, 5, 1e-3)


def both(rng, dtype=float, unit=1.0):
    X = (rng.random((60, 7)) * (rng.random((60, 7)) < 0.6)).astype(dtype)
    plain = read_data(X @ X.T)
    rooted = with_root(plain, X)
    assert isinstance(rooted, RootedData)
    return plain.in_units(unit), rooted.in_units(unit)


@pytest.mark.parametrize("unit", [1.0, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(dtype, unit, rng):
    plain, rooted = both(rng, dtype, unit)
    M, tolerance = rng.random((60, 4)).astype(dtype), 100 * np.finfo(dtype).eps
    for transposed in (False, True):
        np.testing.assert_allclose(rooted.apply(M, transposed=transposed), plain.apply(M, transposed=transposed), rtol=tolerance)
        np.testing.assert_allclose(
            rooted.apply_after(M.T, transposed=transposed), plain.apply_after(M.T, transposed=transposed), rtol=tolerance
        )
    np.testing.assert_allclose(rooted.apply(M, sign="⁺"), plain.apply(M, sign="⁺"), rtol=tolerance)
    assert rooted.apply(M).dtype == dtype


@pytest.mark.parametrize("unit", [1.0, 3.0])
def test_sweep(unit, rng):
    plain, rooted = both(rng, unit=unit)
    start, order, found = rng.random((60, 4)), rng.permutation(60), []
    for data in (plain, rooted):
        F = start.copy()
        sweep = Sweep(F, F, F.T @ F, F.T @ F, order, OPTIONS)
        data.sweep(sweep._replace(is_symmetric=True))
        np.testing.assert_allclose(sweep.G, F.T @ F, rtol=1e-10)
        found.append(F)
    assert abs(found[0] - start).max() > 0.1
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_estimator(store, rng, monkeypatch):
    """The same fit as from the similarities themselves, without a product with them."""
    X = rng.random((80, 6)) * (rng.random((80, 6)) < 0.6)
    wanted = SymmetricNMF(3, random_state=0).fit(X @ X.T)

    def refused(*_, **__):
        raise AssertionError("went by the similarities")

    monkeypatch.setattr(DenseData, "_sweep_symmetric", refused)
    found = SymmetricNMF(3, kernel="linear", random_state=0).fit(store(X))
    np.testing.assert_allclose(found.objective_, wanted.objective_, rtol=1e-6)
    np.testing.assert_array_equal(found.labels_, wanted.labels_)


def test_many_features(rng):
    X = rng.random((20, 30))
    assert type(with_root(read_data(X @ X.T), X)) is DenseData
