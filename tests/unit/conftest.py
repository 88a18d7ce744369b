"""Data and divergences that the unit tests share."""

import numpy as np
import pytest

from nonneg.divergences import Alpha, Beta, DualI, Gamma, Polynomial, Renyi

DIVERGENCES = [
    *(Beta(b) for b in (2, 1, 0, 0.5, 1.5, 3, -1)),
    *(Alpha(a) for a in (0.5, 2, -1)),
    *(Gamma(g) for g in (0, 1, -0.5, -2)),
    *(Renyi(r) for r in (0.5, 2)),
    DualI(),
    Beta(1) + 0.5 * Beta(2),
    0.3 * Beta(0) + Alpha(2) + Beta(3),
    Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (2, 0, 1), (-2, 1, 0)]),
]


@pytest.fixture(params=DIVERGENCES, ids=str)
def divergence(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """A small matrix without zeros."""
    return rng.random((6, 5)) + 0.1
