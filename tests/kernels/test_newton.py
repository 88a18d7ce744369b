"""Kernels for named divergences beside the one for any powers."""

import numpy as np
import pytest

from nonneg.divergences import get_divergence
from nonneg.kernels.newton import newton_rows


@pytest.mark.parametrize("name", ["kullback-leibler", "itakura-saito", "hellinger"])
def test_named_divergences_take_the_steps_of_their_powers(name):
    """Loops that know the powers of a divergence give factors, and sums, as those that take any powers."""
    rng, curve = np.random.default_rng(0), get_divergence(name).curve
    X, V = rng.random((12, 20)), np.zeros((3, 32))
    V[:, :20] = rng.random((3, 20))
    if name != "itakura-saito":
        X[rng.random(X.shape) < 0.3] = 0
    general = curve.slopes, curve.data_powers, np.zeros(1) if curve.powers is None else curve.powers, curve.bounds
    start, found = rng.random((12, 3)), []
    assert any(given is None for given in curve.arguments)
    for powers in (curve.arguments, general):
        F, totals = start.copy(), np.empty((12, len(curve.slopes)))
        newton_rows(0, 12, 0, F, X, V, curve.linear * V.sum(axis=1), *powers, 1e-300, (0.0, 0.0, 0, 5, 0.0), totals)
        found.append((F, totals))
    assert not np.allclose(found[0][0], start, rtol=0.01)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)
