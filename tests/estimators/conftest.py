"""Data and estimators that these tests share."""

import numpy as np
import pytest

from .cases import parts


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X():
    """Samples made of three parts of four features each, and a little noise: (20, 12), without zeros."""
    return parts(20, 12, 3, seed=0)


@pytest.fixture
def no_work(monkeypatch):
    """Any iteration, from here on, is a failure: bad input must be found before."""
    monkeypatch.setattr("nonneg.solve.solving.solve", lambda *args, **kwargs: pytest.fail("work has begun"))
