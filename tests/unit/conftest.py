"""Data and divergences that the unit tests share."""

import numpy as np
import pytest

from nonneg.divergences import Alpha, Beta
from properties.strategies import DIVERGENCES


@pytest.fixture(params=[*DIVERGENCES, 0.3 * Beta(0) + Alpha(2) + Beta(3)], ids=str)
def divergence(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """A small matrix without zeros."""
    return rng.random((6, 5)) + 0.1
